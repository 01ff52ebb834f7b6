"""The five samples of fifty narratives on which the benchmark's own figures rest, and the questions asked of each.

The released code draws them with a fixed seed whatever its `--seed` says: Python's generator shuffles the narratives
once, and NumPy's takes two of the four questions about fullness out of each multi-hop file of each narrative. Both are
drawn here anew. The hundred long narratives make two samples of fifty: they are shuffled three times for five, which
overlap. That each of these shuffles starts from the order that the one before left is our reading.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from benchmark.suites.opentom.data import OpenQuestion, OpenToM
from benchmark.suites.opentom.kinds import COARSE, FILES, FINE, FULLNESS

SEED = 42
BATCHES, BATCH_SIZE = 5, 50
_LEFT_OUT = 2


class Sampled(NamedTuple):
    """A question that the released code asks: in which batch (from 1), and its number among those of its narrative in a
    part (from 0)."""

    batch: int
    number: int
    question: OpenQuestion

    @property
    def id(self) -> str:
        """The name of the question in the released code's result files, as `id_of` makes it."""
        return id_of(self.batch, self.question.narrative.key, self.number)


def id_of(batch: int, narrative: str, number: int) -> str:
    """Return the name of a question in the released code's result files, unique within a part:
    `batch-<batch>/<narrative>/<number>`."""
    return f"batch-{batch}/{narrative}/{number}"


def batches(keys: Sequence[str]) -> list[list[str]]:
    """Return the keys of the five samples of narratives; `keys` are those of all, in the order of the file."""
    shuffled = list(keys)
    random.Random(SEED).shuffle(shuffled)
    return [shuffled[start : start + BATCH_SIZE] for start in range(0, BATCHES * BATCH_SIZE, BATCH_SIZE)]


def long_batches(keys: Sequence[str]) -> list[list[str]]:
    """Return the keys of the five samples of long narratives, two of each shuffle; `keys` are those of all, in the
    order of the file."""
    shuffled, generator = list(keys), random.Random(SEED)
    drawn: list[list[str]] = []
    while len(drawn) < BATCHES:
        generator.shuffle(shuffled)
        drawn += [shuffled[:BATCH_SIZE], shuffled[BATCH_SIZE : 2 * BATCH_SIZE]]
    return drawn[:BATCHES]


def sampled(copy: OpenToM, part: str, *, long: bool = False) -> Iterator[Sampled]:
    """Yield the questions that the released code asks in a part (`coarse` or `fine`), or about long narratives, in its
    order."""
    left_out = np.random.RandomState(SEED)
    keys_of_all = [key for key, narrative in copy.narratives.items() if narrative.long_text or not long]
    for batch, keys in enumerate((long_batches if long else batches)(keys_of_all), start=1):
        for key in keys:
            for number, question in enumerate(_asked(copy, key, part, left_out)):
                yield Sampled(batch, number, question)


def _asked(copy: OpenToM, key: str, part: str, left_out: np.random.RandomState) -> Iterator[OpenQuestion]:
    for file in FILES:
        questions = copy.questions[file.name][key]
        if file.kind in (COARSE, FINE):
            yield from questions if file.kind == part else ()
            continue
        if file.kind:
            yield from questions
            continue
        fullness = [question.index for question in questions if question.kind == FULLNESS]
        dropped = {*left_out.choice(fullness, _LEFT_OUT, replace=False).tolist()}
        yield from (question for question in questions if question.index not in dropped)
