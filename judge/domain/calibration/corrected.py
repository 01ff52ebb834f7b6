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

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
from judge.domain.calibration.means import SpannedEstimate, Strata
from judge.domain.calibration.tables import Averaging, JudgedStory, Metric

NO_SPREAD = 1e-9
"""Standard errors below it are those of rounding."""
Ends = Sequence[float] | None
"""An interval. None if there is none."""


def reach(pulls: Iterable[float], aligned: int) -> tuple[float, float]:
    """Return the distance down, and up, by which a score would go were the stories that pull it furthest really like
    the others: as many as may be judged wrongly, with 95 % confidence, without one being among so many `aligned` at
    random. `pulls` are the distances by which each story moves the score by being judged."""
    moves = np.sort(np.array(list(pulls)))
    count = min(unseen_share(aligned) * len(moves), len(moves) - aligned) if aligned else 0.0
    # the last story in part, and none that pulls the other way
    parts = np.clip(count - np.arange(len(moves)), 0, 1)
    return float(parts @ np.maximum(moves[::-1], 0)), float(parts @ np.maximum(-moves, 0))


def reaching(interval: Sequence[float], value: float, far: tuple[float, float], least: float) -> list[float]:
    """Return the interval, wider where unseen errors may take the value further, within `least` and 1."""
    return [max(min(interval[0], value - far[0]), least), min(max(interval[1], value + far[1]), 1.0)]


def unseen_p(value: float, pulls: Iterable[float], aligned: int) -> float:
    """Return the p value of a difference that unseen errors alone would make: the chance that none of so many stories
    as would bring it to 0 is among the aligned ones. Below .05 where the difference is out of reach."""
    moves = np.sort(np.array(list(pulls)))
    furthest = np.maximum(moves[::-1] if value > 0 else -moves, 0)
    sums = np.concatenate([[0.0], np.cumsum(furthest)])
    at = int(np.searchsorted(sums, abs(value)))
    if at >= len(sums):
        return 0.0
    count = at - 1 + (abs(value) - sums[at - 1]) / furthest[at - 1] if at else 0.0
    return 0.0 if count > len(moves) - aligned else float((1 - count / len(moves)) ** aligned)


NO_JSON = {"json": False}


@dataclass(frozen=True)
class Corrected:
    """A corrected score with its interval. `judged` is the score by the judge on the stories on which it has verdicts,
    all but `unjudged` of them, `human` that on the aligned stories, with its interval. `bounds` are where the corrected
    score lies whatever the rows are that people could not tell, `spanned` is the interval over both. `effective` is the
    number of aligned stories that people alone would need for as narrow an interval; `unseen` the share of the score's
    weight in categories of which no story was aligned. `moves` are the distances by which each story moves the score:
    (by being judged, by being aligned); nobody can err on the `certain` ones. `strata` counts those of the aligned
    stories."""

    value: float | None
    interval: Ends
    stories: int
    aligned: int
    tuning: float
    judged: float | None
    human: float | None = None
    human_interval: Ends = None
    bounds: tuple[float, float] | None = None
    spanned: Ends = None
    effective: float | None = None
    unseen: float = 0.0
    reason: str = ""
    unjudged: int = 0
    moves: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False, metadata=NO_JSON)
    certain: frozenset[str] = field(default=frozenset(), repr=False, metadata=NO_JSON)
    strata: int = field(default=1, repr=False, metadata=NO_JSON)

    def as_json(self) -> Json:
        """Return it without the moves of single stories; without a value there is no tuning either."""
        kept = {part.name: plain(getattr(self, part.name)) for part in fields(self) if part.metadata != NO_JSON}
        return kept | {"tuning": None} if self.value is None else kept

    @property
    def pulls(self) -> dict[str, float]:
        """The distance by which each story on which the judge can err moves the score by being judged."""
        return {story: judged for story, (judged, _) in self.moves.items() if story not in self.certain}

    @property
    def freedom(self) -> int:
        return freedom(self.aligned, self.strata)

    @property
    def moved(self) -> Floats:
        """The moves of each story, shape (stories, 2)."""
        return np.array(list(self.moves.values())).reshape(-1, 2)

    @property
    def error(self) -> float:
        """The standard error."""
        return linear_error(self.moved.sum(axis=1))


def as_displayed(score: Corrected) -> Corrected:
    """Return the score as pages and files show it: without a value if it has no interval."""
    return replace(score, value=None, human=None, bounds=None) if score.interval is None else score


def freedom(aligned: int, strata: int) -> int:
    """Return the degrees of freedom of a standard error at most: aligned stories less a mean of each stratum, and λ."""
    return max(aligned - strata - 1, 1)


def within(share: float) -> float:
    return min(max(share, 0.0), 1.0)


class _Mean:
    """A weighted mean over stories of a score that the judge gives of all of them and people of some, as arrays: of
    stories their `share` of the mean, score by the judge, stratum and whether they are `open`, which only people can
    tell; of aligned stories, which may be of other models, their weight, stratum, and scores by the judge and
    people."""

    def __init__(
        self, stories: Sequence[JudgedStory], others: Sequence[JudgedStory], metric: Metric, averaging: Averaging
    ) -> None:
        by_category = averaging == Averaging.CATEGORIES
        sizes = Counter(story.category if by_category else "" for story in stories)
        self.stories = stories
        # a table of which people could tell nothing tells nothing of the judge: it is in the bounds only
        self.sample = [
            story
            for story in (*stories, *others)
            if story.human and not story.certain and story.human.has_value(metric)
        ]
        self.aligned = len({story.story for story in self.sample})

        def share(story: JudgedStory) -> float:
            size = sizes[story.category if by_category else ""]
            return 1 / len(sizes) / size if size else 0.0

        self.share = np.array([share(story) for story in stories])
        self.open = np.array([not story.certain for story in stories])
        self.judges = np.array([story.certain or story.judged.has_value(metric) for story in stories])
        usual = self._usual(metric, by_category)

        def judged(story: JudgedStory) -> float:
            if story.judged.has_value(metric):
                return story.judged.score(metric)
            return usual.get(story.category if by_category else "", usual[None])

        self.judged = np.array([0.0 if story.certain else judged(story) for story in stories])
        # the number of stories of each group is no chance
        groups = [story.category if by_category else story.stratum for story in stories]
        self.groups = np.unique(np.array(groups), return_inverse=True)[1]
        strata = Strata({story.story: story.stratum for story in self.sample})
        self.strata = strata.count
        self.stratum = strata.numbers(story.stratum for story in stories)
        self.sampled = strata.numbers(story.stratum for story in self.sample)
        self.weights = self._normed(np.array([share(story) / (story.probability or 1.0) for story in self.sample]))
        self.sample_judged = np.array([judged(story) for story in self.sample])
        self.true = np.array([story.human.score(metric) for story in self.sample if story.human])

    def _usual(self, metric: Metric, by_category: bool) -> dict[str | None, float]:
        """Return the judge's mean score by category, and of all stories under None: the score of a story on which it
        has no verdict."""
        weights = self.share * (self.judges & self.open)
        values = np.array([story.judged.score(metric) for story in self.stories])
        total = float(weights.sum())
        sums, shares = Counter[str](), Counter[str]()
        for story, weight, value in zip(self.stories, weights.tolist(), values.tolist(), strict=True):
            sums[story.category if by_category else ""] += weight * value
            shares[story.category if by_category else ""] += weight
        usual: dict[str | None, float] = {None: float(weights @ values) / total if total else 0.0}
        return usual | {name: sums[name] / weight for name, weight in shares.items() if weight}

    def _normed(self, weights: Floats) -> Floats:
        """Return the weights of aligned stories, those of a stratum with its share in the mean over all open
        stories."""
        if not len(weights):
            return weights
        shares = np.bincount(self.stratum, self.share * self.open, minlength=self.strata)[: self.strata]
        sums = np.bincount(self.sampled, weights, minlength=self.strata)
        total = float(shares.sum())
        if total > 0 and (sums > 0).all():
            return weights / sums[self.sampled] * (shares / total)[self.sampled]
        whole = float(weights.sum())
        return weights / whole if whole > 0 else np.full(len(weights), 1 / len(weights))

    @property
    def alone(self) -> float | None:
        """The mean by the judge, on the stories on which it has verdicts. None if it has none."""
        share = self.share * self.judges
        has_verdicts = bool((self.judges & self.open).any() or not self.open.any())
        return float(share @ self.judged / share.sum()) if has_verdicts and share.sum() else None

    @property
    def unseen(self) -> float:
        seen = {story.category for story in self.sample}
        pairs = zip(self.stories, self.share.tolist(), strict=True)
        return float(sum(share for story, share in pairs if story.category not in seen and not story.certain))

    def at(self, tuning: float) -> tuple[float, dict[str, tuple[float, float]]]:
        """Return the mean with that λ, and the distances by which each story moves it: by being judged, and by being
        aligned."""
        left = self.true - tuning * self.sample_judged
        residuals = _group_means(left, self.weights, self.sampled, self.strata)
        # a story is worth λ times its score by the judge with the residual of its stratum, or what is certain
        values = np.where(self.open, tuning * self.judged + residuals[self.stratum], self.judged)
        middles = _group_means(values, self.share, self.groups, int(self.groups.max()) + 1)
        judged = self.share * (values - middles[self.groups])
        weight = float(self.share[self.open].sum())
        # the means of strata, and λ, are estimated from the same stories that they are compared with
        strata = {story.story: number for story, number in zip(self.sample, self.sampled.tolist(), strict=True)}
        sizes = np.bincount(list(strata.values()), minlength=self.strata).astype(float)
        free = self.aligned - self.strata
        of_tuning = free / (free - 1) if free > 1 else 1.0
        factors = np.sqrt(of_tuning * sizes / np.maximum(sizes - 1, 1))[self.sampled]
        aligned = weight * factors * self.weights * (left - residuals[self.sampled])
        moves = {story.story: [0.0, 0.0] for story in (*self.stories, *self.sample)}
        for at, of_stories, by_story in ((0, self.stories, judged), (1, self.sample, aligned)):
            for story, move in zip(of_stories, by_story.tolist(), strict=True):
                moves[story.story][at] += move
        return float(self.share @ values), {story: (first, second) for story, (first, second) in moves.items()}

    def tuned(self) -> float:
        """Return the λ with the smallest spread: moves are linear in it, u + λ · v, so that it is −Σuv / Σv². It is 0
        if the judge says the same of all stories, or nothing."""
        none, whole = (_all_moves(self.at(tuning)[1]) for tuning in (0.0, 1.0))
        slope = whole - none
        square = float(slope @ slope)
        if square <= NO_SPREAD**2:
            return 0.0
        return 1.0 if self.aligned < FEWEST else float(np.clip(-(none @ slope) / square, 0, 1))


def _group_means(values: Floats, weights: Floats, groups: Clusters, count: int) -> Floats:
    """Return the weighted mean of each of so many groups, 0 for one without any value."""
    sums, shares = np.bincount(groups, weights * values, count), np.bincount(groups, weights, count)
    return np.divide(sums, shares, out=np.zeros(count), where=shares > 0)


def _all_moves(moves: Mapping[str, tuple[float, float]]) -> Floats:
    return np.array([judged + aligned for judged, aligned in moves.values()])


def _interval(value: float, moves: Floats, count: int, strata: int, over: ClusterName) -> tuple[Ends, str]:
    """Return the interval of a score that `count` aligned stories correct, around the end of its range if the
    correction took it out of that. If all stories are alike it is by the rule of three, also at an end of the range."""
    share = within(value)
    alike = linear_error(moves) <= NO_SPREAD
    scale = SHARE if 0 < value < 1 or (alike and abs(value - share) < NO_SPREAD) else REAL
    value = share if scale is SHARE else value
    most = freedom(count, strata)
    ends, why = linear_interval(value, moves, count=count, most=most, scale=scale, unit=over.aligned)
    return [within(end) for end in ends] if ends else None, why


def corrected(
    stories: Sequence[JudgedStory],
    metric: Metric,
    averaging: Averaging = Averaging.STORIES,
    *,
    tuning: float | None = None,
    others: Sequence[JudgedStory] = (),
    over: ClusterName = STORIES,
) -> Corrected:
    """Return the corrected score of one model over all its judged stories, with bounds where people left rows open.

    `tuning` is λ, tuned by default. With `others`, tables of other models, calibration is pooled: the judge's error is
    taken from these too, which is right only if it does not differ by model (`differing`). λ is then 1, since models
    share the judge's error and not their scores; people alone have no score.
    """
    if not stories:
        why = Sentence("no {singular} was judged", singular=word(over.singular))
        return Corrected(None, None, 0, 0, 0.0, None, reason=why)
    chosen = 1.0 if others else tuning
    score = _corrected(_Mean(stories, others, metric, averaging), chosen, over)
    if any(story.human and (story.human.open_predicted or story.human.open_gold) for story in (*stories, *others)):
        low, high = (
            _corrected(_Mean(_settled(stories, matched), _settled(others, matched), metric, averaging), chosen, over)
            for matched in (False, True)
        )
        if low.value is not None and high.value is not None:
            ends, _ = spanning(*((list(end.interval) if end.interval else None, "") for end in (low, high)))
            values = [value for value in (low.value, high.value, score.value) if value is not None]
            score = replace(score, bounds=(min(values), max(values)), spanned=ends)
    return replace(score, human=None, human_interval=None, effective=None) if others else score


def _settled(stories: Sequence[JudgedStory], matched: bool) -> list[JudgedStory]:
    return [replace(story, human=story.human.settled(matched=matched)) if story.human else story for story in stories]


def _corrected(mean: _Mean, tuning: float | None, over: ClusterName) -> Corrected:
    total, judged, unjudged = len(mean.stories), mean.alone, int((~mean.judges).sum())
    if mean.open.any() and not mean.aligned:
        why = Sentence("no {singular} was aligned", singular=word(over.singular))
        return Corrected(None, None, total, 0, 0.0, judged, unseen=1.0, reason=why, unjudged=unjudged)
    chosen = mean.tuned() if tuning is None else tuning
    (value, moves), (human, human_moves) = mean.at(chosen), mean.at(0.0)
    count = mean.aligned if mean.open.any() else total
    moved, alone = _all_moves(moves), _all_moves(human_moves)
    interval, reason = _interval(value, moved, count, mean.strata, over)
    human_interval, _ = _interval(human, alone, count, mean.strata, over)
    score = Corrected(
        within(value),
        interval,
        total,
        mean.aligned,
        chosen,
        judged,
        human,
        human_interval,
        unseen=mean.unseen,
        reason=reason,
        unjudged=unjudged,
        moves=moves,
        strata=mean.strata,
        certain=frozenset(story.story for story in mean.stories if story.certain),
    )
    if interval is None:
        return score
    wide = reaching(interval, within(value), reach(score.pulls.values(), mean.aligned), 0.0)
    worth, error = None, linear_error(moved)
    if error > NO_SPREAD:
        narrower = linear_error(alone) / error * (interval[1] - interval[0]) / (wide[1] - wide[0])
        worth = mean.aligned * narrower**2
    return replace(score, interval=wide, effective=worth)


def foreseen(score: Corrected, aligned: int) -> float | None:
    """Return half the width that the interval will have once so many stories are aligned, by the rule of three if all
    are alike now. Returns None if it has no interval now, or for fewer than five stories."""
    if score.interval is None or aligned < FEWEST:
        return None
    if score.error <= NO_SPREAD:
        return unseen_share(aligned) / 2
    judged, own = score.moved.T
    down, up = reach(score.pulls.values(), aligned)
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


def difference(
    first: Corrected, second: Corrected, *, over: ClusterName = STORIES
) -> tuple[SpannedEstimate, float | None, int]:
    """Return one model's corrected score less another's of the same metric, over all stories that either has, its
    two-sided p value, and the number of aligned stories that it rests on.

    It is paired by story: what a story moves either score by is compared with the other, so that stories which are hard
    for both make no spread, and nothing is lost if the two were aligned on different stories.
    """
    stories = sorted({*first.moves, *second.moves})
    if first.value is None or second.value is None:
        aligned = min(first.aligned, second.aligned)
        return SpannedEstimate(None, len(stories), reason=first.reason or second.reason), None, aligned
    # a model whose every story is certain has nothing to be aligned, and limits nothing
    limits = [score for score in (first, second) if score.aligned]
    aligned = min((score.aligned for score in limits), default=0)
    most = min((score.freedom for score in limits), default=1)
    moves = np.array([sum(first.moves.get(story, ())) - sum(second.moves.get(story, ())) for story in stories])
    value = first.value - second.value
    ends, why = linear_interval(value, moves, count=aligned, most=most, scale=DIFFERENCE, unit=over.aligned)
    if not ends:
        return SpannedEstimate(value, len(stories), reason=why), None, aligned
    p = linear_p(value, moves, count=aligned, most=most, scale=DIFFERENCE)
    own, other = first.pulls, second.pulls
    pulls = [own.get(story, 0.0) - other.get(story, 0.0) for story in own.keys() | other.keys()]
    wide = reaching(ends, value, reach(pulls, aligned), -1.0)
    return SpannedEstimate(value, len(stories), wide), max(p, unseen_p(value, pulls, aligned)), aligned
