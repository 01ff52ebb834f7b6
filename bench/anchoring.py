"""Measure the test of anchoring on simulated votes: its false alarms, its power and the coverage of its intervals.

`python bench/anchoring.py` prints them as the table of docs/statistics.md, a row for each built-in shift, on all cores;
`--data-sets 200` is quicker and rougher. The product draws the arms anew 9,999 times, which makes a p-value finer, and
here 999 times. Simulated are votes of three annotators on stories of 12 propositions and seven dimensions, 20 % drawn
blind. How often a suggestion is taken differs much between stories (standard deviation 0.12 around 0.75), between
annotators and between cells, and shown suggestions are taken more often by the shift."""

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from annotation.domain.anchoring.randomisation import Votes, randomisation_p
from annotation.domain.anchoring.report import anchoring_report
from annotation.domain.arms import Arm, DrawUnit
from bench.data_sets import data_sets_parser
from core.statistics import ALPHA, holm

STORIES = (5, 10, 21, 100)
SHIFTS = (0.0, 0.05, 0.1)
BLIND = 0.2
PROPOSITIONS, DIMENSIONS, ANNOTATORS = 12, 7, 3


def simulated(rng: np.random.Generator, *, stories: int, unit: str, shift: float, unseen: float = 0.0) -> Votes:
    """Votes whose suggestion is taken with a chance that is `shift` higher where it was shown, but for the share
    `unseen` of them."""
    shape = (stories, PROPOSITIONS, DIMENSIONS, ANNOTATORS)
    story, proposition, dimension, annotator = (index.ravel() for index in np.indices(shape))
    size = len(story)
    chance = 0.75 + rng.normal(0, 0.12, stories)[story] + np.array([-0.05, 0, 0.05])[annotator]
    # what makes a cell easy is the same for all its annotators
    chance += rng.normal(0, 0.1, shape[:3])[story, proposition, dimension]
    key = {
        DrawUnit.CELL: np.arange(size),
        DrawUnit.PROPOSITION: (story * PROPOSITIONS + proposition) * ANNOTATORS + annotator,
        DrawUnit.STORY: story * ANNOTATORS + annotator,
    }[DrawUnit(unit)]
    arm = np.where(rng.random(size)[key] < BLIND, Arm.BLIND.value, Arm.SHOWN.value)
    seen = rng.random(size) >= unseen
    # the chance without a shift leaves room for it, so that the shift is what it says
    chance = np.clip(chance, 0.02, 0.98 - shift) + shift * (arm == Arm.SHOWN.value) * seen
    takes = (rng.random(size) < chance).astype(np.int64)
    nothing = np.zeros(size, dtype=np.int64)
    cell = (story * PROPOSITIONS + proposition) * DIMENSIONS + dimension
    return Votes(
        story, cell, dimension, annotator, takes, nothing - 1, nothing + 1, nothing, arm, np.full(size, np.nan), seen,
        key, np.full(size, BLIND),
        tuple(f"d{at}" for at in range(DIMENSIONS)), tuple("abc"), ("m",),
    )  # fmt: skip


def decided(votes: Votes, seed: int, draws: int) -> tuple[bool, bool]:
    """Return whether a shift is announced over all votes, and in any dimension after Holm's correction."""
    overall = randomisation_p(votes, seed=seed, draws=draws)
    each = holm([randomisation_p(part, seed=seed, draws=draws) for _, part in votes.by("dimension")])
    return overall is not None and overall <= ALPHA, any(p is not None and p <= ALPHA for p in each)


def world_findings(seed: int, *, stories: int, unit: str, shift: float, draws: int) -> tuple[bool, bool, bool | None]:
    """Return `decided` of one data set, and whether the interval holds the shift (None without an interval)."""
    votes = simulated(np.random.default_rng((seed, stories)), stories=stories, unit=unit, shift=shift)
    overall_votes = replace(votes, dimensions=(), annotators=(), sources=())
    ends = anchoring_report(overall_votes, seed=seed, resamples=500)["overall"]["difference"].interval
    return *decided(votes, seed, draws), ends and ends[0] <= shift <= ends[1]


def row(pool: ProcessPoolExecutor, data_sets: int, **world) -> str:
    overall, some, held = zip(*pool.map(partial(world_findings, **world), range(data_sets), chunksize=10), strict=True)
    shares = (overall, some, [decision for decision in held if decision is not None])
    cells = [f"{100 * np.mean(share):.1f}" if share else "–" for share in shares]
    return f"| {world['unit']} | {100 * world['shift']:g} | {world['stories']} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = data_sets_parser(__doc__.splitlines()[0], stories=STORIES)
    parser.add_argument("--shifts", type=float, nargs="+", default=SHIFTS, metavar="S")
    chosen = parser.parse_args()
    print("| drawn for | shift (points) | stories | announced % | in some dimension % | interval holds the shift % |")
    print("|---|---|---|---|---|---|")
    with ProcessPoolExecutor(chosen.processes) as pool:
        for unit, shift, stories in product(DrawUnit, chosen.shifts, chosen.stories):
            world = {"stories": stories, "unit": unit.value, "shift": shift, "draws": chosen.draws}
            print(row(pool, chosen.data_sets, **world), flush=True)


if __name__ == "__main__":
    main()
