"""Measure how often the chart of a watch alarms without a drop, and how soon it notices one.

    python bench/drift.py                 # the table of docs/statistics.md
    python bench/drift.py --charts 40     # quicker and rougher

Simulated are anchors of 25 rows that a judge is asked about again at the start, and then in watches of 500 answers.
Each anchor has a level of its own, the share of rows with the same verdict as at first: all alike, or beta distributed.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from judge.domain.calibration.drift import chart

ROWS, STRENGTH, HORIZON = 25, 40, 500


@dataclass(frozen=True, slots=True)
class World:
    """Anchors asked again so many `rounds` at the start, the mean of their levels and the standard deviation of these,
    and the drop that the chart is for."""

    anchors: int
    rounds: int
    mean: float
    apart: float
    drop: float = 0.1


WORLDS = (
    World(20, 5, 0.92, 0.0),
    World(20, 5, 0.92, 0.06),
    World(20, 5, 0.92, 0.06, 0.05),
    World(20, 5, 0.85, 0.12),
    World(20, 5, 0.97, 0.03),
    World(10, 10, 0.9, 0.1),
    World(6, 17, 0.9, 0.1),
    World(34, 3, 0.9, 0.1),
    World(50, 2, 0.9, 0.1),
)


def levels(rng: np.random.Generator, world: World) -> np.ndarray:
    if not world.apart:
        return np.full(world.anchors, world.mean)
    strength = world.mean * (1 - world.mean) / world.apart**2 - 1
    return np.clip(rng.beta(world.mean * strength, (1 - world.mean) * strength, world.anchors), 0.001, 0.999)


def answers(rng: np.random.Generator, level: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Agreements of shape (*shape, anchors)."""
    chance = rng.beta(STRENGTH * level, STRENGTH * (1 - level), (*shape, len(level)))
    return rng.binomial(ROWS, chance) / ROWS


def first_alarms(short: np.ndarray, limit: float) -> np.ndarray:
    """After how many answers each watch alarms, a row of what it falls short of; infinite where it does not."""
    steps = np.cumsum(short, axis=1)
    beyond = steps - np.minimum(np.minimum.accumulate(steps, axis=1), 0) > limit
    return np.where(beyond.any(axis=1), beyond.argmax(axis=1) + 1.0, np.inf)


def measured(world: World, charts: int, watches: int) -> list[str]:
    rng = np.random.default_rng((7, world.anchors, round(1000 * world.apart)))
    false, noticed, stated = [], [], []
    for _ in range(charts):
        level = levels(rng, world)
        start = answers(rng, level, (world.rounds,))
        made = chart({str(at): start[:, at] for at in range(world.anchors)}, size=world.drop, seed=1)
        repeats = -(-HORIZON // world.anchors)
        later = answers(rng, level, (watches, repeats)).reshape(watches, -1)[:, :HORIZON]
        usual = np.tile(start.mean(axis=0), repeats)[:HORIZON] - world.drop / 2
        false.append(np.isfinite(first_alarms(usual - later, made.limit)).mean())
        noticed.append(first_alarms(usual - later + world.drop, made.limit))
        stated.append((made.false_alarms, made.median or np.inf, made.most or np.inf))
    rate, half, most = np.median(stated, axis=0)
    found = np.quantile(np.concatenate(noticed), [0.5, 0.9], method="higher")
    error = 100 * np.std(false) / len(false) ** 0.5
    return [
        f"{100 * rate:.0f}", f"{100 * np.mean(false):.1f} ± {error:.1f}",
        f"{half:.0f}, {most:.0f}", f"{found[0]:.0f}, {found[1]:.0f}",
    ]  # fmt: skip


HEADS = (
    "anchors", "asked at the start", "mean level", "levels apart (SD)", "drop (points)", "false alarms stated (%)",
    "false alarms (%) ± standard error", "stated: noticed within (half, nine of ten)", "noticed within",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--charts", type=int, default=100, metavar="N")
    parser.add_argument("--watches", type=int, default=20, metavar="N", help="of each chart")
    options = parser.parse_args()
    print("| " + " | ".join(HEADS) + " |")
    print("|" + " ---: |" * len(HEADS))
    for world in WORLDS:
        of = (world.anchors, world.rounds, f"{world.mean:.2f}", f"{world.apart:.2f}", f"{100 * world.drop:.0f}")
        cells = measured(world, options.charts, options.watches)
        print("| " + " | ".join([*map(str, of), *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
