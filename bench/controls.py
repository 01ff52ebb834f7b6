"""Measure how often the paired difference of a control tells a model that memorised from one that did not.

`python bench/controls.py` prints the table of docs/statistics.md; `--repetitions 200` is quicker and rougher. Two
models understand stories equally well, some stories better than others; one of them remembers the right answer to a
share of the questions as they were published. Both are asked everything twice: as published and under other names,
where nothing is remembered. A repetition is of new stories, so that the truth is what was built in.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmark.controls.differences import Paired, paired

RESAMPLES = 1000
REPETITIONS = 1000
WORLDS = ((30, 4), (100, 1), (100, 5), (400, 5))
"""Stories and questions about each."""
REMEMBERED = (0.0, 0.1, 0.3)


class Found(NamedTuple):
    """How many intervals of all repetitions hold what was built in, how many leave out 0, and the mean difference."""

    covered: int
    apart: int
    mean: float


def repetition(rng: np.random.Generator, stories: int, questions: int, remembered: float) -> tuple[Paired, float]:
    """Return what one model comes to, and the difference that was built in: `remembered` is the share of questions
    whose answer it knows by heart, which it would have understood anyway in half of the cases."""
    understood = np.repeat(rng.beta(3, 3, stories), questions)
    known = rng.random(len(understood)) < remembered
    published = (rng.random(len(understood)) < understood) | known
    controlled = rng.random(len(understood)) < understood
    clusters = {number: number // questions for number in range(len(understood))}
    sides = ({number: float(score) for number, score in enumerate(side)} for side in (published, controlled))
    result = paired(*sides, clusters, seed=int(rng.integers(2**31)), unit="stories", resamples=RESAMPLES)
    return result, remembered / 2


def found(stories: int, questions: int, remembered: float, *, repetitions: int, seed: int) -> Found:
    """Return what the repetitions of one world come to."""
    results = list(_all(stories, questions, remembered, repetitions, seed))
    ends = [(result.difference.interval or [-1.0, 1.0], truth) for result, truth in results]
    return Found(
        sum(low <= truth <= high for (low, high), truth in ends),
        sum(low > 0 or high < 0 for (low, high), _ in ends),
        float(np.mean([result.difference.value for result, _ in results])),
    )


def _all(
    stories: int, questions: int, remembered: float, repetitions: int, seed: int
) -> Iterator[tuple[Paired, float]]:
    rng = np.random.default_rng([seed, stories, questions, round(100 * remembered)])
    for _ in range(repetitions):
        yield repetition(rng, stories, questions, remembered)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    print("| stories | questions a story | built in | mean difference | interval holds it | 0 is left out |")
    print("|---|---|---|---|---|---|")
    for stories, questions in WORLDS:
        for remembered in REMEMBERED:
            result = found(stories, questions, remembered, repetitions=chosen.repetitions, seed=chosen.seed)
            shares = [f"{100 * count / chosen.repetitions:.1f} %" for count in (result.covered, result.apart)]
            print(f"| {stories} | {questions} | {remembered / 2:.2f} | {result.mean:.3f} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
