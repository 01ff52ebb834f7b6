"""Results of models by each method in each part of the samples that their suite names, such as a scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from benchmark.domain.beside import MethodRow
from benchmark.domain.inference import adjusted
from benchmark.domain.inference.answered_pairs import MissingShares
from benchmark.models import Dataset, DatasetSample
from benchmark.services.leaderboards import SEED
from benchmark.services.method_rows import Asked, Chosen, MethodTable, rows_of_model
from benchmark.services.paired_sides import score_of
from benchmark.services.reports import each_entered, samples_of
from benchmark.suites.groups import CATEGORY, PartAnswers, PartMetric, Parts
from benchmark.suites.questions import PARSES, Parse
from benchmark.suites.registry import group_named, group_suite, suite_named
from benchmark.suites.results import EntrantResults

Models = Sequence[tuple[EntrantResults, int]]
"""Models of a run with the ids of their endpoints."""


@dataclass(frozen=True, slots=True)
class _ByPart:
    """Data on the answers to a metric group for its parts: by facet the numbers of the samples of each, by a metric
    what each entrant's answers say, by parse and entrant id."""

    parts: Parts
    numbers: Mapping[str, frozenset[int]] = field(default_factory=dict)
    answers: Mapping[tuple[Parse, int], PartAnswers] = field(default_factory=dict)


def rows_by_part(
    group: str, dataset: Dataset, tables: Sequence[MethodTable], models: Models
) -> dict[str, list[MethodRow]]:
    """Return the rows of each part by parse, models in their order in each part; none of a parse in which nobody has a
    score, and of a metric group without parts. `tables` are those of the group. Raises SuiteFailed."""
    parts = next(described.parts for described in suite_named(group_suite(group)).groups if described.key == group)
    if parts is None:
        return {}
    by_part = (
        _ByPart(parts, answers=_part_answers(parts.metric, tables[0].chosen))
        if parts.metric
        else _ByPart(parts, _numbers(parts, group_named(group).facet_values, dataset))
    )
    rows = {table.parse: [*(_by_metric if parts.metric else _by_facet)(by_part, table, models)] for table in tables}
    return {parse: adjusted(parse_rows) for parse, parse_rows in rows.items() if any(row.score for row in parse_rows)}


def _numbers(parts: Parts, names: Mapping[str, str], dataset: Dataset) -> dict[str, frozenset[int]]:
    """The numbers of the samples by part, under the names that values of a facet have."""
    where = "category" if parts.facet == CATEGORY else f"content__{parts.facet}"
    numbers: dict[str, set[int]] = {value: set() for value in parts.values}
    for number, value in DatasetSample.objects.filter(dataset=dataset).values_list("number", where):
        part = parts.part_of(value) if parts.part_of else value
        if part in numbers or not parts.values:
            numbers.setdefault(part, set()).add(number)
    return {names.get(value, value): frozenset(own_numbers) for value, own_numbers in numbers.items()}


def _part_answers(metric: PartMetric, chosen: Chosen) -> dict[tuple[Parse, int], PartAnswers]:
    asked: dict[int, list[Asked]] = {}
    for choice in chosen.values():
        if not isinstance(choice, str):
            asked.setdefault(choice.run.pk, []).append(choice)
    return {
        (parse, entrant): metric.answers(entered, parse)
        for of_run in asked.values()
        for entrant, entered in each_entered(
            of_run[0].run, samples_of(of_run[0].run), {choice.entrant for choice in of_run}
        )
        for parse in PARSES
    }


def _by_facet(by_part: _ByPart, table: MethodTable, models: Models) -> Iterator[MethodRow]:
    asked = {part: numbers & table.numbers for part, numbers in by_part.numbers.items() if numbers & table.numbers}
    for part, numbers in asked.items():
        of_part = replace(table, numbers=numbers, tests=table.tests * len(asked))
        for entrant, endpoint in models:
            yield from (replace(row, part=part) for row in rows_of_model(of_part, entrant, endpoint))


def _by_metric(by_part: _ByPart, table: MethodTable, models: Models) -> Iterator[MethodRow]:
    names = dict.fromkeys(
        part for (parse, _), answers in by_part.answers.items() if parse == table.parse for part in answers
    )
    for part in names:
        for entrant, endpoint in models:
            scored = partial(_with_metric, by_part, table, part, endpoint)
            yield from (replace(row, part=part) for row in rows_of_model(table, entrant, endpoint, scored))


def _with_metric(by_part: _ByPart, table: MethodTable, part: str, endpoint: int, row: MethodRow) -> MethodRow:
    """Return the row with its metric over a part, and the difference to the plain method's over what was answered both
    ways."""
    metric = by_part.parts.metric
    own, beside = (_answers(by_part, table, part, endpoint, method) for method in (row.method, table.plain))
    if metric is None or not own:
        return row
    row = replace(row, score=score_of(metric.estimate([answer for _, answer in own], SEED)))
    pairs = _pairs(own, beside)
    if row.method == table.plain or not pairs:
        return row
    sides = [[pair[side] for pair in pairs] for side in range(2)]
    missing = [sum(not metric.is_read(answer) for answer in side) for side in sides]
    difference = metric.difference(*sides, SEED)
    both = [[pair[side] for pair in pairs if all(map(metric.is_read, pair))] for side in range(2)]
    first, second = (count / len(pairs) for count in missing)
    return replace(
        row, value=difference.value, interval=difference.interval, reason=difference.reason, n=len(both[0]),
        asked=len(pairs), bounds=difference.bounds, missing=missing,
        shares=MissingShares(first, second, first - second, None),
        own=metric.estimate(both[0], SEED).value, plain=metric.estimate(both[1], SEED).value,
    )  # fmt: skip


def _pairs(own: Sequence[tuple[int, Any]], beside: Sequence[tuple[int, Any]]) -> list[tuple[Any, Any]]:
    """Return the answers to what was asked both ways, by sample and repetition."""
    by_turn = [dict(_numbered(side)) for side in (own, beside)]
    return [(answer, by_turn[1][asked]) for asked, answer in by_turn[0].items() if asked in by_turn[1]]


def _numbered(answers: Sequence[tuple[int, Any]]) -> Iterator[tuple[tuple[int, int], Any]]:
    """Yield ((number of the sample, repetition), answer)."""
    turns: dict[int, int] = {}
    for number, answer in answers:
        turns[number] = turns.get(number, -1) + 1
        yield (number, turns[number]), answer


def _answers(by_part: _ByPart, table: MethodTable, part: str, endpoint: int, method: str) -> Sequence[tuple[int, Any]]:
    """Return what a model's answers by a method say, of the samples of the table; none where the metric group itself
    has no figures."""
    asked = table.asked(method, endpoint)
    if isinstance(asked, str) or table.columns(method, endpoint) is None:
        return []
    answers = by_part.answers.get((table.parse, asked.entrant), {})
    return [(number, answer) for number, answer in answers.get(part, ()) if number in table.numbers]
