"""Association of right answers with right structure: two scores of the same stories, model by model.

A frame has one row per model and question about a story: the score of the structure that the model built of the story,
and that of its answer, either from 0 to 1 with the bounds of what is missing. Stories are resampled in every interval,
as one story has several questions and several models read it.

Over several models, and within categories, the measures of the two-by-two table are those of Mantel and Haenszel
(1959): strata are compared within themselves, and a stratum weighs as much as it can tell. Better models have more of
both right, which does not show that the one comes with the other.

The mixed model tests whether structure predicts answers beyond category. A right answer is 1, a wrong one 0; the
structure's score has a slope, each category its own level, and each model's level lies at random around these (Laird
and Ware 1982, "Random-effects models for longitudinal data", Biometrics 38(4)). Scores count as they lie around the
mean of their model, as a model that is better at both would make a slope of its own (Mundlak 1978, "On the pooling of
time series and cross section data", Econometrica 46(1)). The slope is in shares of right answers for 1 of score; unlike
a logistic one it is defined where all answers of a category are right. statsmodels estimates how far models spread, by
restricted maximum likelihood. That model does not know that one story has several questions and several readers; so the
slope's interval is the one interval of the product: the same weighted regression over resampled stories.
"""

import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.messages import Sentence, gettext_noop, word
from core.statistics import (
    DIFFERENCE,
    FEWEST,
    POSITIVE,
    REAL,
    RESAMPLES,
    SHARE,
    Clusters,
    Estimate,
    Floats,
    Scale,
    by_cluster,
    estimate_of,
    few,
    first_by_second,
    ratios,
)
from core.statistics.correlation import FEWEST_POINTS, too_few_points

Frame = NDArray[Any]
COLUMNS = np.dtype(
    [
        ("model", object),
        ("story", np.int64),
        ("question", np.int64),
        ("category", object),
        ("structure", float),
        ("structure_worst", float),
        ("structure_best", float),
        ("answer", float),
        ("answer_worst", float),
        ("answer_best", float),
    ]
)
"""Columns of a frame. `structure` and `answer` are nan where they are missing."""
RIGHT = 0.5
"""A question is answered right from half of its score on: where it was asked several times, by half of the answers."""
UNIT = "stories"
BOTH, STRUCTURE_ONLY, ANSWER_ONLY, NEITHER = range(4)
"""The cells of the table by what is right, in the order of `Crossing.cells`."""
_HALF = 0.5
_NOISE = 1e-9
"""Rounding of sums is not spread."""
NOT_CONVERGED = gettext_noop("the mixed model did not converge")
LEAST_SPREAD = 0.01
"""Standard deviation of the structure's score within models and categories, below which it hardly varies."""
MOST_OF_ONE = 0.5
"""Share of that variation which one story may have: above, the slope is that story's."""
WIDEST = 2.0
"""The widest interval of what ten points more of score come with: from all answers wrong to all right is 1, up
or down."""
SLOPE = 0
"""The column of the structure's score."""


def scored(frame: Frame) -> Frame:
    """Return the rows with both scores."""
    complete: Frame = frame[~(np.isnan(frame["structure"]) | np.isnan(frame["answer"]))]
    return complete


def numbers_of(names: Iterable[Hashable]) -> Clusters:
    """Number the names from 0 on in the order in which they come."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def median_structure(frame: Frame) -> float | None:
    """Return the median score of the structures, each model's of each story once, to the whole per cent. Returns None
    without any."""
    scores = dict(zip(zip(frame["model"], frame["story"], strict=True), frame["structure"], strict=True))
    values = [score for score in scores.values() if not np.isnan(score)]
    return round(float(np.median(values)), 2) if values else None


def of_whole_stories(frame: Frame) -> Frame:
    """Return one row per model and story, whose answer is right if all of its questions are answered right: one wrong
    answer settles it."""
    groups = numbers_of(zip(frame["model"], frame["story"], strict=True))
    stories = frame[np.unique(groups, return_index=True)[1]].copy()

    def all_right(column: str) -> Frame:
        return np.equal(np.bincount(groups, frame[column] < RIGHT), 0)

    missing = np.bincount(groups, np.isnan(frame["answer"])) > 0
    right = all_right("answer")
    stories["answer_worst"], stories["answer_best"] = all_right("answer_worst"), all_right("answer_best")
    stories["answer"] = np.where(right & missing, np.nan, right)
    return stories


@dataclass(frozen=True, slots=True)
class Crossing:
    """Structure right or wrong against answer right or wrong: the two-by-two table and its measures."""

    cells: tuple[int, int, int, int]
    """Rows with both scores: both right, only the structure, only the answer, neither."""
    no_answer: int
    no_structure: int
    no_score: int
    """Rows without the one, the other and either score."""
    stories: int
    given_right: Estimate
    given_wrong: Estimate
    """Shares of right answers among right and wrong structures."""
    difference: Estimate
    """`given_right` less `given_wrong`, within models."""
    within: Estimate
    """The same difference within models and categories."""
    odds: Estimate
    phi: Estimate
    bounds: tuple[float, float] | None
    """Limits of the difference whatever is missing. None for several models, or if it could be undefined."""

    @property
    def missing(self) -> int:
        return self.no_answer + self.no_structure + self.no_score


def crossed(frame: Frame, cut: float, *, seed: int, resamples: int = RESAMPLES) -> Crossing:
    """Return the table of one or several models, in which a structure is right from `cut` on."""
    complete = scored(frame)
    table = _Table(complete, cut, seed=seed, resamples=resamples)
    by_model = table.strata(complete["model"])
    by_category = table.strata(zip(complete["model"], complete["category"], strict=True))
    no_structure, no_answer = np.isnan(frame["structure"]), np.isnan(frame["answer"])
    bounds = None
    if len(set(frame["model"])) == 1:  # the lowest and the highest difference that its missing scores allow
        structure = _settled(frame["structure_worst"], frame["structure_best"], cut)
        answer = _settled(frame["answer_worst"], frame["answer_best"], RIGHT)
        low, negated = _lowest(structure, answer), _lowest(structure, 1 - answer)
        bounds = None if low is None or negated is None else (low, -negated)
    return Crossing(
        cells=table.cells,
        no_answer=int((no_answer & ~no_structure).sum()),
        no_structure=int((no_structure & ~no_answer).sum()),
        no_score=int((no_structure & no_answer).sum()),
        stories=table.stories,
        given_right=table.share(BOTH, STRUCTURE_ONLY),
        given_wrong=table.share(ANSWER_ONLY, NEITHER),
        difference=table.estimate(by_model, _difference, DIFFERENCE),
        within=table.estimate(by_category, _difference, DIFFERENCE),
        odds=table.odds(by_model),
        phi=table.estimate(by_model, _phi, DIFFERENCE),
        bounds=bounds,
    )


class _Table:
    """The four cells of rows with both scores, and their sums over resampled stories."""

    def __init__(self, complete: Frame, cut: float, *, seed: int, resamples: int) -> None:
        self.n, self.seed, self.resamples = len(complete), seed, resamples
        self.places = 2 * (complete["structure"] < cut) + (complete["answer"] < RIGHT)
        a, b, c, d = (int(count) for count in np.bincount(self.places, minlength=4))
        self.cells = a, b, c, d
        self.clusters = numbers_of(complete["story"].tolist())
        self.stories = int(self.clusters.max(initial=-1)) + 1
        self.sides = [len({*self.clusters[np.isin(self.places, side)]}) for side in ((0, 1), (2, 3))]
        right, wrong = a + c, b + d
        self.alike = (
            gettext_noop("every answer is right")
            if not wrong
            else ""
            if right
            else gettext_noop("every answer is wrong")
        )

    def strata(self, names: Iterable[Hashable]) -> Floats:
        """Return how often each cell of each stratum occurs in each story: shape (stories, strata * 4)."""
        strata = numbers_of(names)
        counts = np.zeros((self.stories, 4 * (int(strata.max(initial=0)) + 1)))
        np.add.at(counts, (self.clusters, 4 * strata + self.places), 1)
        return counts

    def estimate(self, counts: Floats, measure: Callable[[Floats], Floats], scale: Scale) -> Estimate:
        value = float(measure(counts.sum(axis=0)[None])[0]) if self.n else np.nan
        if not np.isnan(value) and min(self.sides) < FEWEST:
            reason = Sentence(
                "an interval needs at least {fewest} {unit} with a right structure and {fewest_2} with a wrong one",
                fewest=FEWEST,
                unit=word(UNIT),
                fewest_2=FEWEST,
            )
            return Estimate(value, self.n, reason=reason)
        return self._estimate(counts, measure, scale, self.n, self.stories)

    def odds(self, counts: Floats) -> Estimate:
        """Return the odds ratio with the 0.5 continuity correction. Has no value if all answers are alike."""
        if self.n and self.alike:
            return Estimate(None, self.n, reason=self._undefined())
        return self.estimate(counts, _odds, POSITIVE)

    def share(self, right: int, wrong: int) -> Estimate:
        """Return the share of right answers in one row of the table."""
        n = self.cells[right] + self.cells[wrong]
        if not n:
            return Estimate(None, 0, reason=self._undefined())
        chosen = np.isin(self.places, (right, wrong))
        counts = by_cluster(np.stack([self.places == right, chosen], axis=1).astype(float), self.clusters)
        return self._estimate(counts, first_by_second, SHARE, n, len({*self.clusters[chosen]}))

    def _undefined(self) -> str:
        if not self.n:
            return gettext_noop("no story has both scores")
        if not all(self.sides):
            return Sentence("every structure is {sides} at this cut", sides=word("right" if self.sides[0] else "wrong"))
        return self.alike or gettext_noop("structures or answers are alike within each part that is compared")

    def _estimate(
        self, counts: Floats, measure: Callable[[Floats], Floats], scale: Scale, n: int, stories: int
    ) -> Estimate:
        return estimate_of(
            counts,
            measure,
            n=n,
            scale=scale,
            unit=UNIT,
            empty=self._undefined(),
            seed=self.seed,
            resamples=self.resamples,
            clusters=stories,
        )


def _parts(sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """The four cells of all strata, each of shape (replicates, strata)."""
    cells = sums.reshape(len(sums), -1, 4)
    return cells[..., 0], cells[..., 1], cells[..., 2], cells[..., 3]


def _over(numerators: Floats, n: Floats) -> Floats:
    """The sum over strata of numerators divided by their sizes. An empty stratum adds nothing."""
    sums: Floats = np.nan_to_num(ratios(numerators, n)).sum(axis=1)
    return sums


def _difference(sums: Floats) -> Floats:
    """Difference of the shares of right answers, strata weighted by n1 * n0 / n."""
    a, b, c, d = _parts(sums)
    n = a + b + c + d
    return ratios(_over(a * d - b * c, n), _over((a + b) * (c + d), n))


def _odds(sums: Floats) -> Floats:
    """Odds ratio: of one stratum with half an observation more in each cell (Haldane 1956), of several that of Mantel
    and Haenszel."""
    a, b, c, d = _parts(sums)
    if a.shape[1] == 1:
        empty = ((a + b) * (c + d))[:, 0] == 0
        odds = ((a + _HALF) * (d + _HALF) / ((b + _HALF) * (c + _HALF)))[:, 0]
        return np.where(empty, np.nan, odds)
    n = a + b + c + d
    pooled = ratios(_over(a * d, n), _over(b * c, n))
    return np.where(pooled > 0, pooled, np.nan)


def _phi(sums: Floats) -> Floats:
    """Correlation of right structure and right answer, within strata."""
    a, b, c, d = _parts(sums)
    n = a + b + c + d
    spread = _over((a + b) * (c + d), n) * _over((a + c) * (b + d), n)
    return ratios(_over(a * d - b * c, n), np.sqrt(spread))


def _settled(worst: Floats, best: Floats, cut: float) -> Floats:
    """Return 1 if a score reaches the cut whatever is missing of it, 0 if it does not, and nan if it could."""
    return np.where(worst >= cut, 1.0, np.where(best < cut, 0.0, np.nan))


def _lowest(structure: Floats, answer: Floats) -> float | None:
    """Return the lowest difference. With wrong answers for right ones it is minus the highest.

    A missing answer is wrong where the structure is right and right where it is wrong; a missing structure is wrong
    where the answer is right and right where it is wrong; each of these lowers the difference, whatever the others are.
    Without either both ways lower it, so that all divisions of these rows are tried.
    """
    free = int((np.isnan(structure) & np.isnan(answer)).sum())
    structure, answer = (
        np.where(np.isnan(structure), 1 - answer, structure),
        np.where(np.isnan(answer), 1 - structure, answer),
    )
    both, structure_only, answer_only, neither = (
        int(((structure == one) & (answer == other)).sum()) for one in (1, 0) for other in (1, 0)
    )
    split = np.arange(free + 1, dtype=float)
    right = ratios(np.full(free + 1, float(both)), both + structure_only + split)
    wrong = ratios(answer_only + free - split, answer_only + neither + free - split)
    differences = right - wrong
    return None if np.isnan(differences).all() else float(np.nanmin(differences))


def correlation(frame: Frame, *, seed: int, resamples: int = RESAMPLES) -> Estimate:
    """Return Pearson's r of the two scores over the rows that have both.

    Scores count as they lie around the mean of their model, so that of several models none is found where only the
    better one is better at both. Stories are resampled.
    """
    complete = scored(frame)
    stories = numbers_of(complete["story"].tolist())
    if not len(complete):
        return Estimate(None, 0, clusters=0, reason=gettext_noop("no story has both scores"))
    if len(complete) < FEWEST_POINTS:
        return Estimate(None, len(complete), clusters=int(stories.max()) + 1, reason=too_few_points("answers"))
    x, y, models = complete["structure"], complete["answer"], numbers_of(complete["model"])
    # the sums of 1, x, y, xx, yy and xy of each model over each story
    sums = np.zeros((int(stories.max()) + 1, int(models.max()) + 1, 6))
    np.add.at(sums, (stories, models), np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1))
    return estimate_of(
        sums.reshape(len(sums), -1),
        _r,
        n=len(complete),
        scale=DIFFERENCE,
        unit=UNIT,
        empty=gettext_noop("one of the two is the same everywhere"),
        seed=seed,
        resamples=resamples,
        with_clusters=True,
    )


def _r(sums: Floats) -> Floats:
    """The correlation within models of each row of sums, nan where a score does not vary within any."""
    n, x, y, xx, yy, xy = np.moveaxis(sums.reshape(len(sums), -1, 6), 2, 0)
    products = [
        (total - np.nan_to_num(ratios(a * b, n))).sum(axis=1) for total, a, b in ((xx, x, x), (yy, y, y), (xy, x, y))
    ]
    varies = (products[0] > _NOISE * xx.sum(axis=1)) & (products[1] > _NOISE * yy.sum(axis=1))
    return np.where(varies, ratios(products[2], np.sqrt(np.maximum(products[0] * products[1], 0))), np.nan)


@dataclass(frozen=True, slots=True)
class Beyond:
    """The mixed model's `slope` of right answers on the structure's score, given category, and the standard deviation
    between models (`spread`, None for one model or without a fit). The counts are of rows with both scores."""

    slope: Estimate
    spread: float | None
    observations: int
    stories: int
    models: int
    categories: int


def beyond_category(frame: Frame, *, seed: int, resamples: int = RESAMPLES) -> Beyond:
    """Fit the mixed model to the rows with both scores. The slope has a reason and no value if there is no fit."""
    complete = scored(frame)
    stories, models, categories = (numbers_of(complete[name].tolist()) for name in ("story", "model", "category"))
    counts = [int(numbers.max(initial=-1)) + 1 for numbers in (stories, models, categories)]
    right = (complete["answer"] >= RIGHT).astype(float)
    score = complete["structure"]
    if len(models):
        score = score - (np.bincount(models, score) / np.bincount(models))[models]
    design = np.column_stack([score, np.eye(counts[2])[categories]])
    ratio, spread, why = _between(design, right, stories, models, counts)
    if why:
        return Beyond(Estimate(None, len(complete), reason=why), None, len(complete), *counts)
    rows = _without_models(np.column_stack([design, right]), models, ratio)
    slope = _if_it_tells(_slope(rows, stories, seed, resamples))
    return Beyond(slope, spread if slope.value is not None else None, len(complete), *counts)


def _if_it_tells(slope: Estimate) -> Estimate:
    """Return the slope, or the reason for none if its interval holds more than right answers can change by."""
    low, high = slope.interval or (slope.value or 0.0,) * 2
    if (high - low) / 10 <= WIDEST and max(abs(low), abs(high)) / 10 <= WIDEST:
        return slope
    why = gettext_noop(
        "its interval is wider than the scale of right answers, as the structure's scores vary too little for so "
        "few stories"
    )
    return replace(slope, value=None, interval=None, reason=why)


def _between(
    design: Floats, right: Floats, stories: Clusters, models: Clusters, counts: Sequence[int]
) -> tuple[float, float | None, str]:
    """Return (variance between models for each of that within them, standard deviation between models, reason for no
    fit)."""
    if why := _unfit(design, right, stories, counts[0]):
        return 0.0, None, why
    if counts[1] == 1:
        return 0.0, None, ""
    from statsmodels.regression.mixed_linear_model import MixedLM  # two seconds to load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a variance of zero, which is an answer here
        try:
            fitted = MixedLM(right, design, models).fit(reml=True, method=["powell", "bfgs", "lbfgs"])
        except np.linalg.LinAlgError:
            return 0.0, None, NOT_CONVERGED
    between = max(0.0, float(np.asarray(fitted.cov_re)[0, 0]))
    if not fitted.converged or not np.isfinite(between) or not fitted.scale > 0:
        return 0.0, None, NOT_CONVERGED
    return between / float(fitted.scale), between**0.5, ""


def _unfit(design: Floats, right: Floats, stories: Clusters, count: int) -> str:
    """Return the reason for no fit: too few stories, answers that are alike, or a structure's score that hardly varies
    within categories, or in one story only."""
    if count < FEWEST:
        return few(UNIT) if count else gettext_noop("no story has both scores")
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return gettext_noop("the structure's score is the same throughout each category")
    if right.all() or not right.any():
        return gettext_noop("every answer is right") if right.all() else gettext_noop("every answer is wrong")
    score, categories = design[:, SLOPE], design[:, SLOPE + 1 :]
    squares = (score - categories @ ((categories.T @ score) / categories.sum(axis=0))) ** 2
    spread = float(squares.mean() ** 0.5)
    if spread < LEAST_SPREAD:
        return Sentence(
            "the structure's score hardly varies within categories (a standard deviation of {spread} points)",
            spread=f"{100 * spread:.1f}",
        )
    share = float(np.bincount(stories, squares).max() / squares.sum())
    if share > MOST_OF_ONE:
        return Sentence(
            "one story has {share} % of what the structure's score varies within categories", share=f"{100 * share:.0f}"
        )
    return ""


def _without_models(rows: Floats, models: Clusters, ratio: float) -> Floats:
    """Rows less a part of the mean of their model: least squares on them are the mixed model's estimates (Fuller and
    Battese 1973)."""
    n = np.bincount(models)
    means = by_cluster(rows, models) / n[:, None]
    part = 1 - 1 / np.sqrt(1 + n * ratio)
    without: Floats = rows - (part[:, None] * means)[models]
    return without


def _slope(rows: Floats, stories: Clusters, seed: int, resamples: int) -> Estimate:
    """Return the slope of least squares with its interval. The last column of `rows` is what the others predict."""
    width = rows.shape[1]
    products = (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
    return estimate_of(
        by_cluster(products, stories),
        partial(_solved, width=width),
        n=len(rows),
        scale=REAL,
        unit=UNIT,
        empty=gettext_noop("the slope is undefined"),
        seed=seed,
        resamples=resamples,
        with_clusters=True,
    )


def _solved(products: Floats, width: int) -> Floats:
    """The slope from sums of products, shape (k, width * width). A category that no resample drew is left out."""
    moments = products.reshape(-1, width, width)
    solved: Floats = np.linalg.pinv(moments[:, :-1, :-1], hermitian=True) @ moments[:, :-1, -1:]
    return solved[:, SLOPE, 0]
