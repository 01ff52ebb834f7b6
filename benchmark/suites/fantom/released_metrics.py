"""The metrics of the released code, in per cent with one decimal, of one scenario."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from benchmark.suites.fantom_questions.outcomes import Scored
from benchmark.suites.fantom_questions.released import all_right, by_order, list_answers, mean, weighted_f1
from benchmark.suites.fantom_questions.rows import (
    ANSWERABILITY,
    CHOICE,
    DISTANCE,
    FACT,
    INFORMATION,
    LIST,
    YES,
    YES_NO,
)

GROUPINGS: Mapping[str, Callable[[Scored], str]] = {
    "set": lambda answer: answer.row.set_id,
    "part": lambda answer: answer.row.part_id,
    "conversation": lambda answer: answer.row.conversation_id,
}
"""The questions that must be right as a whole."""
Released = dict[str, float | dict[str, int] | None]
"""Metrics by their name in the released code: per cent, or how often what made an answer wrong."""
_REASONS = {0: "false_negative", 1: "false_positive", -1: "irrelevant_response"}


def scenario_metrics(answers: Sequence[Scored], scenario: str, grouping: str) -> Released:
    """Return the metrics of the questions of a scenario, under the released code's names, in which a group is a "set"
    whatever it is; None stands for not a number.

    `answers` are those of both scenarios; `grouping` is a key of GROUPINGS.
    """
    rows = [answer for answer in answers if answer.row.scenario == scenario]
    group = GROUPINGS[grouping]
    free = [answer for answer in rows if answer.row.kind == DISTANCE]
    choices = [answer for answer in rows if answer.row.kind == CHOICE]
    metrics: Released = {
        f"{scenario}:set:ALL*": _per_cent_right(rows, group),
        f"{scenario}:set:ALL": _per_cent_right([answer for answer in rows if answer.row.kind != DISTANCE], group),
        f"{scenario}:belief:multiple-choice": _share(choices),
        f"{scenario}:belief:distance": _share(free),
        f"{scenario}:belief_true_word-f1": _per_cent(mean([answer.f1 for answer in free if answer.right])),
    }
    for topic in (ANSWERABILITY, INFORMATION):
        metrics |= _of_topic([answer for answer in rows if answer.row.topic == topic], f"{scenario}:{topic}", grouping)
    metrics["fact_word-f1"] = _per_cent(mean([answer.f1 for answer in answers if answer.row.kind == FACT]))
    metrics |= {f"{scenario}:tom:{name}": counts for name, counts in _wrong_reasons(rows).items()}
    metrics |= {
        f"{scenario}:{order}": share for order, answers_of in by_order(free).items() if (share := _share(answers_of))
    }
    metrics[f"{scenario}:set:ALL_character"] = _per_cent(mean(_all_of_characters(rows, group)))
    metrics[f"{scenario}:set:character_answer_consistency"] = _per_cent(mean(_consistency(rows, group)))
    return metrics


def _of_topic(rows: Sequence[Scored], name: str, grouping: str) -> Released:
    single = [answer for answer in rows if answer.row.kind == YES_NO]
    return {
        f"{name}:set:ALL": _per_cent_right(rows, GROUPINGS[grouping]),
        f"{name}:list": _share([answer for answer in rows if answer.row.kind == LIST]),
        f"{name}:binary-f1": _per_cent(
            weighted_f1([(int(answer.row.right[0] == YES), answer.answer_class) for answer in single])
        ),
    }


def _per_cent_right(answers: Sequence[Scored], group: Callable[[Scored], str]) -> float | None:
    return _per_cent(mean(all_right(answers, group)))


def _per_cent(share: float | None) -> float | None:
    return None if share is None else round(share, 3) * 100


def _share(answers: Sequence[Scored]) -> float | None:
    return _per_cent(mean([float(answer.right) for answer in answers]))


def _wrong_reasons(rows: Sequence[Scored]) -> dict[str, dict[str, int]]:
    lists = [answer.listed for answer in rows if answer.row.topic == ANSWERABILITY and answer.listed]
    of_lists = Counter(_list_reason(names.excluded_aware, names.included_unaware) for names in lists if not names.right)
    of_single = Counter(
        _REASONS[answer.answer_class] for answer in rows if answer.row.kind == YES_NO and not answer.right
    )
    return {"lists:wrong_reasons:freq": dict(of_lists), "binary:wrong_reasons:freq": dict(of_single)}


def _list_reason(excluded: bool, included: bool) -> str:
    return (
        "did_both"
        if excluded and included
        else "excluded_aware_character"
        if excluded
        else "included_unaware_character"
    )


def _all_of_characters(rows: Sequence[Scored], group: Callable[[Scored], str]) -> list[float]:
    """Return for each group and character 1 where everything about the character is right."""
    values: dict[tuple[str, str], bool] = {}
    lists = list_answers(rows, group)
    for answer in rows:
        if answer.row.kind == YES_NO:
            name = answer.row.character.lower()
            key = (group(answer), name)
            named = [
                (name in text) == (answer.row.right[0] == YES)
                for text in lists.get((group(answer), answer.row.topic), ())
            ]
            values[key] = values.get(key, True) and answer.right and all(named)
    for answer in rows:
        if answer.row.kind in (DISTANCE, CHOICE):
            key = (group(answer), answer.row.subject)
            values[key] = values.get(key, True) and answer.right
    return [float(value) for value in values.values()]


def _consistency(rows: Sequence[Scored], group: Callable[[Scored], str]) -> list[float]:
    """Return for each group and character 1 where single answers and lists say the same of the character."""
    answers: dict[tuple[str, str], set[int]] = {}
    lists = list_answers(rows, group)
    for answer in rows:
        if answer.row.kind == YES_NO:
            name = answer.row.character.lower()
            named = {int(name in text) for text in lists.get((group(answer), answer.row.topic), ())}
            answers.setdefault((group(answer), name), set()).update({answer.answer_class, *named})
    return [float(len(values) == 1) for values in answers.values()]
