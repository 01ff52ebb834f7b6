"""The common parts of the released code's metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from benchmark.suites.fantom_questions.outcomes import Scored
from benchmark.suites.fantom_questions.rows import LIST, NOT_THERE

Group = Callable[[Scored], str]


def without_absent(answers: Iterable[Scored]) -> list[Scored]:
    """Return the answers without those on characters who are not in the short conversation."""
    return [answer for answer in answers if answer.row.right != (NOT_THERE,)]


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, None of nothing."""
    return sum(values) / len(values) if values else None


def all_right(answers: Iterable[Scored], group: Group) -> list[float]:
    """Return 1 for each group all of whose answers are right, else 0."""
    right: dict[str, bool] = {}
    for answer in answers:
        right[group(answer)] = right.get(group(answer), True) and answer.right
    return [float(value) for value in right.values()]


def weighted_f1(pairs: Sequence[tuple[int, int]]) -> float | None:
    """Return the F1 of pairs of gold and answer, weighted by how often each label is gold; None without a pair."""
    if not pairs:
        return None
    gold, given, hits = (
        Counter(g for g, _ in pairs),
        Counter(p for _, p in pairs),
        Counter(g for g, p in pairs if g == p),
    )
    return sum(count * 2 * hits[label] / (count + given[label]) for label, count in gold.items()) / len(pairs)


def by_order(beliefs: Sequence[Scored]) -> Mapping[str, list[Scored]]:
    """Return the answers on beliefs by order, and by its kind."""
    orders = sorted(
        {answer.row.order for answer in beliefs} | {answer.row.order.partition(":")[0] for answer in beliefs}
    )
    return {
        order: [answer for answer in beliefs if order in (answer.row.order, answer.row.order.partition(":")[0])]
        for order in orders
    }


def list_answers(rows: Sequence[Scored], group: Group) -> dict[tuple[str, str], list[str]]:
    """Return the answers to lists, in lower case, by group and topic."""
    answers: dict[tuple[str, str], list[str]] = {}
    for answer in rows:
        if answer.row.kind == LIST:
            answers.setdefault((group(answer), answer.row.topic), []).append(answer.answer.lower())
    return answers
