"""Drift of a judge's answers: anchor stories are asked again, and a chart says when the answers have moved.

The chart is a one-sided cumulative sum (Page 1954, "Continuous inspection schemes", Biometrika 41). Each anchor is
compared with itself: what its agreement with its first verdicts falls below its own level at the start, less an
allowance, is added up and never goes below 0. The chart alarms beyond a limit. Anchors whose answers are less steady
than those of others are so in every repeat, which is no noise: only the spread of an anchor around its own level is.
The limit is simulated, so that false alarms are as rare as is asked for; the simulation includes what the answers at
the start leave unknown of the levels and of the spread.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.messages import Sentence
from core.statistics import RESAMPLES, Floats, unseen_share

FEWEST_BASELINE = 60
"""Answers to anchor stories asked again while calibrating: from fewer the usual spread is too little known."""
WANTED_BASELINE = 100
"""Answers that are asked for: from fewer, charts that were made from them alarm more unlike one another."""
FEWEST_ROUNDS = 2
"""Answers of each anchor at the start: one does not show how far an anchor strays from its own level."""
FEWEST_FREE = FEWEST_BASELINE // FEWEST_ROUNDS
"""Answers after the first of each anchor, from which the spread is estimated."""
_EDGE = 0.005
"""No anchor is taken to agree always, or never."""
_LEAST_DISPERSION, _MOST_DISPERSION = 1e-4, 0.9
HORIZON, FALSE_ALARMS = 500, 0.05
"""The number of stories for which an unchanged judge is watched, and the share of such watches that may alarm."""
TOO_FEW = Sentence(
    "a chart needs at least {fewest_baseline} answers to anchors that were asked again while calibrating",
    fewest_baseline=FEWEST_BASELINE,
)
TOO_SELDOM = Sentence(
    "a chart needs anchors that were answered at least {fewest_rounds} times each when they were "
    "asked again while calibrating",
    fewest_rounds=FEWEST_ROUNDS,
)


@dataclass(frozen=True, slots=True)
class Level:
    """The agreement of one anchor with its first verdicts at the start: the mean of so many `answers`."""

    mean: float
    answers: int


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart for drops of `size` (a share of agreement) below the level of each anchor at the start.

    It alarms when the sum of what is below the level less `size` / 2 exceeds `limit`. `mean` is the mean of the
    `levels` by anchor, `spread` the standard deviation of an answer around the level of its anchor. A judge that has
    not changed alarms in `false_alarms` of all watches of `horizon` stories; one whose agreement fell by `size` is
    noticed within `median` stories in half of all cases and within `most` in nine of ten.
    """

    mean: float
    spread: float
    size: float
    limit: float
    horizon: int
    false_alarms: float
    median: int | None
    most: int | None
    levels: Mapping[str, Level]


@dataclass(frozen=True, slots=True)
class Batch:
    """The anchor stories of one date that are in the chart: mean agreement, and the limits (three standard errors)
    that an unchanged judge keeps on the same anchors."""

    mean: float
    low: float
    high: float

    @property
    def outside(self) -> bool:
        return not self.low <= self.mean <= self.high


def chart(baseline: Mapping[str, Sequence[float]], *, size: float, seed: int) -> Chart:
    """Return a chart that notices a drop of `size` and alarms falsely in about `FALSE_ALARMS` of all watches of
    `HORIZON` stories.

    `baseline` has, by anchor, its agreement with its first verdicts each time it was asked again at the start. Raises
    ValueError for too few of these and for a size out of range.
    """
    answers = [np.array(values, dtype=float) for values in baseline.values() if len(values)]
    times = np.array([len(values) for values in answers], dtype=float)
    free = int((times - 1).sum())
    if times.sum() < FEWEST_BASELINE:
        raise ValueError(TOO_FEW)
    if free < FEWEST_FREE:
        raise ValueError(TOO_SELDOM)
    if not 0 < size < 1:
        raise ValueError(f"the drop to notice is {size}; expected a share between 0 and 1")
    means = np.array([values.mean() for values in answers])
    squares = float(sum(((values - values.mean()) ** 2).sum() for values in answers))
    rng = np.random.default_rng(seed)

    def sums(drop: float = 0.0) -> Floats:
        """The cumulative sums of each simulated watch, shape (resamples, HORIZON)."""
        steps = np.cumsum(-_drawn(rng, means, times, squares, drop) - size / 2, axis=1)
        return steps - np.minimum(np.minimum.accumulate(steps, axis=1), 0)

    limit = max(float(np.quantile(sums().max(axis=1), 1 - FALSE_ALARMS)), 1e-9)
    falsely = float((sums().max(axis=1) > limit).mean())
    beyond = sums(size) > limit
    notices = np.where(beyond.any(axis=1), beyond.argmax(axis=1) + 1.0, np.inf)
    median, most = (float(np.quantile(notices, share, method="higher")) for share in (0.5, 0.9))
    names = [name for name, values in baseline.items() if len(values)]
    return Chart(
        float(means.mean()),
        float((squares / free) ** 0.5),
        size,
        limit,
        HORIZON,
        falsely,
        int(median) if median <= HORIZON else None,
        int(most) if most <= HORIZON else None,
        {name: Level(float(values.mean()), len(values)) for name, values in zip(names, answers, strict=True)},
    )


def _drawn(rng: np.random.Generator, means: Floats, times: Floats, squares: float, drop: float) -> Floats:
    """Return watches of agreements less the levels of their anchors at the start, shape (resamples, HORIZON); the
    anchors come in turn. `means`, `times` and `squares` are the means, counts and sum of squared deviations of the
    answers at the start.

    Agreements are beta distributed around the true level of an anchor, p, with a variance of p (1 − p) times a
    dispersion that all anchors share. Each watch has a dispersion and true levels of its own, which lie around what the
    start shows: the mean of all levels on its logit, as a lower one has more spread, and each anchor's own around it.
    """
    middle = np.clip(means, _EDGE, 1 - _EDGE)
    unit, free = middle * (1 - middle), int((times - 1).sum())
    shared = squares / float((times - 1) @ unit)
    dispersion = np.clip(shared * free / rng.chisquare(free, RESAMPLES), _LEAST_DISPERSION, _MOST_DISPERSION)[:, None]
    error = np.sqrt(dispersion * (unit / times).sum()) / unit.sum()
    logits = np.log(middle / (1 - middle)) + error * rng.standard_normal((RESAMPLES, 1))
    own = np.sqrt(dispersion * unit / times) * rng.standard_normal((RESAMPLES, len(middle)))
    true = 1 / (1 + np.exp(-logits)) + own - own.mean(axis=1, keepdims=True) - drop
    levels = np.clip(true, _EDGE, 1 - _EDGE)
    turns = np.arange(HORIZON) % len(middle)
    strength = 1 / dispersion - 1
    below: Floats = rng.beta((levels * strength)[:, turns], ((1 - levels) * strength)[:, turns]) - means[turns]
    return below


def watch(chart: Chart, values: Sequence[tuple[str, float]]) -> list[tuple[float, bool]]:
    """Return the chart's sum after each anchor story that was asked again, and whether that alarms, from (anchor,
    agreement) in the order in which they were asked. After an alarm the sum begins at 0. Every anchor must have a level
    in the chart."""
    total, after = 0.0, []
    for anchor, value in values:
        total = max(0.0, total + chart.levels[anchor].mean - chart.size / 2 - value)
        after.append((total, total > chart.limit))
        total = 0.0 if total > chart.limit else total
    return after


def batch(chart: Chart, values: Mapping[str, float]) -> Batch | None:
    """Return the mean of a date's agreements, by anchor, with its limits. Anchors without a level in the chart are
    skipped. Returns None if there is no other. If all answers at the start agreed alike, limits are by the rule of
    three."""
    charted = {anchor: value for anchor, value in values.items() if anchor in chart.levels}
    if not charted:
        return None
    levels = [chart.levels[anchor] for anchor in charted]
    usual, count = sum(level.mean for level in levels) / len(levels), len(levels)
    reach = 3 * chart.spread * sum(1 + 1 / level.answers for level in levels) ** 0.5 / count
    low, high = max(0.0, usual - reach), min(1.0, usual + reach)
    if not chart.spread:  # answers that were all alike are not certain
        unseen = unseen_share(sum(level.answers for level in chart.levels.values()))
        low, high = usual * (1 - unseen), usual + unseen * (1 - usual)
    return Batch(float(np.mean(list(charted.values()))), low, high)


def changes(seen: Sequence[tuple[str, str]]) -> list[tuple[int, str]]:
    """Return the place of each (model, fingerprint) that is another one than those before, and the fingerprint known
    before it. A fingerprint that is not given says nothing."""
    found, known = [], ""
    for at, (model, fingerprint) in enumerate(seen):
        same_model = bool(at) and model == seen[at - 1][0]
        if at and (not same_model or (fingerprint and known not in ("", fingerprint))):
            found.append((at, known))
        known = fingerprint or (known if same_model else "")
    return found
