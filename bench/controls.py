"""Measure how often the paired difference of a control tells a model that memorised from one that did not.

`python bench/controls.py` prints the tables of docs/statistics.md; `--repetitions 100` is quicker and rougher. Two
models understand stories equally well, some stories better than others; one of them remembers the right answer to a
share of the questions as they were published. Both are asked everything twice: as published and under other names,
where nothing is remembered. Stories have unequal numbers of questions. A repetition is of new stories, so that the
truth is what was built in.

Answers are missing on either side: at random, of hard questions (the harder its story, the likelier), or by what they
say (only wrong ones, only right ones), so that the answered pairs alone would mislead.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import benchmark.domain.asked_again as product
from benchmark.domain.inference import Cases
from core.statistics import ALPHA, by_cluster, numbered, sign_flip_p

RESAMPLES = 400
REPETITIONS = 1000


class World(NamedTuple):
    """Stories, the mean number of `questions` about each, the share of answers that are `remembered`, the shares that
    are `missing` (as published, under the control) and `how`: at random, of hard stories, of wrong or right answers."""

    stories: int
    questions: int
    remembered: float
    missing: tuple[float, float] = (0.0, 0.0)
    how: str = "random"

    @property
    def built_in(self) -> float:
        """The difference that memorising makes: half of the answers would have been right anyway."""
        return self.remembered / 2

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the scores as published and under the control, nan where missing, and the story of each question."""
        sizes = rng.integers(1, 2 * self.questions, self.stories) if self.questions > 1 else np.ones(self.stories, int)
        story, ease = np.repeat(np.arange(self.stories), sizes), np.repeat(rng.beta(3, 3, self.stories), sizes)
        known = rng.random(len(story)) < self.remembered
        published = ((rng.random(len(story)) < ease) | known).astype(float)
        controlled = (rng.random(len(story)) < ease).astype(float)
        return *(
            self._left(rng, *each, ease) for each in zip((published, controlled), self.missing, strict=True)
        ), story

    def _left(self, rng: np.random.Generator, scores: np.ndarray, missing: float, ease: np.ndarray) -> np.ndarray:
        """The scores that are not missing: a half of all is twice as likely to be as `missing` says, by kind."""
        kinds = {"random": np.full(len(scores), 0.5), "hard": 1 - ease, "wrong": 1 - scores, "right": scores}
        chance = np.clip(2 * missing * kinds[self.how], 0, 1)
        return np.where(rng.random(len(scores)) < chance, np.nan, scores)


MEMORY = tuple(
    World(*size, remembered) for size in ((30, 4), (100, 1), (100, 5), (400, 5)) for remembered in (0, 0.1, 0.3)
)
MISSING = (
    World(100, 5, 0.0),
    World(100, 5, 0.0, (0.0, 0.05)),
    World(100, 5, 0.0, (0.0, 0.2)),
    World(100, 5, 0.0, (0.05, 0.05)),
    World(100, 5, 0.0, (0.2, 0.2)),
    World(100, 5, 0.0, (0.0, 0.2), "hard"),
    World(100, 5, 0.0, (0.2, 0.2), "hard"),
    World(100, 5, 0.0, (0.0, 0.05), "wrong"),
    World(100, 5, 0.0, (0.0, 0.2), "wrong"),
    World(100, 5, 0.0, (0.2, 0.2), "wrong"),
    World(100, 5, 0.0, (0.0, 0.05), "right"),
    World(100, 5, 0.0, (0.0, 0.2), "right"),
)
"""Worlds without memory; what the table also has of other sizes and of memory is derived from these."""
SIZES = ((30, 3), (100, 1), (100, 5))


class Found(NamedTuple):
    """How many repetitions have an interval that holds what was built in, and one that leaves out 0; how many show a
    difference, and how many would with missing answers at their worst or by the answered pairs alone; and the mean
    difference."""

    covered: int
    apart: int
    shown: int
    worst: int
    answered: int
    mean: float


class One(NamedTuple):
    """One repetition: the product's difference, and the p that other rules would have."""

    difference: product.Difference
    worst: float
    answered: float


def cases_of(published: np.ndarray, controlled: np.ndarray, story: np.ndarray) -> Cases:
    """Return both sides as cases of single questions."""
    answered = np.array([published, controlled])
    worst, best = np.nan_to_num(answered, nan=0.0), np.nan_to_num(answered, nan=1.0)
    numbers = tuple(range(len(story)))
    return Cases(("published", "controlled"), numbers, worst, best, worst, answered, numbered(story.tolist()))


def repetition(rng: np.random.Generator, world: World, flips: int) -> One:
    """Return one model's difference in new stories."""
    cases, seed = cases_of(*world.draw(rng)), int(rng.integers(2**31))
    difference = product.answered_difference(cases, seed=seed, resamples=RESAMPLES)[1]
    rows = np.array([cases.worst[0] - cases.worst[1], cases.answered[0] - cases.answered[1]])
    sums = rows if cases.clusters is None else by_cluster(np.nan_to_num(rows).T, cases.clusters).T
    return One(difference, *(1.0 if p is None else p for p in sign_flip_p(sums, seed=seed, flips=flips)))


def found(world: World, *, repetitions: int, seed: int, flips: int = 1999) -> Found:
    """Return the figures of all repetitions of a world."""
    results = list(_all(world, repetitions, seed, flips))
    ends = [one.difference.interval or [-1.0, 1.0] for one in results]
    return Found(
        sum(low <= world.built_in <= high for low, high in ends),
        sum(low > 0 or high < 0 for low, high in ends),
        sum((one.difference.p or 0.0) <= ALPHA for one in results),
        sum(one.worst <= ALPHA for one in results),
        sum(one.answered <= ALPHA for one in results),
        float(np.mean([one.difference.value for one in results])),
    )


def _all(world: World, repetitions: int, seed: int, flips: int) -> Iterator[One]:
    rng = np.random.default_rng([seed, world.stories, world.questions, round(100 * world.remembered)])
    for _ in range(repetitions):
        yield repetition(rng, world, flips)


def memory(repetitions: int, seed: int) -> Iterator[str]:
    """Yield the lines of the table of memory, with nothing missing."""
    yield "| stories | questions a story | built in | mean difference | interval holds it | 0 is left out | shown |"
    yield "|---|---|---|---|---|---|---|"
    for world in MEMORY:
        result = found(world, repetitions=repetitions, seed=seed)
        shares = [f"{100 * count / repetitions:.1f} %" for count in (result.covered, result.apart, result.shown)]
        cells = [world.stories, world.questions, f"{world.built_in:.2f}", f"{result.mean:.3f}", *shares]
        yield f"| {' | '.join(map(str, cells))} |"


def missing(repetitions: int, seed: int) -> Iterator[str]:
    """Yield the lines of the table of missing answers: false alarms without memory, and what is shown with it."""
    yield (
        "| missing, published / control | which | stories | questions a story | shown | at their worst | answered "
        "pairs alone | with memory of 15 points: shown |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for kind in MISSING:
        for stories, questions in SIZES:
            world = kind._replace(stories=stories, questions=questions)
            result = found(world, repetitions=repetitions, seed=seed)
            power = found(world._replace(remembered=0.3), repetitions=repetitions, seed=seed).shown
            shares = [f"{100 * n / repetitions:.1f} %" for n in (result.shown, result.worst, result.answered, power)]
            rates = " / ".join(f"{100 * share:.0f} %" for share in world.missing)
            which = world.how if any(world.missing) else "–"
            yield f"| {rates} | {which} | {stories} | {questions} | {' | '.join(shares)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", choices=("memory", "missing"), action="append", help="only this table")
    chosen = parser.parse_args()
    for part in chosen.part or ("memory", "missing"):
        for line in {"memory": memory, "missing": missing}[part](chosen.repetitions, chosen.seed):
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
