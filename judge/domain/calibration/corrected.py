"""Scores without the judge's error: prediction-powered inference with the tuned λ, PPI++.

Angelopoulos, Duchi and Zrnic 2023, "PPI++: Efficient prediction-powered inference" (arXiv 2311.01453); where what
people aligned is a part of what was judged, it is the difference estimator of survey sampling (Särndal, Swensson and
Wretman 1992, "Model Assisted Survey Sampling", chapter 6):

    corrected = mean over all stories of λ · judged + weighted mean over aligned stories of (human − λ · judged)

Each aligned story has the weight of its share in the mean over the probability with which it was drawn. The corrected
score is right on average whatever the judge's error is, as long as the aligned stories are a random sample; λ, between
0 (people alone) and 1, is what makes the spread smallest, so that a better judge makes it narrower and a bad one does
no harm. A story of which the judge said nothing stands for the mean of those that it judged, whether it is aligned or
not.

The standard error comes from how far each story moves the score, that of aligned stories with n − 2 degrees of
freedom as λ is estimated from them: with these the interval covers from five aligned stories on, where the normal
interval of the paper does not (docs/statistics.md). It knows errors of a kind that the aligned stories show. Of those
that they do not, such as a judge that seldom finds nothing in a whole story, the rule of three says how many stories
may have them: the interval reaches as far as the score would go were so many, those that the judge puts furthest from
its mean, really like the others.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from core.language import gettext_noop
from core.statistics import (
    DIFFERENCE,
    FEWEST,
    LEVEL,
    REAL,
    SHARE,
    Floats,
    linear_error,
    linear_interval,
    linear_p,
    spanning,
    t_quantile,
    unseen_share,
)
from judge.domain.calibration.unseen import reach, reaching, unseen_p

UNIT = "aligned stories"
NOT_ALIGNED = gettext_noop("no story was aligned")
NO_STORIES = gettext_noop("no story was judged")
NO_VERDICT = gettext_noop("the judge has no verdict on any story")
_NO_SPREAD = 1e-9
"""Standard errors below it are those of rounding."""


@dataclass(frozen=True, slots=True)
class Matches:
    """How many rows of both tables of a story are matched; of the `open` ones people could not tell, or the judge has
    no verdict: they are among the rows and not among the matched, and in no figure."""

    predicted: int
    matched_predicted: int
    gold: int
    matched_gold: int
    open_predicted: int = 0
    open_gold: int = 0

    @property
    def precision(self) -> float:
        return _share(self.matched_predicted, self.predicted - self.open_predicted)

    @property
    def recall(self) -> float:
        return _share(self.matched_gold, self.gold - self.open_gold)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 0 where both are."""
        return _harmonic(self.precision, self.recall)

    def told(self, metric: Metric) -> bool:
        """Whether there is a figure by that metric: not where every row of a table that it is of is open."""
        sides = {
            Metric.PRECISION: not self.predicted or self.open_predicted < self.predicted,
            Metric.RECALL: not self.gold or self.open_gold < self.gold,
        }
        return sides.get(metric, all(sides.values()))

    def settled(self, *, matched: bool) -> Matches:
        """Return these with every open row matched, or not."""
        return Matches(
            self.predicted,
            self.matched_predicted + self.open_predicted * matched,
            self.gold,
            self.matched_gold + self.open_gold * matched,
        )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@dataclass(frozen=True, slots=True)
class JudgedStory:
    """One model's table of one story: what the judge said, and people where they aligned it, drawn with that
    `probability`."""

    story: str
    category: str
    judged: Matches
    human: Matches | None = None
    probability: float | None = None

    @property
    def certain(self) -> bool:
        """Whether nothing can be matched, so that nobody has to look: a table without rows."""
        return not (self.judged.predicted and self.judged.gold)


class Metric(StrEnum):
    PRECISION = "precision"
    RECALL = "recall"
    F1 = "f1"


class Averaging(StrEnum):
    """Over what a score is averaged: STORIES and CATEGORIES are the two official readings, POOLED counts rows."""

    STORIES = "stories"
    CATEGORIES = "categories"
    POOLED = "pooled"


@dataclass(frozen=True)
class Corrected:
    """A corrected score with its interval. `judged` is what the judge alone gives of the stories that it has verdicts
    on, all but `unjudged` of them, `human` what the aligned stories alone do, with its interval, `bounds` where the
    corrected score lies whatever the rows are that people could not tell, `spanned` the interval over both. `effective`
    is how many aligned stories people alone would need for as narrow an interval; `unseen` the share of the score's
    weight in strata of which no story was aligned. `moves` is how far each story moves the score: (story, by being
    judged, by being aligned); nobody can err on the `certain` ones."""

    value: float | None
    interval: tuple[float, float] | None
    stories: int
    aligned: int
    tuning: float
    judged: float | None
    human: float | None = None
    human_interval: tuple[float, float] | None = None
    bounds: tuple[float, float] | None = None
    spanned: tuple[float, float] | None = None
    effective: float | None = None
    unseen: float = 0.0
    reason: str = ""
    unjudged: int = 0
    moves: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    certain: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def pulls(self) -> dict[str, float]:
        """How far each story on which the judge can err moves the score by being judged."""
        return {story: judged for story, (judged, _) in self.moves.items() if story not in self.certain}

    @property
    def error(self) -> float | None:
        """The standard error."""
        return linear_error(_all_moves(self.moves)) if self.moves else None


def _all_moves(moves: Mapping[str, tuple[float, float]]) -> Floats:
    return np.array([judged + aligned for judged, aligned in moves.values()])


def corrected(
    stories: Sequence[JudgedStory],
    metric: Metric,
    averaging: Averaging = Averaging.STORIES,
    *,
    tuning: float | None = None,
    others: Sequence[JudgedStory] = (),
) -> Corrected:
    """Return the corrected score of one model over all its judged stories.

    `tuning` is λ, tuned where none is given. With `others`, tables of other models, calibration is pooled: the judge's
    error is taken from these too, which is right only where it does not differ by model (`differing`). λ is then 1,
    since it is the judge's error that models share and not their scores; people alone have no score.
    """
    if not stories:
        return Corrected(None, None, 0, 0, 0.0, None, reason=NO_STORIES)
    chosen = 1.0 if others else tuning
    if averaging == Averaging.POOLED and metric == Metric.F1:
        found = _pooled_f1(stories, chosen, others)
    else:
        found = _with_bounds(stories, others, lambda part, of: _scored(part, metric, averaging, chosen, of))
    return replace(found, human=None, human_interval=None, effective=None) if others else found


def shown(score: Corrected) -> Corrected:
    """Return the score as pages and files show it: without a value where so few stories were aligned that it has no
    interval, which the reason says."""
    return replace(score, value=None, human=None, bounds=None) if score.interval is None else score


def _with_bounds(
    stories: Sequence[JudgedStory],
    others: Sequence[JudgedStory],
    score: Callable[[Sequence[JudgedStory], Sequence[JudgedStory]], Corrected],
) -> Corrected:
    """Score the stories, and where people left rows open also with all of these unmatched, and matched."""
    middle = score(stories, others)
    if not any(one.human and (one.human.open_predicted or one.human.open_gold) for one in [*stories, *others]):
        return middle
    low, high = (
        score(_settled(stories, matched=matched), _settled(others, matched=matched)) for matched in (False, True)
    )
    if low.value is None or high.value is None:
        return middle
    ends, _ = spanning(_listed(low.interval), _listed(high.interval))
    values = [low.value, high.value, *([] if middle.value is None else [middle.value])]
    return replace(middle, bounds=(min(values), max(values)), spanned=(ends[0], ends[1]) if ends else None)


def _listed(interval: tuple[float, float] | None) -> tuple[list[float] | None, str]:
    return (list(interval) if interval else None), ""


def _settled(stories: Sequence[JudgedStory], *, matched: bool) -> list[JudgedStory]:
    return [replace(one, human=one.human.settled(matched=matched)) if one.human else one for one in stories]


def _scored(
    stories: Sequence[JudgedStory],
    metric: Metric,
    averaging: Averaging,
    tuning: float | None,
    others: Sequence[JudgedStory],
) -> Corrected:
    return _Mean(stories, others, metric, averaging).corrected(tuning)


def _shares(stories: Sequence[JudgedStory], metric: Metric, averaging: Averaging) -> Callable[[JudgedStory], float]:
    """Return what share of the mean over these stories a story has, or one of another model in its place."""
    if averaging == Averaging.STORIES:
        return lambda _: 1 / len(stories)
    if averaging == Averaging.CATEGORIES:
        of = Counter(one.category for one in stories)
        return lambda one: 1 / len(of) / of[one.category] if one.category in of else 0.0

    def size(one: JudgedStory) -> int:
        return one.judged.predicted if metric == Metric.PRECISION else one.judged.gold

    total = max(sum(map(size, stories)), 1)
    return lambda one: size(one) / total


class _Mean:
    """A weighted mean over stories of a figure that the judge gives of all of them and people of some."""

    def __init__(
        self, stories: Sequence[JudgedStory], others: Sequence[JudgedStory], metric: Metric, averaging: Averaging
    ) -> None:
        share = _shares(stories, metric, averaging)
        self._stories, self._share = stories, np.array([share(one) for one in stories])
        self._open = np.array([not one.certain for one in stories])
        self._groups = [one.category if averaging == Averaging.CATEGORIES else "" for one in stories]
        self._told = np.array([one.certain or one.judged.told(metric) for one in stories])
        said = _Said(stories, self._share * (self._told & self._open), self._groups, metric)
        self._judged = np.array([0.0 if one.certain else said.of(one) for one in stories])
        aligned = [one for one in [*stories, *others] if one.human and not one.certain]
        # a table of which people could tell nothing tells nothing of the judge: it is in the bounds alone
        self._sample = [one for one in aligned if one.human and one.human.told(metric)]
        self._weights = _normed(np.array([share(one) / (one.probability or 1.0) for one in self._sample]))
        self._said = np.array([said.of(one) for one in self._sample])
        self._true = np.array([figure(one.human, metric) for one in self._sample if one.human])
        self._aligned = len({one.story for one in self._sample})

    def corrected(self, tuning: float | None) -> Corrected:
        judged, unjudged = self._alone(), int((~self._told).sum())
        if self._open.any() and not self._aligned:
            return Corrected(
                None, None, len(self._stories), 0, 0.0, judged, unseen=1.0, reason=NOT_ALIGNED, unjudged=unjudged
            )
        chosen = self._tuned() if tuning is None else tuning
        moves, alone = self._moves(chosen), self._moves(0.0)
        value, human = self._value(chosen), self._value(0.0)
        found = Corrected(
            _within(value),
            None,
            len(self._stories),
            self._aligned,
            chosen,
            judged,
            human,
            self._interval(human, alone)[0],
            unseen=self._unseen(),
            unjudged=unjudged,
            moves=moves,
            certain=frozenset(one.story for one in self._stories if one.certain),
        )
        return _with_interval(found, self._interval(value, moves), linear_error(_all_moves(alone)))

    def _alone(self) -> float | None:
        """What the judge alone gives, of the stories on which it has verdicts; None where it has none."""
        share = self._share * self._told
        told = bool((self._told & self._open).any() or not self._open.any())
        return float(share @ self._judged / share.sum()) if told and share.sum() else None

    def _residual(self, tuning: float) -> float:
        return float(self._weights @ (self._true - tuning * self._said)) if self._aligned else 0.0

    def _known(self, tuning: float) -> Floats:
        """What stands for each story: λ times what the judge said with the residual, or what is certain."""
        return np.where(self._open, tuning * self._judged + self._residual(tuning), self._judged)

    def _value(self, tuning: float) -> float:
        return float(self._share @ self._known(tuning))

    def _parts(self, tuning: float) -> tuple[Floats, Floats]:
        """How far each story moves the score by being judged, and each aligned one by being aligned."""
        known = self._known(tuning)
        judged = self._share * (known - _group_means(known, self._share, self._groups))
        left = self._true - tuning * self._said
        n = self._aligned
        factor = np.sqrt(n / (n - 2)) if n > 2 else 1.0
        weight = float(self._share[self._open].sum())
        return judged, weight * factor * self._weights * (left - self._residual(tuning))

    def _moves(self, tuning: float) -> dict[str, tuple[float, float]]:
        judged, aligned = self._parts(tuning)
        moves = {one.story: (0.0, 0.0) for one in [*self._stories, *self._sample]}
        for one, move in zip(self._stories, judged.tolist(), strict=True):
            moves[one.story] = (moves[one.story][0] + move, moves[one.story][1])
        for one, move in zip(self._sample, aligned.tolist(), strict=True):
            moves[one.story] = (moves[one.story][0], moves[one.story][1] + move)
        return moves

    def _tuned(self) -> float:
        """The λ with the smallest spread: moves are linear in it, u + λ · v, so that it is −Σuv / Σv². 0, people alone,
        where the judge says the same of all stories, or nothing."""
        none, whole = (_all_moves(self._moves(tuning)) for tuning in (0.0, 1.0))
        slope = whole - none
        square = float(slope @ slope)
        if square <= _NO_SPREAD**2:
            return 0.0
        return 1.0 if self._aligned < FEWEST else float(np.clip(-(none @ slope) / square, 0, 1))

    def _interval(
        self, value: float, moves: Mapping[str, tuple[float, float]]
    ) -> tuple[tuple[float, float] | None, str]:
        count = self._aligned if self._open.any() else len(self._stories)
        return _interval(value, moves, count)

    def _unseen(self) -> float:
        seen = {one.category for one in self._sample}
        return float(
            sum(
                share
                for one, share in zip(self._stories, self._share.tolist(), strict=True)
                if one.category not in seen and not one.certain
            )
        )


class _Said:
    """What the judge gives of a story, and of one on which it has no verdict the mean of those on which it has some:
    of the same group, else of all."""

    def __init__(self, stories: Sequence[JudgedStory], weights: Floats, groups: Sequence[str], metric: Metric) -> None:
        self._metric, self._by_category = metric, any(groups)
        figures = np.array([figure(one.judged, metric) for one in stories])
        total = float(weights.sum())
        self._mean = float(weights @ figures) / total if total else 0.0
        sums: Counter[str] = Counter()
        shares: Counter[str] = Counter()
        for group, weight, value in zip(groups, weights.tolist(), figures.tolist(), strict=True):
            sums[group] += weight * value
            shares[group] += weight
        self._means = {group: sums[group] / share for group, share in shares.items() if share}

    def of(self, one: JudgedStory) -> float:
        if one.judged.told(self._metric):
            return figure(one.judged, self._metric)
        return self._means.get(one.category if self._by_category else "", self._mean)


def _with_interval(found: Corrected, ends: Ends, alone: float) -> Corrected:
    """Return the score with the interval that its spread and errors that were not seen leave it, and with what it is
    worth, `alone` being the standard error of people alone."""
    interval, why = ends
    if interval is None or found.value is None:
        return replace(found, interval=interval, reason=why)
    wide = reaching(interval, found.value, reach(found.pulls, found.aligned), (0.0, 1.0))
    worth = None
    if found.error and found.error > _NO_SPREAD:
        narrower = alone / found.error * (interval[1] - interval[0]) / (wide[1] - wide[0])
        worth = found.aligned * narrower**2
    return replace(found, interval=wide, effective=worth, reason=why)


Ends = tuple[tuple[float, float] | None, str]
"""An interval, or why there is none."""


def _interval(
    value: float, moves: Mapping[str, tuple[float, float]], count: int
) -> tuple[tuple[float, float] | None, str]:
    """The interval of a score that `count` aligned stories correct; of one that the correction took out of its range,
    around the end of it. Where all stories are alike, by the rule of three, also at an end of the range."""
    share = _within(value)
    scale = SHARE if 0 < value < 1 or (_alike(moves) and abs(value - share) < _NO_SPREAD) else REAL
    value = share if scale is SHARE else value
    ends, why = linear_interval(value, _all_moves(moves), count=count, most=max(count - 2, 1), scale=scale, unit=UNIT)
    return (_within(ends[0]), _within(ends[1])) if ends else None, why


def _alike(moves: Mapping[str, tuple[float, float]]) -> bool:
    return linear_error(_all_moves(moves)) <= _NO_SPREAD


def _within(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def figure(matches: Matches, metric: Metric) -> float:
    """Return a story's score by that metric."""
    return float(getattr(matches, metric.value))


def _normed(weights: Floats) -> Floats:
    total = float(weights.sum())
    return weights / total if total > 0 else np.full(len(weights), 1 / max(len(weights), 1))


def _group_means(values: Floats, weights: Floats, groups: Sequence[str]) -> Floats:
    """The weighted mean of each value's group."""
    names, at = np.unique(np.array(groups), return_inverse=True)
    sums = np.bincount(at, weights * values, len(names))
    return np.divide(sums, np.bincount(at, weights, len(names)), out=np.zeros(len(names)), where=sums != 0)[at]


def _pooled_f1(stories: Sequence[JudgedStory], tuning: float | None, others: Sequence[JudgedStory]) -> Corrected:
    """The harmonic mean of pooled precision and recall, both corrected; what moves it follows by its derivatives."""

    def at(part: Sequence[JudgedStory], of: Sequence[JudgedStory], tuned: float | None) -> Corrected:
        precision, recall = (
            _scored(part, metric, Averaging.POOLED, tuned, of) for metric in (Metric.PRECISION, Metric.RECALL)
        )
        return _harmonic_of(precision, recall)

    def score(part: Sequence[JudgedStory], of: Sequence[JudgedStory]) -> Corrected:
        both, alone = at(part, of, tuning), at(part, of, 0.0)
        if both.value is None:
            return replace(both, human=alone.value, human_interval=alone.interval)
        kept = replace(both, human=alone.value, human_interval=alone.interval)
        return _with_interval(kept, (both.interval, both.reason), alone.error or 0.0)

    return _with_bounds(stories, others, score)


def _harmonic_of(precision: Corrected, recall: Corrected) -> Corrected:
    sides, stories = (precision.judged, recall.judged), precision.stories
    judged = None if None in sides else _harmonic(precision.judged or 0.0, recall.judged or 0.0)
    unjudged = max(precision.unjudged, recall.unjudged)
    if precision.value is None or recall.value is None:
        why = precision.reason or recall.reason
        return Corrected(None, None, stories, 0, 0.0, judged, unseen=1.0, reason=why, unjudged=unjudged)
    p, r = precision.value, recall.value
    value, total = _harmonic(p, r), max(p + r, 1e-12)
    by_p, by_r = 2 * (r / total) ** 2, 2 * (p / total) ** 2
    moves = {
        story: (by_p * one[0] + by_r * recall.moves[story][0], by_p * one[1] + by_r * recall.moves[story][1])
        for story, one in precision.moves.items()
    }
    interval, why = _interval(value, moves, precision.aligned)
    tuning, unseen = (precision.tuning + recall.tuning) / 2, max(precision.unseen, recall.unseen)
    return Corrected(
        value, interval, stories, precision.aligned, tuning, judged, unseen=unseen, reason=why, unjudged=unjudged,
        moves=moves, certain=precision.certain,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class CorrectedDifference:
    """One model's corrected score less another's, with its interval and two-sided p value, over `stories` that either
    has; None with a `reason`."""

    value: float | None
    interval: tuple[float, float] | None
    p: float | None
    stories: int
    aligned: int
    reason: str = ""


def difference(first: Corrected, second: Corrected) -> CorrectedDifference:
    """Return the difference of two corrected scores of the same metric, paired by story.

    What a story moves either score by is set against the other, so that stories which are hard for both make no spread,
    and nothing is lost where the two were aligned on different stories.
    """
    stories = sorted({*first.moves, *second.moves})
    if first.value is None or second.value is None:
        aligned = min(first.aligned, second.aligned)
        return CorrectedDifference(None, None, None, len(stories), aligned, first.reason or second.reason)
    # a model whose every story is certain has nothing to be aligned, and limits nothing
    aligned = min((score.aligned for score in (first, second) if score.aligned), default=0)
    moves = np.array([sum(first.moves.get(one, ())) - sum(second.moves.get(one, ())) for one in stories])
    value, most = first.value - second.value, max(aligned - 2, 1)
    ends, why = linear_interval(value, moves, count=aligned, most=most, scale=DIFFERENCE, unit=UNIT)
    if not ends:
        return CorrectedDifference(value, None, None, len(stories), aligned, why)
    p = linear_p(value, moves, count=aligned, most=most, scale=DIFFERENCE)
    pulls = {one: first.pulls.get(one, 0.0) - second.pulls.get(one, 0.0) for one in {*first.pulls, *second.pulls}}
    wide = reaching((ends[0], ends[1]), value, reach(pulls, aligned), (-1.0, 1.0))
    return CorrectedDifference(value, wide, max(p, unseen_p(value, pulls, aligned)), len(stories), aligned)


def foreseen(score: Corrected, aligned: int) -> float | None:
    """Return half the width that the interval will about have once so many stories are aligned, by the rule of three
    where all are alike now; None where it has none now, or fewer than five are meant."""
    if score.interval is None or aligned < FEWEST:
        return None
    if _alike(score.moves):
        return unseen_share(aligned) / 2
    down, up = reach(score.pulls, aligned)
    moves = np.array(list(score.moves.values()))
    judged, own = moves[:, 0], moves[:, 1]
    n = score.aligned
    per_story = float((own**2).sum()) * (n - 2)  # their factor n / (n − 2) is that of n stories
    square = max(float((judged**2 + 2 * judged * own).sum()) + per_story / (aligned - 2), 0.0)
    half = float(t_quantile((1 + LEVEL) / 2, np.array([float(aligned - 2)]))[0] * np.sqrt(square))
    return (max(half, down) + max(half, up)) / 2


def needed(score: Corrected, half_width: float, most: int) -> int | None:
    """Return the least number of aligned stories, of `most` that there are, with which the interval will be about
    ±`half_width` or narrower; None where all of them are too few."""

    def narrow(aligned: int) -> bool:
        width = foreseen(score, aligned)
        return width is not None and width <= half_width

    sizes = range(FEWEST, most + 1)
    at = bisect_left(sizes, True, key=narrow)
    return sizes[at] if at < len(sizes) else None
