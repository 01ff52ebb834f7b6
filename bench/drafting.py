"""Measure the report on models' drafts of belief tables on simulated tables: its false alarms, its power and the
coverage of its intervals.

`python bench/drafting.py` prints them as the table of docs/statistics.md, a row for each effect, blind share and number
of stories, on all cores; `--data-sets 200` is quicker and rougher. Two experts write the table of each story, each with
the draft in sight or blind, drawn apart. Stories differ in length and in how hard they are, experts in how much they
find. Each row that the draft holds is written more often where it was shown, by `effect`; each row that it lacks, less
often by half of that; and minutes fall by a quarter where there is an effect."""

import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from annotation.domain.anchoring.tables import MEASURES, Tables, arm_p, part_and_whole, tables_report
from bench.data_sets import data_sets_parser
from core.statistics import ALPHA, holm

STORIES = (5, 6, 8, 10, 21, 100)
EFFECTS = (0.0, 0.1)
BLIND = (0.5,)
DRAFTED_SHARE = 0.6
"""The share of consensus rows that the draft holds."""


def simulated(rng: np.random.Generator, *, stories: int, effect: float, blind: float = 0.5) -> Tables:
    """Tables of two experts a story, whose rows are found more often with the draft in sight."""
    story, expert = (index.ravel() for index in np.indices((stories, 2)))
    size = len(story)
    is_blind = rng.random(size) < blind
    consensus = np.maximum(3, rng.poisson(rng.gamma(9, 2, stories)))
    held = rng.binomial(consensus, DRAFTED_SHARE)
    find = 0.7 + rng.normal(0, 0.08, stories)[story] + np.array([-0.04, 0.04])[expert]
    find = np.clip(find, 0.15, 0.85)  # leaves room for the effect, so that it is what it says
    shown = ~is_blind
    found_held = rng.binomial(held[story], find + effect * shown)
    found_missed = rng.binomial((consensus - held)[story], find - effect / 2 * shown)
    own = rng.poisson(3, size)
    rows = found_held + found_missed + own
    like = 0.55 + effect * shown + rng.normal(0, 0.05, stories)[story]
    likeness = rows * np.clip(like + rng.normal(0, 0.05, size), 0, 1)
    pace = rng.lognormal(0, 0.3, stories)[story] * rng.lognormal(0, 0.3, size)
    minutes = 25 * pace * (1 - 0.25 * shown * (effect > 0))
    return dict(
        story=story, expert=expert, blind=is_blind, blind_chance=np.full(size, blind), rows=rows,
        consensus=consensus[story], recalled=found_held + found_missed, missed=(consensus - held)[story],
        missed_recalled=found_missed, likeness=likeness, minutes=minutes,
    )  # fmt: skip


def truth(*, effect: float, blind: float = 0.5, worlds: int = 400) -> dict[str, float]:
    """Return shown minus blind for each measure, over very many stories."""
    rng = np.random.default_rng(7)
    sums = {name: np.zeros((2, 2)) for name in MEASURES}
    for _ in range(worlds):
        tables = simulated(rng, stories=500, effect=effect, blind=blind)
        for name, total in sums.items():
            columns = part_and_whole(tables, name)
            for arm, rows in enumerate((~tables["blind"], tables["blind"])):
                total[arm] += [column[rows].sum() for column in columns]
    return {name: total[0, 0] / total[0, 1] - total[1, 0] / total[1, 1] for name, total in sums.items()}


def findings(seed: int, *, stories: int, effect: float, blind: float, true: dict[str, float], draws: int) -> list:
    """Return whether any measure is announced after Holm's correction, and for each measure whether it is announced by
    itself and whether its interval holds the true difference (None without one)."""
    tables = simulated(np.random.default_rng((seed, stories)), stories=stories, effect=effect, blind=blind)
    rows = tables_report(tables, seed=seed, resamples=500)["measures"]
    p = [arm_p(tables, name, seed=seed, draws=draws) for name in MEASURES]
    some = any(value is not None and value <= ALPHA for value in holm(p))
    ends = {row["measure"]: row["difference"].interval for row in rows}
    held = [None if end is None else end[0] <= true[name] <= end[1] for name, end in ends.items()]
    return [some, [value is not None and value <= ALPHA for value in p], held]


def _share(values) -> str:
    known = [value for value in values if value is not None]
    return f"{100 * np.mean(known):.1f}" if known else "–"


def row(pool: ProcessPoolExecutor, data_sets: int, **world) -> str:
    some, alone, held = zip(*pool.map(partial(findings, **world), range(data_sets), chunksize=10), strict=True)
    cells = [_share(column) for column in zip(*alone, strict=True)] + [_share(some)]
    cells += [_share(column) for column in zip(*held, strict=True)]
    return f"| {100 * world['effect']:g} | {world['stories']} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = data_sets_parser(__doc__.splitlines()[0], stories=STORIES)
    parser.add_argument("--effects", type=float, nargs="+", default=EFFECTS, metavar="E")
    parser.add_argument("--blind", type=float, nargs="+", default=BLIND, metavar="S")
    chosen = parser.parse_args()
    names = " | ".join(MEASURES)
    print(f"| effect (points) | stories | announced % of: {names} | any | interval holds % of: {names} |")
    print("|" + "---|" * (3 + 2 * len(MEASURES)))
    with ProcessPoolExecutor(chosen.processes) as pool:
        for effect, blind, stories in product(chosen.effects, chosen.blind, chosen.stories):
            world = {"stories": stories, "effect": effect, "blind": blind, "draws": chosen.draws}
            print(row(pool, chosen.data_sets, true=truth(effect=effect, blind=blind), **world), flush=True)


if __name__ == "__main__":
    main()
