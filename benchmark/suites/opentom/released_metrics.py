"""The metrics of the released code: batches of narratives, questions by genre, macro F1 with its mean and deviation
over the batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, pstdev

from benchmark.suites.opentom.kinds import ACCESSIBILITY, FULLNESS, UNREADABLE
from benchmark.suites.opentom.macro import Agreement, agreement

MOVER, OBSERVER = "mover", "observer"


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """An answer with the labels of gold (None where gold is not a label) and of what it was read as, and its question:
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
    """A genre over the batches. `corrupted` is the share of answers left out, mean over batches, None where a batch has
    no answer; None stands for a batch without a pair, and makes means and deviations None."""

    by_batch: tuple[Agreement, ...]
    corrupted: float | None

    def mean_and_deviation(self, name: str) -> tuple[float | None, float | None]:
        """Return mean and population standard deviation of `f1` or `accuracy`."""
        values = [getattr(batch, name) for batch in self.by_batch]
        return (None, None) if None in values else (fmean(values), pstdev(values))


def genre_metrics(answers: Sequence[LabelledAnswer], batches: Sequence[int]) -> GenreMetrics:
    """Return the metrics of a genre's answers over the batches of those numbers."""
    each, corrupted = [], []
    for batch in batches:
        rows = [answer for answer in answers if answer.batch == batch]
        pairs = [(row.gold, row.predicted) for row in rows if row.gold is not None and row.predicted != UNREADABLE]
        each.append(agreement(pairs))
        corrupted.append(1 - len(pairs) / len(rows) if rows else None)
    return GenreMetrics(tuple(each), _mean(corrupted))


def _mean(shares: Sequence[float | None]) -> float | None:
    there = [share for share in shares if share is not None]
    return fmean(there) if len(there) == len(shares) else None


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
            by_genre[genre] = replace(by_genre[genre], corrupted=_mean(kinds))
    return by_genre


@dataclass(frozen=True, slots=True)
class PrintedGenre:
    """Figures that the released code prints of a genre: the share left out in per cent, the others with three
    decimals."""

    corrupted_percent: float | None
    accuracy_mean: float | None
    accuracy_std: float | None
    f1_mean: float | None
    f1_std: float | None


def printed(by_genre: Mapping[str, GenreMetrics]) -> dict[str, PrintedGenre]:
    """Return what the released code prints by genre."""
    return {
        genre: PrintedGenre(_percent(row.corrupted), *_rounded(row, "accuracy", 3), *_rounded(row, "f1", 3))
        for genre, row in by_genre.items()
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else share * 100


@dataclass(frozen=True, slots=True)
class FullPrecision:
    """The metrics of a genre with ten decimals, and the F1 of each batch."""

    f1_mean: float | None
    f1_std: float | None
    accuracy_mean: float | None
    accuracy_std: float | None
    corrupted_rate: float | None
    f1_per_batch: Sequence[float | None]


def full_precision(by_genre: Mapping[str, GenreMetrics]) -> dict[str, FullPrecision]:
    """Return the metrics by genre with ten decimals."""
    return {
        genre: FullPrecision(
            *_rounded(row, "f1", 10),
            *_rounded(row, "accuracy", 10),
            corrupted_rate=None if row.corrupted is None else round(row.corrupted, 10),
            f1_per_batch=[None if batch.f1 is None else round(batch.f1, 10) for batch in row.by_batch],
        )
        for genre, row in by_genre.items()
    }


def _rounded(row: GenreMetrics, name: str, decimals: int) -> tuple[float | None, float | None]:
    mean, deviation = row.mean_and_deviation(name)
    return None if mean is None else round(mean, decimals), None if deviation is None else round(deviation, decimals)
