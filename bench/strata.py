"""Measure intervals of calibration where stories are drawn within categories that differ.

    python bench/strata.py                     # the table of docs/statistics.md
    python bench/strata.py --data-sets 100     # quicker and rougher

Simulated are 300 stories of seven categories of unequal size, and tables of 5 to 45 rows. Categories differ in how much
people match, in how the judge errs, in both or in neither. Samples are drawn as the product draws them. The truth is
that of endless stories with the same categories. An interval that takes the sample for a simple random one is beside.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from judge.domain.calibration.agreement import agreement
from judge.domain.calibration.corrected import corrected
from judge.domain.calibration.means import mean_error
from judge.domain.calibration.tables import JudgedStory, Matches, Metric, Row, Side, Table
from judge.domain.sampling import Unit, sample

SIZES = (84, 66, 51, 39, 30, 18, 12)
"""Stories of each category."""
CATEGORY = np.repeat(np.arange(len(SIZES)), SIZES)
SENSITIVITY, SPECIFICITY, MEAN, CONCENTRATION = 0.8, 0.7, 0.55, 6.6
ALIGNED = (10, 20, 40, 120)
KINDS = {"neither": (0.0, 0.0), "people": (0.12, 0.0), "the judge": (0.0, 0.12), "both": (0.12, 0.12)}
"""How far categories lie apart, by a standard deviation: in what people match, and in the judge's specificity."""
HEADS = (
    "categories differ in", "aligned", "corrected F1", "holds (%)", "as simple: holds (%)", "judge's error: holds (%)",
    "as simple: holds (%)", "agreement: holds (%)", "as simple: holds (%)",
)  # fmt: skip


def apart(size: float) -> np.ndarray:
    steps = np.array([1.0, -1.4, 0.4, 1.5, -0.9, -0.3, 0.6])  # in no order of size
    return size * steps / steps.std()


def drawn(rng: np.random.Generator, people: float, judge: float, stories: int = 0) -> tuple[np.ndarray, ...]:
    """Return (category, rows, matched by people, matched by the judge, rows on which both agree) of each story; of so
    many stories of every category, if given."""
    category = np.repeat(np.arange(len(SIZES)), stories) if stories else CATEGORY
    rows = rng.integers(5, 46, len(category))
    mean = np.clip(MEAN + apart(people)[category], 0.05, 0.95)
    human = rng.binomial(rows, rng.beta(CONCENTRATION * mean, CONCENTRATION * (1 - mean)))
    found = rng.binomial(human, SENSITIVITY)
    invented = rng.binomial(rows - human, 1 - np.clip(SPECIFICITY + apart(judge)[category], 0.05, 0.98))
    return category, rows, human, found + invented, rows - (human - found) - invented


def truths(rng: np.random.Generator, people: float, judge: float) -> tuple[float, float, float]:
    """Return F1, the judge's error and the agreement over endless stories."""
    category, rows, human, said, agreed = drawn(rng, people, judge, 20_000)
    weights = np.array(SIZES)[category] / sum(SIZES) / 20_000
    return tuple(float(weights @ (values / rows)) for values in (human, said - human, agreed))


def sampled(rng: np.random.Generator, aligned: int, people: float, judge: float):
    """Return one model's stories and the tables that people aligned."""
    columns = [column.tolist() for column in drawn(rng, people, judge)]
    units = [Unit(str(at), str(at), ("model", str(category))) for at, category in enumerate(columns[0])]
    chosen = {one.unit.key: one.probability for one in sample(units, aligned, seed=int(rng.integers(1 << 30)))}
    stories, tables = [], []
    for at, (category, rows, human, said, agreed) in enumerate(zip(*columns, strict=True)):
        name, stratum, probability = str(at), str(category), chosen.get(str(at))
        seen = Matches(rows, human, rows, human) if probability else None
        stories.append(JudgedStory(name, stratum, Matches(rows, said, rows, said), seen, probability, stratum=stratum))
        if probability:
            both = (human + said + agreed - rows) // 2  # matched by both
            verdicts = [(1, 1)] * both + [(1, 0)] * (human - both) + [(0, 1)] * (said - both)
            verdicts += [(0, 0)] * (rows - len(verdicts))
            made = tuple(Row(f"p{place}", Side.PREDICTION, "", *pair) for place, pair in enumerate(verdicts))
            tables.append(Table(name, name, "model", stratum, probability, made, stratum=stratum))
    return stories, tables


def simple(parts: Sequence) -> list:
    return [replace(part, stratum="") for part in parts]


def measured(rng: np.random.Generator, aligned: int, size: tuple[float, float], data_sets: int) -> list[str]:
    truth, held, widths = truths(rng, *size), np.zeros(6), []
    for _ in range(data_sets):
        stories, tables = sampled(rng, aligned, *size)
        ends = []
        for own, rows in ((stories, tables), (simple(stories), simple(tables))):
            found = corrected(own, Metric.F1)
            ends += [found.interval, mean_error(own).estimate.interval, agreement(rows, seed=1).by_story.interval]
        widths.append(ends[0][1] - ends[0][0])
        held += [low <= value <= high for value, (low, high) in zip(truth * 2, ends, strict=True)]
    shares = [f"{share:.1f}" for share in 100 * held / data_sets]
    return [f"±{50 * np.mean(widths):.1f}", *(shares[at] for at in (0, 3, 1, 4, 2, 5))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=400, metavar="N")
    options = parser.parse_args()
    rng = np.random.default_rng(16)
    print("| " + " | ".join(HEADS) + " |")
    print("|---|" + " ---: |" * (len(HEADS) - 1))
    for name, size in KINDS.items():
        for aligned in ALIGNED:
            cells = measured(rng, aligned, size, options.data_sets)
            print(f"| {name} | {aligned} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
