"""Measure corrected scores and the warning of a judge on simulated stories whose truth is known.

    python bench/calibration.py                          # the tables of docs/statistics.md
    python bench/calibration.py --repetitions 100        # quicker and rougher
    python bench/calibration.py --oracle OTHER/python    # beside ppi-python, from an environment that has it

- scores: 895 stories of 25 rows on either side, some aligned at random; a judge of sensitivity .80 and specificity .62
  is right on 72 % of rows. How often 95 % intervals of mean F1 hold the truth, and how wide they are: of the judge
  alone, of PPI++ with its normal interval, corrected as the product does it, and of people alone
- designs: strata aligned with unlike probabilities, categories whose judge errs unlike, few stories of which all are
  aligned, a better and a useless judge
- seldom: a judge that is nearly or quite right, but fails on one whole story in so many, where it finds nothing or
  matches all; also where it only says nothing of them, which is told from finding nothing
- remedies: the judge that fails on one story in ten, and an ordinary one, with 40 aligned; what a λ from the spread of
  all that was judged, residuals enlarged by their leverage (HC3), and a bootstrap-t would change
- differences: two models on the same stories, alike or 8 points apart; how often a test of 5 % tells them apart
- warning: how often calibration of three models is said not to be poolable where the judge errs alike on all, and where
  it errs otherwise on one
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.statistics import SHARE, linear_interval
from judge.domain.calibration.corrected import Corrected, corrected, difference
from judge.domain.calibration.means import differing
from judge.domain.calibration.tables import Averaging, JudgedStory, Matches, Metric
from judge.domain.sampling import Unit, sample

ROWS, MEAN, CONCENTRATION = 25, 0.55, 6.6
CATEGORIES = "abcdefg"
ORACLE = """
import json, sys
import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
out = []
for human, said, rest, tuned in json.load(sys.stdin):
    data = tuple(np.array(each) for each in (human, said, rest))
    same, own = (float(ppi_mean_pointestimate(*data, lam=each)[0]) for each in (tuned, None))
    out.append([same, own, *(float(end[0]) for end in ppi_mean_ci(*data, alpha=0.05))])
print(json.dumps(out))
"""


@dataclass(frozen=True, slots=True)
class World:
    """Stories, how many are aligned, and how the judge is: its specificity may be higher by `tilt` in each next
    category. `uneven`: half of the aligned stories are of two of the seven categories. On a share of `failing` stories
    it finds nothing, matches all or says nothing."""

    stories: int = 895
    aligned: int = 120
    sensitivity: float = 0.8
    specificity: float = 0.62
    tilt: float = 0.0
    uneven: bool = False
    failing: float = 0.0
    failure: str = "finds nothing"


def ease(rng: np.random.Generator, stories: int) -> np.ndarray:
    return rng.beta(MEAN * CONCENTRATION, (1 - MEAN) * CONCENTRATION, stories)


def judged(rng: np.random.Generator, world: World, chance: np.ndarray | None = None) -> list[JudgedStory]:
    """One model's stories; `chance` is how likely each row is matched in each story."""
    chance = ease(rng, world.stories) if chance is None else chance
    category = np.arange(world.stories) % len(CATEGORIES)
    specificity = np.clip(world.specificity + world.tilt * (category - 3), 0, 1)
    human = rng.binomial(ROWS, chance)
    said = rng.binomial(human, world.sensitivity) + rng.binomial(ROWS - human, 1 - specificity)
    fails = rng.random(world.stories) < world.failing if world.failing else np.zeros(world.stories, bool)
    said[fails] = ROWS if world.failure == "matches all" else 0
    left = ROWS * fails * (world.failure == "says nothing")
    drawn = probabilities(world, int(rng.integers(1 << 30)))
    return [
        JudgedStory(
            str(at),
            CATEGORIES[category[at]],
            Matches(ROWS, int(said[at]), ROWS, int(said[at]), int(left[at]), int(left[at])),
            Matches(ROWS, int(human[at]), ROWS, int(human[at])) if str(at) in drawn else None,
            drawn.get(str(at)),
        )
        for at in range(world.stories)
    ]


def probabilities(world: World, seed: int) -> dict[str, float]:
    """Which stories are aligned, and with what probability each was drawn."""
    units = [Unit(str(at), str(at), ("model", CATEGORIES[at % len(CATEGORIES)])) for at in range(world.stories)]
    if not world.uneven:
        return {one.unit.key: one.probability for one in sample(units, world.aligned, seed=seed, least=0)}
    half = [unit for unit in units if unit.stratum[1] in "ab"], [unit for unit in units if unit.stratum[1] not in "ab"]
    drawn = [one for part in half for one in sample(part, world.aligned // 2, seed=seed, least=0)]
    return {one.unit.key: one.probability for one in drawn}


def normal(stories: Sequence[JudgedStory]) -> tuple[float, float]:
    """The interval of the PPI++ paper for a simple random sample: the normal quantile, nothing for few stories."""
    human, said = np.array([[one.human.f1, one.judged.f1] for one in stories if one.human]).T
    rest = np.array([one.judged.f1 for one in stories if not one.human])
    n, others = len(human), max(len(rest), 1)
    tuned = np.clip(np.cov(human, said)[0, 1] / (said.var() * (1 + n / others)), 0, 1) if said.var() else 0
    left = human - tuned * said
    value = tuned * rest.mean() + left.mean()
    error = np.sqrt(tuned**2 * rest.var() / others + left.var() / n)
    return value - 1.96 * error, value + 1.96 * error


def share(hits: Sequence[bool]) -> str:
    return f"{100 * np.mean(hits):.1f} %"


def half(ends: Sequence[tuple[float, float]]) -> str:
    return f"±{100 * np.mean([high - low for low, high in ends]) / 2:.1f}"


def holds(found: Sequence[tuple[float, float]], truth: float) -> str:
    return share([low <= truth <= high for low, high in found])


def scores(repetitions: int) -> Iterator[str]:
    yield "| aligned | judge alone: off by | holds | PPI++, normal | holds | corrected | holds | people alone | holds |"
    yield "|---|" + "---|" * 8
    for aligned in (8, 10, 20, 40, 120):
        rng = np.random.default_rng((1, aligned))
        sets = [judged(rng, World(aligned=aligned)) for _ in range(repetitions)]
        found = [corrected(one, Metric.F1) for one in sets]
        naive = [_naive(one) for one in sets]
        ends = [[each.interval for each in found], [each.human_interval for each in found]]
        plain = [normal(one) for one in sets]
        off = 100 * np.mean([each.judged - MEAN for each in found])
        cells = [f"{off:+.1f} points", holds(naive, MEAN), half(plain), holds(plain, MEAN)]
        cells += [cell for each in ends for cell in (half(each), holds(each, MEAN))]
        yield f"| {aligned} | " + " | ".join(cells) + " |"


def _naive(stories: Sequence[JudgedStory]) -> tuple[float, float]:
    values = np.array([one.judged.f1 for one in stories])
    reach = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    return values.mean() - reach, values.mean() + reach


DESIGNS: Mapping[str, World] = {
    "judge errs unlike by category": World(aligned=40, tilt=0.06),
    "the same, two of seven categories drawn 2.5 times as often": World(aligned=40, tilt=0.06, uneven=True),
    "all of 21 stories aligned": World(stories=21, aligned=21),
    "20 of 60 stories": World(stories=60, aligned=20),
    "judge right on 96 % of rows": World(aligned=20, sensitivity=0.97, specificity=0.95),
    "judge that guesses": World(aligned=20, sensitivity=0.5, specificity=0.5),
}


def designs(repetitions: int) -> Iterator[str]:
    yield "| design | mean λ | corrected | holds, over stories | over categories | people alone |"
    yield "|---|" + "---|" * 5
    for name, world in DESIGNS.items():
        rng = np.random.default_rng((2, world.aligned, world.stories))
        sets = [judged(rng, world) for _ in range(repetitions)]
        found = {each: [corrected(one, Metric.F1, each) for one in sets] for each in Averaging}
        ends = {each: [one.interval for one in found[each]] for each in Averaging}
        by_story = found[Averaging.STORIES]
        cells = [f"{np.mean([one.tuning for one in by_story]):.2f}", half(ends[Averaging.STORIES])]
        cells += [holds(ends[each], MEAN) for each in Averaging]
        yield f"| {name} | " + " | ".join([*cells, half([one.human_interval for one in by_story])]) + " |"


SELDOM = (
    ("right on all rows, finds nothing in 5 % of stories", 1.0, 0.05, "finds nothing"),
    ("98 %, finds nothing in 5 %", 0.98, 0.05, "finds nothing"),
    ("90 %, finds nothing in 5 %", 0.9, 0.05, "finds nothing"),
    ("98 %, finds nothing in 10 %", 0.98, 0.1, "finds nothing"),
    ("98 %, matches all in 5 %", 0.98, 0.05, "matches all"),
    ("98 %, says nothing in 5 %", 0.98, 0.05, "says nothing"),
    ("98 %, never fails", 0.98, 0.0, ""),
)
"""A judge by name: the share of rows that it is right on, the share of whole stories on which it fails, and how."""


def seldom(repetitions: int) -> Iterator[str]:
    sizes = (6, 10, 20, 40)
    yield "| judge right on … of rows | " + " | ".join(f"{size} aligned" for size in sizes) + " |"
    yield "|---|" + "---|" * len(sizes)
    for name, right, failing, failure in SELDOM:
        cells = []
        for aligned in sizes:
            rng = np.random.default_rng((7, aligned))
            world = World(300, aligned, right, right, failing=failing, failure=failure)
            found = [corrected(judged(rng, world), Metric.F1) for _ in range(repetitions)]
            ends = [each.interval for each in found]
            alone = holds([spread_alone(each) for each in found], MEAN)
            cells.append(f"{half(ends)}, {holds(ends, MEAN)} ({alone})")
        yield f"| {name} | " + " | ".join(cells) + " |"


def spread_alone(found: Corrected) -> tuple[float, float]:
    """The interval that knows only what the aligned stories show."""
    moves = np.array([sum(each) for each in found.moves.values()])
    ends, _ = linear_interval(
        found.value, moves, count=found.aligned, most=found.aligned - 2, scale=SHARE, unit="stories"
    )
    return ends[0], ends[1]


TENTH = (
    ("98 %, finds nothing in 10 %", World(300, 40, 0.98, 0.98, failing=0.1)),
    ("98 %, matches all in 10 %", World(300, 40, 0.98, 0.98, failing=0.1, failure="matches all")),
    ("72 %, never fails", World(895, 40)),
)
RESAMPLES = 400


def remedies(repetitions: int) -> Iterator[str]:
    yield "| judge right on … of rows | as it is | HC3 | λ of all | λ of all, HC3 | bootstrap-t |"
    yield "|---|" + "---|" * 5
    for name, world in TENTH:
        rng, found = np.random.default_rng((7, world.aligned)), []
        for _ in range(repetitions):
            stories = judged(rng, world)
            now = corrected(stories, Metric.F1)
            steady = corrected(stories, Metric.F1, tuning=_tuned_on_all(stories))
            ends = [(each.interval, _leveraged(stories, each)) for each in (now, steady)]
            found.append([*ends[0], *ends[1], _bootstrap_t(stories, now, rng)])
        cells = [f"{half(each)}, {holds(each, MEAN)}" for each in zip(*found, strict=True)]
        yield f"| {name} | " + " | ".join(cells) + " |"


def _figures(stories: Sequence[JudgedStory]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What people and the judge say of aligned stories, and the judge of the others."""
    human, said = np.array([[one.human.f1, one.judged.f1] for one in stories if one.human]).T
    return human, said, np.array([one.judged.f1 for one in stories if not one.human])


def _tuned_on_all(stories: Sequence[JudgedStory]) -> float:
    human, said, rest = _figures(stories)
    return float(np.clip(np.cov(human, said)[0, 1] / np.concatenate([said, rest]).var(ddof=1), 0, 1))


def _leveraged(stories: Sequence[JudgedStory], found: Corrected) -> tuple[float, float]:
    """The interval, as much wider as HC3 makes the part of the variance that is of the aligned stories."""
    human, said, _rest = _figures(stories)
    n, apart = len(human), said - said.mean()
    left = human - found.tuning * said
    left = left - left.mean()
    own = (left**2).sum() / n / (n - 2)
    enlarged = ((left / (1 - 1 / n - apart**2 / (apart @ apart))) ** 2).sum() / n**2
    wider = np.sqrt(max(1 + (enlarged - own) / found.error**2, 1))
    low, high = found.interval
    return found.value - wider * (found.value - low), found.value + wider * (high - found.value)


def _bootstrap_t(stories: Sequence[JudgedStory], found: Corrected, rng: np.random.Generator) -> tuple[float, float]:
    """On the logit, aligned and other stories resampled apart, λ as it is."""
    human, said, rest = _figures(stories)
    n, m, at = len(human), len(rest), rng.integers
    left, own, other = human - found.tuning * said, found.tuning * said, found.tuning * rest
    drawn, others = at(0, n, (RESAMPLES, n)), at(0, m, (RESAMPLES, m))

    def value_and_error(left: np.ndarray, own: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean = (own.sum(-1, keepdims=True) + other.sum(-1, keepdims=True)) / (n + m)
        moves = (own - mean) / (n + m) + (left - left.mean(-1, keepdims=True)) / n
        square = (moves**2).sum(-1) + (((other - mean) / (n + m)) ** 2).sum(-1)
        value = np.clip(mean[..., 0] + left.mean(-1), 0.001, 0.999)
        return np.log(value / (1 - value)), np.maximum(np.sqrt(square), 1e-6) / value / (1 - value)

    value, error = value_and_error(left, own, other)
    values, errors = value_and_error(left[drawn], own[drawn], other[others])
    low, high = value - np.quantile((values - value) / errors, [0.975, 0.025]) * error
    return float(1 / (1 + np.exp(-low))), float(1 / (1 + np.exp(-high)))


GOOD = World(200, sensitivity=0.98, specificity=0.98)
RIVALS = (
    ("errs alike on both", World(200), World(200)),
    ("favours the second", World(200), World(200, specificity=0.32)),
    ("right on 98 %, finds nothing in 5 % of stories of the second", GOOD, replace(GOOD, failing=0.05)),
)
"""How the judge is on the first of two models and on the second."""


def differences(repetitions: int) -> Iterator[str]:
    yield "| aligned stories of 200 | judge | alike: told apart | 8 points apart: told apart | interval holds it |"
    yield "|---|---|---|---|---|"
    for aligned in (10, 20, 40, 120):
        for name, first, other in RIVALS:
            rng = np.random.default_rng((3, aligned))
            worlds = replace(first, aligned=aligned), replace(other, aligned=aligned)
            alike, apart = [], []
            for _ in range(repetitions):
                chance = ease(rng, 200)
                second = judged(rng, worlds[1], chance)
                alike.append(difference(*(_scored(one) for one in (judged(rng, worlds[0], chance), second))))
                worse = chance * (MEAN - 0.08) / MEAN
                apart.append(difference(*(_scored(one) for one in (judged(rng, worlds[0], worse), second))))
            told = [share([p < 0.05 for _, p, _ in each]) for each in (alike, apart)]
            held = holds([gap.interval for gap, *_ in apart], -0.08)
            yield f"| {aligned} | {name} | {told[0]} | {told[1]} | {held} |"


def _scored(stories: Sequence[JudgedStory]) -> Corrected:
    return corrected(stories, Metric.F1)


def warning(repetitions: int) -> Iterator[str]:
    yield "| aligned stories of each of three models | errs alike: warns | specificity .10 higher on one | .20 higher |"
    yield "|---|---|---|---|"
    for aligned in (10, 20, 40, 120):
        rng = np.random.default_rng((4, aligned))
        cells = []
        for more in (0.0, 0.1, 0.2):
            worlds = [World(aligned, aligned, specificity=0.62 + add) for add in (0.0, 0.0, more)]
            fires = []
            for _ in range(repetitions):
                chance = ease(rng, aligned)
                fires.append(differing({str(at): judged(rng, one, chance) for at, one in enumerate(worlds)}).warns)
            cells.append(share(fires))
        yield f"| {aligned} | " + " | ".join(cells) + " |"


def oracle(python: str, repetitions: int) -> Iterator[str]:
    """Samples with one probability, on which ppi-python and the product estimate the same."""
    rng, data, ours = np.random.default_rng(6), [], []
    for _ in range(repetitions):
        stories = judged(rng, World(aligned=int(rng.integers(20, 200)), sensitivity=0.7, specificity=0.7))
        stories = [JudgedStory(one.story, "", one.judged, one.human, one.human and 0.5) for one in stories]
        ours.append(found := corrected(stories, Metric.F1))
        people = [(one.human.f1, one.judged.f1) for one in stories if one.human]
        rest = [one.judged.f1 for one in stories if not one.human]
        # their λ is of the stories that were not aligned, ours of all
        data.append(
            ([human for human, _ in people], [said for _, said in people], rest, found.tuning * len(rest) / 895)
        )
    done = subprocess.run([python, "-c", ORACLE], input=json.dumps(data), capture_output=True, text=True, check=True)
    theirs = np.array(json.loads(done.stdout))
    values = np.array([found.value for found in ours])
    widths = np.array([np.diff(found.interval)[0] for found in ours]) / (theirs[:, 3] - theirs[:, 2])
    same, own = (100 * np.abs(values - theirs[:, at]) for at in (0, 1))
    yield f"{repetitions} samples of 20 to 199 aligned stories, scores in points;"
    yield f"with our λ differing by {same.max():.1e} at most, with theirs by {own.mean():.3f} ({own.max():.2f});"
    yield f"our intervals are {widths.mean():.3f} times as wide ({widths.min():.3f} to {widths.max():.3f})"


PARTS = {
    "scores": scores,
    "designs": designs,
    "seldom": seldom,
    "remedies": remedies,
    "differences": differences,
    "warning": warning,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=500, metavar="N")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this table; can be given again")
    parser.add_argument("--oracle", metavar="PYTHON", help="compare with ppi-python, which this interpreter has")
    options = parser.parse_args()
    if options.oracle:
        parts = [oracle(options.oracle, options.repetitions)]
    else:
        parts = [PARTS[name](options.repetitions) for name in options.part or PARTS]
    for part in parts:
        for line in part:
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
