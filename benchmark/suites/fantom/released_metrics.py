"""The metrics of the released code, in per cent with one decimal, of one scenario."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchmark.suites.conversations.outcomes import Scored
from benchmark.suites.conversations.rows import (
    ANSWERABILITY,
    CHOICE,
    DISTANCE,
    FACT,
    INFORMATION,
    LIST,
    NOT_THERE,
    YES,
    YES_NO,
)

GROUPINGS: Mapping[str, Callable[[Scored], str]] = {
    "set": lambda answer: answer.row.set_id,
    "part": lambda answer: answer.row.part_id,
    "conversation": lambda answer: answer.row.conversation_id,
}
"""What must be right as a whole."""
_REASONS = {0: "false_negative", 1: "false_positive", -1: "irrelevant_response"}


def without_absent(answers: Iterable[Scored]) -> list[Scored]:
    """Return the answers without those on characters who are not in the short conversation."""
    return [answer for answer in answers if answer.row.right != (NOT_THERE,)]


def scenario_metrics(answers: Sequence[Scored], scenario: str, grouping: str) -> dict[str, Any]:
    """Return the metrics of the questions of a scenario, under the released code's names, in which a group is a "set" whatever it is; None stands for not a number.

    `answers` are those of both scenarios; `grouping` is a key of GROUPINGS.
    """
    rows = [answer for answer in answers if answer.row.scenario == scenario]
    group = GROUPINGS[grouping]
    free = [answer for answer in rows if answer.row.kind == DISTANCE]
    choices = [answer for answer in rows if answer.row.kind == CHOICE]
    metrics: dict[str, Any] = {
        f"{scenario}:set:ALL*": _all_right(rows, group),
        f"{scenario}:set:ALL": _all_right([answer for answer in rows if answer.row.kind != DISTANCE], group),
        f"{scenario}:belief:multiple-choice": _share(choices),
        f"{scenario}:belief:distance": _share(free),
        f"{scenario}:belief_true_word-f1": _per_cent(_mean([answer.f1 for answer in free if answer.right])),
    }
    for topic in (ANSWERABILITY, INFORMATION):
        metrics |= _of_topic([answer for answer in rows if answer.row.topic == topic], f"{scenario}:{topic}", grouping)
    metrics["fact_word-f1"] = _per_cent(_mean([answer.f1 for answer in answers if answer.row.kind == FACT]))
    metrics |= {f"{scenario}:tom:{name}": counts for name, counts in _wrong_reasons(rows).items()}
    metrics |= {f"{scenario}:{order}": share for order, share in _by_order(free).items()}
    metrics[f"{scenario}:set:ALL_character"] = _per_cent(_mean(_all_of_characters(rows, group)))
    metrics[f"{scenario}:set:character_answer_consistency"] = _per_cent(_mean(_consistency(rows, group)))
    return metrics


def _of_topic(rows: Sequence[Scored], name: str, grouping: str) -> dict[str, Any]:
    single = [answer for answer in rows if answer.row.kind == YES_NO]
    return {
        f"{name}:set:ALL": _all_right(rows, GROUPINGS[grouping]),
        f"{name}:list": _share([answer for answer in rows if answer.row.kind == LIST]),
        f"{name}:binary-f1": _per_cent(
            _weighted_f1([(int(answer.row.right[0] == YES), answer.said) for answer in single])
        ),
    }


def _per_cent(share: float | None) -> float | None:
    return None if share is None else round(share, 3) * 100


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _share(answers: Sequence[Scored]) -> float | None:
    return _per_cent(_mean([float(answer.right) for answer in answers]))


def _all_right(answers: Sequence[Scored], group: Callable[[Scored], str]) -> float | None:
    right: dict[str, bool] = {}
    for answer in answers:
        right[group(answer)] = right.get(group(answer), True) and answer.right
    return _per_cent(_mean([float(value) for value in right.values()]))


def _weighted_f1(pairs: Sequence[tuple[int, int]]) -> float | None:
    """F1 of the labels, weighted by how often each is gold."""
    if not pairs:
        return None
    gold, given, hits = (
        Counter(g for g, _ in pairs),
        Counter(p for _, p in pairs),
        Counter(g for g, p in pairs if g == p),
    )
    return sum(count * 2 * hits[label] / (count + given[label]) for label, count in gold.items()) / len(pairs)


def _wrong_reasons(rows: Sequence[Scored]) -> dict[str, dict[str, int]]:
    lists = [answer.listed for answer in rows if answer.row.topic == ANSWERABILITY and answer.listed]
    of_lists = Counter(_list_reason(names.excluded_aware, names.included_unaware) for names in lists if not names.right)
    of_single = Counter(_REASONS[answer.said] for answer in rows if answer.row.kind == YES_NO and not answer.right)
    return {"lists:wrong_reasons:freq": dict(of_lists), "binary:wrong_reasons:freq": dict(of_single)}


def _list_reason(excluded: bool, included: bool) -> str:
    return (
        "did_both"
        if excluded and included
        else "excluded_aware_character"
        if excluded
        else "included_unaware_character"
    )


def _by_order(free: Sequence[Scored]) -> dict[str, float | None]:
    """Accuracy by order of belief, and by its kind; without an order of which nothing is right, as released code leaves it out."""
    orders = sorted({answer.row.order for answer in free} | {answer.row.order.partition(":")[0] for answer in free})
    shares = {
        order: _share([answer for answer in free if order in (answer.row.order, answer.row.order.partition(":")[0])])
        for order in orders
    }
    return {order: share for order, share in shares.items() if share}


def _all_of_characters(rows: Sequence[Scored], group: Callable[[Scored], str]) -> list[float]:
    """For each group and character, 1 where everything about the character is right."""
    values: dict[tuple[str, str], bool] = {}
    lists = _list_answers(rows, group)
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
    """For each group and character, 1 where single answers and lists say the same of the character."""
    said: dict[tuple[str, str], set[int]] = {}
    lists = _list_answers(rows, group)
    for answer in rows:
        if answer.row.kind == YES_NO:
            name = answer.row.character.lower()
            named = {int(name in text) for text in lists.get((group(answer), answer.row.topic), ())}
            said.setdefault((group(answer), name), set()).update({answer.said, *named})
    return [float(len(values) == 1) for values in said.values()]


def _list_answers(rows: Sequence[Scored], group: Callable[[Scored], str]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for answer in rows:
        if answer.row.kind == LIST:
            found.setdefault((group(answer), answer.row.topic), []).append(answer.answer.lower())
    return found
