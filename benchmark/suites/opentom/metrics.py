"""Macro F1 and accuracy of labels, as scikit-learn counts them, and the metrics of the released code."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, pstdev
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.suites.figures import Unit, unit_estimate, with_bounds
from benchmark.suites.opentom.parsing import ACCESSIBILITY, COARSE, FINE, FULLNESS, NEITHER, OUTSIDE, UNREADABLE
from benchmark.suites.questions import Sample
from core.plain import Json
from core.statistics import DIFFERENCE, RESAMPLES, SHARE, Estimate, Floats, Scale, estimate_of, label_f1s, ratios


class Answer(NamedTuple):
    """An answer in one parse: the label that is right, None where there is none, and the label that was read, None or
    UNREADABLE for none; `missing` where there is no answer. OUTSIDE is a miss, and no label over which F1 is
    averaged."""

    sample: Sample
    gold: int | None
    label: int | None
    missing: bool = False

    @property
    def counts(self) -> bool:
        return self.gold is not None and self.label not in (None, UNREADABLE)

    @property
    def is_open(self) -> bool:
        """True where there is something to be said that was not read."""
        return self.gold is not None and not self.counts


def agreement(pairs: Sequence[tuple[int | None, int | None]]) -> tuple[float | None, float | None]:
    """Return macro F1, over the labels that occur, and accuracy of pairs of gold and predicted label, from 0 to 1; None
    of no pair."""
    if not pairs:
        return None, None
    gold, predicted = np.array(pairs).T
    labels: NDArray[np.int_] = np.setdiff1d(np.union1d(gold, predicted), [OUTSIDE])[:, None]
    golds, predictions = gold == labels, predicted == labels
    f1s = label_f1s(*(marks.sum(axis=1) for marks in (golds & predictions, golds, predictions)))
    return float(np.mean(f1s)), float(np.mean(gold == predicted))


def macro_estimate(answers: Sequence[Answer], seed: int) -> BoundedEstimate:
    """Return the macro F1 of the answers that were read, over the labels that occur in gold or answer, from 0 to 1,
    with its interval; `n` counts these answers. `bounds` take the others as wrong, for the labels that lose most by it,
    and as right."""
    return macro_mean([answers], seed)


def macro_mean(parts: Sequence[Sequence[Answer]], seed: int) -> BoundedEstimate:
    """Return the mean of the macro F1s of several parts, each part weighing the same, on the same resamples of
    narratives; `n` counts the answers of all. `bounds` are as those of one part."""
    estimate = _estimate(parts, (1 / len(parts),) * len(parts), SHARE, seed)
    ends = [pair for answers in parts if (pair := macro_bounds(answers))]
    if len(ends) < len(parts) or not any(answer.is_open for answers in parts for answer in answers):
        return with_bounds(estimate)
    return with_bounds(estimate, [fmean(low for low, _ in ends), fmean(high for _, high in ends)])


def macro_difference(first: Sequence[Answer], other: Sequence[Answer], seed: int) -> BoundedEstimate:
    """Return the macro F1 of some answers less that of others, over those that were read, on the same resamples of
    narratives; `n` counts the answers of both. Bounds take what could not be read at its worst on one side and at its
    best on the other."""
    return with_bounds(_estimate([first, other], (1.0, -1.0), DIFFERENCE, seed), _apart(first, other))


def macro_paired_difference(first: Sequence[Answer], other: Sequence[Answer], seed: int) -> BoundedEstimate:
    """Return `macro_difference` over the questions whose answers were read on both sides, of which `n` is the number:
    both sides answer the same questions in the same order. Bounds are over all of them."""
    read = [pair for pair in zip(first, other, strict=True) if all(answer.counts for answer in pair)]
    estimate = macro_difference([pair[0] for pair in read], [pair[1] for pair in read], seed)
    return replace(estimate, n=len(read), bounds=_apart(first, other))


def _apart(first: Sequence[Answer], other: Sequence[Answer]) -> list[float] | None:
    """Return the bounds of the first macro F1 less the other; None where everything was read."""
    ends, other_ends = macro_bounds(first), macro_bounds(other)
    if not ends or not other_ends or not any(answer.is_open for answer in (*first, *other)):
        return None
    return [ends[0] - other_ends[1], ends[1] - other_ends[0]]


def macro_bounds(answers: Sequence[Answer]) -> tuple[float, float] | None:
    """Return the macro F1 with the answers that were not read as wrong, for the labels that lose most by it, and as
    right; None without any answer to a question that has a label."""
    asked = [answer for answer in answers if answer.gold is not None]
    if not asked:
        return None
    read = [answer for answer in asked if answer.counts]
    gold = Counter(answer.gold for answer in asked)
    predicted = Counter(answer.label for answer in read if answer.label != OUTSIDE)
    hits = Counter(answer.gold for answer in read if answer.gold == answer.label)
    unread = Counter(answer.gold for answer in asked if answer.is_open)
    labels = {*gold, *predicted}
    pairs = [(2 * hits[label], gold[label] + predicted[label]) for label in labels]
    filled = [(2 * (hits[label] + unread[label]), gold[label] + predicted[label] + unread[label]) for label in labels]
    for _ in range(unread.total()):  # each wrong answer is one unit more below a line, where it costs most
        costs = [above / among - above / (among + 1) for above, among in pairs]
        at = costs.index(max(costs))
        pairs[at] = (pairs[at][0], pairs[at][1] + 1)
    return fmean(above / among for above, among in pairs), fmean(above / among for above, among in filled)


def _estimate(parts: Sequence[Sequence[Answer]], weights: Sequence[float], scale: Scale, seed: int) -> Estimate:
    """Return the sum of the weighted macro F1s of the parts."""
    counted = [[answer for answer in answers if answer.counts] for answers in parts]
    if not all(counted):
        return Estimate(None, 0, reason="no answer that could be read")
    narratives = dict.fromkeys(answer.sample.cluster for answers in counted for answer in answers)
    columns = [_counts(answers, {name: at for at, name in enumerate(narratives)}) for answers in counted]
    edges = np.cumsum([part.shape[1] for part in columns])[:-1]

    def weighted(sums: Floats) -> Floats:
        f1s = [_macro(part) for part in np.split(sums, edges, axis=1)]
        total: Floats = np.sum([weight * f1 for weight, f1 in zip(weights, f1s, strict=True)], axis=0)
        return total

    return estimate_of(
        np.concatenate(columns, axis=1),
        weighted,
        n=sum(map(len, counted)),
        scale=scale,
        unit="narratives",
        empty="no narrative",
        seed=seed,
        resamples=RESAMPLES,
        with_clusters=True,
    )


def _counts(answers: Sequence[Answer], rows: Mapping[str, int]) -> Floats:
    """Return hits, gold and answers of each label by narrative, shape (narratives, 3 · labels)."""
    labels = {label for answer in answers for label in (answer.gold, answer.label)} - {None, OUTSIDE}
    at = {label: place for place, label in enumerate(sorted(label for label in labels if label is not None))}
    columns = np.zeros((len(rows), 3, len(at)))
    for sample, gold, label, _ in answers:
        if gold is None:
            continue
        counts = columns[rows[sample.cluster]]
        counts[1, at[gold]] += 1
        if label is not None and label != OUTSIDE:
            counts[2, at[label]] += 1
        counts[0, at[gold]] += gold == label
    return columns.reshape(len(rows), -1)


def _macro(sums: Floats) -> Floats:
    """Return the macro F1 of each row of sums, shape (r, 3 · labels) → (r,), over the labels that occur in that row."""
    hits, gold, predicted = np.split(sums, 3, axis=1)
    return ratios(label_f1s(hits, gold, predicted).sum(axis=1), (gold + predicted > 0).sum(axis=1))


Batched = tuple[int, Answer]
"""An answer with the number of the sample of narratives that it is of."""


def seen_by(person: str, sample: Sample) -> bool:
    """Return whether a question is about the view of the `mover` or of the `observer`: that of whom it names first; of
    both where it names neither."""
    words = sample.content["question"].replace("'s", "").replace(",", "").split()
    own, other = (sample.gold[who] for who in (person, "observer" if person == "mover" else "mover"))
    return other not in words or (own in words and words.index(own) < words.index(other))


def genres(answers: Sequence[Batched]) -> dict[str, list[Batched]]:
    """Return the answers by genre: a type, for multi-hop questions with `_fullness`, `_accessibility` and
    `_overall`."""
    by_genre: dict[str, list[Batched]] = {}
    for type_ in dict.fromkeys(answer.sample.gold["type"] for _, answer in answers):
        of_type = [row for row in answers if row[1].sample.gold["type"] == type_]
        if not type_.startswith("multihop"):
            by_genre[type_] = of_type
            continue
        for kind in (FULLNESS, ACCESSIBILITY):
            by_genre[f"{type_}_{kind}"] = [row for row in of_type if row[1].sample.content["kind"] == kind]
        by_genre[f"{type_}_overall"] = of_type
    return {genre: rows for genre, rows in by_genre.items() if rows}


class GenreMetrics(NamedTuple):
    """Macro F1 and accuracy of a genre in each sample of narratives, None of one without a pair; and the share of
    answers left out, mean over the samples, None where one has no answer."""

    f1: Sequence[float | None]
    accuracy: Sequence[float | None]
    corrupted: float | None


def mean_and_deviation(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """Return mean and population standard deviation; None where a value is."""
    there = [value for value in values if value is not None]
    return (fmean(there), pstdev(there)) if len(there) == len(values) else (None, None)


def metrics(answers: Sequence[Batched]) -> dict[str, GenreMetrics]:
    """Return the metrics by genre."""
    batches = sorted({batch for batch, _ in answers})
    by_genre: dict[str, GenreMetrics] = {}
    for genre, rows in genres(answers).items():
        each, corrupted = [], []
        for number in batches:
            of_batch = [answer for batch, answer in rows if batch == number]
            pairs = [(answer.gold, answer.label) for answer in of_batch if answer.counts]
            each.append(agreement(pairs))
            corrupted.append(1 - len(pairs) / len(of_batch) if of_batch else None)
        if genre.endswith("_overall"):  # of both kinds together, but the share left out is the mean of theirs
            kinds = [genre.replace("overall", kind) for kind in (FULLNESS, ACCESSIBILITY)]
            corrupted = [by_genre[name].corrupted for name in kinds if name in by_genre]
        by_genre[genre] = GenreMetrics(
            [f1 for f1, _ in each], [accuracy for _, accuracy in each], mean_and_deviation(corrupted)[0]
        )
    return by_genre


def printed(by_genre: Mapping[str, GenreMetrics]) -> Json:
    """Return what the released code prints by genre: the share left out in per cent, the others with three
    decimals."""
    return {
        genre: {"corrupted_percent": None if row.corrupted is None else row.corrupted * 100, **_rounded(row, 3)}
        for genre, row in by_genre.items()
    }


def full_precision(by_genre: Mapping[str, GenreMetrics]) -> Json:
    """Return the metrics by genre with ten decimals, and the F1 of each batch."""
    return {
        genre: {
            **_rounded(row, 10),
            "corrupted_rate": _round(row.corrupted, 10),
            "f1_per_batch": [_round(f1, 10) for f1 in row.f1],
        }
        for genre, row in by_genre.items()
    }


def _rounded(row: GenreMetrics, decimals: int) -> dict[str, float | None]:
    return {
        f"{name}_{what}": _round(value, decimals)
        for name, values in (("f1", row.f1), ("accuracy", row.accuracy))
        for what, value in zip(("mean", "std"), mean_and_deviation(values), strict=True)
    }


def _round(value: float | None, decimals: int) -> float | None:
    return None if value is None else round(value, decimals)


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
        pairs = [(key[0], coarse[key], fine[key]) for key in coarse if key[1] == order and key in fine]
        asked = [(name, _unfaithful(one, other)) for name, one, other in pairs if not (one.missing or other.missing)]
        lost = [Unit(name, None) for name, one, other in pairs if one.missing or other.missing]
        values = [value for _, value in asked if value is not None]
        of_all = [Unit(name, value or 0.0, (0.0, 1.0) if value is None else None) for name, value in asked]
        if pairs:
            rates[order] = Unfaithful(
                pairs=len(asked),
                unreadable=len(asked) - len(values),
                unfaithful=int(sum(values)),
                missing=len(lost),
                of_all=unit_estimate([*of_all, *lost], seed, "narratives"),
                of_valid=unit_estimate([*(Unit(*row) for row in asked), *lost], seed, "narratives"),
            )
    return rates


def _by_key(answers: Iterable[Answer], kind: str) -> Mapping[tuple[str, str, tuple[str, ...]], Answer]:
    """Return the first answer by narrative, order, and whose view of whom."""
    by_key: dict[tuple[str, str, tuple[str, ...]], Answer] = {}
    for answer in answers:
        content, people = answer.sample.content, tuple(answer.sample.content["people"])
        if content["kind"] == kind and people:
            order = "second" if answer.sample.gold["type"].endswith("-so") else "first"
            by_key.setdefault((answer.sample.cluster, order, people), answer)
    return by_key


def _unfaithful(coarse: Answer, fine: Answer) -> float | None:
    """Return 1 where the two say different things, 0 where they say the same, None where one of them says nothing.

    A place that the story does not have is another one than the original."""
    if coarse.label in (None, UNREADABLE, OUTSIDE) or fine.label in (None, UNREADABLE, NEITHER):
        return None
    return float((coarse.label == 1) != (fine.label == 1))
