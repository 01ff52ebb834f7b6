"""Measure how often intervals of variance shares hold the truth, and what is found where prompts have no effect.

    python bench/variance.py                     # the table of docs/statistics.md
    python bench/variance.py --data-sets 100     # quicker and rougher

Simulated are scores of stories by several prompts, several times each: normal scores around a mean of the story, or
answers that are right or wrong with such a chance. *Uneven*: every prompt was asked once to four times of each story,
and a tenth of the scores is missing.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.statistics.variance import CLUSTERS, CONDITIONS, REPETITIONS, variance_split

NAMES = (CLUSTERS, CONDITIONS, REPETITIONS)
STORIES = (10, 30, 100)
HEADS = (
    "scores", "stories", "prompts × times", "truth: stories, prompts, repetitions (%)", "mean estimate, prompts (%)",
    "holds: stories (%)", "prompts (%)", "repetitions (%)", "0 is left out, prompts (%)",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class World:
    """Standard deviations of stories, of prompts as a whole, of prompts within stories, and of repetitions."""

    name: str
    prompts: int
    times: int
    story: float
    fixed: float
    crossed: float
    noise: float = 0.1
    binary: bool = False
    uneven: bool = False


WORLDS = (
    World("normal, no effect", 3, 3, 0.2, 0.0, 0.0),
    World("normal, the same for all stories", 3, 3, 0.2, 0.04, 0.0),
    World("normal, other for every story", 3, 3, 0.2, 0.0, 0.05),
    World("normal, small, two prompts", 2, 2, 0.1, 0.05, 0.0, 0.2),
    World("uneven, no effect", 3, 3, 0.2, 0.0, 0.0, uneven=True),
    World("uneven, both", 3, 3, 0.2, 0.08, 0.05, uneven=True),
    World("right or wrong, no effect", 3, 3, 0.25, 0.0, 0.0, binary=True),
    World("right or wrong, both", 3, 3, 0.15, 0.08, 0.1, binary=True),
)


def chances(rng: np.random.Generator, world: World, stories: int) -> np.ndarray:
    fixed = np.linspace(-1, 1, world.prompts)
    fixed = world.fixed * fixed / fixed.std()
    own = rng.normal(0, world.story, (stories, 1)) + rng.normal(0, world.crossed, (stories, world.prompts))
    means = 0.5 + fixed + own
    return np.clip(means, 0, 1) if world.binary else means


def drawn(rng: np.random.Generator, world: World, stories: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    means = chances(rng, world, stories)
    times = rng.integers(1, 5, means.shape) if world.uneven else np.full(means.shape, world.times)
    story, prompt = np.repeat(np.indices(means.shape).reshape(2, -1), times.ravel(), axis=1)
    here = means[story, prompt]
    scores = rng.binomial(1, here).astype(float) if world.binary else rng.normal(here, world.noise)
    kept = rng.random(len(scores)) > 0.1 * world.uneven
    return scores[kept], story[kept], prompt[kept]


def truth(rng: np.random.Generator, world: World) -> np.ndarray:
    """The shares, of very many stories."""
    means = chances(rng, world, 200_000)
    columns, rows = means.mean(axis=0), means.mean(axis=1)
    crossed = ((means - columns - rows[:, None] + rows.mean()) ** 2).sum(axis=1).mean() / (world.prompts - 1)
    noise = float((means * (1 - means)).mean()) if world.binary else world.noise**2
    parts = np.array([rows.var() - crossed / world.prompts, columns.var() + crossed, noise])
    parts = np.where(parts < 1e-5, 0.0, parts)
    return parts / parts.sum()


def measured(rng: np.random.Generator, world: World, stories: int, shares: np.ndarray, data_sets: int) -> list[str]:
    held, estimates, found = np.zeros(3), [], 0
    for _ in range(data_sets):
        split = variance_split(*(column.tolist() for column in drawn(rng, world, stories)))
        ends = [split.intervals[name] for name in NAMES]
        held += [low - 1e-9 <= share <= high + 1e-9 for share, (low, high) in zip(shares, ends, strict=True)]
        estimates.append(split.estimates[CONDITIONS])
        found += split.intervals[CONDITIONS][0] > 1e-9
    holds = [f"{share:.1f}" for share in 100 * held / data_sets]
    return [f"{100 * np.mean(estimates):.1f}", *holds, f"{100 * found / data_sets:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=400, metavar="N")
    options = parser.parse_args()
    rng = np.random.default_rng(15)
    print("| " + " | ".join(HEADS) + " |")
    print("|---| ---: |---|---|" + " ---: |" * (len(HEADS) - 4))
    for world in WORLDS:
        shares = truth(rng, world)
        for stories in STORIES:
            cells = measured(rng, world, stories, shares, options.data_sets)
            of = (world.name, stories, f"{world.prompts} × {world.times}", ", ".join(f"{100 * x:.1f}" for x in shares))
            print("| " + " | ".join([*map(str, of), *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
