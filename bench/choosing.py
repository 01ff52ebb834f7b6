"""Measure what a choice among judges is worth: how often the chosen one is wrongly called better than another, and how
often the interval of its agreement holds the truth.

`python bench/choosing.py` prints the tables of docs/statistics.md; `--repetitions 100` is quicker and rougher. Judges
read the same tables of 4 to 40 rows; stories differ in how hard they are, for all judges and for each, so that judges
err together. Some leave rows out, whichever they are or those on which they would be wrong. In each repetition the
judge that agrees most with people is chosen, as papers do, and compared with every other one.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.statistics import ALPHA, holm
from judge.domain.calibration.selection import Selection, selections
from judge.domain.calibration.tables import Row, Side, Table, Unknown

SIZES = (4, 8, 16, 24, 40)
SHARED, OWN = 0.08, 0.08
"""Standard deviations between stories: of how hard they are for all judges, and for each one besides."""
CENSUS = 400_000


class World(NamedTuple):
    """How often each judge is right, the share of rows that each leaves out, whichever they are, and the share that the
    first one leaves out of those on which it would be wrong (`hiding`)."""

    name: str
    right: tuple[float, ...]
    missing: float = 0.0
    hiding: float = 0.0


WORLDS = (
    *(World(f"{k} equal", (0.8,) * k) for k in (2, 4, 8, 12)),
    World("8 equal, 10 % of rows left out", (0.8,) * 8, 0.1),
    World("8 equal, one hides 40 % of its errors", (0.8,) * 8, 0.0, 0.4),
    World("8 from 74 to 82 %", tuple(np.linspace(0.74, 0.82, 8).tolist())),
    World("8, one of them 10 points better", (*(0.75,) * 7, 0.85)),
    World("4 from 70 to 86 %", (0.70, 0.75, 0.78, 0.86)),
)
STORIES = (10, 21, 60)


@cache
def truth(right: float) -> float:
    """Return the mean agreement of a judge over all stories."""
    rng = np.random.default_rng(0)
    return float(_chances(rng.normal(0, SHARED, CENSUS)[:, None], rng.normal(0, OWN, (CENSUS, 1)), [right]).mean())


def _chances(shared: np.ndarray, own: np.ndarray, right: Sequence[float]) -> np.ndarray:
    return np.clip(np.asarray(right) + shared + own, 0.02, 0.98)


def draw(rng: np.random.Generator, world: World, stories: int) -> dict[str, list[Table]]:
    """Return the tables of each judge."""
    shared, own = rng.normal(0, SHARED, (stories, 1)), rng.normal(0, OWN, (stories, len(world.right)))
    chances = _chances(shared, own, world.right)
    judges: dict[str, list[Table]] = {f"judge {at}": [] for at in range(len(world.right))}
    for story in range(stories):
        human = (rng.random(rng.choice(SIZES)) < 0.55).astype(int)
        for at, (name, chance) in enumerate(zip(judges, chances[story], strict=True)):
            agrees = rng.random(len(human)) < chance
            left = rng.random(len(human)) < world.missing + world.hiding * (~agrees & (at == 0))
            rows = [
                Row(str(place), Side.GOLD, "", int(true), Unknown.MISSING if gone else int(true == same))
                for place, (true, same, gone) in enumerate(zip(human, agrees, left, strict=True))
            ]
            judges[name].append(Table(f"t{story}", f"s{story}", "m", "c", 1.0, tuple(rows)))
    return judges


class Found(NamedTuple):
    """Shares of repetitions: in which the chosen judge is called better than one that is as good or better, corrected
    over all pairs and over its own rivals only; better than a worse one; and in which the interval holds the truth,
    without the optimism of the choice and as it is. `off` are the mean errors in points."""

    wrong: float
    wrong_by_rivals: float
    told: float
    held: float
    held_plain: float
    off: float
    off_plain: float


def found(world: World, stories: int, *, repetitions: int, seed: int) -> Found:
    """Return the figures of all repetitions of a world."""
    rng = np.random.default_rng([seed, stories, len(world.right), round(100 * world.missing)])
    rows = [
        _one(world, selections(draw(rng, world, stories), seed=int(rng.integers(2**31)))) for _ in range(repetitions)
    ]
    return Found(*(float(np.nanmean(column)) if np.isfinite(column).any() else np.nan for column in np.array(rows).T))


def _one(world: World, judges: dict[str, Selection]) -> tuple[float, ...]:
    chosen = next(one for one in judges.values() if one.without_optimism)
    skill = dict(zip(judges, world.right, strict=True))
    own = skill[chosen.chosen]
    worse = [rival for rival in chosen.rivals if skill[rival.name] < own]
    own_p = holm([rival.p for rival in chosen.rivals])
    wrongly = [
        p is not None and p <= ALPHA and (rival.difference.value or 0) > 0
        for p, rival in zip(own_p, chosen.rivals, strict=True)
        if skill[rival.name] >= own
    ]
    corrected = chosen.without_optimism
    assert corrected is not None and corrected.value is not None and chosen.agreement.value is not None
    return (
        any(rival.worse for rival in chosen.rivals if skill[rival.name] >= own),
        any(wrongly),
        np.mean([rival.worse for rival in worse]) if worse else np.nan,
        _holds(corrected.interval, truth(own)),
        _holds(chosen.agreement.interval, truth(own)),
        100 * (corrected.value - truth(own)),
        100 * (chosen.agreement.value - truth(own)),
    )


def _holds(interval: Sequence[float] | None, value: float) -> float:
    return np.nan if interval is None else float(interval[0] <= value <= interval[1])


def lines(repetitions: int, seed: int, stories: Sequence[int]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield (
        "| judges | stories | wrongly “better than” one as good | corrected over its rivals only | better than a worse "
        "one | interval holds the truth | without correction | off by (points) | without correction |"
    )
    yield "|---|" + "---|" * 8
    for world in WORLDS:
        for count in stories:
            row = found(world, count, repetitions=repetitions, seed=seed)
            shares = [_share(value) for value in (row.wrong, row.wrong_by_rivals, row.told, row.held, row.held_plain)]
            yield f"| {world.name} | {count} | {' | '.join(shares)} | {row.off:+.1f} | {row.off_plain:+.1f} |"


def _share(value: float) -> str:
    return "–" if np.isnan(value) else f"{100 * value:.1f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stories", type=int, nargs="+", default=STORIES)
    chosen = parser.parse_args()
    for line in lines(chosen.repetitions, chosen.seed, chosen.stories):
        print(line, flush=True)


if __name__ == "__main__":
    main()
