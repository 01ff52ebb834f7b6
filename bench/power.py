"""Measure how often the smallest difference that a launch names is found, where scores are right or wrong.

    python bench/power.py                     # the table of docs/statistics.md
    python bench/power.py --data-sets 200     # quicker and rougher

Simulated are two models on the same stories, whose mean accuracies lie the named difference apart around 50 %, with so
many questions each. Models are right independently of one another, or more often on the same easy stories. Nothing is
known beforehand, so that the difference is the one of the default spread; beside it stands how often the difference is
found that the spread of one earlier pair of models, on 100 stories, names. The default of shares, which stood here
before for all scores, is in the last column.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmark.domain.inference import DEFAULT_SD, right_or_wrong_sd, smallest_difference
from core.statistics import sign_flip_p

SIZES = (25, 60, 200, 800)
QUESTIONS = ("1", "1 to 3", "5")
EASE = {"independent": 0.0, "alike on easy stories": 0.2}
"""The standard deviation of the chance of a right answer over stories."""
HEADS = (
    "stories", "questions a story", "models", "smallest difference (points)", "found (%)",
    "by an earlier pair's spread: found (%)", "by the default of shares: found (%)", "false alarms (%)",
)  # fmt: skip


def counts(rng: np.random.Generator, stories: int, questions: str) -> np.ndarray:
    return rng.integers(1, 4, stories) if questions == "1 to 3" else np.full(stories, int(questions))


def differences(rng: np.random.Generator, sizes: np.ndarray, apart: float, spread: float, data_sets: int) -> np.ndarray:
    """The difference of two models on every story: shape (data sets, stories)."""
    shape = (data_sets, len(sizes))
    ease = rng.uniform(-1, 1, shape) * spread * 3**0.5 if spread else np.zeros(shape)
    room = 0.5 - apart / 2  # chances stay between 0 and 1, with the means as they are
    ease = ease * min(1.0, room / (spread * 3**0.5)) if spread else ease
    scores = [rng.binomial(sizes, 0.5 + side * apart / 2 + ease) / sizes for side in (1, -1)]
    return scores[0] - scores[1]


def found(rng: np.random.Generator, sizes: np.ndarray, apart: float, spread: float, data_sets: int) -> float:
    ps = sign_flip_p(differences(rng, sizes, apart, spread, data_sets), seed=1, flips=999)
    return 100 * float(np.mean(np.array(ps) <= 0.05))


def measured(rng: np.random.Generator, stories: int, questions: str, spread: float, data_sets: int) -> list[str]:
    sizes = counts(rng, stories, questions)
    named = smallest_difference(stories, default_sd=right_or_wrong_sd(sizes.tolist())).difference
    before = smallest_difference(stories, default_sd=DEFAULT_SD).difference
    earlier = []
    for _ in range(10):
        sd = float(differences(rng, counts(rng, 100, questions), 0.05, spread, 1).std(ddof=1))
        apart = min(smallest_difference(stories, sd).difference, 0.98)
        earlier.append(found(rng, sizes, apart, spread, data_sets // 10))
    rates = (
        found(rng, sizes, named, spread, data_sets),
        np.mean(earlier),
        found(rng, sizes, before, spread, data_sets),
    )
    return [
        f"{100 * named:.1f}",
        *(f"{rate:.0f}" for rate in rates),
        f"{found(rng, sizes, 0.0, spread, data_sets):.1f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=600, metavar="N")
    options = parser.parse_args()
    rng = np.random.default_rng(14)
    print("| " + " | ".join(HEADS) + " |")
    print("| ---: |---|---|" + " ---: |" * (len(HEADS) - 3))
    for questions in QUESTIONS:
        for name, spread in EASE.items():
            for stories in SIZES:
                cells = measured(rng, stories, questions, spread, options.data_sets)
                print(f"| {stories} | {questions} | {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
