"""Evidence of a text about a word with a capital: that it is somebody's name, or that of something else."""

import re
from collections.abc import Iterable

from benchmark.controls.lists import (
    ADDRESSING,
    HAVING,
    MINDS,
    PINYIN,
    PLACE_WORDS,
    PLACES_AND_WORKS,
    ROLES,
    SURNAMES,
    TITLES,
    VERBS,
)

CERTAIN, LIKELY, NOTHING, AGAINST = 8, 1, 0, -1
"""The weight of an occurrence."""


def _any(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted({*words}, key=lambda word: (-len(word), word))))


_CALLED = re.compile("(?:Xiao|Lao|Ah) ?[A-Z]?[a-z]+")
_TITLE = re.compile(rf"\b(?:{_any(TITLES)})\.?\s\Z")
_SURNAME = re.compile(rf"\b(?:{_any(SURNAMES)})\s\Z")
_GIVEN = re.compile(r"\s([A-Z][a-z]+)(?![a-z])")
_ASKED = re.compile(r"\b(?:[Dd]oes|[Dd]id|[Ii]s|[Ww]as|[Ww]ill|[Ww]ould|[Ss]hould|[Cc]ould|[Cc]an|[Hh]as|[Mm]ay)\s\Z")
_SPOKEN_TO = (re.compile(r"[\"“](?:[^\"“”]*,\s)?\Z"), re.compile(r"[,!?.]"))
_ADDRESSED = re.compile(rf"\b(?:{_any(ADDRESSING)})\s\Z", re.IGNORECASE)
_MADE_TO = (
    re.compile(r"\b(?:wants?|wanted|asks?|asked|lets?|makes?|sees?|saw|hears?|heard)\s\Z"),
    re.compile(r"\s(?:to\s)?[a-z]+\b"),
)
_ROLE = re.compile(
    rf"\b(?:{_any(role + end for role in ROLES for end in ('', 's'))})(?:,| is| named| called|,? named)?\s\Z",
    re.IGNORECASE,
)
_SPEAKING = re.compile(r"[\"”]\s(?:say|says|said|ask|asks|asked|reply|replies|replied)\s\Z")
_ADVERB = r"(?:(?:also|then|now|always|often|never|still|just|only|both|already|once|even|\w+ly)\s)?"
_DOES = re.compile(
    rf"\s{_ADVERB}(?:(?:do|does|did|will|would|can|could|should|may|might|must|has|have)(?:\s?not|n['’]t)?\s{_ADVERB})?(?:{_any(VERBS)})\b"
)
_HIMSELF = re.compile(
    rf"\s(?:is|was|are|were|feels|becomes|gets)(?:\snot)?(?:\svery|\sso|\squite|\stoo|\sa bit|\sa "
    rf"little)?\s(?:{_any(MINDS)})\b"
)
_SOMEBODY = re.compile(
    rf"(?:,| is| was| are| "
    rf"were)\s(?:(?:a|an|the|her|his|their|[A-Z]\w+['’]s?)\s)?(?:[\w-]+\s){{0,4}}?(?:{_any(ROLES)})s?\b"
)
_HAS = re.compile(rf"['’]s?\s(?:\w+\s)?(?:{_any(HAVING)})\b")
_FOR = (_DOES, _HIMSELF, _SOMEBODY, _HAS)
_FAMILY = re.compile(r"\sfamily\b")

_ARTICLE = re.compile(
    r"(?:\b(?:a|an|the|this|these|those|any|each|every|no|most|few|many|are|hardly)|\d)\s\Z", re.IGNORECASE
)
_PLACE = re.compile(
    rf"\b(?:(?:{_any(PLACES_AND_WORKS)})s?(?:\sof|(?:,|\sis)?\s(?:named|called))|(?:{_any(PLACE_WORDS)}))\s\Z",
    re.IGNORECASE,
)
_IN = re.compile(r"\b(?:in|into|near|on the|to the)\s\Z")
_OF_PLACE = re.compile(rf"(?:(?:\sis)?(?:\sa|\sthe)(?:\s\w+)?)?\s(?:{_any(PLACES_AND_WORKS)})\b", re.IGNORECASE)
_TITLE_OF_WORK = (re.compile(r"[\"“'‘]\Z"), re.compile(r"[\"”'’](?!s)"))
_HIS = re.compile("['’]s")


def weight_of(name: str, text: str, start: int) -> int:
    """Return how much the text tells that this word with a capital, which begins at `start`, names somebody: CERTAIN,
    LIKELY, NOTHING or AGAINST it."""
    before, after = text[max(0, start - 60) : start], text[start + len(name) : start + len(name) + 60]
    if _CALLED.fullmatch(name) or _FAMILY.match(after):
        return CERTAIN
    if _PLACE.search(before) or _OF_PLACE.match(after):  # a place, a brand or a work
        return AGAINST
    if _TITLE_OF_WORK[0].search(before) and _TITLE_OF_WORK[1].match(after):
        return AGAINST
    if _IN.search(before) and not _HIS.match(after):
        return AGAINST
    if _TITLE.search(before) or (_SURNAME.search(before) and PINYIN.fullmatch(name)):
        return CERTAIN
    if name in SURNAMES and (given := _GIVEN.match(after)) and PINYIN.fullmatch(given[1]):
        return CERTAIN  # a Chinese name in full, the family's first
    if _ARTICLE.search(before):
        return AGAINST
    if any(pattern.match(after) for pattern in _FOR):
        return LIKELY
    if any(ahead.search(before) and behind.match(after) for ahead, behind in (_SPOKEN_TO, _MADE_TO)):
        return LIKELY
    return LIKELY if any(pattern.search(before) for pattern in (_ASKED, _ADDRESSED, _ROLE, _SPEAKING)) else NOTHING
