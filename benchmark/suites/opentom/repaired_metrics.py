"""The metrics of the repaired parse of answers that were made elsewhere: accuracy and macro F1 by genre, with
intervals over narratives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, NotRequired, TypedDict

from benchmark.domain.estimating import StoryScore, overall_row
from benchmark.suites.opentom.genres import GENRES
from benchmark.suites.opentom.kinds import ACCESSIBILITY, FULLNESS
from benchmark.suites.opentom.macro_intervals import Told, macro_estimate, macro_mean
from benchmark.suites.right_or_wrong import ACCURACY
from core.statistics import RESAMPLES, Estimate

SEED = 1


class RepairedAnswer(NamedTuple):
    """An answer of the repaired parse: the genre and the kind of its question, and what it was read as."""

    genre: str
    kind: str
    told: Told


class Ends(TypedDict):
    """A figure of `n` answers from 0 to 1 with the ends of its 95 % interval, None where there is none."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class GenreFigures(TypedDict):
    """Figures of the answers of a genre that were read, the numbers of all and of unread ones; `f1_mean_of_kinds` of
    genres with two kinds."""

    accuracy: Ends
    f1: Ends
    f1_mean_of_kinds: NotRequired[Ends]
    answers: int
    unread: int


def repaired_metrics(answers: Sequence[RepairedAnswer]) -> dict[str, GenreFigures]:
    """Return the figures by genre."""
    of_genre = {genre: [answer for answer in answers if answer.genre == genre] for genre in GENRES}
    return {genre: _of_genre(rows) for genre, rows in of_genre.items() if rows}


def _of_genre(answers: Sequence[RepairedAnswer]) -> GenreFigures:
    labelled = [answer.told for answer in answers]
    accuracy, f1 = _accuracy(labelled), _bare(macro_estimate(labelled, seed=SEED))
    unread = sum(not answer.counts for answer in labelled)
    kinds = [[answer.told for answer in answers if answer.kind == kind] for kind in (FULLNESS, ACCESSIBILITY)]
    if all(kinds):
        mean = _bare(macro_mean(kinds, seed=SEED))
        return {"accuracy": accuracy, "f1": f1, "f1_mean_of_kinds": mean, "answers": len(labelled), "unread": unread}
    return {"accuracy": accuracy, "f1": f1, "answers": len(labelled), "unread": unread}


def _accuracy(answers: Sequence[Told]) -> Ends:
    scores = [_score(answer) for answer in answers if answer.counts]
    if not scores:
        return {"value": None, "low": None, "high": None, "n": 0}
    row = overall_row(scores, (ACCURACY,), seed=SEED, resamples=RESAMPLES, unit="narratives")
    interval, why = row.intervals[ACCURACY]
    estimate: Estimate = {"value": row.values[ACCURACY], "interval": interval, "n": len(scores), "reason": why}
    return _bare(estimate)


def _score(answer: Told) -> StoryScore:
    right = {ACCURACY: float(answer.gold == answer.predicted)}
    return StoryScore("", right, right, right, cluster=answer.narrative)


def _bare(estimate: Estimate) -> Ends:
    low, high = estimate["interval"] or (None, None)
    return {"value": estimate["value"], "low": low, "high": high, "n": estimate["n"]}
