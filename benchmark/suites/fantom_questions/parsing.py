"""Parses of the released code. Names and words are looked for as parts of others: "Erika" names Erik,
"Nobody" says no."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.suites.closed_sets import main_clause, outside, words
from benchmark.suites.fantom_questions.data import CHOICE, DISTANCE, FACT, LIST, YES, Row
from benchmark.suites.questions import Sample
from benchmark.suites.refusals import OwnWords, own_words
from core.messages import gettext_noop
from core.statistics import harmonic

_MARKERS = ("Answer:", "Choose an answer from above:")
_YES = (" yes,", " yes ", " yes.", " knows ")
_NO = (" no,", " no ", " no.", " does not know ", " doesn't know ")


def after_marker(text: str) -> str:
    """Return what follows the last marker of an answer without outer space, all of it where there is none."""
    for marker in _MARKERS:
        if marker in text:
            return text.rpartition(marker)[2].strip()
    return text


def chooses(answer: str, key: int) -> bool:
    """Return whether an answer names the option in the place `key` (0 for a); others that it names do not count against
    it."""
    letter, text = "abcdefghij"[key], answer.lower()
    return text == letter or f"({letter})" in text or text.startswith(tuple(letter + mark for mark in ").:,"))


@dataclass(frozen=True, slots=True)
class Listed:
    """The faults of a list of names: one who knows is missing, one who does not is named."""

    excluded_aware: bool
    included_unaware: bool

    @property
    def right(self) -> bool:
        return not (self.excluded_aware or self.included_unaware)


def listed(answer: str, right: tuple[str, ...], wrong: tuple[str, ...]) -> Listed:
    """Return what is wrong with an answer that is to name all of `right` and none of `wrong`."""
    text = answer.lower()
    return Listed(any(name.lower() not in text for name in right), any(name.lower() in text for name in wrong))


def yes_or_no(answer: str) -> int:
    """Return 1 for yes, 0 for no, -1 for neither."""
    text = answer.lower().strip("'").strip('"')
    if any(phrase in text for phrase in _YES) or text.startswith(("yes", "true")):
        return 1
    return 0 if any(phrase in text for phrase in _NO) or text.startswith(("no", "false")) else -1


def token_f1(truth: str, answer: str) -> float:
    """Return the F1 of the words between white space, counted as often as they stand; 0 without a common one."""
    gold, given = Counter(truth.split()), Counter(answer.split())
    common = (gold & given).total()
    if not common:
        return 0.0
    precision, recall = common / given.total(), common / gold.total()
    return harmonic(precision, recall)


_LETTER = (
    re.compile(r"[(\[{]\s*([ab])\s*[)\]}]"),
    re.compile(r"^\W*([ab])\s*(?:$|[).:,*\]])"),
    re.compile(r"\b(?:option|answer|choice)(?:\s+is)?\s*:?\s*\W*([ab])\W*(?:$|[.,;\n])"),
)
_OTHER_LETTER = re.compile(
    r"\W*(?:(?:the\s+)?(?:correct\s+|final\s+|best\s+)?(?:option|answer|choice)(?:\s+is)?\W*)?([c-z0-9])\W*|.*[(\[]\s*([c-z])\s*[)\]].*"
)
_NEITHER = re.compile(
    r"\b(?:neither\b(?:(?:\s+(?:of|option|is|are|\(?a\)?\s+nor))|\W*$)|none\s+of\s+(?:the|these|those|them)\b|"
    r"(?:both|all)\s+(?:options?\s+)?(?:are|is)\s+(?:wrong|incorrect|false))"
)
_BOTH = re.compile(r"\b[ab]\W*\s+(?:or|and)\s+\W*[ab]\b|\b[ab]\W{0,4}[\s,;/&+|]\W{0,4}[ab]\W*$")
_DENIED = re.compile(r"\b(?:not|never|nor|except|excluding|without|but not)\s+(?:for\s+|by\s+|option\s+)?\W*$")
YES_OR_NO = re.compile(r"\b(yes|true|no|false)\b(?!\s+(?:one|longer|doubt|idea)\b)")
_UNKNOWING = re.compile(
    r"\b(?:does\s+not|doesn't|did\s+not|didn't|cannot|can't|could\s+not|would\s+not)\s+(?:\w+\s+)?know\b"
)
_KNOWING = re.compile(r"\b(?:knows|does\s+know)\b")
_NOBODY = re.compile(r"\b(?:nobody|no one|none|no characters?)\b")
_EVERYBODY = re.compile(
    r"^\W*(?:every(?:one|body)|all\b(?!\s+(?:i|we|that)\b)|(?:each|both)\s+of\s+them|(?:all|each)\s+of\s+(?:the|them|these))"
)
_EMPTY_LIST = re.compile(r"\W*\[[\s\"']*\]\W*|(?:\w+\s*[:=]\s*)?\[\s*\]")
_SPACES = re.compile(r"[^\S\n]+")
_ASIDE = re.compile(r"\([^()]*\)")
_BEFORE_NAMES = re.compile(
    r"^(?:[^:\[\]]{0,200}:\s*|(?:only|just|both)\s+|(?:the\s+)?(?:people|characters?|names?|persons?|ones|speakers|participants)\b"
    r".{0,120}?\b(?:are|is|would\s+be|include)\s+)+",
    re.IGNORECASE | re.DOTALL,
)
_AFTER_NAMES = re.compile(
    r"\s+(?:(?:both|all|also|each|would|will|can|could|do|does|already|clearly)\s+)*(?:knows?|knew|is|are|has|have|was|were|heard|hears?|"
    r"answer|answers|mentioned|understands?|learned|remembers?)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_BETWEEN_NAMES = re.compile(r"\s*(?:[,;、，\n/&|]|\band\b|\bas\s+well\s+as\b|\bor\b)\s*")
_NAME = re.compile(r"[A-Z][\w'’-]+(?:\s+(?:[A-Z][\w'’.-]*|\d+)){0,2}")
_NO_NAMES = words(
    "yes no none nobody everyone everybody all the only both answer they he she i i'm i'd i've we you it there this "
    "that as if while although about regarding unknown name names"
)
_PUNCTUATION = re.compile(r"[^\w\s]")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def option_of(answer: str, options: Sequence[str]) -> int | None:
    """Return the place of the one option that an answer names by its letter or, without any letter, in its own words;
    None where it names none or several."""
    text = answer.lower().strip()
    if _BOTH.search(text):
        return None
    letters = {
        match.group(1) for pattern in _LETTER for match in pattern.finditer(text) if not _denied(text, match.start())
    }
    if letters:
        return "ab".index(letters.pop()) if len(letters) == 1 else None
    worded = [place for place, option in enumerate(options) if _plain(option) in _plain(answer)]
    return worded[0] if len(worded) == 1 else None


def option_outside(answer: str) -> str:
    """Return the letter of an option that is not there, or the words by which an answer rejects both. Returns "" for
    other words, which may mean one of the options."""
    text = answer.lower().strip()
    if letter := _OTHER_LETTER.fullmatch(text):
        return letter[1] or letter[2] or ""
    return " ".join(answer.split())[:60] if _NEITHER.search(text) and len(text.split()) < 20 else ""


def names_in(answer: str, names: Sequence[str]) -> list[str] | None:
    """Return which of the names an answer gives as whole words, without those that it rules out; all of them where it
    says everybody, None where it gives none and does not say so.

    Names are looked for as they are written, so that Will is not found in "will"; in an answer without any of them
    whatever their case.
    """
    text = main_clause(answer)
    for flags in (re.RegexFlag(0), re.IGNORECASE):
        given = [name for name in names if _given(text, name, flags)]
        if given:
            return given
    ruled_out = [name for name in names if re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE)]
    if _EVERYBODY.search(text.lower()):
        return [name for name in names if name not in ruled_out]
    return [] if ruled_out or _NOBODY.search(text.lower()) or _EMPTY_LIST.fullmatch(text.strip()) else None


def strangers_in(answer: str, names: Sequence[str], heard: str = "") -> list[str]:
    """Return the names in a list that are of nobody in `names`, nor of a speaker of the conversation `heard`.

    Only what stands where a list has a name counts: other words in capitals are no people."""
    text = _ASIDE.sub(" ", _SPACES.sub(" ", main_clause(answer)))
    inside = re.search(r"\[([^\[\]]*)\]", text)
    parts = _BETWEEN_NAMES.split(inside[1] if inside else _BEFORE_NAMES.sub("", text.strip(), count=1))
    speakers = {*names, *(line.partition(":")[0] for line in heard.split("\n"))}
    character = re.compile(
        "|".join(rf"\b{re.escape(name)}\b" for name in sorted(speakers, key=len, reverse=True) if name), re.IGNORECASE
    )
    strangers = []
    for part in parts:
        name = re.sub(r"^\W*(?:\d+[.)]\s*)?", "", _AFTER_NAMES.sub("", part)).strip(" \t*_`\"'“”.!?()[]-•")
        listed = _NAME.fullmatch(name) or (inside and re.fullmatch(r"[\w'’-]{2,}(?:\s+[\w'’.-]+){0,2}", name))
        if listed and not character.search(name) and name.split()[0].lower() not in _NO_NAMES:
            strangers.append(name)
    return strangers


def repaired_yes_or_no(answer: str) -> int | None:
    """Return 1 for yes, 0 for no, by those words or, without them, by whether somebody is said to know; None for
    neither and for both."""
    text = answer.lower().replace("’", "'")
    words = {match.group(1) in ("yes", "true") for match in YES_OR_NO.finditer(text)}
    if not words:
        words = {knows for knows, pattern in ((False, _UNKNOWING), (True, _KNOWING)) if pattern.search(text)}
    return int(words.pop()) if len(words) == 1 else None


def squad_f1(truth: str, answer: str) -> float:
    """Return the F1 of words in lower case without punctuation and articles, as SQuAD counts them."""
    return token_f1(_squad(truth), _squad(answer))


def _given(answer: str, name: str, flags: re.RegexFlag) -> bool:
    places = re.finditer(rf"\b{re.escape(name)}\b", answer, flags)
    return any(not _denied(answer.lower(), place.start()) for place in places)


def _denied(text: str, at: int) -> bool:
    return bool(_DENIED.search(text[max(0, at - 60) : at]))


def _plain(text: str) -> str:
    return " ".join(_PUNCTUATION.sub(" ", text.lower()).split())


def _squad(text: str) -> str:
    return " ".join(_ARTICLES.sub(" ", _PUNCTUATION.sub("", text.lower())).split())


@dataclass(frozen=True, slots=True)
class Scored:
    """A question with what its answer was read as. `f1` of a fact and a free belief is from 0 to 1; `near` are the
    cosines of a free belief with the right and the wrong text; `answer_class` is 1, 0 or -1 of a yes or no question;
    `listing` is the part of an answer that is taken for a list, `listed` what is wrong with it."""

    row: Row
    answer: str
    right: bool
    f1: float = 0.0
    near: tuple[float, float] = (0.0, 0.0)
    answer_class: int = -1
    listing: str = ""
    listed: Listed | None = None


def scored_choice_list_or_yes_no(row: Row, answer: str, listing: str | None = None) -> Scored:
    """Return a choice, a list or a yes or no question with what its answer is read as; a list is looked for in
    `listing`, in all of the answer without one."""
    if row.kind == CHOICE:
        return Scored(row, answer, chooses(answer, row.key))
    if row.kind == LIST:
        text = answer if listing is None else listing
        names = listed(text, row.right, row.wrong)
        return Scored(row, answer, names.right, listing=text, listed=names)
    answer_class = yes_or_no(answer)
    return Scored(row, answer, answer_class == int(row.right[0] == YES), answer_class=answer_class)


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
    answer_class = repaired_yes_or_no(own.text)
    if answer_class is None:
        other = "" if YES_OR_NO.search(own.text.lower()) else outside(own, ("yes", "no"))
        return {"right": False, "said": -1, "outside": other} if other else None
    return {"right": answer_class == int(sample.gold["right"][0] == YES), "said": answer_class}
