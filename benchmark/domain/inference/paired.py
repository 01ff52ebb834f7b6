"""Two models on the same stories, missing answers at their worst: does their mean difference differ from nought, over
how many pairs at once.

The test flips the sign of each story's difference (`core.statistics.sign_flips`), all propositions of a story at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmark.domain.inference.cases import Cases
from core.messages import gettext_noop
from core.plain import WHERE_THERE_IS_ONE
from core.statistics import (
    ALPHA,
    DIFFERENCE,
    RESAMPLES,
    Clusters,
    Floats,
    by_cluster,
    flips_for,
    holm,
    mean_estimates,
    numbered,
    sign_flips,
)


class Adjustable(Protocol):
    """A row, a frozen dataclass, with the p of its test, None without one, and its `p_adjusted`."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def p(self) -> float | None: ...

    @property
    def p_adjusted(self) -> float | None: ...


Row = TypeVar("Row", bound=Adjustable)


def adjusted(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with `p_adjusted`, by Holm's correction over all of them that have a p."""
    return [replace(row, p_adjusted=p) for row, p in zip(rows, holm([row.p for row in rows]), strict=True)]


NONE_IN_COMMON = gettext_noop("no sample has a score of both models")

Columns = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Answered:
    """The mean difference on the `n` stories that both models answered; None of none."""

    value: float | None
    n: int


def _is_shown(value: float | None, p_adjusted: float | None, both: float | None, alpha: float) -> bool:
    """Return whether a difference is shown: its test passes, and what `both` answered does not point the other way,
    which would be a difference made by missing answers alone. `both` is None where there is no such difference."""
    if value is None or p_adjusted is None or p_adjusted > alpha:
        return False
    return both is None or bool(both * value >= 0)


def significance_text(value: float | None, p_adjusted: float | None, both: float | None = None) -> str:
    """Return whether a difference is shown, in a word; a dash where no test was made."""
    if p_adjusted is None:
        return "–"
    return "yes" if _is_shown(value, p_adjusted, both, ALPHA) else "no"


class Tested:
    """A difference with the result of its test."""

    __slots__ = ()
    value: float | None
    p_adjusted: float | None

    @property
    def verdict(self) -> str:
        """Return whether the test shows the difference, in a word; a dash where none was made."""
        return significance_text(self.value, self.p_adjusted, self._both)

    def differs(self, alpha: float = ALPHA) -> bool:
        """Return whether the test shows the difference."""
        return _is_shown(self.value, self.p_adjusted, self._both, alpha)

    @property
    def _both(self) -> float | None:
        """The difference over what both answered, where `value` is of something else."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference(Tested):
    """A mean difference over `n` stories of one category, or of all where it is empty, missing answers at their worst.

    `interval` is [low, high] of 95 %, `reason` why there is none, `clusters` how many it rests on where these are more
    than one story each, `p` two-sided and `p_adjusted` by Holm; each is None where there is none.
    """

    value: float | None
    n: int
    interval: Sequence[float] | None
    clusters: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    reason: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    p: float | None
    answered: Answered | None
    p_adjusted: float | None
    category: str = ""

    @property
    def _both(self) -> float | None:
        return self.answered.value if self.answered else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(PairedDifference):
    """The difference of two models, by name: the first less the second (`paired_differences`)."""

    first: str
    second: str


def paired_differences(
    cases: Cases,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    categories: Mapping[int, str] | None = None,
    tests: int = 0,
    unit: str = "stories",
) -> list[Pair]:
    """Every pair of models, over all stories and then within each category.

    The pairs are in the order of `cases`; `categories` names each story's, and `category` is empty over all stories.
    `value` is the mean over the `n` stories of first minus second, missing answers at their worst, `interval` its 95 %
    interval, `p` two-sided, `p_adjusted` by Holm over everything that has a p (specification "Statistics": over all
    pairs and categories). A judge's or a provider's loss shows no difference: the p holds with what was lost of the
    weaker one at its best. `answered` has the mean difference on the stories that both answered as `value` and their
    number as `n`. `tests` is how many the caller adjusts over, where there are more; `unit` is what reasons call what
    is resampled.
    """
    pairs = list(combinations(range(len(cases.models)), 2))
    if not pairs:
        return []
    first, second = np.array(pairs).T
    parts = _parts(cases.stories, categories or {})
    columns = {"": np.arange(len(cases.stories)), **parts}
    differences = cases.worst[first] - cases.worst[second]
    both = cases.answered[first] - cases.answered[second]
    flips = flips_for(tests or len(pairs) * len(columns))
    p = _spared_p(cases, first, second, list(columns.values()), seed=seed, flips=flips)
    adjusted = iter(holm([value for of_part in p for value in of_part]))
    compared: list[Pair] = []
    for (category, at), of_part in zip(columns.items(), p, strict=True):
        estimates = mean_estimates(
            differences[:, at],
            scale=DIFFERENCE,
            seed=seed,
            unit=unit,
            empty=NONE_IN_COMMON,
            resamples=resamples,
            clusters=_of_part(cases.clusters, at),
        )
        for (a, b), estimate, raw, of_both in zip(pairs, estimates, of_part, both[:, at], strict=True):
            answered = of_both[np.isfinite(of_both)]
            compared.append(
                Pair(
                    first=cases.models[a],
                    second=cases.models[b],
                    category=category,
                    value=estimate.value,
                    n=estimate.n,
                    interval=estimate.interval,
                    clusters=estimate.clusters,
                    reason=estimate.reason,
                    p=raw,
                    answered=Answered(float(answered.mean()) if len(answered) else None, len(answered)),
                    p_adjusted=next(adjusted),
                )
            )
    return compared


def _spared_p(
    cases: Cases, first: Columns, second: Columns, parts: Sequence[Columns], *, seed: int, flips: int
) -> list[list[float | None]]:
    """The p of each pair by part, the first of which is all columns. Where something was lost outside, a difference has
    to hold with all of that in favour of the weaker one; else its p is 1."""
    differences = cases.worst[first] - cases.worst[second]

    def flipped(differences: Floats) -> list[list[float | None]]:
        clusters = cases.clusters
        if clusters is None:
            return sign_flips(differences, parts[1:], seed=seed, flips=flips)
        sums = [by_cluster(differences[:, part].T, _of_part(clusters, part)).T for part in parts]
        return [sign_flips(column, [], seed=seed, flips=flips)[0] for column in sums]

    p_values = flipped(differences)
    spared = np.flatnonzero((cases.lost[first] + cases.lost[second]) > 0)
    if not len(spared):
        return p_values
    ahead = cases.worst[first][spared] - cases.spared[second][spared]
    behind = cases.spared[first][spared] - cases.worst[second][spared]
    tested = [flipped(side) for side in (ahead, behind)]
    for part, columns in enumerate(parts):
        for row, pair in enumerate(spared):
            p = p_values[part][pair]
            if p is not None:
                side = 0 if ahead[row, columns].mean() > 0 else 1 if behind[row, columns].mean() < 0 else None
                other = None if side is None else tested[side][part][row]
                p_values[part][pair] = 1.0 if other is None else max(p, other)
    return p_values


def _of_part(clusters: Clusters | None, columns: Columns) -> Clusters | None:
    return None if clusters is None else numbered(clusters[columns].tolist())


def _parts(stories: Sequence[int], categories: Mapping[int, str]) -> dict[str, Columns]:
    """The columns of each category, by name; none where there is only one, which would be all stories again."""
    named = [categories.get(story, "") for story in stories]
    names = sorted(set(named) - {""})
    return {part: np.flatnonzero([name == part for name in named]) for part in names} if len(names) > 1 else {}
