"""What the answers of a model come to: accuracy by question, and the metrics of the benchmark's own tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from benchmark.suites.asked import Reading
from benchmark.suites.contract import Entered, Measured, Outcome, Sample
from benchmark.suites.measuring import counted_outcomes, measured_samples, with_analyses
from benchmark.suites.opentom.faithfulness import unfaithful_rates
from benchmark.suites.opentom.genres import GENRES
from benchmark.suites.opentom.kinds import ACCESSIBILITY, FULLNESS, PARTS, UNREAD
from benchmark.suites.opentom.macro_intervals import Told, macro_difference, macro_estimate, macro_mean
from benchmark.suites.opentom.released_metrics import LabelledAnswer, metrics
from benchmark.suites.opentom.steps import ANSWER, STEPS, right_label
from benchmark.suites.right_or_wrong import accuracy_group, scored_by
from core.statistics import Estimate

GROUP = accuracy_group(
    "opentom",
    "Questions on narratives",
    mean_of="genres",
    step=ANSWER,
    rests_on=[step.key for step in STEPS],
    facets={"perspective": "Perspective", "kind": "Kind of question"},
    notes=("A narrative’s questions are resampled together.",),
)


class Labelled(NamedTuple):
    """An answer of one reading: the label that is right and the one that was read, each None for none."""

    sample: Sample
    gold: int | None
    predicted: int | None

    @property
    def told(self) -> Told:
        return Told(self.sample.cluster, self.gold, self.predicted)


def measure(entered: Entered) -> dict[str, Measured | None]:
    """Return accuracy with the metrics of the paper's tables among the analyses, under `opentom`."""
    seed = int(entered.settings.get("seed", 1))
    measured = measured_samples(entered, GROUP, scored_by(_right))
    return {GROUP.key: with_analyses(measured, "opentom", lambda reading: _analyses(_labelled(entered, reading), seed))}


def _right(sample: Sample, outcome: Outcome, reading: Reading) -> bool | None:
    if reading == "repaired":
        return bool((outcome.repaired or {}).get("label") == right_label(sample))
    label, gold = (outcome.official or {}).get("label", UNREAD), sample.gold["label"]
    return None if label == UNREAD or gold is None else bool(label == gold)


def _labelled(entered: Entered, reading: Reading) -> list[Labelled]:
    """The answers of a reading; several repetitions of a question are as many answers."""
    rows = []
    for sample in entered.samples:
        gold = sample.gold["label"] if reading == "official" else right_label(sample)
        for outcome in counted_outcomes(entered.outcomes.get(sample.key, ()), GROUP):
            if not outcome.without:
                rows.append(Labelled(sample, gold, (outcome.read(reading) or {}).get("label")))
    return rows


def _analyses(rows: Sequence[Labelled], seed: int) -> dict[str, Any]:
    """{"f1": {genre: estimate}, "kinds": {genre: {kind or "mean": estimate}}, "gap": {genre: estimate of mover less observer}, "unread": {genre: share}, "batches": {genre: {"f1", "deviation",
    "accuracy", "corrupted", "batches"}}, "unfaithful": {order: …}}."""
    of_genre = {genre: [row for row in rows if row.sample.category == genre] for genre in GENRES}
    of_genre = {genre: answers for genre, answers in of_genre.items() if answers}
    return {
        "f1": {genre: _macro(answers, seed) for genre, answers in of_genre.items()},
        "kinds": {genre: _by_kind(answers, seed) for genre, answers in of_genre.items() if genre.startswith("Multi")},
        "gap": {genre: _gap(answers, seed) for genre, answers in of_genre.items() if genre != "Attitude"},
        "unread": {genre: _unread(answers) for genre, answers in of_genre.items()},
        "batches": _batches(rows),
        "unfaithful": unfaithful_rates([(row.sample, row.predicted) for row in rows]),
    }


def _macro(rows: Sequence[Labelled], seed: int) -> Estimate:
    return macro_estimate([row.told for row in rows], seed=seed)


def _by_kind(rows: Sequence[Labelled], seed: int) -> dict[str, Estimate]:
    """The F1 of each kind, and under `mean` the mean of the two, as the paper has its baselines."""
    kinds = {
        kind: [row.told for row in rows if row.sample.content["kind"] == kind] for kind in (FULLNESS, ACCESSIBILITY)
    }
    estimates = {kind: macro_estimate(answers, seed=seed) for kind, answers in kinds.items()}
    return estimates | {"mean": macro_mean(list(kinds.values()), seed=seed)}


def _gap(rows: Sequence[Labelled], seed: int) -> Estimate:
    mover, observer = ([row.told for row in rows if _of(row, who)] for who in ("mover", "observer"))
    return macro_difference(mover, observer, seed=seed)


def _of(row: Labelled, who: str) -> bool:
    """Whether a question counts for a person: the narrator's count for both, as in the released code."""
    return row.sample.content["perspective"] in (who, "narrator")


def _unread(rows: Sequence[Labelled]) -> float:
    return sum(not row.told.counts for row in rows) / len(rows)


def _batches(rows: Sequence[Labelled]) -> dict[str, Any]:
    """Means and deviations over the five samples of narratives, of the questions that the released code asks; genres of which a batch is missing are left out."""
    found: dict[str, Any] = {}
    for part in PARTS:
        answers = [_released(row, part) for row in rows if part in row.sample.gold["batches"]]
        for genre, result in metrics(answers).items():
            f1, accuracy = result.mean_and_deviation("f1"), result.mean_and_deviation("accuracy")
            name = _genre_name(genre, part)
            if name in GENRES and len(result.by_batch) == 5:
                figures = {"f1": f1[0], "deviation": f1[1], "accuracy": accuracy[0], "corrupted": result.corrupted}
                found.setdefault(name, figures)
    return found


def _genre_name(genre: str, part: str) -> str:
    order = "second" if "-so" in genre else "first"
    if genre.startswith("location"):
        return f"{part.capitalize()} location, {order} order"
    return "Attitude" if genre == "attitude" else f"Multi-hop, {order} order" if genre.endswith("overall") else ""


def _released(row: Labelled, part: str) -> LabelledAnswer:
    sample = row.sample
    return LabelledAnswer(
        batch=sample.gold["batches"][part],
        type=sample.gold["type"],
        kind=sample.content["kind"],
        question=sample.content["question"],
        mover=sample.gold["mover"],
        observer=sample.gold["observer"],
        gold=row.gold,
        predicted=UNREAD if row.predicted is None else row.predicted,
    )
