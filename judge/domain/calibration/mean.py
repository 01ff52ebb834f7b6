"""The estimator: a weighted mean over stories of what a judge gives of all of them and people of some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from core.messages import Sentence, word
from core.statistics import FEWEST, Clusters, Floats, linear_error
from judge.domain.calibration.score import NO_SPREAD, Corrected, all_moves, interval_of, with_interval, within
from judge.domain.calibration.stories import Averaging, JudgedStory, Metric, score_of
from judge.domain.calibration.strata import Strata
from judge.domain.cluster_names import ClusterName


class CorrectedMean:
    """A weighted mean over stories of a score that the judge gives of all of them and people of some."""

    def __init__(
        self,
        stories: Sequence[JudgedStory],
        others: Sequence[JudgedStory],
        metric: Metric,
        averaging: Averaging,
        over: ClusterName,
    ) -> None:
        self._over = over
        share = _shares(stories, averaging)
        self._stories, self._share = stories, np.array([share(story) for story in stories])
        self._open = np.array([not story.certain for story in stories])
        by_category = averaging == Averaging.CATEGORIES
        self._groups = [story.category if by_category else story.stratum for story in stories]
        """How many stories each has is no chance."""
        like = [story.category if by_category else "" for story in stories]
        self._with_value = np.array([story.certain or story.judged.has_value(metric) for story in stories])
        scores = _JudgeScores(stories, self._share * (self._with_value & self._open), like, metric)
        self._judged = np.array([0.0 if story.certain else scores.of(story) for story in stories])
        aligned = [story for story in [*stories, *others] if story.human and not story.certain]
        # a table of which people could tell nothing tells nothing of the judge: it is in the bounds alone
        self._sample = [story for story in aligned if story.human and story.human.has_value(metric)]
        self._strata = Strata({story.story: story.stratum for story in self._sample})
        self._stratum = self._strata.numbers(story.stratum for story in stories)
        self._sampled = self._strata.numbers(story.stratum for story in self._sample)
        raw = np.array([share(story) / (story.probability or 1.0) for story in self._sample])
        self._weights = self._normed(raw)
        self._judge_scores = np.array([scores.of(story) for story in self._sample])
        self._true = np.array([score_of(story.human, metric) for story in self._sample if story.human])
        self._aligned = len({story.story for story in self._sample})

    def corrected(self, tuning: float | None) -> Corrected:
        judged, unjudged = self._alone(), int((~self._with_value).sum())
        if self._open.any() and not self._aligned:
            why, total = Sentence("no {singular} was aligned", singular=word(self._over.singular)), len(self._stories)
            return Corrected(None, None, total, 0, 0.0, judged, unseen=1.0, reason=why, unjudged=unjudged)
        chosen = self._tuned() if tuning is None else tuning
        moves, alone = self._moves(chosen), self._moves(0.0)
        value, human = self._value(chosen), self._value(0.0)
        score = Corrected(
            within(value),
            None,
            len(self._stories),
            self._aligned,
            chosen,
            judged,
            human,
            self._ends(human, alone)[0],
            unseen=self._unseen(),
            unjudged=unjudged,
            moves=moves,
            certain=frozenset(story.story for story in self._stories if story.certain),
            strata=self._strata.count,
        )
        return with_interval(score, self._ends(value, moves), linear_error(all_moves(alone)))

    def _alone(self) -> float | None:
        """Return what the judge alone gives, of the stories on which it has verdicts; None where it has none."""
        share = self._share * self._with_value
        has_verdicts = bool((self._with_value & self._open).any() or not self._open.any())
        return float(share @ self._judged / share.sum()) if has_verdicts and share.sum() else None

    def _normed(self, weights: Floats) -> Floats:
        """Weights of aligned stories, those of a stratum with its share in the mean over all open stories."""
        if not len(weights):
            return weights
        size = self._strata.count
        shares = np.bincount(self._stratum, self._share * self._open, minlength=size)[:size]
        sums = np.bincount(self._sampled, weights, minlength=size)
        total = float(shares.sum())
        if total <= 0 or not (sums > 0).all():
            return _normed(weights)
        return weights / sums[self._sampled] * (shares / total)[self._sampled]

    def _residuals(self, tuning: float) -> Floats:
        """Return by stratum how far people are above λ times what the judge said."""
        left = self._true - tuning * self._judge_scores
        return _group_means(left, self._weights, self._sampled, self._strata.count)

    def _values(self, tuning: float) -> Floats:
        """Return what stands for each story: λ times what the judge said with the residual of its stratum, or what is
        certain."""
        residuals = self._residuals(tuning) if self._aligned else np.zeros(self._strata.count)
        return np.where(self._open, tuning * self._judged + residuals[self._stratum], self._judged)

    def _value(self, tuning: float) -> float:
        return float(self._share @ self._values(tuning))

    def _parts(self, tuning: float) -> tuple[Floats, Floats]:
        """Return how far each story moves the score by being judged, and each aligned one by being aligned."""
        values = self._values(tuning)
        names, groups = np.unique(np.array(self._groups), return_inverse=True)
        judged = self._share * (values - _group_means(values, self._share, groups, len(names))[groups])
        left = self._true - tuning * self._judge_scores
        weight = float(self._share[self._open].sum())
        around = left - self._residuals(tuning)[self._sampled]
        return judged, weight * self._factors() * self._weights * around

    def _factors(self) -> Floats:
        """What makes up for the means of strata, and λ, that are estimated from the very stories they are set
        against."""
        stories = {story.story: number for story, number in zip(self._sample, self._sampled.tolist(), strict=True)}
        sizes = np.bincount(list(stories.values()), minlength=self._strata.count).astype(float)
        left = self._aligned - self._strata.count
        of_tuning = left / (left - 1) if left > 1 else 1.0
        factors: Floats = np.sqrt(of_tuning * sizes / np.maximum(sizes - 1, 1))[self._sampled]
        return factors

    def _moves(self, tuning: float) -> dict[str, tuple[float, float]]:
        judged, aligned = self._parts(tuning)
        moves = {story.story: (0.0, 0.0) for story in [*self._stories, *self._sample]}
        for story, move in zip(self._stories, judged.tolist(), strict=True):
            moves[story.story] = (moves[story.story][0] + move, moves[story.story][1])
        for story, move in zip(self._sample, aligned.tolist(), strict=True):
            moves[story.story] = (moves[story.story][0], moves[story.story][1] + move)
        return moves

    def _tuned(self) -> float:
        """The λ with the smallest spread: moves are linear in it, u + λ · v, so that it is −Σuv / Σv². 0, people alone,
        where the judge says the same of all stories, or nothing."""
        none, whole = (all_moves(self._moves(tuning)) for tuning in (0.0, 1.0))
        slope = whole - none
        square = float(slope @ slope)
        if square <= NO_SPREAD**2:
            return 0.0
        return 1.0 if self._aligned < FEWEST else float(np.clip(-(none @ slope) / square, 0, 1))

    def _ends(self, value: float, moves: Mapping[str, tuple[float, float]]) -> tuple[tuple[float, float] | None, str]:
        count = self._aligned if self._open.any() else len(self._stories)
        return interval_of(value, moves, count, self._over, self._strata.count)

    def _unseen(self) -> float:
        seen = {story.category for story in self._sample}
        return float(
            sum(
                share
                for story, share in zip(self._stories, self._share.tolist(), strict=True)
                if story.category not in seen and not story.certain
            )
        )


class _JudgeScores:
    """Scores that the judge gives of a story, and of one on which it has no verdict the mean of those on which it has
    some: of the same group, else of all."""

    def __init__(self, stories: Sequence[JudgedStory], weights: Floats, groups: Sequence[str], metric: Metric) -> None:
        self._metric, self._by_category = metric, any(groups)
        values = np.array([score_of(story.judged, metric) for story in stories])
        total = float(weights.sum())
        self._mean = float(weights @ values) / total if total else 0.0
        sums: Counter[str] = Counter()
        shares: Counter[str] = Counter()
        for group, weight, value in zip(groups, weights.tolist(), values.tolist(), strict=True):
            sums[group] += weight * value
            shares[group] += weight
        self._means = {group: sums[group] / share for group, share in shares.items() if share}

    def of(self, story: JudgedStory) -> float:
        if story.judged.has_value(self._metric):
            return score_of(story.judged, self._metric)
        return self._means.get(story.category if self._by_category else "", self._mean)


def _shares(stories: Sequence[JudgedStory], averaging: Averaging) -> Callable[[JudgedStory], float]:
    """Return what share of the mean over these stories a story has, or one of another model in its place."""
    if averaging == Averaging.STORIES:
        return lambda _: 1 / len(stories)
    sizes = Counter(story.category for story in stories)
    return lambda story: 1 / len(sizes) / sizes[story.category] if story.category in sizes else 0.0


def _normed(weights: Floats) -> Floats:
    total = float(weights.sum())
    return weights / total if total > 0 else np.full(len(weights), 1 / max(len(weights), 1))


def _group_means(values: Floats, weights: Floats, groups: Clusters, count: int) -> Floats:
    """The weighted mean of each of so many groups, 0 of one without any value."""
    sums, shares = np.bincount(groups, weights * values, count), np.bincount(groups, weights, count)
    return np.divide(sums, shares, out=np.zeros(count), where=shares > 0)
