"""An answer to a choice, a list or a yes or no question in both parses, as plain data.

A parse has `right`. A choice has `said`, the place of the option, None in the official parse, which only says
whether it is the right one; a yes or no question `said`, 1, 0 or -1 for neither; a list `named`, the characters in it,
`excluded`, whether one who knows is lacking, and `included`, whether one is there who does not know, or who is not in
the conversation. In the repaired parse `outside` is what an answer gives instead of an option, or of yes and no: it is
wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmark.suites.closed_sets import outside
from benchmark.suites.fantom_questions.outcomes import Scored
from benchmark.suites.fantom_questions.repaired import (
    YES_OR_NO,
    names_in,
    option_of,
    option_outside,
    strangers_in,
    yes_or_no,
)
from benchmark.suites.fantom_questions.rows import CHOICE, DISTANCE, FACT, LIST, YES
from benchmark.suites.questions import Sample
from benchmark.suites.refusals import OwnWords, own_words
from core.messages import gettext_noop

Parse = Mapping[str, Any]
UNREADABLE: Mapping[str, str] = {
    FACT: gettext_noop("is empty"),
    DISTANCE: gettext_noop("is empty, or as near to one text as to the other"),
    CHOICE: gettext_noop("names none of the options, or both"),
    LIST: gettext_noop("names none of the characters"),
}
NEITHER = gettext_noop("says neither yes nor no, or both")


def why_unreadable(sample: Sample, answer: str) -> str:
    """Return why an answer to a question cannot be read."""
    return own_words(answer).why(UNREADABLE.get(sample.content["kind"], NEITHER))


def says_nothing(answer: str) -> bool:
    """Return whether an answer in free words is empty, refuses, or does not know."""
    return not any(letter.isalnum() for letter in own_words(answer).text)


def owns_ignorance(answer: str) -> bool:
    """Return whether an answer says that the model does not know, without refusing."""
    own = own_words(answer)
    return own.unknowing and not own.refused


def is_stray(sample: Sample, parse: Parse | None) -> bool:
    """Return whether a repaired parse is of none of the answers that there are."""
    if not parse:
        return False
    return bool(parse.get("outside")) or not {*parse.get("named", ())} <= {*sample.content["names"]}


def official_parse(sample: Sample, scored: Scored) -> Parse:
    """Return the official parse of an answer that was scored."""
    if scored.row.kind == CHOICE:
        return {"right": scored.right, "said": None}
    if scored.listed is None:
        return {"right": scored.right, "said": scored.answer_class}
    named = [name for name in sample.content["names"] if name.lower() in scored.listing.lower()]
    excluded, included = scored.listed.excluded_aware, scored.listed.included_unaware
    return {"right": scored.right, "named": named, "excluded": excluded, "included": included}


def repaired_parse(sample: Sample, answer: str) -> Parse | None:
    """Return the repaired parse of an answer; None where a person cannot read it."""
    kind, own = sample.content["kind"], own_words(answer)
    if kind == CHOICE:
        return _choice(sample, own)
    return _list(sample, own) if kind == LIST else _single(sample, own)


def _choice(sample: Sample, own: OwnWords) -> Parse | None:
    place = option_of(own.text, sample.content["options"])
    if place is None:
        other = option_outside(own.text) if own.whole else ""
        return {"right": False, "said": None, "outside": other} if other else None
    return {"right": place == sample.gold["key"], "said": place}


def _list(sample: Sample, own: OwnWords) -> Parse | None:
    named = names_in(own.text, sample.content["names"])
    strangers = strangers_in(own.text, sample.content["names"], sample.content["conversation"]) if own.whole else []
    if named is None and not strangers and (other := outside(own, sample.content["names"])):
        strangers = [other]
    if named is None and not strangers:
        return None
    listed = [*(named or ()), *strangers]
    excluded = not {*sample.gold["right"]} <= {*listed}
    included = bool(strangers) or not {*listed}.isdisjoint(sample.gold["wrong"])
    return {"right": not (excluded or included), "named": listed, "excluded": excluded, "included": included}


def _single(sample: Sample, own: OwnWords) -> Parse | None:
    answer_class = yes_or_no(own.text)
    if answer_class is None:
        other = "" if YES_OR_NO.search(own.text.lower()) else outside(own, ("yes", "no"))
        return {"right": False, "said": -1, "outside": other} if other else None
    return {"right": answer_class == int(sample.gold["right"][0] == YES), "said": answer_class}
