"""Figures of a model's answers: accuracy by question, and the metrics of the benchmark's own tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import ClassVar, NamedTuple

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.suites.figures import Unit, unit_estimate
from benchmark.suites.groups import LEFT_OUT, PartMetric, Parts
from benchmark.suites.measuring import (
    accuracy_group,
    counted_outcomes,
    measured_samples,
    once,
    scored_by,
    with_findings,
)
from benchmark.suites.opentom.data import ACCESSIBILITY, FINE, FULLNESS, GENRES, LABELS, PARTS, UNREADABLE
from benchmark.suites.opentom.metrics import (
    Answer,
    LabelledAnswer,
    MacroAnswer,
    Unfaithful,
    genres,
    macro_bounds,
    macro_difference,
    macro_estimate,
    macro_mean,
    macro_paired_difference,
    metrics,
    unfaithful_rates,
)
from benchmark.suites.opentom.samples import batches_of
from benchmark.suites.opentom.steps import ANSWER, MAJORITY, STEPS, majority_key, majority_labels, right_label
from benchmark.suites.questions import Entered, Measured, Outcome, Parse, Resources, Sample
from core.messages import Sentence, gettext_noop


def by_chance(sample: Sample) -> float:
    """Return how likely one of the answers that there are, drawn with each as likely, is the right one."""
    labels = range(1, 3) if sample.content["kind"] == FINE else LABELS[sample.content["kind"]].values()
    return float(right_label(sample) in labels) / len(labels)


def by_majority(sample: Sample, resources: Resources) -> float:
    """Return whether the label that is right most often in questions of its kind and genre is right."""
    labels = resources.derived(MAJORITY, majority_labels)
    return float(right_label(sample) == labels[majority_key(sample)])


def by_genre(entered: Entered, parse: Parse) -> dict[str, list[tuple[int, MacroAnswer]]]:
    """Return the answers to the questions of each genre that have a right label, with the numbers of their samples."""
    rows = [row for row in _labelled(entered, parse) if row.gold is not None]
    of_genre = {
        genre: [(row.sample.number, row.prediction) for row in rows if row.sample.category == genre] for genre in GENRES
    }
    return {genre: answers for genre, answers in of_genre.items() if answers}


GROUP = accuracy_group(
    "opentom",
    gettext_noop("Questions on narratives"),
    mean_of="genres",
    step=ANSWER,
    rests_on=[step.key for step in STEPS],
    facets={"perspective": gettext_noop("Perspective"), "kind": gettext_noop("Kind of question")},
    notes=(
        gettext_noop(
            "An official answer that is as much one place as the other is read, as a third label, which is wrong."
        ),
        gettext_noop("A narrative’s questions are resampled together."),
    ),
    unreadable_as=LEFT_OUT,
    chance=by_chance,
    majority=by_majority,
    parts=Parts(
        gettext_noop("Genre"),
        metric=PartMetric(
            gettext_noop("Macro F1"),
            gettext_noop(
                "Macro F1 is over the labels that occur in gold or answers, of the answers that could be read; bounds, "
                "in CSV and JSON, take the others as wrong and as right."
            ),
            by_genre,
            lambda answer: answer.counts,
            macro_estimate,
            macro_paired_difference,
        ),
        short=GENRES,
    ),
    says=lambda sample, repaired: str(repaired.get("outside") or repaired.get("label")),
)


class Labelled(NamedTuple):
    """A question of one parse: the label that is right and the one that was read, each None for none; `missing` where
    it has no answer."""

    sample: Sample
    gold: int | None
    predicted: int | None
    missing: bool = False

    @property
    def prediction(self) -> MacroAnswer:
        return MacroAnswer(self.sample.cluster, self.gold, self.predicted)


@dataclass(frozen=True, slots=True)
class Batches:
    """Means over the five samples of narratives: macro F1 with its `deviation`, accuracy, the share of answers that are
    left out (None where one of the five has no answer to such questions), the macro F1 with what was not read as wrong,
    and the numbers of narratives in the sample that was asked about fewest and in the one that was asked about most.
    Samples of long narratives are `overlapping`."""

    f1: float | None
    deviation: float | None
    accuracy: float | None
    corrupted: float | None
    worst: float | None
    narratives: Sequence[int]
    overlapping: bool


@dataclass(frozen=True, slots=True)
class Gap(BoundedEstimate):
    """The mover's macro F1 less the observer's; `n` counts each question once, the narrator's too, which both sides
    share. `unreadable` has the shares of questions without a readable answer, of the mover's side and the
    observer's."""

    unreadable: Sequence[float | None] = (None, None)


@dataclass(frozen=True, slots=True)
class Analyses:
    """The metrics of the paper's tables by genre; `kinds` of multi-hop questions by kind and their `mean`, `unreadable`
    the share of answers that were not read, `unfaithful` is by order."""

    kept_as: ClassVar[str] = "opentom"
    f1: Mapping[str, BoundedEstimate]
    kinds: Mapping[str, Mapping[str, BoundedEstimate]]
    gap: Mapping[str, Gap]
    unreadable: Mapping[str, BoundedEstimate]
    batches: Mapping[str, Batches]
    unfaithful: Mapping[str, Unfaithful]


def measure(entered: Entered) -> dict[str, Measured | None]:
    """Return accuracy with the metrics of the paper's tables found in the answers."""
    seed = entered.settings.seed
    measured = measured_samples(entered, GROUP, scored_by(_right))
    analyse = once(partial(_analyses, seed=seed))
    return {GROUP.key: with_findings(measured, lambda parse: analyse(_labelled(entered, parse)))}


def _right(sample: Sample, outcome: Outcome, parse: Parse) -> bool | None:
    if parse == "repaired":
        return bool((outcome.repaired or {}).get("label") == right_label(sample))
    label, gold = (outcome.official or {}).get("label", UNREADABLE), sample.gold["label"]
    return None if label == UNREADABLE or gold is None else bool(label == gold)


def _labelled(entered: Entered, parse: Parse) -> list[Labelled]:
    """The questions of a parse, with their answers; several repetitions of a question are as many."""
    rows = []
    for sample in entered.samples:
        gold = sample.gold["label"] if parse == "official" else right_label(sample)
        for outcome in counted_outcomes(entered.outcomes.get(sample.key, ()), GROUP):
            nothing = outcome.without or (parse == "repaired" and outcome.unreadable)
            label = None if nothing else (outcome.read(parse) or {}).get("label")
            rows.append(Labelled(sample, gold, label, bool(outcome.without)))
    return rows


def _analyses(rows: Sequence[Labelled], seed: int) -> Analyses:
    of_genre = {genre: [row for row in rows if row.sample.category == genre] for genre in GENRES}
    of_genre = {genre: answers for genre, answers in of_genre.items() if answers}
    return Analyses(
        f1={genre: macro_estimate([row.prediction for row in answers], seed) for genre, answers in of_genre.items()},
        kinds={genre: _by_kind(answers, seed) for genre, answers in of_genre.items() if genre.startswith("Multi")},
        gap={genre: _gap(answers, seed) for genre, answers in of_genre.items() if genre != "Attitude"},
        unreadable={genre: _unreadable(answers, seed) for genre, answers in of_genre.items()},
        batches=_batches(rows),
        unfaithful=unfaithful_rates([Answer(row.sample, row.predicted, row.missing) for row in rows], seed),
    )


def _by_kind(rows: Sequence[Labelled], seed: int) -> dict[str, BoundedEstimate]:
    """The F1 of each kind, and under `mean` the mean of the two, as the paper has its baselines."""
    kinds = {
        kind: [row.prediction for row in rows if row.sample.content["kind"] == kind]
        for kind in (FULLNESS, ACCESSIBILITY)
    }
    estimates = {kind: macro_estimate(answers, seed=seed) for kind, answers in kinds.items()}
    return estimates | {"mean": macro_mean(list(kinds.values()), seed=seed)}


def _gap(rows: Sequence[Labelled], seed: int) -> Gap:
    sides = [[row.prediction for row in rows if _of(row, who)] for who in ("mover", "observer")]
    estimate = macro_difference(sides[0], sides[1], seed=seed)
    read = {row.sample.key for row in rows if row.prediction.counts and (_of(row, "mover") or _of(row, "observer"))}
    unreadable = [_unreadable_share(answers) for answers in sides]
    return Gap(
        estimate.value,
        len(read),
        estimate.interval,
        estimate.clusters,
        estimate.reason,
        estimate.bounds,
        unreadable=unreadable,
    )


def _unreadable_share(answers: Sequence[MacroAnswer]) -> float | None:
    """Return the share of questions with a right label whose answer was not read; None without such a question."""
    asked = [answer for answer in answers if answer.gold is not None]
    return sum(answer.is_open for answer in asked) / len(asked) if asked else None


def _of(row: Labelled, who: str) -> bool:
    """Return whether a question counts for a person: the narrator's count for both, as in the released code."""
    return row.sample.content["perspective"] in (who, "narrator")


def _unreadable(rows: Sequence[Labelled], seed: int) -> BoundedEstimate:
    """The share of answers that were not read; bounds take missing ones for either."""
    units = [Unit(row.sample.cluster, None if row.missing else float(not row.prediction.counts)) for row in rows]
    return unit_estimate(units, seed, "narratives")


def _batches(rows: Sequence[Labelled]) -> dict[str, Batches]:
    """Means and deviations over the five samples of narratives, of the questions that the released code asks; genres of
    which a batch is missing are left out."""
    by_genre: dict[str, Batches] = {}
    for part in PARTS:
        asked = [row for row in rows if part in row.sample.gold["batches"]]
        released = [(row, _released(row, batch)) for row in asked for batch in batches_of(row.sample, part)]
        worst = {genre: _worst(questions) for genre, questions in genres([answer for _, answer in released]).items()}
        asked_about = _narratives(asked, part)
        for genre, result in metrics([answer for row, answer in released if not row.missing]).items():
            f1, accuracy = result.mean_and_deviation("f1"), result.mean_and_deviation("accuracy")
            name = _genre_name(genre, part)
            if name in GENRES and len(result.by_batch) == 5:
                means = Batches(
                    *f1, accuracy=accuracy[0], corrupted=result.corrupted, worst=worst[genre], narratives=asked_about,
                    overlapping=len(released) > len(asked),
                )  # fmt: skip
                by_genre.setdefault(name, means)
    return by_genre


def _narratives(asked: Sequence[Labelled], part: str) -> tuple[int, int]:
    """The numbers of narratives in the smallest and in the largest of the samples as they were asked about."""
    narratives: dict[int, set[str]] = {}
    for row in asked:
        for batch in batches_of(row.sample, part):
            narratives.setdefault(batch, set()).add(row.sample.cluster)
    sizes = [len(keys) for keys in narratives.values()]
    return min(sizes, default=0), max(sizes, default=0)


def _worst(questions: Sequence[LabelledAnswer]) -> float | None:
    """The mean F1 over the batches with what was not read as wrong."""
    batches = [
        [MacroAnswer("", row.gold, row.predicted) for row in questions if row.batch == batch]
        for batch in {row.batch for row in questions}
    ]
    lowest = [bounds[0] for answers in batches if (bounds := macro_bounds(answers))]
    return fmean(lowest) if lowest else None


def _genre_name(genre: str, part: str) -> str:
    order = "second" if "-so" in genre else "first"
    if genre.startswith("location"):
        return Sentence("{part} location, {order} order", part=part.capitalize(), order=order)
    if genre == "attitude":
        return "Attitude"
    return Sentence("Multi-hop, {order} order", order=order) if genre.endswith("overall") else ""


def _released(row: Labelled, batch: int) -> LabelledAnswer:
    sample = row.sample
    return LabelledAnswer(
        batch=batch,
        type=sample.gold["type"],
        kind=sample.content["kind"],
        question=sample.content["question"],
        mover=sample.gold["mover"],
        observer=sample.gold["observer"],
        gold=row.gold,
        predicted=UNREADABLE if row.predicted is None else row.predicted,
    )
