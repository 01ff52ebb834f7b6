"""Structure right or wrong against answer right or wrong: the two-by-two table, what it comes to, and what missing
scores could change.

Over several models, and within categories, the measures are those of Mantel and Haenszel (1959): strata are compared
within themselves, and a stratum weighs as much as it can tell. Better models have more of both right, which says
nothing of whether the one comes with the other.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.domain.association.observations import RIGHT, UNIT, Observation, is_right, numbers_of
from benchmark.domain.inference.cases import Case
from core.messages import Sentence, gettext_noop, word
from core.statistics import (
    DIFFERENCE,
    FEWEST,
    POSITIVE,
    RESAMPLES,
    SHARE,
    Estimate,
    Floats,
    Scale,
    by_cluster,
    estimate_of,
    first_by_second,
    ratios,
)

BOTH, STRUCTURE_ALONE, ANSWER_ALONE, NEITHER = range(4)
"""The cells of the table by what is right, in the order of `Crossing.cells`."""
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Crossing:
    """The figures of a table.

    `cells` count observations with both scores: both right, the structure alone, the answer alone, neither.
    `no_answer`, `no_structure` and `no_score` count those that lack the one, the other or both; `stories` those with
    both scores. `given_right` and `given_wrong` are shares of right answers among right and wrong structures,
    `difference` the one less the other, `within` the same within categories, `odds` the odds ratio and `phi` the
    correlation of the table. `bounds` are where the difference can be whatever is missing; None where it has none.
    """

    cells: tuple[int, int, int, int]
    no_answer: int
    no_structure: int
    no_score: int
    stories: int
    given_right: Estimate
    given_wrong: Estimate
    difference: Estimate
    within: Estimate
    odds: Estimate
    phi: Estimate
    bounds: tuple[float, float] | None

    @property
    def asked(self) -> int:
        """The number of observations, with what is missing."""
        return sum(self.cells) + self.no_answer + self.no_structure + self.no_score


def crossed(observations: Sequence[Observation], cut: float, *, seed: int, resamples: int = RESAMPLES) -> Crossing:
    """Return the table of these observations, of one model or of several, whose structure is right from `cut` on."""
    complete = [seen for seen in observations if seen.has_both_scores]
    table = _Table(complete, cut, seed=seed, resamples=resamples)
    lacking = [(seen.structure.answered is None, seen.answer.answered is None) for seen in observations]
    by_model, by_category = table.strata(_model), table.strata(_model_and_category)
    return Crossing(
        cells=table.cells,
        no_answer=lacking.count((False, True)),
        no_structure=lacking.count((True, False)),
        no_score=lacking.count((True, True)),
        stories=len({seen.story for seen in complete}),
        given_right=table.share(BOTH, STRUCTURE_ALONE),
        given_wrong=table.share(ANSWER_ALONE, NEITHER),
        difference=table.estimate(by_model, _difference, DIFFERENCE),
        within=table.estimate(by_category, _difference, DIFFERENCE),
        odds=table.odds(by_model),
        phi=table.estimate(by_model, _phi, DIFFERENCE),
        bounds=_bounds(observations, cut) if len({seen.model for seen in observations}) == 1 else None,
    )


def _model(seen: Observation) -> Hashable:
    return seen.model


def _model_and_category(seen: Observation) -> Hashable:
    return seen.model, seen.category


class _Table:
    """The four cells of observations with both scores, and their sums over resampled stories."""

    def __init__(self, complete: Sequence[Observation], cut: float, *, seed: int, resamples: int) -> None:
        self.complete, self.seed, self.resamples = complete, seed, resamples
        self.places = np.array([_cell(seen, cut) for seen in complete], dtype=np.int64)
        counts = np.bincount(self.places, minlength=4)
        self.cells = (int(counts[0]), int(counts[1]), int(counts[2]), int(counts[3]))
        self.clusters = numbers_of([seen.story for seen in complete])
        self.stories = int(self.clusters.max(initial=-1)) + 1
        self.sides = [len({*self.clusters[np.isin(self.places, side)]}) for side in ((0, 1), (2, 3))]

    def strata(self, stratum_of: Callable[[Observation], Hashable]) -> Floats:
        """Return how often each cell of each stratum occurs in each story: shape (stories, strata * 4)."""
        strata = numbers_of([stratum_of(seen) for seen in self.complete])
        counts = np.zeros((self.stories, 4 * (int(strata.max(initial=0)) + 1)))
        np.add.at(counts, (self.clusters, 4 * strata + self.places), 1)
        return counts

    def estimate(self, counts: Floats, measure: Callable[[Floats], Floats], scale: Scale) -> Estimate:
        value = float(measure(counts.sum(axis=0)[None])[0]) if self.complete else np.nan
        if not np.isnan(value) and min(self.sides) < FEWEST:
            few = Sentence(
                "an interval needs at least {fewest} {unit} with a right structure and {fewest_2} with a wrong one",
                fewest=FEWEST,
                unit=word(UNIT),
                fewest_2=FEWEST,
            )
            return Estimate(value, len(self.complete), reason=few)
        return self._estimate(counts, measure, scale, len(self.complete), self.stories)

    def odds(self, counts: Floats) -> Estimate:
        """Return the odds ratio: none of answers that are all alike, although the halves that keep it finite would make
        a number of them."""
        if self.complete and self._alike():
            return Estimate(None, len(self.complete), reason=self._nothing())
        return self.estimate(counts, _odds, POSITIVE)

    def _alike(self) -> str:
        """Say that every answer is right, or wrong; empty where there are both."""
        right, wrong = self.cells[BOTH] + self.cells[ANSWER_ALONE], self.cells[STRUCTURE_ALONE] + self.cells[NEITHER]
        return (
            gettext_noop("every answer is right")
            if not wrong
            else gettext_noop("every answer is wrong")
            if not right
            else ""
        )

    def _nothing(self) -> str:
        if not self.complete:
            return gettext_noop("no story has both scores")
        if all(self.sides) and (alike := self._alike()):
            return alike
        if not all(self.sides):
            return Sentence("every structure is {sides} at this cut", sides=word("right" if self.sides[0] else "wrong"))
        return gettext_noop("structures or answers are alike within each part that is compared")

    def _estimate(
        self, counts: Floats, measure: Callable[[Floats], Floats], scale: Scale, n: int, stories: int
    ) -> Estimate:
        return estimate_of(
            counts,
            measure,
            n=n,
            scale=scale,
            unit=UNIT,
            empty=self._nothing(),
            seed=self.seed,
            resamples=self.resamples,
            clusters=stories,
        )

    def share(self, right: int, wrong: int) -> Estimate:
        """Return the share of right answers in one row of the table."""
        n = self.cells[right] + self.cells[wrong]
        if not n:
            return Estimate(None, 0, reason=self._nothing())
        chosen = np.isin(self.places, (right, wrong))
        counts = by_cluster(np.stack([self.places == right, chosen], axis=1).astype(float), self.clusters)
        stories = len({*self.clusters[chosen]})
        return self._estimate(counts, first_by_second, SHARE, n, stories)


def _cell(seen: Observation, cut: float) -> int:
    return 2 * (not is_right(seen.structure, cut)) + (not is_right(seen.answer, RIGHT))


def _parts(sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """The four cells of all strata, each of shape (replicates, strata)."""
    cells = sums.reshape(len(sums), -1, 4)
    return cells[..., 0], cells[..., 1], cells[..., 2], cells[..., 3]


def _over(numerators: Floats, n: Floats) -> Floats:
    """The sum over strata of what is divided by their sizes; an empty stratum adds nothing."""
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
    """Correlation of right structure and right answer, of several strata within them."""
    a, b, c, d = _parts(sums)
    n = a + b + c + d
    spread = _over((a + b) * (c + d), n) * _over((a + c) * (b + d), n)
    return ratios(_over(a * d - b * c, n), np.sqrt(spread))


def _bounds(observations: Sequence[Observation], cut: float) -> tuple[float, float] | None:
    """The lowest and the highest difference that the missing scores of one model allow; None where some of them leaves
    no difference at all."""
    low = _lowest(observations, cut, turned=False)
    high = _lowest(observations, cut, turned=True)
    return None if low is None or high is None else (low, -high)


def _lowest(observations: Sequence[Observation], cut: float, *, turned: bool) -> float | None:
    """The lowest difference; `turned` takes wrong answers for right ones, whose lowest difference is minus the highest.

    A missing answer is wrong where the structure is right and right where it is wrong; a missing structure is wrong
    where the answer is right and right where it is wrong; each of these lowers the difference, whatever the others are.
    Of an observation without either both ways lower it, so that all divisions of these are tried.
    """
    counts, free = np.zeros((2, 2)), 0
    for seen in observations:
        structure, answer = _settled(seen.structure, cut), _settled(seen.answer, RIGHT)
        if turned and answer is not None:
            answer = not answer
        if structure is None and answer is None:
            free += 1
            continue
        structure = not answer if structure is None else structure
        answer = not structure if answer is None else answer
        counts[int(not structure), int(not answer)] += 1
    split = np.arange(free + 1)
    right = ratios(np.full(free + 1, counts[0, 0]), counts[0].sum() + split)
    wrong = ratios(counts[1, 0] + free - split, counts[1].sum() + free - split)
    differences = right - wrong
    return None if np.isnan(differences).all() else float(np.nanmin(differences))


def _settled(case: Case, cut: float) -> bool | None:
    """Return whether a score reaches the cut whatever of it is missing; None where that could be either way."""
    return True if case.worst >= cut else False if case.best < cut else None
