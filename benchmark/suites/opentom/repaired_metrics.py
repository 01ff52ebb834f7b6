"""The metrics of the repaired parse of answers that were made elsewhere: accuracy and macro F1 by genre, with
intervals over narratives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.estimating import StoryScore, overall_row
from benchmark.suites.measuring import ACCURACY
from benchmark.suites.opentom.genres import GENRES
from benchmark.suites.opentom.kinds import ACCESSIBILITY, FULLNESS
from benchmark.suites.opentom.macro_intervals import MacroAnswer, macro_estimate, macro_mean
from core.plain import WHERE_THERE_IS_ONE
from core.statistics import RESAMPLES

SEED = 1


class RepairedAnswer(NamedTuple):
    """An answer of the repaired parse: the genre and the kind of its question, and what it was read as."""

    genre: str
    kind: str
    read_as: MacroAnswer


@dataclass(frozen=True, slots=True)
class Ends:
    """A metric of `n` answers from 0 to 1 with the ends of its 95 % interval, None where there is none."""

    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class GenreMetrics:
    """Metrics of the answers of a genre that were read, the numbers of all and of unreadable ones; `f1_mean_of_kinds`
    of genres with two kinds."""

    accuracy: Ends
    f1: Ends
    answers: int
    unreadable: int
    f1_mean_of_kinds: Ends | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


def repaired_metrics(answers: Sequence[RepairedAnswer]) -> dict[str, GenreMetrics]:
    """Return the metrics by genre."""
    of_genre = {genre: [answer for answer in answers if answer.genre == genre] for genre in GENRES}
    return {genre: _of_genre(rows) for genre, rows in of_genre.items() if rows}


def _of_genre(answers: Sequence[RepairedAnswer]) -> GenreMetrics:
    labelled = [answer.read_as for answer in answers]
    accuracy, f1 = _accuracy(labelled), _bare(macro_estimate(labelled, seed=SEED))
    unreadable = sum(not answer.counts for answer in labelled)
    kinds = [[answer.read_as for answer in answers if answer.kind == kind] for kind in (FULLNESS, ACCESSIBILITY)]
    mean = _bare(macro_mean(kinds, seed=SEED)) if all(kinds) else None
    return GenreMetrics(accuracy, f1, len(labelled), unreadable, mean)


def _accuracy(answers: Sequence[MacroAnswer]) -> Ends:
    scores = [_score(answer) for answer in answers if answer.counts]
    if not scores:
        return Ends(None, None, None, 0)
    row = overall_row(scores, (ACCURACY,), seed=SEED, resamples=RESAMPLES, unit="narratives")
    interval, _ = row.intervals[ACCURACY]
    return _bare(BoundedEstimate(row.values[ACCURACY], len(scores), interval))


def _score(answer: MacroAnswer) -> StoryScore:
    right = {ACCURACY: float(answer.gold == answer.predicted)}
    return StoryScore("", right, right, right, cluster=answer.narrative)


def _bare(estimate: BoundedEstimate) -> Ends:
    low, high = estimate.interval or (None, None)
    return Ends(estimate.value, low, high, estimate.n)
