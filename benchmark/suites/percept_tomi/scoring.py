"""Answers made elsewhere, scored as the released code scores them and in the repaired parse."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmark.methods.perceptom import array_in, perceptions_of
from benchmark.suites.answers import Answered, BadAnswers, ParsedScores, read_answers
from benchmark.suites.perceiving import asking
from benchmark.suites.perceiving.perceptions import ACCURACY, Shares, mean_shares, rounded
from benchmark.suites.perceiving.tables import SCENARIOS
from benchmark.suites.percept_tomi.data import RAW_TYPES, TYPES, load
from benchmark.suites.percept_tomi.parsing import named_place, official_right, official_shares, repaired_shares
from benchmark.suites.questions import Sample
from core.incoming.thoughts import without_thoughts
from core.plain import Json

BY_SHAPE, QUESTIONS, PERCEPTIONS = "auto", "questions", "perceptions"
TASKS = (BY_SHAPE, QUESTIONS, PERCEPTIONS)


def score_answers(data: Path, answers: Path, *, task: str = BY_SHAPE) -> ParsedScores:
    """Return both parses of answers `{"INDEX": "text"}` to the questions of that index.

    They answer the questions, or say who perceives what: so they are taken where `task` says it, and without a word on
    it where any of them is an array, empty or of objects. Only questions with an answer are scored. Raises ValueError.
    """
    texts = read_answers(answers)
    samples = {sample.key: sample for sample in load(data).samples}
    for name, text in texts.items():
        if name not in samples:
            raise BadAnswers(f"{answers} answers {name[:60]!r}, which is the index of no question of Percept-ToMi.")
        if not isinstance(text, str):
            raise BadAnswers(f"{answers}, {name}: the answer is not a text.")
    rows = [(sample, texts[name]) for name, sample in samples.items() if name in texts]
    if task == PERCEPTIONS or (task == BY_SHAPE and _any_array(texts)):
        return _perceptions(rows)
    return _questions(rows)


def ids_of(samples: Sequence[Sample], answers: Mapping[str, Any]) -> dict[str, Answered]:
    """Return what the ids of answers are of: questions by their index, and where any answer is an array who perceives
    what in their stories."""
    step = asking.PERCEPTIONS if _any_array(answers) else ""
    return {sample.key: Answered((sample.key,), step) for sample in samples} if step else {}


def _any_array(texts: Mapping[str, Any]) -> bool:
    answers = [without_thoughts(text) for text in texts.values() if isinstance(text, str)]
    return any(array_in(text) or perceptions_of(text) == [] for text in answers)


def _questions(rows: Sequence[tuple[Sample, str]]) -> ParsedScores:
    """Return officially which answers are right, the questions that are left out, and accuracy by type and by the types
    of the file; repaired the place that each answer names, and accuracy by part: that of the answers that were read;
    `bounds` take unreadable ones as wrong and as right."""
    right = {sample.key: official_right(text, sample.gold["answer"]) for sample, text in rows}
    asked = [(sample, value) for sample, _ in rows if (value := right[sample.key]) is not None]
    official: Json = {
        "answers": {sample.key: value for sample, value in asked},
        "excluded": [key for key, value in right.items() if value is None],
        "metrics": _accuracies(asked, "type", sorted({*RAW_TYPES.values()})),
        "metrics_raw": _accuracies(asked, "raw_type", sorted(RAW_TYPES)),
    }
    places = {
        sample.key: named_place(without_thoughts(text), sample.content["containers"], sample.gold["candidates"])[0]
        for sample, text in rows
    }

    def metrics(part: Sequence[Sample]) -> Json:
        right = sum(places[sample.key] == sample.gold["answer"] for sample in part)
        unreadable = sum(places[sample.key] is None for sample in part)
        read, bounds = len(part) - unreadable, [right / len(part), (right + unreadable) / len(part)]
        accuracy = {"accuracy": right / read if read else None, "n": len(part), "unreadable": unreadable}
        return accuracy | ({"bounds": bounds} if unreadable else {})

    return ParsedScores(official, {"answers": places, "metrics": _by_part([sample for sample, _ in rows], metrics)})


def _accuracies(asked: Sequence[tuple[Sample, bool]], name: str, types: Sequence[str]) -> Json:
    of_type = {type_: [right for sample, right in asked if sample.gold[name] == type_] for type_ in types}
    return {
        type_: {"accuracy": round(fmean(rights), 3), "n": len(rights)} for type_, rights in of_type.items() if rights
    }


def _by_part(samples: Sequence[Sample], metrics: Callable[[Sequence[Sample]], Json]) -> Json:
    parts = {"overall": list(samples)}
    for scenario in SCENARIOS:
        parts[scenario] = [sample for sample in samples if sample.content["scenario"] == scenario]
    for type_ in TYPES:
        parts[type_] = [sample for sample in samples if sample.gold["type"] == type_]
    return {name: metrics(part) for name, part in parts.items() if part}


def _perceptions(rows: Sequence[tuple[Sample, str]]) -> ParsedScores:
    """Return officially the accuracy of each story that has one, by question type, and by scenario: there the mean of
    the types, rounded before it is weighted by their stories, as the released code prints it; repaired the shares of
    each answer, and their means by part with the numbers of answers and of unreadable ones."""
    accuracy: dict[str, float | None] = {}
    answers: dict[str, str] = {}
    repaired: dict[str, Shares | None] = {}
    for sample, text in rows:
        annotated = (sample.content["sentences"], sample.gold["perceivers"])
        if shares := official_shares(text, *annotated):
            accuracy[sample.key] = shares[ACCURACY]
        perceived = perceptions_of(text)
        answers[sample.key] = text if perceived is None else str(perceived)
        repaired[sample.key] = repaired_shares(without_thoughts(text), *annotated)
    by_type: dict[str, dict[str, float | None]] = {}
    for type_, names in TYPES.items():
        of_type = [sample.key for sample, _ in rows if sample.gold["type"] == type_]
        values = [value for key in of_type if (value := accuracy.get(key)) is not None]
        mean = rounded(fmean(values)) if values else None
        numbers = {"# valid samples": float(len(values)), "# total samples": float(len(of_type))}
        by_type[" ".join(names)] = {"acc": mean, **numbers}
    by_scenario: dict[str, dict[str, float | None]] = {}
    for scenario in SCENARIOS:
        parts = [metrics for name, metrics in by_type.items() if name.endswith(scenario)]
        valid = sum(metrics["# valid samples"] or 0.0 for metrics in parts)
        right = sum((metrics["acc"] or 0.0) * (metrics["# valid samples"] or 0.0) for metrics in parts)
        total = sum(metrics["# total samples"] or 0.0 for metrics in parts)
        by_scenario[scenario] = {
            "acc": rounded(right / valid) if valid else None,
            "num_valids": valid,
            "num_total": total,
        }
    excluded = [sample.key for sample, _ in rows if sample.key not in accuracy]
    means = _by_part(
        [sample for sample, _ in rows], lambda part: mean_shares(repaired, [sample.key for sample in part])
    )
    official = {"per_story_accuracy": accuracy, "excluded": excluded, "by_qtype": by_type, "by_scenario": by_scenario}
    return ParsedScores({"answers": answers, "metrics": official}, {"answers": repaired, "metrics": means})
