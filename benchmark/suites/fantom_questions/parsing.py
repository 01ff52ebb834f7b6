"""Parses of answers. The released code looks for names and words as parts of others: "Erika" names Erik, "Nobody" says
no."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.suites.closed_sets import main_clause, outside, words
from benchmark.suites.fantom_questions.data import CHOICE, DISTANCE, FACT, LIST, YES
from benchmark.suites.questions import Parsed, Sample
from benchmark.suites.refusals import own_words
from core.messages import gettext_noop
from core.statistics import harmonic

_MARKERS = ("Answer:", "Choose an answer from above:")
_YES = (" yes,", " yes ", " yes.", " knows ")
_NO = (" no,", " no ", " no.", " does not know ", " doesn't know ")
Parse = Mapping[str, Any]
"""What an answer was read as: `f1` of a fact, else whether it is `right`, with what it `said` (the place of an option,
or 1, 0 and -1 for yes, no and neither), the names that it `named` with what is wrong with them (one who knows is
`excluded`, one who does not is `included`), or how `near` it is to the right and to the wrong text."""


def after_marker(text: str) -> str:
    """Return what follows the last marker of an answer without outer space, all of it where there is none."""
    marker = next((marker for marker in _MARKERS if marker in text), "")
    return text.rpartition(marker)[2].strip() if marker else text


def chooses(answer: str, key: int) -> bool:
    """Return whether an answer names the option in the place `key` (0 for a); others that it names do not count against
    it."""
    letter, text = "abcdefghij"[key], answer.lower()
    return text == letter or f"({letter})" in text or text.startswith(tuple(letter + mark for mark in ").:,"))


def listed(answer: str, right: Sequence[str], wrong: Sequence[str]) -> tuple[bool, bool]:
    """Return whether a list lacks one who knows, and whether it names one who does not."""
    text = answer.lower()
    return any(name.lower() not in text for name in right), any(name.lower() in text for name in wrong)


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
    return harmonic(common / given.total(), common / gold.total()) if common else 0.0


def official_parse(sample: Sample, answer: str, listing: str | None = None) -> Parse:
    """Return the official parse of the answer to a choice, a list, or a yes or no question. A list is looked for in
    `listing`, in all of the answer without one."""
    kind, right = sample.content["kind"], sample.gold["right"]
    if kind == CHOICE:
        return {"right": chooses(answer, sample.gold["key"]), "said": None}
    if kind == LIST:
        text = answer if listing is None else listing
        excluded, included = listed(text, right, sample.gold["wrong"])
        named = [name for name in sample.content["names"] if name.lower() in text.lower()]
        return {"right": not (excluded or included), "named": named, "excluded": excluded, "included": included}
    said = yes_or_no(answer)
    return {"right": said == int(right[0] == YES), "said": said}


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


def names_in(answer: str, names: Sequence[str]) -> list[str] | None:
    """Return which of the names an answer gives as whole words, without those that it rules out; all of them where it
    says everybody, None where it gives none and does not say so.

    Names are looked for as they are written, so that Will is not found in "will"; in an answer without any of them
    whatever their case.
    """
    text = main_clause(answer)
    for flags in (re.RegexFlag(0), re.IGNORECASE):
        places = ((name, re.finditer(rf"\b{re.escape(name)}\b", text, flags)) for name in names)
        given = [name for name, found in places if not all(_denied(text.lower(), place.start()) for place in found)]
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


def _denied(text: str, at: int) -> bool:
    return bool(_DENIED.search(text[max(0, at - 60) : at]))


def _plain(text: str) -> str:
    return " ".join(_PUNCTUATION.sub(" ", text.lower()).split())


def _squad(text: str) -> str:
    return " ".join(_ARTICLES.sub(" ", _PUNCTUATION.sub("", text.lower())).split())


UNREADABLE: Mapping[str, str] = {
    FACT: gettext_noop("is empty"),
    DISTANCE: gettext_noop("is empty, or as near to one text as to the other"),
    CHOICE: gettext_noop("names none of the options, or both"),
    LIST: gettext_noop("names none of the characters"),
}
NEITHER = gettext_noop("says neither yes nor no, or both")


def score_of(parse: Parse) -> float:
    """Return 1 for right and 0 for wrong, of a fact its F1."""
    return float(parse["right"] if "right" in parse else parse["f1"])


def parsed_answer(sample: Sample, answer: str, official: Parse, repaired: Parse | None) -> Parsed:
    """Return both parses of an answer with their scores; the repaired one is None where a person cannot read it."""
    why = own_words(answer).why(UNREADABLE.get(sample.content["kind"], NEITHER)) if repaired is None else ""
    parse = repaired or {}
    strangers = {*parse.get("named", ())} - {*sample.content["names"]}
    return Parsed(
        official=official,
        repaired=parse,
        score=score_of(official),
        repaired_score=None if repaired is None else score_of(repaired),
        unreadable=why,
        stray=bool(parse.get("outside") or strangers),
    )


def says_nothing(answer: str) -> bool:
    """Return whether an answer in free words is empty, refuses, or does not know."""
    return not any(letter.isalnum() for letter in own_words(answer).text)


def repaired_parse(sample: Sample, answer: str) -> Parse | None:
    """Return the repaired parse of the answer to a choice, a list, or a yes or no question; None where a person cannot
    read it."""
    kind, own, gold, names = sample.content["kind"], own_words(answer), sample.gold, sample.content["names"]
    if kind == CHOICE:
        place = option_of(own.text, sample.content["options"])
        if place is not None:
            return {"right": place == gold["key"], "said": place}
        text = own.text.lower().strip()
        if own.whole and (letter := _OTHER_LETTER.fullmatch(text)):
            other = letter[1] or letter[2] or ""
        else:  # words by which an answer rejects both; others may mean one of the options
            rejects = own.whole and _NEITHER.search(text) and len(text.split()) < 20
            other = " ".join(own.text.split())[:60] if rejects else ""
        return {"right": False, "said": None, "outside": other} if other else None
    if kind != LIST:
        said = repaired_yes_or_no(own.text)
        if said is not None:
            return {"right": said == int(gold["right"][0] == YES), "said": said}
        other = "" if YES_OR_NO.search(own.text.lower()) else outside(own, ("yes", "no"))
        return {"right": False, "said": -1, "outside": other} if other else None
    named = names_in(own.text, names)
    strangers = strangers_in(own.text, names, sample.content["conversation"]) if own.whole else []
    if named is None and not strangers and (other := outside(own, names)):
        strangers = [other]
    if named is None and not strangers:
        return None
    given = [*(named or ()), *strangers]
    excluded = not {*gold["right"]} <= {*given}
    included = bool(strangers) or not {*given}.isdisjoint(gold["wrong"])
    return {"right": not (excluded or included), "named": given, "excluded": excluded, "included": included}
