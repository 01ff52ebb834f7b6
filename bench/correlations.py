"""Measure how often the interval of a correlation over models holds the truth where models of one family are alike.

    python bench/correlations.py                     # the table of docs/statistics.md
    python bench/correlations.py --data-sets 300     # quicker and rougher

Simulated are two scores of each model, of which 70 % of the variance is its family's: normal, with the stated
correlation. Families have one model each, three, or unequal numbers with one large one. Fisher's interval over models,
which stood here before, is beside.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.statistics.correlation import pearson

SHARED = 0.7
FAMILIES = (5, 6, 8, 12, 20)
KINDS = ("one model each", "three each", "unequal")
TRUTHS = (0.0, 0.6, 0.9)
HEADS = (
    "families",
    "models of a family",
    "correlation",
    "holds it (%)",
    "0 is left out (%)",
    "over models: holds it (%)",
)


def sizes(rng: np.random.Generator, families: int, kind: str) -> np.ndarray:
    if kind == KINDS[2]:
        few = np.maximum(1, rng.poisson(1.5, families))
        few[0] += 4
        return few
    return np.full(families, 3 if kind == KINDS[1] else 1)


def measured(rng: np.random.Generator, families: int, kind: str, truth: float, data_sets: int) -> list[str]:
    mixing = np.linalg.cholesky([[1, truth], [truth, 1]])
    held = found = plain = 0
    for _ in range(data_sets):
        family = np.repeat(np.arange(families), sizes(rng, families, kind))
        own, shared = (rng.normal(size=(count, 2)) @ mixing.T for count in (len(family), families))
        first, second = (SHARED**0.5 * shared[family] + (1 - SHARED) ** 0.5 * own).T.tolist()
        over = pearson(first, second, unit="models", clusters=family.tolist(), cluster_unit="families")
        (low, high), (below, above) = over.interval, pearson(first, second, unit="models").interval
        held, found = held + (low <= truth <= high), found + (not low <= 0 <= high)
        plain += below <= truth <= above
    return [f"{100 * count / data_sets:.1f}" for count in (held, found, plain)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=1000, metavar="N")
    options = parser.parse_args()
    rng = np.random.default_rng(13)
    print("| " + " | ".join(HEADS) + " |")
    print("| ---: |---|" + " ---: |" * (len(HEADS) - 2))
    for families in FAMILIES:
        for kind in KINDS:
            for truth in TRUTHS:
                cells = measured(rng, families, kind, truth, options.data_sets)
                print(f"| {families} | {kind} | {truth} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
