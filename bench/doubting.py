"""Measure how well the list of doubtful gold finds planted errors, where models err by themselves and where they err
together.

`python bench/doubting.py` prints them as the table of docs/statistics.md; `--data-sets 20` is quicker and rougher.
Simulated are stories of 12 propositions in one dimension of five labels, of which some are rare; gold is wrong in a
stated share of cells at random. Four models of four families are right in 70, 75, 80 and 85 % of cells, a fifth that is
not good in 40 %. Where errors are shared, all models give one and the same wrong label in a stated share of cells,
where gold is right."""

import argparse
import sys
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmark.domain.doubtful_gold import Doubt, doubts
from benchmark.domain.gold_kinds import NOTHING, Cells

PROPOSITIONS = 12
LABELS = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
SKILLS = (0.7, 0.75, 0.8, 0.85, 0.4)
STORIES = (21, 100)
WRONG = (0.0, 0.02, 0.05, 0.1)
SHARED = (0.0, 0.05, 0.1, 0.2)
HEADS = (
    "stories", "wrong gold (%)", "shared errors (%)", "cells listed", "of wrong gold, listed (%)",
    "of listed, wrong (%)", "of the first, wrong (%)", "if ordered by agreement (%)",
)  # fmt: skip


def simulated(rng: np.random.Generator, *, stories: int, wrong: float, shared: float):
    """Return cells, what each model said of them, and which gold labels are wrong."""
    size = stories * PROPOSITIONS
    truth = rng.choice(len(LABELS), size, p=LABELS)
    misleading = rng.random(size) < shared
    lure = _other(rng, truth)
    planted = (rng.random(size) < wrong) & ~misleading
    gold = np.where(planted, _other(rng, truth), truth)
    said = {}
    for number, skill in enumerate(SKILLS):
        own = np.where(rng.random(size) < skill, truth, _other(rng, truth))
        said[f"model {number}"] = np.where(misleading, lure, own)[None]
    nobody = np.full((size, 0), NOTHING)
    cells = Cells(
        story=np.repeat(np.arange(stories), PROPOSITIONS), row=np.tile(np.arange(PROPOSITIONS), stories),
        dimension=np.zeros(size, dtype=np.int64), gold=gold, method=np.full(size, "majority"),
        suggested=np.full(size, NOTHING), votes=nobody, blind_votes=nobody, unknown_votes=nobody,
        stories=tuple(range(stories)), dimensions=("one",), annotators=(),
    )  # fmt: skip
    return cells, said, planted


def _other(rng: np.random.Generator, truth: np.ndarray) -> np.ndarray:
    return (truth + rng.integers(1, len(LABELS), len(truth))) % len(LABELS)


def measured(rng: np.random.Generator, data_sets: int, **options) -> tuple[float, ...]:
    """Return over the data sets how many cells are listed, the share of wrong gold that is listed, and the share of
    wrong gold among all listed, among half as many of the first as gold has wrong labels, and among as many of the
    first if they were ordered by how many families agree."""
    listed = found = wrong = firsts = first_wrong = first_by_count = 0
    for _ in range(data_sets):
        cells, said, planted = simulated(rng, **options)
        here, *_ = doubts(cells, said, {name: name for name in said})
        at = [doubt.cell for doubt in here]
        by_count = [one.cell for one in sorted(here, key=_by_agreement)]
        half = max(1, int(planted.sum()) // 2)
        listed, found, wrong = listed + len(at), found + planted[at].sum(), wrong + planted.sum()
        firsts, first_wrong = firsts + len(at[:half]), first_wrong + planted[at[:half]].sum()
        first_by_count += planted[by_count[:half]].sum()
    shares = ((found, wrong), (found, listed), (first_wrong, firsts), (first_by_count, firsts))
    return listed / data_sets, *(part / whole if wrong and whole else np.nan for part, whole in shares)


def _by_agreement(doubt: Doubt) -> tuple[float, int, int]:
    return -len(doubt.against) / doubt.heard, -len(doubt.against), doubt.cell


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=100, metavar="N")
    options = parser.parse_args()
    rng = np.random.default_rng(2026)
    print("| " + " | ".join(HEADS) + " |")
    print("|" + " ---: |" * len(HEADS))
    for stories, wrong, shared in product(STORIES, WRONG, SHARED):
        listed, *found = measured(rng, options.data_sets, stories=stories, wrong=wrong, shared=shared)
        shares = " | ".join("–" if np.isnan(share) else f"{100 * share:.0f}" for share in found)
        print(f"| {stories} | {100 * wrong:.0f} | {100 * shared:.0f} | {listed:.1f} | {shares} |")


if __name__ == "__main__":
    main()
