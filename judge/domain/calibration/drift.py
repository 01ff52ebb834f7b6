"""Drift of a judge's answers: anchor stories are asked again, and a chart says when the answers have moved.

The chart is a one-sided cumulative sum (Page 1954, "Continuous inspection schemes", Biometrika 41): what each anchor
story's agreement with its first verdicts falls below the usual, less an allowance, is added up and never goes below
nought; it alarms beyond a limit. The limit is chosen so that false alarms are as rare as is asked for, by simulation of
agreements as they were when the judge was calibrated, with what so few of them leave unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.language import gettext_noop
from core.statistics import RESAMPLES, Floats

FEWEST_BASELINE = 60
"""Answers to anchor stories asked again while calibrating: from fewer the usual spread is too little known."""
WANTED_BASELINE = 100
"""Answers that are asked for: from fewer, charts that were made from them alarm more unlike one another."""
_EDGE = 0.005
"""No judge is taken to agree always, or never."""
TOO_FEW = gettext_noop(
    f"a chart needs at least {FEWEST_BASELINE} answers to anchors that were asked again while calibrating"
)


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart for drops of `size` (a share of agreement) below the usual `mean`, whose standard deviation a story is
    `spread`: it alarms when the sum of what is below `mean` − `size` / 2 exceeds `limit`.

    A judge that has not changed alarms in `false_alarms` of all watches of `horizon` stories; one whose agreement fell
    by `size` is noticed within `median` stories in half of all cases and within `most` in nine of ten.
    """

    mean: float
    spread: float
    size: float
    limit: float
    horizon: int
    false_alarms: float
    median: int | None
    most: int | None


@dataclass(frozen=True, slots=True)
class Watched:
    """One anchor story that was asked again: its agreement with the first verdicts, the chart's sum after it, and
    whether that alarms. After an alarm the sum begins anew."""

    value: float
    total: float
    alarm: bool


@dataclass(frozen=True, slots=True)
class Batch:
    """The anchor stories of one date: mean agreement and the limits (three standard errors) that an unchanged judge
    keeps."""

    at: str
    stories: int
    mean: float
    low: float
    high: float

    @property
    def outside(self) -> bool:
        return not self.low <= self.mean <= self.high


def chart(
    baseline: Sequence[float], *, size: float, horizon: int = 500, false_alarms: float = 0.05, seed: int
) -> Chart:
    """Return a chart that notices a drop of `size` and alarms falsely in about `false_alarms` of all watches of
    `horizon` stories. `baseline` is the agreement of each anchor story with its first verdicts when it was asked again
    at once. Raises ValueError for too few of these and for a size out of range."""
    values = np.array(baseline, dtype=float)
    if len(values) < FEWEST_BASELINE:
        raise ValueError(TOO_FEW)
    if not 0 < size < 1:
        raise ValueError(f"the drop to notice is {size}; expected a share between 0 and 1")
    mean, rng = float(values.mean()), np.random.default_rng(seed)
    highest = _sums(_drawn(rng, values, horizon), mean - size / 2).max(axis=1)
    limit = max(float(np.quantile(highest, 1 - false_alarms)), 1e-9)
    again = _sums(_drawn(rng, values, horizon), mean - size / 2).max(axis=1)
    notices = _noticed(_sums(_drawn(rng, values, horizon, size), mean - size / 2), limit)
    return Chart(
        mean,
        float(values.std(ddof=1)),
        size,
        limit,
        horizon,
        float((again > limit).mean()),
        _within(notices, 0.5, horizon),
        _within(notices, 0.9, horizon),
    )


def _drawn(rng: np.random.Generator, values: Floats, horizon: int, drop: float = 0.0) -> Floats:
    """Watches of an agreement that is as usual but for a drop, from beta distributions: shape (resamples, horizon).

    The usual is itself known from few stories, so that each watch has the mean and the variance of a resample of them.
    Resamples are less unlike than samples are, as agreement is skewed: means lie further apart here, by two fifths
    where there are as few stories as may be, and hardly where there are many (measured by bench/calibration.py).
    """
    resamples = values[rng.integers(len(values), size=(RESAMPLES, len(values)))]
    apart = (1 + FEWEST_BASELINE / len(values)) ** 0.5
    means = values.mean() + apart * (resamples.mean(axis=1) - values.mean())
    mean = np.clip(means - drop, _EDGE, 1 - _EDGE)
    variance = np.clip(resamples.var(axis=1, ddof=1), _EDGE**2, 0.9 * mean * (1 - mean))
    strength = mean * (1 - mean) / variance - 1
    shape = (RESAMPLES, horizon)
    return rng.beta((mean * strength)[:, None], ((1 - mean) * strength)[:, None], shape)


def _sums(drawn: Floats, reference: float) -> Floats:
    """The cumulative sums of each watch: shape (resamples, horizon)."""
    steps = np.cumsum(reference - drawn, axis=1)
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


def watch(chart: Chart, values: Sequence[float]) -> list[Watched]:
    """Return the chart after each anchor story that was asked again, in the order in which they were."""
    total, out = 0.0, []
    for value in values:
        total = max(0.0, total + chart.mean - chart.size / 2 - value)
        alarm = total > chart.limit
        out.append(Watched(value, total, alarm))
        total = 0.0 if alarm else total
    return out


def batches(chart: Chart, values: Sequence[tuple[str, Sequence[float]]]) -> list[Batch]:
    """Return the mean of each date's anchor stories with its limits, for the picture; dates without any are left
    out."""
    out = []
    for at, shares in values:
        if shares:
            reach = 3 * chart.spread / len(shares) ** 0.5
            low, high = max(0.0, chart.mean - reach), min(1.0, chart.mean + reach)
            out.append(Batch(at, len(shares), float(np.mean(shares)), low, high))
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
