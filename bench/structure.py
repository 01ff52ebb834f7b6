"""Measure coverage, false alarms and power of the measures of structure against answers, by simulation.

`python bench/structure.py` prints the tables of docs/statistics.md; `--repetitions 100` is quicker and rougher.
Categories differ in how well structures are built and in how often questions are answered right, and so do models and
single stories; the chance of a right answer grows by the slope with the score of the structure. A repetition is of new
stories and new models, so that the truth is what was built in.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmark.domain.association import COLUMNS, Frame, beyond_category, correlation, crossed
from core.statistics import Estimate

RESAMPLES = 1000
REPETITIONS = 1000
CUT = 0.5
CATEGORIES = 5
TRUTH_STORIES, TRUTH_MODELS = 10_000, 60
TITLES = {
    "difference": "difference",
    "within": "within categories",
    "odds": "odds ratio",
    "phi": "phi",
    "correlation": "correlation",
    "slope": "slope of the mixed model",
}
MEASURES = tuple(TITLES)


@dataclass(frozen=True)
class World:
    """`questions` are asked about a story at most, one at least. `slope` is how much likelier a right answer is at a
    structure of 1 than at one of 0; `apart` is how far categories lie apart in both."""

    stories: int
    models: int
    questions: int
    slope: float
    apart: float = 0.1


WORLDS = tuple(
    World(stories, models, questions, slope, apart)
    for stories, models, questions in ((20, 1, 1), (40, 1, 3), (40, 4, 3), (150, 1, 2), (150, 6, 2), (600, 8, 2))
    for slope, apart in ((0.0, 0.0), (0.0, 0.1), (0.3, 0.1))
)


def drawn(rng: np.random.Generator, world: World) -> dict[str, np.ndarray]:
    """Return new stories, read by new models, as columns over the questions to each model."""
    stories = np.repeat(np.arange(world.stories), rng.integers(1, world.questions + 1, world.stories))
    category = rng.integers(CATEGORIES, size=world.stories)
    level = world.apart * (2 * category / (CATEGORIES - 1) - 1)
    hard, easy = rng.uniform(-0.1, 0.1, (2, world.stories))
    skill = rng.uniform(-0.1, 0.1, world.models)
    structure = 0.5 + level + hard + skill[:, None] + rng.uniform(-0.2, 0.2, (world.models, world.stories))
    likely = 0.5 + level + easy + skill[:, None] + world.slope * (structure - 0.5)
    answer = rng.random((world.models, len(stories))) < likely[:, stories]
    models = np.repeat(np.arange(world.models), len(stories))
    return {
        "model": models,
        "story": np.tile(stories, world.models),
        "category": np.tile(category[stories], world.models),
        "structure": structure[:, stories].ravel(),
        "answer": answer.ravel(),
    }


def frame_of(columns: Mapping[str, np.ndarray]) -> Frame:
    frame = np.zeros(len(columns["story"]), COLUMNS)
    frame["model"], frame["category"] = columns["model"], columns["category"]
    frame["story"] = columns["story"]
    for side in ("structure", "answer"):
        for end in ("", "_worst", "_best"):
            frame[f"{side}{end}"] = columns[side]
    return frame


def estimates(rng: np.random.Generator, world: World, resamples: int = RESAMPLES) -> dict[str, Estimate]:
    """Return what one repetition comes to, by measure."""
    frame, seed = frame_of(drawn(rng, world)), int(rng.integers(2**31))
    rules = {"seed": seed, "resamples": resamples}
    table = crossed(frame, CUT, **rules)
    return {name: getattr(table, name) for name in ("difference", "within", "odds", "phi")} | {
        "correlation": correlation(frame, **rules),
        "slope": beyond_category(frame, **rules).slope,
    }


@lru_cache
def truth(slope: float, apart: float) -> dict[str, float]:
    """The measures over so many stories and models that chance has no part in them, computed apart from the product."""
    columns = drawn(np.random.default_rng(7), World(TRUTH_STORIES, TRUTH_MODELS, 1, slope, apart))
    names = ("model", "category", "structure", "answer")
    model, category, structure, answer = (columns[name] for name in names)
    right, answer = (structure >= CUT).astype(float), answer.astype(float)
    centred = {name: _centred(values, model) for name, values in (("x", structure), ("s", right), ("a", answer))}
    finer = model * CATEGORIES + category
    s, a = _centred(right, finer), _centred(answer, finer)
    return {
        "difference": _slope(centred["s"], centred["a"]),
        "within": _slope(s, a),
        "odds": _odds(right, answer, model),
        "phi": float(np.corrcoef(centred["s"], centred["a"])[0, 1]),
        "correlation": float(np.corrcoef(centred["x"], centred["a"])[0, 1]),
        "slope": slope,
    }


def _centred(values: np.ndarray, strata: np.ndarray) -> np.ndarray:
    return values - (np.bincount(strata, values) / np.bincount(strata))[strata]


def _slope(x: np.ndarray, y: np.ndarray) -> float:
    """The slope within strata: of a right structure, the difference of Mantel and Haenszel."""
    return float((x * y).sum() / (x * x).sum())


def _odds(right: np.ndarray, answer: np.ndarray, strata: np.ndarray) -> float:
    a, b, c, d = (
        np.bincount(strata, cell)
        for cell in (right * answer, right * (1 - answer), (1 - right) * answer, (1 - right) * (1 - answer))
    )
    n = a + b + c + d
    return float((a * d / n).sum() / (b * c / n).sum())


@dataclass(frozen=True)
class Found:
    """In per cent of the repetitions that have an interval: how many hold what was built in and how many leave out none
    (0, of odds 1); and how many repetitions have an interval."""

    covered: float
    apart: float
    known: float


def found(world: World, *, repetitions: int, seed: int, resamples: int = RESAMPLES) -> dict[str, Found]:
    """Return what the repetitions of one world come to, by measure."""
    rng = np.random.default_rng([seed, world.stories, world.models, world.questions])
    each = [estimates(rng, world, resamples) for _ in range(repetitions)]
    expected = truth(world.slope, world.apart)
    return {name: _found([one[name] for one in each], expected[name], float(name == "odds")) for name in MEASURES}


def _found(each: Sequence[Estimate], expected: float, none: float) -> Found:
    ends = [estimate.interval for estimate in each if estimate.interval]
    covered = sum(low <= expected <= high for low, high in ends)
    apart = sum(low > none or high < none for low, high in ends)
    count = max(1, len(ends))
    return Found(100 * covered / count, 100 * apart / count, 100 * len(ends) / len(each))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    heads = [f"{TITLES[name]}" for name in MEASURES]
    print(f"| stories | models | questions | slope | categories apart | {' | '.join(heads)} |")
    print("|---" * (5 + len(heads)) + "|")
    for world in WORLDS:
        results = found(world, repetitions=chosen.repetitions, seed=chosen.seed)
        cells = [f"{one.covered:.1f} ({one.apart:.1f})" for one in results.values()]
        facts = [world.stories, world.models, f"1–{world.questions}" if world.questions > 1 else 1, world.slope]
        print(f"| {' | '.join(map(str, facts))} | {'yes' if world.apart else 'no'} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
