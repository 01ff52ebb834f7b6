"""Measure how often the prediction interval of the hours left holds the hours that the rest really takes.

    python bench/effort.py                     # the table of docs/statistics.md
    python bench/effort.py --data-sets 200     # quicker and rougher

Simulated are stories of 30 to 150 cells. The hours of a story vary by the whole story (gamma or lognormal, with the
stated coefficient of variation), or by cells one by one. Stories left are as large as those done, or partly done, with
5 to 25 cells left. The interval of the pace, which stood here before, is beside.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from annotation.domain.effort import Outlook

SIZES = ((5, 20), (10, 1), (10, 20), (50, 1), (50, 20), (50, 200))
KINDS = ("gamma, .4", "lognormal, .5", "lognormal, .8", "cells one by one, gamma, 1")
HEADS = ("hours of a story vary", "stories done", "left", "prediction interval (%)", "partly done (%)", "pace only (%)")


def hours(rng: np.random.Generator, kind: str, cells: np.ndarray) -> np.ndarray:
    """Hours of stories with so many cells, 12 seconds a cell in the mean."""
    if kind.startswith("cells"):
        return rng.gamma(cells) / 300
    name, variation = kind.split(", ")
    if name == "gamma":
        return cells * rng.gamma(1 / float(variation) ** 2, float(variation) ** 2, len(cells)) / 300
    sigma = np.log(1 + float(variation) ** 2) ** 0.5
    return cells * np.exp(rng.normal(-(sigma**2) / 2, sigma, len(cells))) / 300


def measured(rng: np.random.Generator, kind: str, done: int, left: int, data_sets: int) -> list[float]:
    """Return how often the prediction holds, also of stories partly done, and how often the pace's interval would."""
    held = np.zeros(3)
    for _ in range(data_sets):
        sizes = rng.integers(30, 151, done)
        stories = [*zip(sizes.tolist(), hours(rng, kind, sizes).tolist(), strict=True)]
        for at, (low, high) in enumerate(((30, 151), (5, 26))):
            rest = rng.integers(low, high, left)
            outlook, truth = Outlook.of("cells", stories, rest.tolist()), hours(rng, kind, rest).sum()
            ends = outlook.forecast.interval
            held[at] += ends[0] <= truth <= ends[1]
            if not at:
                slow, fast = outlook.pace.interval
                held[2] += outlook.left / fast <= truth <= outlook.left / slow
    return (100 * held / data_sets).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=1000, metavar="N")
    options = parser.parse_args()
    rng = np.random.default_rng(11)
    print("| " + " | ".join(HEADS) + " |")
    print("|---|" + " ---: |" * (len(HEADS) - 1))
    for kind in KINDS:
        for done, left in SIZES:
            cells = [f"{share:.1f}" for share in measured(rng, kind, done, left, options.data_sets)]
            print(f"| {kind} | {done} | {left} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
