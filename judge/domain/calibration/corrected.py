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
from dataclasses import dataclass, field, fields, replace

import numpy as np

from core.messages import Sentence, word
from core.plain import Json, plain
from core.statistics import (
    DIFFERENCE,
    FEWEST,
    LEVEL,
    REAL,
    SHARE,
    Clusters,
    Floats,
    linear_error,
    linear_interval,
    linear_p,
    spanning,
    t_quantile,
    unseen_share,
)
from judge.domain.alignment import STORIES, ClusterName
from judge.domain.calibration.agreement import Strata
from judge.domain.calibration.tables import Averaging, JudgedStory, Metric, score_of


def reach(pulls: Mapping[str, float], aligned: int) -> tuple[float, float]:
    """Return how far down, and up, a score would go were the stories that pull it furthest really like the others: as
    many as may be judged wrongly, with 95 % confidence, without one being among so many `aligned` at random.

    `pulls` is how far each story moves the score by being judged.
    """
    moves = np.sort(np.array(list(pulls.values())))
    count = min(unseen_share(aligned) * len(moves), len(moves) - aligned) if aligned else 0.0
    return _furthest(moves[::-1], count), _furthest(-moves, count)


def _furthest(pulls: Floats, count: float) -> float:
    """The sum of the first `count`, the last of them in part; of those below 0 none counts."""
    return float(np.clip(count - np.arange(len(pulls)), 0, 1) @ np.maximum(pulls, 0))


def reaching(
    interval: tuple[float, float], value: float, far: tuple[float, float], ends: tuple[float, float]
) -> tuple[float, float]:
    """Return the interval, wider where errors that were not seen may take the value further, and within the ends of
    its range."""
    return max(min(interval[0], value - far[0]), ends[0]), min(max(interval[1], value + far[1]), ends[1])


def unseen_p(value: float, pulls: Mapping[str, float], aligned: int) -> float:
    """Return the p value of a difference that errors which were not seen alone would make: the chance that none of so
    many stories as would bring it to 0 is among the aligned ones. Below .05 where the difference is out of reach."""
    moves = np.sort(np.array(list(pulls.values())))
    furthest = np.maximum(moves[::-1] if value > 0 else -moves, 0)
    sums = np.concatenate([[0.0], np.cumsum(furthest)])
    at = int(np.searchsorted(sums, abs(value)))
    if at >= len(sums):
        return 0.0
    count = at - 1 + (abs(value) - sums[at - 1]) / furthest[at - 1] if at else 0.0
    return 0.0 if count > len(moves) - aligned else float((1 - count / len(moves)) ** aligned)


NO_SPREAD = 1e-9
"""Standard errors below it are those of rounding."""


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
    strata: int = field(default=1, repr=False)
    """The number of strata that the aligned stories are of."""

    def as_json(self) -> Json:
        """Return it without how far single stories move it; without a value there is no tuning either."""
        kept = {
            field.name: plain(getattr(self, field.name))
            for field in fields(self)
            if field.name not in ("moves", "certain", "strata")
        }
        return kept | {"tuning": None} if self.value is None else kept

    @property
    def pulls(self) -> dict[str, float]:
        """Return how far each story on which the judge can err moves the score by being judged."""
        return {story: judged for story, (judged, _) in self.moves.items() if story not in self.certain}

    @property
    def freedom(self) -> int:
        """The degrees of freedom of the standard error at most: stories less a mean of each stratum, and λ."""
        return freedom(self.aligned, self.strata)

    @property
    def error(self) -> float | None:
        """The standard error."""
        return linear_error(all_moves(self.moves)) if self.moves else None


def all_moves(moves: Mapping[str, tuple[float, float]]) -> Floats:
    return np.array([judged + aligned for judged, aligned in moves.values()])


def as_displayed(score: Corrected) -> Corrected:
    """Return the score as pages and files show it: without a value where so few stories were aligned that it has no
    interval, which the reason says."""
    return replace(score, value=None, human=None, bounds=None) if score.interval is None else score


Ends = tuple[tuple[float, float] | None, str]
"""An interval, or why there is none."""


def with_interval(score: Corrected, ends: Ends, alone: float) -> Corrected:
    """Return the score with the interval that its spread and errors that were not seen leave it, and with what it is
    worth, `alone` being the standard error of people alone."""
    interval, why = ends
    if interval is None or score.value is None:
        return replace(score, interval=interval, reason=why)
    wide = reaching(interval, score.value, reach(score.pulls, score.aligned), (0.0, 1.0))
    worth = None
    if score.error and score.error > NO_SPREAD:
        narrower = alone / score.error * (interval[1] - interval[0]) / (wide[1] - wide[0])
        worth = score.aligned * narrower**2
    return replace(score, interval=wide, effective=worth, reason=why)


def freedom(aligned: int, strata: int) -> int:
    """Return the degrees of freedom that so many aligned stories of so many strata leave, one at least."""
    return max(aligned - strata - 1, 1)


def interval_of(
    value: float, moves: Mapping[str, tuple[float, float]], count: int, over: ClusterName, strata: int = 1
) -> tuple[tuple[float, float] | None, str]:
    """The interval of a score that `count` aligned stories correct; of one that the correction took out of its range,
    around the end of it. Where all stories are alike, by the rule of three, also at an end of the range."""
    share = within(value)
    scale = SHARE if 0 < value < 1 or (alike(moves) and abs(value - share) < NO_SPREAD) else REAL
    value = share if scale is SHARE else value
    most, unit = freedom(count, strata), over.aligned
    ends, why = linear_interval(value, all_moves(moves), count=count, most=most, scale=scale, unit=unit)
    return (within(ends[0]), within(ends[1])) if ends else None, why


def alike(moves: Mapping[str, tuple[float, float]]) -> bool:
    return linear_error(all_moves(moves)) <= NO_SPREAD


def within(share: float) -> float:
    return min(max(share, 0.0), 1.0)


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


def corrected(
    stories: Sequence[JudgedStory],
    metric: Metric,
    averaging: Averaging = Averaging.STORIES,
    *,
    tuning: float | None = None,
    others: Sequence[JudgedStory] = (),
    over: ClusterName = STORIES,
) -> Corrected:
    """Return the corrected score of one model over all its judged stories.

    `tuning` is λ, tuned where none is given. With `others`, tables of other models, calibration is pooled: the judge's
    error is taken from these too, which is right only where it does not differ by model (`differing`). λ is then 1,
    since it is the judge's error that models share and not their scores; people alone have no score.
    """
    if not stories:
        return Corrected(
            None, None, 0, 0, 0.0, None, reason=Sentence("no {singular} was judged", singular=word(over.singular))
        )
    chosen = 1.0 if others else tuning
    score = _with_bounds(
        stories,
        others,
        lambda part, rest: CorrectedMean(part, rest, metric, averaging, over).corrected(chosen),
    )
    return replace(score, human=None, human_interval=None, effective=None) if others else score


def _with_bounds(
    stories: Sequence[JudgedStory],
    others: Sequence[JudgedStory],
    score: Callable[[Sequence[JudgedStory], Sequence[JudgedStory]], Corrected],
) -> Corrected:
    """Score the stories, and where people left rows open also with all of these unmatched, and matched."""
    middle = score(stories, others)
    if not any(story.human and (story.human.open_predicted or story.human.open_gold) for story in [*stories, *others]):
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
    return [replace(story, human=story.human.settled(matched=matched)) if story.human else story for story in stories]


def foreseen(score: Corrected, aligned: int) -> float | None:
    """Return half the width that the interval will about have once so many stories are aligned, by the rule of three
    where all are alike now; None where it has none now, or fewer than five are meant."""
    if score.interval is None or aligned < FEWEST:
        return None
    if alike(score.moves):
        return unseen_share(aligned) / 2
    down, up = reach(score.pulls, aligned)
    moves = np.array(list(score.moves.values()))
    judged, own = moves[:, 0], moves[:, 1]
    per_story = float((own**2).sum()) * score.freedom  # its factor is that of the stories aligned now
    free = freedom(aligned, score.strata)
    square = max(float((judged**2 + 2 * judged * own).sum()) + per_story / free, 0.0)
    half = float(t_quantile((1 + LEVEL) / 2, np.array([float(free)]))[0] * np.sqrt(square))
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


def difference(first: Corrected, second: Corrected, *, over: ClusterName = STORIES) -> CorrectedDifference:
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
    moves = np.array([sum(first.moves.get(story, ())) - sum(second.moves.get(story, ())) for story in stories])
    value = first.value - second.value
    most = min((score.freedom for score in (first, second) if score.aligned), default=1)
    ends, why = linear_interval(value, moves, count=aligned, most=most, scale=DIFFERENCE, unit=over.aligned)
    if not ends:
        return CorrectedDifference(value, None, None, len(stories), aligned, why)
    p = linear_p(value, moves, count=aligned, most=most, scale=DIFFERENCE)
    pulls = {
        story: first.pulls.get(story, 0.0) - second.pulls.get(story, 0.0) for story in {*first.pulls, *second.pulls}
    }
    wide = reaching((ends[0], ends[1]), value, reach(pulls, aligned), (-1.0, 1.0))
    return CorrectedDifference(value, wide, max(p, unseen_p(value, pulls, aligned)), len(stories), aligned)
