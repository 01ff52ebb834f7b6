"""The metrics of the released code, as shares with three decimals and the number of what is averaged, of one
scenario."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.suites.fantom_questions.outcomes import Scored
from benchmark.suites.fantom_questions.released import (
    all_right,
    by_order,
    list_answers,
    mean,
    weighted_f1,
    without_absent,
)
from benchmark.suites.fantom_questions.rows import ACCESSIBLE, ANSWERABILITY, CHOICE, INFORMATION, LIST, YES, YES_NO
from core.plain import Json

SCENARIOS = {"inaccessible": "inaccessible(false belief)", "accessible": "accessible(true belief)"}
"""Their names in the released code."""


@dataclass(frozen=True, slots=True)
class ReleasedMetric:
    """A share with three decimals, None of nothing, and of how many it is."""

    score: float | None
    questions: int

    def as_json(self) -> Json:
        return {"score": self.score, "#questions": float(self.questions)}


def scenario_metrics(answers: Sequence[Scored], scenario: str) -> dict[str, ReleasedMetric]:
    """Return the metrics of the questions of a scenario, under the released code's names.

    `answers` are those of both scenarios, those on characters who are not in the conversation among them: these count
    for the figures of characters alone.
    """
    everybody = [answer for answer in answers if answer.row.scenario == scenario]
    rows = without_absent(everybody)
    whole = _of_whole_sets(rows, without_absent(answers)) if scenario == ACCESSIBLE else rows
    beliefs = [answer for answer in rows if answer.row.kind == CHOICE]
    metrics = {
        f"{scenario}:set:ALL": _metric(all_right(whole, _set_of)),
        f"{scenario}:belief:multiple-choice": _shares(beliefs),
    }
    for topic in (ANSWERABILITY, INFORMATION):
        metrics |= _of_topic([answer for answer in rows if answer.row.topic == topic], f"{scenario}:{topic}")
    orders = {order: _shares(part) for order, part in by_order(beliefs).items()}
    metrics |= {f"{scenario}:{order}": metric for order, metric in orders.items() if metric.score}
    metrics[f"{scenario}:set:ALL_character"] = _metric(_all_of_characters(everybody))
    metrics[f"{scenario}:set:character_answer_consistency"] = _metric(_consistency(everybody))
    return metrics


def _set_of(answer: Scored) -> str:
    return answer.row.set_id


def _of_whole_sets(rows: Iterable[Scored], answers: Iterable[Scored]) -> list[Scored]:
    """The answers of sets all of whose questions are of the scenario."""
    mixed = {answer.row.set_id for answer in answers if answer.row.scenario != ACCESSIBLE}
    return [answer for answer in rows if answer.row.set_id not in mixed]


def _of_topic(rows: Sequence[Scored], name: str) -> dict[str, ReleasedMetric]:
    single = [answer for answer in rows if answer.row.kind == YES_NO]
    f1 = weighted_f1([(int(answer.row.right[0] == YES), answer.answer_class) for answer in single])
    return {
        f"{name}:set:ALL": _metric(all_right(rows, _set_of)),
        f"{name}:list": _shares([answer for answer in rows if answer.row.kind == LIST]),
        f"{name}:binary-f1": ReleasedMetric(_rounded(f1), len(single)),
    }


def _shares(answers: Sequence[Scored]) -> ReleasedMetric:
    return _metric([float(answer.right) for answer in answers])


def _metric(values: Sequence[float]) -> ReleasedMetric:
    return ReleasedMetric(_rounded(mean(values)), len(values))


def _rounded(value: float | None) -> float | None:
    """Three decimals as numpy rounds, of which Python's differs at halves."""
    return None if value is None else float(np.round(value, 3))


def _all_of_characters(rows: Sequence[Scored]) -> list[float]:
    """Return for each set and character 1 where both lists and all choices are right about the character; single
    answers do not count here."""
    values: dict[tuple[str, str], bool] = {}
    for answer, named in _named(rows):
        key = (answer.row.set_id, answer.row.character.lower())
        values[key] = values.get(key, True) and named == (answer.row.right[0] == YES)
    for answer in rows:
        if answer.row.kind == CHOICE:
            key = (answer.row.set_id, answer.row.subject)
            values[key] = values.get(key, True) and answer.right
    return [float(value) for value in values.values()]


def _consistency(rows: Sequence[Scored]) -> list[float]:
    """Return for each set and character 1 where both lists say the same of the character."""
    answers: dict[tuple[str, str], set[bool]] = {}
    for answer, named in _named(rows):
        answers.setdefault((answer.row.set_id, answer.row.character.lower()), set()).add(named)
    return [float(len(values) == 1) for values in answers.values()]


def _named(rows: Sequence[Scored]) -> Iterable[tuple[Scored, bool]]:
    """The questions on single characters, each with whether the list of its topic names the character, wherever in the
    answer."""
    lists = list_answers(rows, _set_of)
    for answer in rows:
        if answer.row.kind == YES_NO:
            for text in lists.get((answer.row.set_id, answer.row.topic), ()):
                yield answer, answer.row.character.lower() in text
