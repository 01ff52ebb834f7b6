"""Parses of answers: labels of gold and of prediction, as the released code and as a person reads them.

The released code looks for words as parts of others: "He knows" says No, "eyes" says Yes.
"""

import re
from collections.abc import Mapping, Sequence

from benchmark.methods.answering import COT
from benchmark.suites.closed_sets import main_clause, outside, outside_place, place_in, without_denied, words
from benchmark.suites.refusals import own_words
from core.messages import gettext_noop

COARSE, FINE, FULLNESS, ACCESSIBILITY, ATTITUDE = "coarse", "fine", "fullness", "accessibility", "attitude"
"""The kinds of questions."""
UNREADABLE, OUTSIDE, NEITHER = -1, -2, 3
"""The labels of an answer that cannot be read, of one that is none of those that there are, which the repaired parse
takes for wrong, and of a place that is as much the one as the other."""
LABELS: Mapping[str, Mapping[str, int]] = {
    COARSE: {"No": 0, "Yes": 1},
    FULLNESS: {"less full": 1, "more full": 2, "equally full": 3},
    ACCESSIBILITY: {"more accessible": 1, "less accessible": 2, "equally accessible": 3},
    ATTITUDE: {"positive": 1, "negative": 2, "neutral": 3},
}
"""By kind, the number that official scoring gives to each answer; those of a place are 1 for the original and 2 for the
new one."""
Places = tuple[str, str]
"""The original and the new place."""
_FULLNESS = {1: ("less full", "emptier", "more empty"), 2: ("more full", "fuller"), 3: ("equally full",)}
_LETTERS = {"a": "positive", "b": "neutral", "c": "negative"}


def without_article(place: str) -> str:
    """Return a place without the beginning `a`, `an` or `the` as released code removes it: of words too, so that
    `attic` is `ttic`."""
    article = next((article for article in ("a", "an", "the") if place.startswith(article)), "")
    return place.removeprefix(article).strip() if article else place


def overlap(answer: str, place: str) -> float:
    """Return how many words of a place an answer has, from 0 to 1; of equal words of the place one counts."""
    given, words = (
        text.lower().replace("_", " ").replace("'s", "").split() for text in (answer.replace(".", ""), place)
    )
    return len({*given} & {*words}) / len(words)


def gold_label(kind: str, answer: str, places: Places) -> int | None:
    """Return the number of a gold answer; None of one that official scoring leaves out."""
    if kind == FINE:
        bare = [without_article(place).lower() for place in places]
        gold = without_article(answer).lower()
        return bare.index(gold) + 1 if gold in bare else None
    return LABELS[kind].get(answer, 3 if kind == ACCESSIBILITY else None)


def after_reasoning(answer: str) -> str:
    """Return the part of an answer by chain of thought that the released code reads: its last line, of one line what
    follows the last `Therefore`. It does so for results whose path has `cot` in it, not for those of Self-Ask."""
    return answer.rpartition("\n" if "\n" in answer else "Therefore")[2]


def predicted_label(kind: str, answer: str, places: Places) -> int:
    """Return the number of an answer, UNREADABLE where it cannot be read; a place that both are equally like is
    NEITHER. `answer` has no outer space."""
    text = answer.lower()
    if kind == FINE:
        original, moved = (overlap(answer, without_article(place)) for place in places)
        return NEITHER if original == moved else 1 if original > moved else 2
    if kind == COARSE:
        yes, no = "yes" in text, "no" in text
        return UNREADABLE if yes == no else int(yes)
    if kind == ATTITUDE:
        text = text.split("\n\n")[-1].split(":")[-1].split(".")[0].strip()
        named = [label for word, label in LABELS[ATTITUDE].items() if word in _LETTERS.get(text, text)]
        return named[0] if len(named) == 1 else UNREADABLE
    if kind == FULLNESS:
        text = text.replace(".", "")
        return next((label for label, phrases in _FULLNESS.items() if any(map(text.__contains__, phrases))), UNREADABLE)
    return next((label for phrase, label in LABELS[ACCESSIBILITY].items() if phrase in text), UNREADABLE)


NOTHING_READ = gettext_noop("says none of the answers")
SEVERAL = gettext_noop("names more than one of the answers")
_UNCHANGED = ("unchanged", "the same", "no change", "not change", "not changed")
_PHRASES: Mapping[str, Mapping[int, Sequence[str]]] = {
    COARSE: {0: ("no",), 1: ("yes",)},
    FULLNESS: {
        1: ("less full", "emptier", "more empty"),
        2: ("more full", "fuller"),
        3: ("equally full", "as full as before", "just as full", *_UNCHANGED),
    },
    ACCESSIBILITY: {
        1: ("more accessible",),
        2: ("less accessible",),
        3: ("equally accessible", "as accessible as before", "just as accessible", *_UNCHANGED),
    },
    ATTITUDE: {1: ("positive",), 2: ("negative",), 3: ("neutral",)},
}
_DENIED = re.compile(r"\b(?:not|never|neither|nor|isn't|isn’t|is no)\s+(?:be\s+|become\s+|any\s+|really\s+)?$")
_NO_ANSWER = r"(?!\s+(?:one|longer|doubt|idea|change|more|less)\b)"
"""Words behind a "no" that is no answer."""
_ARTICLE = re.compile(r"^(?:a|an|the)\s+")
_FUNCTION_WORDS = words(
    "a an the of in on at to by for with from into inside near under and or no not it its this that these those his "
    "her hers their theirs my mine your our own is are was be been can could will would may might must shall should "
    "do does did has have had i you he she they we s t ll re ve"
)
_SYNONYMS = {"fridge": "refrigerator", "countertop": "counter"}
_TRASH_CAN = re.compile(r"\b(?:trash|garbage|rubbish|waste)\s+(?:can|bin|basket|container|receptacle)\b")


_CONCLUSION = re.compile(r"\b(?:therefore|thus|hence)\b[\s,:]*", re.IGNORECASE)


def read_answer(kind: str, answer: str, places: Places) -> tuple[int | None, str, str]:
    """Return what an answer to a question of a kind is read as: its label, OUTSIDE of one that is none of those that
    there are, with what it says then; the label is None where there is a reason, the last of the three."""
    own = own_words(answer)
    labels = _place(own.text, places) if kind == FINE else _phrase(own.text, kind)
    if len(labels) == 1:
        return labels.pop(), "", ""
    if labels:
        return None, "", own.why(SEVERAL)
    if kind == FINE:
        other = outside_place(own, places)
    else:
        phrases = [phrase for each in _PHRASES[kind].values() for phrase in each]
        other = outside(own, phrases)
        if any(re.search(rf"\b{re.escape(phrase)}\b", other.lower()) for phrase in phrases):
            other = ""  # it denies one
    return (OUTSIDE, other, "") if other else (None, "", own.why(NOTHING_READ))


def after_thinking(answer: str) -> str:
    """Return the part of an answer by chain of thought that holds the answer: what follows "Final answer:", else the
    last line that says something, and in it what follows its last "Therefore"."""
    last = COT.read(answer)
    conclusion = _CONCLUSION.split(last)[-1]
    return conclusion if re.search(r"\w", conclusion) else last


def _phrase(answer: str, kind: str) -> set[int]:
    """The labels that an answer has in words and does not deny; before its reasons, if there."""
    labels: set[int] = set()
    for clause in (main_clause(answer), answer):
        text = " ".join(clause.lower().split())
        labels = labels or {
            label
            for label, phrases in _PHRASES[kind].items()
            for phrase in phrases
            for match in re.finditer(rf"\b{re.escape(phrase)}\b{_NO_ANSWER if phrase == 'no' else ''}", text)
            if not _DENIED.search(text[max(0, match.start() - 60) : match.start()])
        }
    return labels


def _place(answer: str, places: Places) -> set[int]:
    """The places that an answer names as a whole, before its reasons, if there; else those of which the words of the
    place that it gives are a part, or which are a part of them; else those with the same last word, which says what
    kind of thing it is."""
    names = [_plain(place) for place in places]
    answer = without_denied(answer, {*places, *names})
    for text in (main_clause(answer), answer):
        if named := _named(_plain(text), names):
            return named
    given, words_of = _content(place_in(answer, places)), [_content(place) for place in places]
    if not given:
        return set()
    parts = {at + 1 for at, place in enumerate(words_of) if {*place} <= {*given} or {*given} <= {*place}}
    return parts or {at + 1 for at, place in enumerate(words_of) if place[-1] == given[-1]}


def _named(text: str, names: Sequence[str]) -> set[int]:
    """The longer name is looked for first, since it may hold the other."""
    named = set()
    for at in sorted((0, 1), key=lambda at: -len(names[at])):
        pattern = rf"\b{re.escape(names[at])}\b"
        if re.search(pattern, text):
            named.add(at + 1)
            text = re.sub(pattern, " ", text)
    return named


def _content(place: str) -> list[str]:
    """The words of a place that say something, its last word among them: the "can" of a trash can is a thing."""
    given = [_SYNONYMS.get(word, word) for word in _TRASH_CAN.sub("trash can", _plain(place)).split()]
    return [word for word in given[:-1] if word not in _FUNCTION_WORDS] + given[-1:]


def _plain(text: str) -> str:
    """Words in lower case, without an article before them, possessive endings and punctuation."""
    bare = re.sub(r"[^\w\s]", " ", text.lower().replace("_", " ").replace("’s", "").replace("'s", ""))
    return _ARTICLE.sub("", " ".join(bare.split()))
