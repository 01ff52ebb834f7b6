"""Macro F1 and accuracy of labels, as scikit-learn counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, pstdev
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.suites.figures import Unit, unit_estimate, with_bounds
from benchmark.suites.opentom.data import ACCESSIBILITY, COARSE, FINE, FULLNESS, NEITHER, OUTSIDE, UNREADABLE
from benchmark.suites.questions import Sample
from core.plain import Json
from core.statistics import DIFFERENCE, RESAMPLES, SHARE, Estimate, Floats, Scale, estimate_of, label_f1s, ratios

Pair = tuple[int, int]
"""Gold and predicted label."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Macro F1 over the labels that occur in gold or prediction, and accuracy, from 0 to 1; None of no pair. An answer
    OUTSIDE the labels is a miss, and no label of its own."""

    f1: float | None
    accuracy: float | None


def agreement(pairs: Sequence[Pair]) -> Agreement:
    """Return macro F1 and accuracy of pairs of labels."""
    if not pairs:
        return Agreement(None, None)
    gold, predicted = np.array(pairs).T
    return Agreement(float(np.mean(_f1_by_label(gold, predicted))), float(np.mean(gold == predicted)))


def _f1_by_label(gold: NDArray[np.int_], predicted: NDArray[np.int_]) -> Floats:
    labels = np.setdiff1d(np.union1d(gold, predicted), [OUTSIDE])[:, None]
    golds, predictions = gold == labels, predicted == labels
    return label_f1s(*(marks.sum(axis=1) for marks in (golds & predictions, golds, predictions)))


class MacroAnswer(NamedTuple):
    """One answer: its narrative, the label that is right, None where official scoring has none, and the label that was
    read, None or UNREADABLE for none. OUTSIDE is a miss, and no label over which F1 is averaged."""

    narrative: str
    gold: int | None
    predicted: int | None

    @property
    def is_open(self) -> bool:
        """True where there is something to be said that was not read."""
        return self.gold is not None and not self.counts

    @property
    def counts(self) -> bool:
        return self.gold is not None and self.predicted not in (None, UNREADABLE)


def macro_estimate(answers: Sequence[MacroAnswer], seed: int, resamples: int = RESAMPLES) -> BoundedEstimate:
    """Return the macro F1 of the answers that were read, over the labels that occur in gold or answer, from 0 to 1,
    with its interval; `n` counts these answers. `bounds` take the others as wrong, for the labels that lose most by it,
    and as right."""
    return _bounded([answers], seed, resamples)


def macro_difference(
    first: Sequence[MacroAnswer], other: Sequence[MacroAnswer], *, seed: int, resamples: int = RESAMPLES
) -> BoundedEstimate:
    """Return the macro F1 of some answers less that of others, over those that were read, on the same resamples of
    narratives; `n` counts the answers of both. Bounds take what could not be read at its worst on one side and at its
    best on the other."""
    return with_bounds(_estimate([first, other], (1.0, -1.0), DIFFERENCE, seed, resamples), _apart(first, other))


def macro_paired_difference(
    first: Sequence[MacroAnswer], other: Sequence[MacroAnswer], seed: int, resamples: int = RESAMPLES
) -> BoundedEstimate:
    """Return `macro_difference` over the questions whose answers were read on both sides, of which `n` is the number:
    both sides answer the same questions in the same order. Bounds are over all of them."""
    read = [pair for pair in zip(first, other, strict=True) if all(answer.counts for answer in pair)]
    sides = [[pair[side] for pair in read] for side in range(2)]
    estimate = macro_difference(sides[0], sides[1], seed=seed, resamples=resamples)
    return replace(estimate, n=len(read), bounds=_apart(first, other))


def _apart(first: Sequence[MacroAnswer], other: Sequence[MacroAnswer]) -> list[float] | None:
    """Return the bounds of the first macro F1 less the other; None where everything was read."""
    ends, other_ends = macro_bounds(first), macro_bounds(other)
    if not ends or not other_ends or not any(answer.is_open for answer in (*first, *other)):
        return None
    return [ends[0] - other_ends[1], ends[1] - other_ends[0]]


def macro_mean(parts: Sequence[Sequence[MacroAnswer]], *, seed: int, resamples: int = RESAMPLES) -> BoundedEstimate:
    """Return the mean of the macro F1s of several parts, each part weighing the same, on the same resamples of
    narratives; `n` counts the answers of all. `bounds` are as those of one part."""
    return _bounded(parts, seed, resamples)


def macro_bounds(answers: Sequence[MacroAnswer]) -> tuple[float, float] | None:
    """Return the macro F1 with the answers that were not read as wrong, for the labels that lose most by it, and as
    right; None without any answer to a question that has a label."""
    asked = [answer for answer in answers if answer.gold is not None]
    if not asked:
        return None
    hits, gold, predicted = (dict.fromkeys({answer.gold for answer in asked}, 0) for _ in range(3))
    for answer in asked:
        gold[answer.gold] += 1
        if answer.counts and answer.predicted != OUTSIDE:
            predicted[answer.predicted] = predicted.get(answer.predicted, 0) + 1
            hits[answer.gold] += answer.gold == answer.predicted
    labels = {*gold, *predicted}
    unreadable = Counter(answer.gold for answer in asked if answer.is_open)
    pairs = [(2 * hits.get(label, 0), gold.get(label, 0) + predicted.get(label, 0)) for label in labels]
    filled = [
        (2 * (hits.get(label, 0) + unreadable[label]), gold.get(label, 0) + predicted.get(label, 0) + unreadable[label])
        for label in labels
    ]
    return _lowest(pairs, sum(unreadable.values())), fmean(above / among for above, among in filled)


def _lowest(pairs: Sequence[tuple[int, int]], wrong: int) -> float:
    """The mean of the quotients with so many units more below the line, each where it costs most."""
    parts = [*pairs]
    for _ in range(wrong):
        costs = [above / among - above / (among + 1) for above, among in parts]
        at = costs.index(max(costs))
        parts[at] = (parts[at][0], parts[at][1] + 1)
    return fmean(above / among for above, among in parts)


def _bounded(parts: Sequence[Sequence[MacroAnswer]], seed: int, resamples: int) -> BoundedEstimate:
    """The mean of the macro F1s of the parts, with its bounds where something was not read."""
    estimate = _estimate(parts, (1 / len(parts),) * len(parts), SHARE, seed, resamples)
    ends = [pair for answers in parts if (pair := macro_bounds(answers))]
    if len(ends) < len(parts) or not any(answer.is_open for answers in parts for answer in answers):
        return with_bounds(estimate)
    return with_bounds(estimate, [fmean(low for low, _ in ends), fmean(high for _, high in ends)])


def _estimate(
    parts: Sequence[Sequence[MacroAnswer]], weights: Sequence[float], scale: Scale, seed: int, resamples: int
) -> Estimate:
    """The sum of the weighted macro F1s of the parts."""
    counted = [[answer for answer in answers if answer.counts] for answers in parts]
    if not all(counted):
        return Estimate(None, 0, reason="no answer that could be read")
    narratives = list(dict.fromkeys(answer.narrative for answers in counted for answer in answers))
    columns = [_counts(answers, narratives) for answers in counted]
    edges = np.cumsum([part.shape[1] for part in columns])[:-1]

    def weighted(sums: Floats) -> Floats:
        return _weighted([_macro(part) for part in np.split(sums, edges, axis=1)], weights)

    return estimate_of(
        np.concatenate(columns, axis=1),
        weighted,
        n=sum(map(len, counted)),
        scale=scale,
        unit="narratives",
        empty="no narrative",
        seed=seed,
        resamples=resamples,
        with_clusters=True,
    )


def _weighted(parts: Sequence[Floats], weights: Sequence[float]) -> Floats:
    total: Floats = sum(
        (weight * part for weight, part in zip(weights[1:], parts[1:], strict=True)), weights[0] * parts[0]
    )
    return total


def _counts(answers: Sequence[MacroAnswer], narratives: Sequence[str]) -> Floats:
    """Hits, gold and answers of each label by narrative, shape (narratives, 3 · labels)."""
    occurring = {label for answer in answers for label in (answer.gold, answer.predicted)}
    labels = sorted(label for label in occurring if label not in (None, OUTSIDE))
    rows, at = ({name: place for place, name in enumerate(names)} for names in (narratives, labels))
    columns = np.zeros((len(narratives), 3, len(labels)))
    for answer in answers:
        counts = columns[rows[answer.narrative]]
        counts[1, at[answer.gold]] += 1
        if answer.predicted != OUTSIDE:
            counts[2, at[answer.predicted]] += 1
        counts[0, at[answer.gold]] += answer.gold == answer.predicted
    return columns.reshape(len(narratives), -1)


def _macro(sums: Floats) -> Floats:
    """Macro F1 of each row of sums, shape (r, 3 · labels) → (r,); over the labels that occur in that row."""
    hits, gold, predicted = np.split(sums, 3, axis=1)
    return ratios(label_f1s(hits, gold, predicted).sum(axis=1), (gold + predicted > 0).sum(axis=1))


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


def printed(by_genre: Mapping[str, GenreMetrics]) -> Json:
    """Return what the released code prints by genre: the share left out in per cent, the others with three
    decimals."""
    return {
        genre: {
            "corrupted_percent": None if row.corrupted is None else row.corrupted * 100,
            **_rounded(row, "accuracy", 3),
            **_rounded(row, "f1", 3),
        }
        for genre, row in by_genre.items()
    }


def full_precision(by_genre: Mapping[str, GenreMetrics]) -> Json:
    """Return the metrics by genre with ten decimals, and the F1 of each batch."""
    return {
        genre: {
            **_rounded(row, "f1", 10),
            **_rounded(row, "accuracy", 10),
            "corrupted_rate": None if row.corrupted is None else round(row.corrupted, 10),
            "f1_per_batch": [None if batch.f1 is None else round(batch.f1, 10) for batch in row.by_batch],
        }
        for genre, row in by_genre.items()
    }


def _rounded(row: GenreMetrics, name: str, decimals: int) -> dict[str, float | None]:
    values = zip(("mean", "std"), row.mean_and_deviation(name), strict=True)
    return {f"{name}_{what}": None if value is None else round(value, decimals) for what, value in values}


Key = tuple[str, str, tuple[str, ...]]
"""Narrative, order, and whose view of whom."""


class Answer(NamedTuple):
    """The parse of the answer to a question: its label, None or UNREADABLE for none; `missing` where there is no
    answer."""

    sample: Sample
    label: int | None
    missing: bool = False


AnswerPair = tuple[Answer, Answer]
"""A coarse and a fine answer on the same view."""


@dataclass(frozen=True, slots=True)
class Unfaithful:
    """Numbers of pairs, of those that cannot be read, of unfaithful and of missing ones, and the rates
    over all and over read pairs."""

    pairs: int
    unreadable: int
    unfaithful: int
    missing: int
    of_all: BoundedEstimate
    of_valid: BoundedEstimate


def unfaithful_rates(answers: Sequence[Answer], seed: int) -> dict[str, Unfaithful]:
    """Return the rates by order ("first", "second"), with intervals over narratives; bounds take what is not read or
    missing as faithful and as unfaithful. Of a question asked several times the first answer counts; the
    narrator's questions are in no pair."""
    coarse, fine = _by_key(answers, COARSE), _by_key(answers, FINE)
    rates: dict[str, Unfaithful] = {}
    for order in ("first", "second"):
        pairs = {key: (coarse[key], fine[key]) for key in coarse if key[1] == order and key in fine}
        if pairs:
            rates[order] = _rates(pairs, seed)
    return rates


def _by_key(answers: Iterable[Answer], kind: str) -> Mapping[Key, Answer]:
    answer_by_key: dict[Key, Answer] = {}
    for answer in answers:
        content = answer.sample.content
        people = tuple(content["people"])
        if content["kind"] == kind and people:
            order = "second" if answer.sample.gold["type"].endswith("-so") else "first"
            answer_by_key.setdefault((answer.sample.cluster, order, people), answer)
    return answer_by_key


def _rates(pairs: Mapping[Key, AnswerPair], seed: int) -> Unfaithful:
    missing = {key for key, pair in pairs.items() if any(answer.missing for answer in pair)}
    asked = [(key[0], _unfaithful(*pair)) for key, pair in pairs.items() if key not in missing]
    lost = [Unit(key[0], None) for key in pairs if key in missing]
    of_all = [
        Unit(narrative, 0.0, (0.0, 1.0)) if value is None else Unit(narrative, value) for narrative, value in asked
    ]
    of_valid = [Unit(narrative, value) for narrative, value in asked]
    values = [value for _, value in asked if value is not None]
    return Unfaithful(
        pairs=len(asked),
        unreadable=len(asked) - len(values),
        unfaithful=int(sum(values)),
        missing=len(lost),
        of_all=unit_estimate([*of_all, *lost], seed, "narratives"),
        of_valid=unit_estimate([*of_valid, *lost], seed, "narratives"),
    )


def _unfaithful(coarse: Answer, fine: Answer) -> float | None:
    """1 where the two say different things, 0 where they say the same, None where one of them says nothing.

    A place that the story does not have is another one than the original."""
    if coarse.label in (None, UNREADABLE, OUTSIDE) or fine.label in (None, UNREADABLE, NEITHER):
        return None
    return float((coarse.label == 1) != (fine.label == 1))
