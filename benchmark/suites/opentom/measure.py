"""Figures of a model's answers: accuracy by question, and the metrics of the benchmark's own tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any, ClassVar

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
from benchmark.suites.opentom.data import GENRES, PARTS, batches_of, genre_of
from benchmark.suites.opentom.metrics import (
    Answer,
    Unfaithful,
    genres,
    macro_bounds,
    macro_difference,
    macro_estimate,
    macro_mean,
    macro_paired_difference,
    mean_and_deviation,
    metrics,
    unfaithful_rates,
)
from benchmark.suites.opentom.parsing import ACCESSIBILITY, FINE, FULLNESS, LABELS, UNREADABLE
from benchmark.suites.opentom.steps import ANSWER, MAJORITY, STEPS, majority_key, majority_labels, right_label
from benchmark.suites.questions import Entered, Outcome, Parse, Resources, Sample
from benchmark.suites.reports import GroupMetrics
from core.messages import gettext_noop


def by_chance(sample: Sample) -> float:
    """Return how likely one of the answers that there are, drawn with each as likely, is the right one."""
    labels = range(1, 3) if sample.content["kind"] == FINE else LABELS[sample.content["kind"]].values()
    return float(right_label(sample) in labels) / len(labels)


def by_majority(sample: Sample, resources: Resources) -> float:
    """Return whether the label that is right most often in questions of its kind and genre is right."""
    labels = resources.derived(MAJORITY, majority_labels)
    return float(right_label(sample) == labels[majority_key(sample)])


def by_genre(entered: Entered, parse: Parse) -> dict[str, list[tuple[int, Answer]]]:
    """Return the answers to the questions of each genre that have a right label, with the numbers of their samples."""
    answers = [(answer.sample.number, answer) for answer in _answers(entered, parse) if answer.gold is not None]
    of_genre = {genre: [row for row in answers if row[1].sample.category == genre] for genre in GENRES}
    return {genre: rows for genre, rows in of_genre.items() if rows}


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


@dataclass(frozen=True, slots=True)
class Gap(BoundedEstimate):
    """The mover's macro F1 less the observer's; `n` counts each question once, the narrator's too, which both sides
    share. `unreadable` has the shares of questions without a readable answer, of the mover's side and the
    observer's."""

    unreadable: Sequence[float | None] = (None, None)


@dataclass(frozen=True, slots=True)
class Analyses:
    """The metrics of the paper's tables by genre; `kinds` of multi-hop questions by kind and their `mean`, `unreadable`
    the share of answers that were not read, `unfaithful` is by order.

    `batches` are means over the five samples of narratives: macro F1 (`f1`) with its `deviation`, `accuracy`, the share
    of answers that are left out (`corrupted`, None where one of the five has no answer to such questions), the `bounds`
    of the macro F1 where something was not read, and the numbers of `narratives` in the sample that was asked about
    fewest and in the one that was asked about most. Samples of long narratives are `overlapping`."""

    kept_as: ClassVar[str] = "opentom"
    f1: Mapping[str, BoundedEstimate]
    kinds: Mapping[str, Mapping[str, BoundedEstimate]]
    gap: Mapping[str, Gap]
    unreadable: Mapping[str, BoundedEstimate]
    batches: Mapping[str, Mapping[str, Any]]
    unfaithful: Mapping[str, Unfaithful]


def measure(entered: Entered) -> dict[str, GroupMetrics | None]:
    """Return accuracy with the metrics of the paper's tables found in the answers."""
    measured = measured_samples(entered, GROUP, scored_by(_right))
    analyse = once(partial(_analyses, seed=entered.settings.seed))
    return {GROUP.key: with_findings(measured, lambda parse: analyse(_answers(entered, parse)))}


def _right(sample: Sample, outcome: Outcome, parse: Parse) -> bool | None:
    if parse == "repaired":
        return bool((outcome.repaired or {}).get("label") == right_label(sample))
    label, gold = (outcome.official or {}).get("label", UNREADABLE), sample.gold["label"]
    return None if label == UNREADABLE or gold is None else bool(label == gold)


def _answers(entered: Entered, parse: Parse) -> list[Answer]:
    """Return the answers of a parse; several repetitions of a question are as many."""
    answers = []
    for sample in entered.samples:
        gold = sample.gold["label"] if parse == "official" else right_label(sample)
        for outcome in counted_outcomes(entered.outcomes.get(sample.key, ()), GROUP):
            nothing = outcome.without or (parse == "repaired" and outcome.unreadable)
            label = None if nothing else (outcome.read(parse) or {}).get("label")
            answers.append(Answer(sample, gold, label, bool(outcome.without)))
    return answers


def _analyses(answers: Sequence[Answer], seed: int) -> Analyses:
    of_genre = {genre: [answer for answer in answers if answer.sample.category == genre] for genre in GENRES}
    of_genre = {genre: rows for genre, rows in of_genre.items() if rows}
    kinds: dict[str, dict[str, BoundedEstimate]] = {}
    for genre in filter(lambda genre: genre.startswith("Multi"), of_genre):
        by_kind = {
            kind: [answer for answer in of_genre[genre] if answer.sample.content["kind"] == kind]
            for kind in (FULLNESS, ACCESSIBILITY)
        }
        kinds[genre] = {kind: macro_estimate(rows, seed) for kind, rows in by_kind.items()}
        kinds[genre]["mean"] = macro_mean([*by_kind.values()], seed)  # as the paper has its baselines
    return Analyses(
        f1={genre: macro_estimate(rows, seed) for genre, rows in of_genre.items()},
        kinds=kinds,
        gap={genre: gap_of(rows, seed) for genre, rows in of_genre.items() if genre != "Attitude"},
        unreadable={genre: unreadable_share(rows, seed) for genre, rows in of_genre.items()},
        batches=_batches(answers),
        unfaithful=unfaithful_rates(answers, seed),
    )


def gap_of(answers: Sequence[Answer], seed: int) -> Gap:
    """Return the mover's macro F1 less the observer's: the narrator's questions count for both, as in the released
    code."""
    mover, observer = (
        [answer for answer in answers if answer.sample.content["perspective"] in (who, "narrator")]
        for who in ("mover", "observer")
    )
    read = {answer.sample.key for answer in (*mover, *observer) if answer.counts}
    unreadable = []
    for side in (mover, observer):
        asked = [answer for answer in side if answer.gold is not None]
        unreadable.append(sum(answer.is_open for answer in asked) / len(asked) if asked else None)
    of = macro_difference(mover, observer, seed)
    return Gap(of.value, len(read), of.interval, of.clusters, of.reason, of.bounds, unreadable=unreadable)


def unreadable_share(answers: Sequence[Answer], seed: int) -> BoundedEstimate:
    """Return the share of answers that were not read; bounds take missing ones for either."""
    units = [Unit(answer.sample.cluster, None if answer.missing else float(not answer.counts)) for answer in answers]
    return unit_estimate(units, seed, "narratives")


def _batches(answers: Sequence[Answer]) -> dict[str, dict[str, Any]]:
    """Return means and deviations over the five samples of narratives, of the questions that the released code asks;
    genres of which a sample is missing are left out."""
    means: dict[str, dict[str, Any]] = {}
    for part in PARTS:
        asked = [answer for answer in answers if part in answer.sample.gold["batches"]]
        batched = [(number, answer) for answer in asked for number in batches_of(answer.sample, part)]
        of_genre, sizes = genres(batched), narratives_asked(asked, part)
        for genre, result in metrics([row for row in batched if not row[1].missing]).items():
            kind = part if genre.startswith("location") else genre  # attitude, or of multi-hop questions any other
            name = "" if genre.endswith((FULLNESS, ACCESSIBILITY)) else genre_of(genre.removesuffix("_overall"), kind)
            if name not in GENRES or len(result.f1) != 5:
                continue
            rows = of_genre[genre]
            each = [[answer for batch, answer in rows if batch == number] for number in {number for number, _ in rows}]
            # the mean F1 with what was not read as wrong and as right
            ends = [bounds for of_batch in each if (bounds := macro_bounds(of_batch))]
            is_open = bool(ends) and any(answer.is_open for _, answer in rows)
            f1, deviation = mean_and_deviation(result.f1)
            figures = {
                "f1": f1,
                "deviation": deviation,
                "accuracy": mean_and_deviation(result.accuracy)[0],
                "corrupted": result.corrupted,
                "bounds": [fmean(low for low, _ in ends), fmean(high for _, high in ends)] if is_open else None,
                "narratives": list(sizes),
                "overlapping": len(batched) > len(asked),
            }
            means.setdefault(name, figures)
    return means


def narratives_asked(answers: Sequence[Answer], part: str) -> tuple[int, int]:
    """Return the numbers of narratives in the smallest and in the largest of the samples as they were asked about."""
    narratives: dict[int, set[str]] = {}
    for answer in answers:
        for batch in batches_of(answer.sample, part):
            narratives.setdefault(batch, set()).add(answer.sample.cluster)
    sizes = [len(keys) for keys in narratives.values()]
    return min(sizes, default=0), max(sizes, default=0)
