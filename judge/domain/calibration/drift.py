"""Drift of a judge's answers: anchor stories are asked again, and a chart says when the answers have moved.

The chart is a one-sided cumulative sum (Page 1954, "Continuous inspection schemes", Biometrika 41). Each anchor is
compared with itself: what its agreement with its first verdicts falls below its own level at the start, less an
allowance, is added up and never goes below 0. The chart alarms beyond a limit. Anchors whose answers are less steady
than those of others are so in every repeat, which is no noise: only the spread of an anchor around its own level is.
The limit is simulated, so that false alarms are as rare as is asked for; the simulation includes what the answers at
the start leave unknown of the levels and of the spread.
"""

from __future__ import annotations

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
class Watched:
    """One anchor story that was asked again: its agreement with the first verdicts, the chart's sum after it, and
    whether that alarms. After an alarm the sum begins anew."""

    value: float
    total: float
    alarm: bool


@dataclass(frozen=True, slots=True)
class Batch:
    """The anchor stories of one date that are in the chart: mean agreement, and the limits (three standard errors)
    that an unchanged judge keeps on the same anchors."""

    at: str
    stories: int
    mean: float
    low: float
    high: float

    @property
    def outside(self) -> bool:
        return not self.low <= self.mean <= self.high


def chart(
    baseline: Mapping[str, Sequence[float]],
    *,
    size: float,
    horizon: int = 500,
    false_alarms: float = 0.05,
    seed: int,
) -> Chart:
    """Return a chart that notices a drop of `size` and alarms falsely in about `false_alarms` of all watches of
    `horizon` stories.

    `baseline` has, by anchor, its agreement with its first verdicts each time it was asked again at the start. Raises
    ValueError for too few of these and for a size out of range.
    """
    start = _Start({anchor: np.array(values, dtype=float) for anchor, values in baseline.items() if len(values)})
    if start.count < FEWEST_BASELINE:
        raise ValueError(TOO_FEW)
    if start.free < FEWEST_FREE:
        raise ValueError(TOO_SELDOM)
    if not 0 < size < 1:
        raise ValueError(f"the drop to notice is {size}; expected a share between 0 and 1")
    rng = np.random.default_rng(seed)
    highest = _sums(start.drawn(rng, horizon), size / 2).max(axis=1)
    limit = max(float(np.quantile(highest, 1 - false_alarms)), 1e-9)
    again = _sums(start.drawn(rng, horizon), size / 2).max(axis=1)
    notices = _noticed(_sums(start.drawn(rng, horizon, size), size / 2), limit)
    return Chart(
        mean=float(start.means.mean()),
        spread=start.spread,
        size=size,
        limit=limit,
        horizon=horizon,
        false_alarms=float((again > limit).mean()),
        median=_within(notices, 0.5, horizon),
        most=_within(notices, 0.9, horizon),
        levels=start.levels,
    )


class _Start:
    """The answers at the start: the level of each anchor, and the spread of answers around these levels."""

    def __init__(self, answers: Mapping[str, Floats]) -> None:
        self.times = np.array([len(values) for values in answers.values()], dtype=float)
        self.means = np.array([values.mean() for values in answers.values()])
        self.count, self.free = int(self.times.sum()), int((self.times - 1).sum())
        self.levels = {name: Level(float(values.mean()), len(values)) for name, values in answers.items()}
        self._squares = float(sum(((values - values.mean()) ** 2).sum() for values in answers.values()))

    @property
    def spread(self) -> float:
        """The standard deviation of an answer around the level of its anchor, over all anchors."""
        return float((self._squares / self.free) ** 0.5)

    def drawn(self, rng: np.random.Generator, horizon: int, drop: float = 0.0) -> Floats:
        """Return watches of agreements less the levels of their anchors at the start, shape (resamples, horizon); the
        anchors come in turn.

        Agreements are beta distributed around the true level of an anchor, p, with a variance of p (1 − p) times a
        dispersion that all anchors share. Each watch has a dispersion and true levels of its own, which lie around
        what the start shows: the mean of all levels on its logit, as a lower one has more spread, and each anchor's
        own around it.
        """
        middle = np.clip(self.means, _EDGE, 1 - _EDGE)
        unit = middle * (1 - middle)
        shared = self._squares / float((self.times - 1) @ unit)
        dispersion = np.clip(
            shared * self.free / rng.chisquare(self.free, RESAMPLES), _LEAST_DISPERSION, _MOST_DISPERSION
        )[:, None]
        error = np.sqrt(dispersion * (unit / self.times).sum()) / unit.sum()
        logits = np.log(middle / (1 - middle)) + error * rng.standard_normal((RESAMPLES, 1))
        own = np.sqrt(dispersion * unit / self.times) * rng.standard_normal((RESAMPLES, len(middle)))
        true = 1 / (1 + np.exp(-logits)) + own - own.mean(axis=1, keepdims=True) - drop
        levels = np.clip(true, _EDGE, 1 - _EDGE)
        turns = np.arange(horizon) % len(middle)
        strength = 1 / dispersion - 1
        agreements = rng.beta((levels * strength)[:, turns], ((1 - levels) * strength)[:, turns])
        below: Floats = agreements - self.means[turns]
        return below


def _sums(drawn: Floats, allowance: float) -> Floats:
    """The cumulative sums of each watch: shape (resamples, horizon)."""
    steps = np.cumsum(-drawn - allowance, axis=1)
    lowest = np.minimum(np.minimum.accumulate(steps, axis=1), 0)
    sums: Floats = steps - lowest
    return sums


def _noticed(sums: Floats, limit: float) -> Floats:
    """Return after how many stories each watch alarms; infinite where it does not."""
    beyond = sums > limit
    return np.where(beyond.any(axis=1), beyond.argmax(axis=1) + 1.0, np.inf)


def _within(notices: Floats, share: float, horizon: int) -> int | None:
    stories = float(np.quantile(notices, share, method="higher"))
    return int(stories) if stories <= horizon else None


def watch(chart: Chart, values: Sequence[tuple[str, float]]) -> list[Watched]:
    """Return the chart after each anchor story that was asked again, as (anchor, agreement) in the order in which they
    were. Every anchor must have a level in the chart."""
    total, out = 0.0, []
    for anchor, value in values:
        total = max(0.0, total + chart.levels[anchor].mean - chart.size / 2 - value)
        alarm = total > chart.limit
        out.append(Watched(value, total, alarm))
        total = 0.0 if alarm else total
    return out


def batches(chart: Chart, values: Sequence[tuple[str, Mapping[str, float]]]) -> list[Batch]:
    """Return the mean of each date's agreements, by anchor, with its limits, for the picture. Anchors without a level
    in the chart are left out, and so are dates without any other. Where all answers at the start agreed alike, limits
    are by the rule of three."""
    out = []
    for at, by_anchor in values:
        charted = {anchor: value for anchor, value in by_anchor.items() if anchor in chart.levels}
        if charted:
            levels = [chart.levels[anchor] for anchor in charted]
            usual, count = sum(level.mean for level in levels) / len(levels), len(levels)
            reach = 3 * chart.spread * sum(1 + 1 / level.answers for level in levels) ** 0.5 / count
            low, high = max(0.0, usual - reach), min(1.0, usual + reach)
            if not chart.spread:  # answers that were all alike are not certain
                unseen = unseen_share(sum(level.answers for level in chart.levels.values()))
                low, high = usual * (1 - unseen), usual + unseen * (1 - usual)
            out.append(Batch(at, count, float(np.mean(list(charted.values()))), low, high))
    return out


@dataclass(frozen=True, slots=True)
class Identity:
    """Model that a provider said it answered with: the resolved name and its fingerprint, empty where it gave none."""

    at: str
    model: str
    fingerprint: str


def changes(seen: Sequence[Identity]) -> list[tuple[Identity, Identity]]:
    """Return each pair of neighbours, before and after, between which the model or its fingerprint is another one; a
    fingerprint that is not given says nothing."""
    out = []
    last: Identity | None = None
    for identity in seen:
        if last and (
            identity.model != last.model
            or (identity.fingerprint and last.fingerprint not in ("", identity.fingerprint))
        ):
            out.append((last, identity))
        last = (
            identity
            if identity.fingerprint or not last or identity.model != last.model
            else Identity(identity.at, identity.model, last.fingerprint)
        )
    return out
