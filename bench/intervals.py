"""Measure the coverage of the product's 95 % intervals by simulation, for few stories and many.

`python bench/intervals.py` prints the shares as the tables of docs/statistics.md, on all cores; `--samples 200` is
quicker and rougher. Every sample is of new stories, so that the truth is that of all stories there could be: for
agreement the coefficient of 200,000 stories, else the expected score.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import norm, t

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from annotation.domain.agreement.coefficients import COEFFICIENTS, Counts, Resampled, mean_interval
from core.statistics import DIFFERENCE, SHARE, Floats, mean_estimates, resampled_sums

STORIES = (5, 10, 21, 100)
LABELS = 4
RESAMPLES = 1000
Agreement = tuple[float, float, tuple[float, ...]]
WORLDS: Mapping[str, Agreement] = {
    # how often an annotator errs, how much stories differ in it (the beta distribution's concentration), how often each
    # label is right
    "fair: strict agreement .75": (0.1, 8, (0.4, 0.3, 0.2, 0.1)),
    "good: strict agreement .83": (0.06, 40, (0.4, 0.3, 0.2, 0.1)),
    "very good, stories unlike: .93": (0.025, 15, (0.4, 0.3, 0.2, 0.1)),
    "one label prevails: .89": (0.04, 10, (0.9, 0.05, 0.03, 0.02)),
    "nearly perfect, stories very unlike: .98": (0.007, 6, (0.4, 0.3, 0.2, 0.1)),
}
Scores = Callable[[np.random.Generator, tuple[int, int]], Floats]
SCORES: Mapping[str, tuple[Scores, float]] = {
    "F1, beta(4, 2)": (lambda rng, size: rng.beta(4, 2, size), 4 / 6),
    "high and skewed, beta(8, .8)": (lambda rng, size: rng.beta(8, 0.8, size), 8 / 8.8),
    "few rows a story, of six": (lambda rng, size: rng.binomial(6, rng.beta(9, 2, size)) / 6, 9 / 11),
    "6 % of stories worth nothing": (lambda rng, size: rng.beta(6, 3, size) * (rng.random(size) > 0.06), 0.94 * 6 / 9),
    "6 % worth nothing, the others nearly all": (
        lambda rng, size: rng.beta(60, 1, size) * (rng.random(size) > 0.06),
        0.94 * 60 / 61,
    ),
}


def counts_of(rng: np.random.Generator, stories: int, world: Agreement) -> tuple[Floats, Floats]:
    """Label counts of three annotators in each cell, and its story; a story has 6 to 30 cells."""
    errs, alike, prevalence = world
    cells = rng.integers(6, 31, stories)
    story = np.repeat(np.arange(stories), cells)
    rate = rng.beta(errs * alike, (1 - errs) * alike, stories)[story]
    right = (
        rng.random(len(story))[:, None] > rng.dirichlet(8 * np.array(prevalence), stories).cumsum(axis=1)[story, :-1]
    ).sum(axis=1)
    wrong = rng.random((len(story), 3)) < rate[:, None]
    labels = (right[:, None] + wrong * rng.integers(1, LABELS, wrong.shape)) % LABELS
    return (labels[:, :, None] == np.arange(LABELS)).sum(axis=1), story


def expanded(sums: Floats, of: Callable[[Floats], Floats], seed: int) -> Floats:
    """The expanded percentile interval (Hesterberg 2015), for comparison."""
    n = len(sums)
    tail = norm.cdf((n / (n - 1)) ** 0.5 * t.ppf(0.025, n - 1))
    return np.nanquantile(of(resampled_sums(sums, seed=seed, resamples=RESAMPLES)), [tail, 1 - tail])


def agreement(pool: ProcessPoolExecutor, world: str, stories: int, samples: int) -> list[tuple[float, float]]:
    """Coverage of each coefficient's interval, and of expanded percentiles; samples without an interval are left
    out."""
    truth = {name: _truth(WORLDS[world], name) for name in COEFFICIENTS}
    outcomes = pool.map(partial(_holds, world=world, stories=stories, truth=truth), range(samples), chunksize=10)
    outcomes_known = [[outcome for outcome in each if outcome is not None] for each in zip(*outcomes, strict=True)]
    return [(_share([ours for ours, _ in each]), _share([other for _, other in each])) for each in outcomes_known]


def _holds(seed: int, *, world: str, stories: int, truth: dict[str, float]) -> list[tuple[bool, bool] | None]:
    """Return of one sample whether each coefficient's interval and its expanded percentiles hold the truth; None
    without an interval."""
    counts, story = counts_of(np.random.default_rng((seed, stories)), stories, WORLDS[world])
    rows = []
    for name, coefficient in COEFFICIENTS.items():
        sums = per_story(story, coefficient.sums(counts))
        ends, _ = mean_interval([Resampled.of(sums, seed=seed, resamples=RESAMPLES)], coefficient)
        low, high = expanded(sums, coefficient.value_of, seed) if ends else (0, 0)
        rows.append((ends[0] <= truth[name] <= ends[1], low <= truth[name] <= high) if ends else None)
    return rows


def per_story(story: Counts, values: Floats) -> Floats:
    """Sum `values` of shape (cells, m) within each story: shape (stories, m)."""
    _, at = np.unique(story, return_inverse=True)
    out = np.zeros((int(at.max(initial=-1)) + 1, values.shape[1]))
    np.add.at(out, at, values)
    return out


def _truth(world: Agreement, name: str) -> float:
    if (world, name) not in _TRUTHS:
        counts, _ = counts_of(np.random.default_rng(99), 200_000, world)
        for one, coefficient in COEFFICIENTS.items():
            _TRUTHS[world, one] = float(coefficient.value_of(coefficient.sums(counts).sum(axis=0)))
    return _TRUTHS[world, name]


_TRUTHS: dict[tuple[Agreement, str], float] = {}


def scores(kind: str, stories: int, samples: int) -> float:
    """Coverage of a score's mean."""
    draw, truth = SCORES[kind]
    return _covered(draw(np.random.default_rng(stories), (samples, stories)), truth, SHARE)


def differences(kind: str, stories: int, samples: int) -> float:
    """Coverage of the mean difference of two models alike, on the same stories."""
    draw, _ = SCORES[kind]
    first, second = (draw(np.random.default_rng((stories, at)), (samples, stories)) for at in range(2))
    return _covered(first - second, 0, DIFFERENCE)


def _covered(rows: Floats, truth: float, scale) -> float:
    rules = {"scale": scale, "seed": 1, "unit": "stories", "empty": "", "resamples": RESAMPLES}
    ends = np.array([estimate.interval for estimate in mean_estimates(rows, **rules)])
    return _share((ends[:, 0] <= truth) & (truth <= ends[:, 1]))


def _share(outcomes) -> float:
    return 100 * float(np.mean(outcomes)) if len(outcomes) else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=2000, metavar="N")
    samples = parser.parse_args().samples
    print("| agreement | stories | " + " | ".join(COEFFICIENTS) + " |")
    print("|---|---|" + "---|" * len(COEFFICIENTS))
    with ProcessPoolExecutor() as pool:
        for name, stories in product(WORLDS, STORIES):
            shares = agreement(pool, name, stories, samples)
            cells = " | ".join(f"{ours:.1f} ({other:.1f})" for ours, other in shares)
            print(f"| {name} | {stories} | {cells} |", flush=True)
    print("\n| mean score of stories | stories | mean | difference of two |\n|---|---|---|---|")
    for kind, stories in product(SCORES, STORIES):
        cells = f"{scores(kind, stories, samples):.1f} | {differences(kind, stories, samples):.1f}"
        print(f"| {kind} | {stories} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
