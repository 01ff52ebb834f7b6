"""The metrics of the released code: batches of narratives, questions by genre, macro F1 with its mean and deviation
over the batches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, pstdev
from typing import Any

from benchmark.suites.opentom.kinds import ACCESSIBILITY, FULLNESS, UNREAD
from benchmark.suites.opentom.macro import Agreement, agreement

MOVER, OBSERVER = "mover", "observer"


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """An answer with the labels of gold (None where gold is no label) and of what it was read as, and its question:
    `type` as files have it, `batch` the number of the sample of narratives that it is of."""

    batch: int
    type: str
    kind: str
    question: str
    mover: str
    observer: str
    gold: int | None
    predicted: int


def seen_by(person: str, answer: LabelledAnswer) -> bool:
    """Return whether a question is about the mover's or the observer's view (`person`): that of whom it names first; of
    both where it names neither."""
    words = answer.question.replace("'s", "").replace(",", "").split()
    own, other = (answer.mover, answer.observer) if person == MOVER else (answer.observer, answer.mover)
    if other not in words:
        return True
    return own in words and words.index(own) < words.index(other)


def genres(answers: Sequence[LabelledAnswer]) -> dict[str, list[LabelledAnswer]]:
    """Return the answers by genre: a type, for multi-hop questions with `_fullness`, `_accessibility` and
    `_overall`."""
    by_genre: dict[str, list[LabelledAnswer]] = {}
    for type_ in dict.fromkeys(answer.type for answer in answers):
        of_type = [answer for answer in answers if answer.type == type_]
        if not type_.startswith("multihop"):
            by_genre[type_] = of_type
            continue
        for kind in (FULLNESS, ACCESSIBILITY):
            by_genre[f"{type_}_{kind}"] = [answer for answer in of_type if answer.kind == kind]
        by_genre[f"{type_}_overall"] = of_type
    return {genre: rows for genre, rows in by_genre.items() if rows}


@dataclass(frozen=True, slots=True)
class GenreMetrics:
    """A genre over the batches. `corrupted` is the share of answers left out, mean over batches; None stands for a
    batch without a pair, and makes means and deviations None."""

    by_batch: tuple[Agreement, ...]
    corrupted: float

    def mean_and_deviation(self, name: str) -> tuple[float | None, float | None]:
        """Return mean and population standard deviation of `f1` or `accuracy`."""
        values = [getattr(batch, name) for batch in self.by_batch]
        return (None, None) if None in values else (fmean(values), pstdev(values))


def genre_metrics(answers: Sequence[LabelledAnswer], batches: Sequence[int]) -> GenreMetrics:
    """Return the metrics of a genre's answers over the batches of those numbers."""
    each, corrupted = [], []
    for batch in batches:
        rows = [answer for answer in answers if answer.batch == batch]
        pairs = [(row.gold, row.predicted) for row in rows if row.gold is not None and row.predicted != UNREAD]
        each.append(agreement(pairs))
        corrupted.append(1 - len(pairs) / len(rows) if rows else math.nan)
    return GenreMetrics(tuple(each), fmean(corrupted))


def metrics(answers: Sequence[LabelledAnswer]) -> dict[str, GenreMetrics]:
    """Return the metrics by genre."""
    batches = sorted({answer.batch for answer in answers})
    by_genre = {genre: genre_metrics(rows, batches) for genre, rows in genres(answers).items()}
    for genre in by_genre:
        if genre.endswith("_overall"):  # of both kinds together, but the share left out is the mean of theirs
            kinds = [
                by_genre[name].corrupted
                for kind in (FULLNESS, ACCESSIBILITY)
                if (name := genre.replace("overall", kind)) in by_genre
            ]
            by_genre[genre] = replace(by_genre[genre], corrupted=fmean(kinds))
    return by_genre


def printed(by_genre: Mapping[str, GenreMetrics]) -> dict[str, dict[str, float | None]]:
    """Return what the released code prints: shares in per cent, the others with three decimals."""
    return {genre: _printed(row) for genre, row in by_genre.items()}


def _printed(row: GenreMetrics) -> dict[str, float | None]:
    values: dict[str, float | None] = {"corrupted_percent": row.corrupted * 100}
    for name in ("accuracy", "f1"):
        for what, value in zip(("mean", "std"), row.mean_and_deviation(name), strict=True):
            values[f"{name}_{what}"] = None if value is None else round(value, 3)
    return values


def full_precision(by_genre: Mapping[str, GenreMetrics]) -> dict[str, dict[str, Any]]:
    """Return the same with ten decimals, and the F1 of each batch."""
    return {genre: _full(row) for genre, row in by_genre.items()}


def _full(row: GenreMetrics) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in ("f1", "accuracy"):
        values[f"{name}_mean"], values[f"{name}_std"] = map(_ten, row.mean_and_deviation(name))
    return values | {"corrupted_rate": _ten(row.corrupted), "f1_per_batch": [_ten(batch.f1) for batch in row.by_batch]}


def _ten(value: float | None) -> float | None:
    return None if value is None else round(value, 10)
