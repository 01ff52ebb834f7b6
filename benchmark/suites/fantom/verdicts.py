"""Verdicts of a judge on a belief in free words: which of the two published texts it states, if any.

The judge is shown both texts as A and B. Over the beliefs of a dataset, in an order that the run's seed draws, the
right text is A and B by turns.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple

from benchmark.suites.fantom_questions.question_types import TYPES
from benchmark.suites.fantom_questions.rows import DISTANCE
from benchmark.suites.questions import Question, Sample
from core.incoming.embedded_json import values_in

FREE = TYPES[DISTANCE, ""]
"""The category of beliefs in free words."""
RIGHT, WRONG, NEITHER, CANNOT_TELL = "right", "wrong", "neither", "cannot tell"
"""Statement of an answer: the right belief, the wrong one, another one or none; or it may mean either."""
A, B = "A", "B"
CHOICES = (A, B, NEITHER, CANNOT_TELL)
"""Choices of a judge."""
_BY_WORD = {choice.casefold(): choice for choice in CHOICES} | {
    "can't tell": CANNOT_TELL,
    "can’t tell": CANNOT_TELL,
}
_WORDS = "|".join(map(re.escape, _BY_WORD))
_LINE = re.compile(rf"^\W*verdict\W*[:=]\W*(?:answer\s+)?({_WORDS})\W*$", re.IGNORECASE | re.MULTILINE)
_ALONE = re.compile(rf"\W*(?:answer\s+)?({_WORDS})\W*", re.IGNORECASE)


class Options(NamedTuple):
    """Both published texts as a judge is shown them; `right_is_a` says which is which."""

    a: str
    b: str
    right_is_a: bool

    @property
    def swapped(self) -> Options:
        return Options(self.b, self.a, not self.right_is_a)

    def verdict(self, choice: str) -> str:
        """Return what a judge says of the answer where it says one of CHOICES."""
        if choice in (A, B):
            return RIGHT if (choice == A) == self.right_is_a else WRONG
        return choice


def is_free(sample: Sample) -> bool:
    """Return whether a question asks for a belief in free words."""
    return bool(sample.content["kind"] == DISTANCE)


def options_of(question: Question) -> Options:
    """Return both texts of a belief in the order of the run's seed."""
    sample, seed = question.sample, question.settings.seed
    odd = question.resources.derived(f"fantom judged in order {seed}", lambda samples: _odd_sets(samples, seed))
    right_is_a = (_place(sample) + (sample.group in odd)) % 2 == 0
    right, wrong = sample.gold["right"][0], sample.gold["wrong"][0]
    return Options(right, wrong, True) if right_is_a else Options(wrong, right, False)


def _odd_sets(samples: Sequence[Sample], seed: int) -> frozenset[str]:
    """Return the sets before which an odd number of beliefs comes in the order that the seed draws."""
    counts: dict[str, int] = {}
    for sample in filter(is_free, samples):
        counts[sample.group] = counts.get(sample.group, 0) + 1
    odd, before = set(), 0
    for name in sorted(counts, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest()):
        odd |= {name} if before % 2 else set()
        before += counts[name]
    return frozenset(odd)


def _place(sample: Sample) -> int:
    """Return the place of a belief among those of its set."""
    match = re.search(r"/belief(\d+)/", sample.key)
    return int(match[1]) if match else 0


def verdict_in(answer: str, *, structured: bool) -> str | None:
    """Return which of CHOICES a judge's answer says, None where it says none: in the last line that gives a verdict, or
    as the whole answer; of a structured one in the last object with a `verdict`."""
    if structured:
        return _structured(answer)
    lines = _LINE.findall(answer)
    verdict = lines[-1] if lines else (alone[1] if (alone := _ALONE.fullmatch(answer)) else "")
    return _BY_WORD.get(verdict.casefold())


def _structured(answer: str) -> str | None:
    verdict = (values_in(answer).object_with("verdict") or {}).get("verdict")
    return _BY_WORD.get(verdict.strip().casefold()) if isinstance(verdict, str) else None
