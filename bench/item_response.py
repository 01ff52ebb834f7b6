"""Measure how often the intervals of items' difficulty and discrimination hold the truth, where it is known.

`python bench/item_response.py` prints the table of docs/statistics.md; `--data-sets 20` is quicker and rougher. Models
are drawn from a standard normal distribution of ability, items with log odds at mean ability from N(1, 1) and slopes
from N(0.8, 0.4), so that some tell models apart well and some not at all. Shares are of 12 answers, whose own log odds
differ within an item by N(0, 1)."""

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy.special import expit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmark.domain.item_response import fit_items

WORLDS = [(6, 21, 12), (6, 21, 1), (6, 100, 12), (6, 250, 1), (10, 21, 12), (10, 100, 1), (20, 100, 1), (20, 100, 12)]
HEADS = (
    "models", "items", "answers an item", "difficulty held (%)", "its interval ±", "discrimination held (%)",
    "its interval ± ", "truly different, told (%)", "in order (τ)",
)  # fmt: skip


def simulated(rng: np.random.Generator, models: int, items: int, answers: int):
    """Return scores, and the true difficulty and discrimination of each item among these models."""
    ability = rng.standard_normal(models)
    level, slope = rng.normal(1, 1, items), rng.normal(0.8, 0.4, items)
    own = rng.normal(0, 1, (items, answers)) if answers > 1 else np.zeros((items, 1))

    def share(at: np.ndarray) -> np.ndarray:
        return expit(level[None, :, None] + own[None] + slope[None, :, None] * at[:, None, None])

    scores = (rng.random((models, items, answers)) < share(ability)).mean(axis=2)
    middle, spread = ability.mean(), ability.std()
    low, mean, high = share(np.array([middle - spread, middle, middle + spread])).mean(axis=2)
    return scores, 1 - mean, high - low


def measured(rng: np.random.Generator, data_sets: int, world: tuple[int, int, int]) -> tuple[float, ...]:
    """Return shares that are held, half widths, how often an interval excludes 0 where the truth is beyond 0.1, and
    Kendall's tau of estimated and true discrimination, means over the data sets."""
    from scipy.stats import kendalltau

    found = []
    for _ in range(data_sets):
        scores, hard, apart = simulated(rng, *world)
        fit = fit_items(scores, seed=int(rng.integers(2**31)))
        if fit is None:
            continue
        row = []
        for truth, ends in ((hard, fit.difficulty_interval), (apart, fit.discrimination_interval)):
            row += [((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean(), (ends[:, 1] - ends[:, 0]).mean() / 2]
        different = np.abs(apart) > 0.1
        row += [fit.apart[different].mean(), kendalltau(fit.discrimination, apart)[0]]
        found.append(row)
    return tuple(np.nanmean(np.array(found), axis=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=200, metavar="N")
    options = parser.parse_args()
    rng = np.random.default_rng(2026)
    print("| " + " | ".join(head.strip() for head in HEADS) + " |")
    print("|" + " ---: |" * len(HEADS))
    for world in WORLDS:
        held, wide, apart, wider, told, order = measured(rng, options.data_sets, world)
        figures = f"{100 * held:.0f} | {wide:.2f} | {100 * apart:.0f} | {wider:.2f} | {100 * told:.0f} | {order:.2f}"
        print("| " + " | ".join(map(str, world)) + f" | {figures} |")


if __name__ == "__main__":
    main()
