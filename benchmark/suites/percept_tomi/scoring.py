"""Answers made elsewhere, scored as the released code scores them and in the repaired parse."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

import numpy as np

from benchmark.methods.perceptom import array_in, perceptions_of
from benchmark.suites.answers import Answered, BadAnswers, ParsedScores, read_answers
from benchmark.suites.perceiving import asking
from benchmark.suites.perceiving.perceptions import ACCURACY, SHARES, Shares
from benchmark.suites.perceiving.tables import SCENARIOS
from benchmark.suites.percept_tomi.data import RAW_TYPES, TYPES, read_percept_tomi, samples_of
from benchmark.suites.percept_tomi.parsing import named_place, official_right, official_shares, repaired_shares
from benchmark.suites.questions import Sample
from core.incoming.thoughts import without_thoughts
from core.plain import WHERE_THERE_IS_ONE

BY_SHAPE, QUESTIONS, PERCEPTIONS = "auto", "questions", "perceptions"
TASKS = (BY_SHAPE, QUESTIONS, PERCEPTIONS)
Answers = Sequence[tuple[Sample, str]]
Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The share of right answers among `n`; in the repaired parse among those that were read, None where none was.
    `unreadable` of the `n` answers could not be read; `bounds` take them as wrong and as right."""

    accuracy: float | None
    n: int
    unreadable: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    bounds: tuple[float, float] | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


@dataclass(frozen=True, slots=True)
class OfficialQuestions:
    """Answers that are right by question, the questions that are left out, and accuracies by type and by the types of
    the file."""

    answers: dict[str, bool]
    excluded: list[str]
    metrics: dict[str, Accuracy]
    metrics_raw: dict[str, Accuracy]


@dataclass(frozen=True, slots=True)
class RepairedQuestions:
    """The place that each answer names, and accuracies by part."""

    answers: dict[str, str | None]
    metrics: dict[str, Accuracy]


@dataclass(frozen=True, slots=True)
class StoryAccuracies:
    """The accuracy of each story that has one, the questions without, and means as the released code prints them."""

    per_story_accuracy: dict[str, float | None]
    excluded: list[str]
    by_qtype: dict[str, dict[str, float | None]]
    by_scenario: dict[str, dict[str, float | None]]


@dataclass(frozen=True, slots=True)
class OfficialPerceptions:
    answers: dict[str, str]
    metrics: StoryAccuracies


@dataclass(frozen=True, slots=True)
class RepairedPerceptions:
    """The shares of each answer, and their means by part with the numbers of answers and of unreadable ones."""

    answers: dict[str, Shares | None]
    metrics: dict[str, dict[str, float | None]]


def score_answers(data: Path, answers: Path, *, task: str = BY_SHAPE) -> ParsedScores:
    """Return both parses of answers `{"INDEX": "text"}` to the questions of that index.

    They answer the questions, or say who perceives what: so they are taken where `task` says it, and without a word on
    it where any of them is an array, empty or of objects. Only questions with an answer are scored. Raises ValueError.
    """
    texts = read_answers(answers)
    samples = {sample.key: sample for sample in samples_of(read_percept_tomi(data).questions)}
    for name, text in texts.items():
        if name not in samples:
            raise BadAnswers(f"{answers} answers {name[:60]!r}, which is the index of no question of Percept-ToMi.")
        if not isinstance(text, str):
            raise BadAnswers(f"{answers}, {name}: the answer is not a text.")
    rows = [(sample, texts[name]) for name, sample in samples.items() if name in texts]
    if task == PERCEPTIONS or (task == BY_SHAPE and _any_array(texts)):
        return ParsedScores(_perceptions(rows), _repaired_perceptions(rows))
    return ParsedScores(_questions(rows), _repaired_questions(rows))


def ids_of(samples: Sequence[Sample], answers: Mapping[str, Any]) -> dict[str, Answered]:
    """Return what the ids of answers are of: questions by their index, and where any answer is an array who perceives
    what in their stories."""
    step = asking.PERCEPTIONS if _any_array(answers) else ""
    return {sample.key: Answered((sample.key,), step) for sample in samples} if step else {}


def _any_array(texts: Mapping[str, Any]) -> bool:
    return any(_is_array(without_thoughts(text)) for text in texts.values() if isinstance(text, str))


def _is_array(text: str) -> bool:
    return bool(array_in(text)) or perceptions_of(text) == []


def _questions(rows: Answers) -> OfficialQuestions:
    """Accuracy by question type; `metrics_raw` by those of the file."""
    right = {sample.key: official_right(text, sample.gold["answer"]) for sample, text in rows}
    asked = [(sample, value) for sample, _ in rows if (value := right[sample.key]) is not None]
    return OfficialQuestions(
        answers={sample.key: value for sample, value in asked},
        excluded=[key for key, value in right.items() if value is None],
        metrics=_accuracies(asked, "type", sorted({*RAW_TYPES.values()})),
        metrics_raw=_accuracies(asked, "raw_type", sorted(RAW_TYPES)),
    )


def _accuracies(asked: Sequence[tuple[Sample, bool]], name: str, types: Sequence[str]) -> dict[str, Accuracy]:
    of_type = {type_: [right for sample, right in asked if sample.gold[name] == type_] for type_ in types}
    return {type_: Accuracy(round(fmean(rights), 3), len(rights)) for type_, rights in of_type.items() if rights}


def _repaired_questions(rows: Answers) -> RepairedQuestions:
    """The place that an answer names; unreadable answers are left out, counted, and between the bounds."""
    places = {
        sample.key: named_place(without_thoughts(text), sample.content["containers"], sample.gold["candidates"])[0]
        for sample, text in rows
    }

    def metrics(part: Sequence[Sample]) -> Accuracy:
        right = sum(places[sample.key] == sample.gold["answer"] for sample in part)
        unreadable = sum(places[sample.key] is None for sample in part)
        read, bounds = len(part) - unreadable, (right / len(part), (right + unreadable) / len(part))
        return Accuracy(right / read if read else None, len(part), unreadable, bounds if unreadable else None)

    return RepairedQuestions(places, _by_part([sample for sample, _ in rows], metrics))


def _by_part(samples: Sequence[Sample], metrics: Callable[[Sequence[Sample]], Part]) -> dict[str, Part]:
    parts = {"overall": list(samples)}
    for scenario in SCENARIOS:
        parts[scenario] = [sample for sample in samples if sample.content["scenario"] == scenario]
    for type_ in TYPES:
        parts[type_] = [sample for sample in samples if sample.gold["type"] == type_]
    return {name: metrics(part) for name, part in parts.items() if part}


def _perceptions(rows: Answers) -> OfficialPerceptions:
    """Accuracy of each story that has one, by question type, and by scenario: there the mean of what the types have,
    rounded before it is weighted by their stories, as the released code prints it."""
    accuracy = {
        sample.key: shares[ACCURACY]
        for sample, text in rows
        if (shares := official_shares(text, sample.content["sentences"], sample.gold["perceivers"]))
    }
    by_type = {
        " ".join(TYPES[type_]): _mean_of([sample for sample, _ in rows if sample.gold["type"] == type_], accuracy)
        for type_ in TYPES
    }
    accuracies = StoryAccuracies(
        per_story_accuracy=accuracy,
        excluded=[sample.key for sample, _ in rows if sample.key not in accuracy],
        by_qtype=by_type,
        by_scenario={scenario: _scenario(by_type, scenario) for scenario in SCENARIOS},
    )
    return OfficialPerceptions({sample.key: _released_parse(text) for sample, text in rows}, accuracies)


def _released_parse(text: str) -> str:
    """The part of an answer that the released code keeps: the array as Python writes it, a text that is none as it
    is."""
    perceived = perceptions_of(text)
    return text if perceived is None else str(perceived)


def _mean_of(samples: Sequence[Sample], accuracy: Mapping[str, float | None]) -> dict[str, float | None]:
    values = [value for sample in samples if (value := accuracy.get(sample.key)) is not None]
    mean = _rounded(fmean(values)) if values else None
    return {"acc": mean, "# valid samples": float(len(values)), "# total samples": float(len(samples))}


def _scenario(by_type: Mapping[str, Mapping[str, float | None]], scenario: str) -> dict[str, float | None]:
    parts = [metrics for name, metrics in by_type.items() if name.endswith(scenario)]
    valid = sum(metrics["# valid samples"] or 0.0 for metrics in parts)
    total = sum((metrics["acc"] or 0.0) * (metrics["# valid samples"] or 0.0) for metrics in parts)
    return {
        "acc": _rounded(total / valid) if valid else None,
        "num_valids": valid,
        "num_total": sum(metrics["# total samples"] or 0.0 for metrics in parts),
    }


def _rounded(value: float) -> float:
    """Three decimals as numpy rounds, of which Python's differs at halves."""
    return float(np.round(value, 3))


def _repaired_perceptions(rows: Answers) -> RepairedPerceptions:
    shares = {
        sample.key: repaired_shares(without_thoughts(text), sample.content["sentences"], sample.gold["perceivers"])
        for sample, text in rows
    }

    def metrics(part: Sequence[Sample]) -> dict[str, float | None]:
        read = [share for sample in part if (share := shares[sample.key])]
        means = {name: _mean_share(read, name) for name in SHARES}
        return {**means, "n": len(part), "unreadable": len(part) - len(read)}

    return RepairedPerceptions(shares, _by_part([sample for sample, _ in rows], metrics))


def _mean_share(read: Sequence[Shares], name: str) -> float | None:
    values = [value for shares in read if (value := shares[name]) is not None]
    return fmean(values) if values else None
