"""The number of a story's sentences to which a model gave the right perceivers.

Sentences on what somebody likes and on who enters or leaves are not scored. The released code counts those that the
model wrote, so that leaving one out costs nothing; the recall counts those of the story.
"""

import re
import string
from collections.abc import Collection, Iterable, Sequence

from benchmark.methods.perceptom import perceptions_of, repaired_perceptions
from benchmark.suites.closed_sets import in_words, main_clause, outside_place, without_denied
from benchmark.suites.perceiving.perceptions import ACCURACY, RECALL, WHOLE, Shares, makes_a_set, names_in, same_names
from benchmark.suites.refusals import own_words
from core.messages import gettext_noop

_UNSCORED = ("loves", "likes", "hates", "dislikes", "exited", "entered")
_UNSCORED_WORDS = re.compile(rf"\b(?:{'|'.join(_UNSCORED)})\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def is_scored(sentence: str) -> bool:
    """Return whether a sentence says where a thing is or that it is moved."""
    return not _UNSCORED_WORDS.search(sentence.lower())


def official_shares(answer: str, story: Sequence[str], perceivers: Sequence[Sequence[str]]) -> Shares | None:
    """Return the shares of an answer; None where the released code leaves the story out, or fails at it."""
    perceived = perceptions_of(answer)
    if not perceived or not all(perceived):
        return None
    gold = dict(zip(story, map(tuple, perceivers), strict=True))
    firsts = [next(iter(entry.items())) for entry in perceived]
    pairs = [(str(sentence), names) for sentence, names in firsts if _officially_scored(str(sentence))]
    if not pairs or not all(makes_a_set(names) for _, names in pairs):
        return None
    right = []
    for sentence, names in pairs:
        bare = sentence.translate(_PUNCTUATION)
        unit = next((unit for unit in gold if bare in unit.translate(_PUNCTUATION)), None)
        if unit is not None and {*names} == {*gold[unit]}:
            right.append(unit)
    units = [sentence for sentence in gold if _officially_scored(sentence)]
    return {
        ACCURACY: len(right) / len(pairs),
        RECALL: len({*right} & {*units}) / len(units) if units else None,
        WHOLE: float(len(right) == len(pairs)),
    }


def _officially_scored(sentence: str) -> bool:
    return not any(word in sentence for word in _UNSCORED)


def repaired_scenes(answer: str, story: Sequence[str]) -> list[tuple[int | None, list[str] | None]] | None:
    """Return (the number of the story's sentence from 0, the perceivers) of each scored sentence that an answer has;
    None where it cannot be read.

    Equal sentences of a story are taken in their order. The number is None of a sentence that the story lacks or that
    is there once too often, the perceivers are None where they are not names.
    """
    perceived = repaired_perceptions(answer)
    if perceived is None:
        return None
    units = [_bare(sentence) for sentence in story]
    scenes: list[tuple[int | None, list[str] | None]] = []
    taken: set[int] = set()
    for sentence, names in (pair for entry in perceived for pair in entry.items()):
        bare = _bare(str(sentence))
        at = next((at for at, unit in enumerate(units) if at not in taken and unit == bare), None)
        if at is not None:
            taken.add(at)
        if is_scored(bare):
            scenes.append((at, names_in(names)))
    return scenes


def _bare(sentence: str) -> str:
    return " ".join(sentence.lower().translate(_PUNCTUATION).split())


def repaired_shares(answer: str, story: Sequence[str], perceivers: Sequence[Sequence[str]]) -> Shares | None:
    """Return the shares of an answer; None where it cannot be read. A sentence that is left out has no perceivers that
    are right."""
    scenes = repaired_scenes(answer, story)
    if scenes is None:
        return None
    units = [at for at, sentence in enumerate(story) if is_scored(sentence)]
    right = [at for at, names in scenes if at is not None and names is not None and same_names(names, perceivers[at])]
    return {
        ACCURACY: len(right) / len(scenes) if scenes else None,
        RECALL: len(right) / len(units) if units else None,
        WHOLE: float(len(right) == len(units)),
    }


NO_OUTPUT = "no output"
"""The text for an answer that never came; the released code leaves such a question out."""
SEVERAL = gettext_noop("names more than one container")
NONE = gettext_noop("names no place")


def official_right(answer: str, gold: str) -> bool | None:
    """Return whether the place stands in the answer to the letter, even within a word or beside others; None of an
    answer that is left out."""
    return None if answer == NO_OUTPUT else gold in answer


def named_place(answer: str, containers: Sequence[str], candidates: Collection[str]) -> tuple[str | None, str]:
    """Return (the place that an answer names, why there is none).

    That is the one container that it names in whole words, first of all before it gives its reasons. An answer that
    names no container is taken to mean another candidate, such as the room, and else the place that it does name:
    one that the story lacks is an answer, and wrong.
    """
    own = own_words(answer)
    own = own._replace(text=without_denied(own.text, (*containers, *candidates)))
    clauses = dict.fromkeys((main_clause(own.text), own.text))
    for names in (containers, [name for name in candidates if name not in containers]):
        for text in clauses:
            named = _named(text, names)
            if len(named) > 1 and names is containers:
                return None, own.why(SEVERAL)
            if named:
                return named[0], ""
    place = outside_place(own, (*containers, *candidates))
    return (place, "") if place else (None, own.why(NONE))


def _named(answer: str, names: Iterable[str]) -> list[str]:
    """The names that stand in an answer, longest first; within a longer name a shorter one does not count."""
    named = []
    for name in sorted(dict.fromkeys(names), key=len, reverse=True):
        pattern = re.compile(rf"(?<!\w){in_words(name)}(?:e?s)?(?!\w)", re.IGNORECASE)
        if pattern.search(answer):
            named.append(name)
        answer = pattern.sub(" ", answer)
    return named
