"""A corrected score, the interval that its spread leaves it, and what it is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

import numpy as np

from core.plain import Json, plain
from core.statistics import REAL, SHARE, Floats, linear_error, linear_interval
from judge.domain.calibration.unseen import reach, reaching
from judge.domain.cluster_names import ClusterName

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
