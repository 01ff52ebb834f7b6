"""An answer to a choice, a list or a yes or no question in both parses, as plain data.

A parse has `right`. A choice has `said`, the place of the option, None in the official parse, which only says
whether it is the right one; a yes or no question `said`, 1, 0 or -1 for neither; a list `named`, the characters in it,
`excluded`, whether one who knows is lacking, and `included`, whether one is there who does not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmark.suites.asked import Sample
from benchmark.suites.fantom_questions.outcomes import Scored
from benchmark.suites.fantom_questions.repaired import names_in, option_of, yes_or_no
from benchmark.suites.fantom_questions.rows import CHOICE, DISTANCE, FACT, LIST, YES
from core.language import gettext_noop

Parse = Mapping[str, Any]
UNREAD: Mapping[str, str] = {
    FACT: gettext_noop("is empty"),
    DISTANCE: gettext_noop("is empty, or as near to one text as to the other"),
    CHOICE: gettext_noop("names none of the options, or both"),
    LIST: gettext_noop("names none of the characters"),
}
NEITHER = gettext_noop("says neither yes nor no, or both")


def unread(sample: Sample) -> str:
    """Return what is said of an answer to a question that cannot be read."""
    return UNREAD.get(sample.content["kind"], NEITHER)


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
    kind = sample.content["kind"]
    if kind == CHOICE:
        place = option_of(answer, sample.content["options"])
        return None if place is None else {"right": place == sample.gold["key"], "said": place}
    return _list(sample, answer) if kind == LIST else _single(sample, answer)


def _list(sample: Sample, answer: str) -> Parse | None:
    named = names_in(answer, sample.content["names"])
    if named is None:
        return None
    excluded = not {*sample.gold["right"]} <= {*named}
    included = not {*named}.isdisjoint(sample.gold["wrong"])
    return {"right": not (excluded or included), "named": named, "excluded": excluded, "included": included}


def _single(sample: Sample, answer: str) -> Parse | None:
    answer_class = yes_or_no(answer)
    return (
        None
        if answer_class is None
        else {"right": answer_class == int(sample.gold["right"][0] == YES), "said": answer_class}
    )
