"""Results of a run's models by each method, beside theirs when asked plainly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from benchmark.domain.beside import MethodResults, MethodRow
from benchmark.domain.inference import adjusted
from benchmark.models import Entrant, Run, RunItem
from benchmark.services.leaderboards import SEED
from benchmark.services.method_parts import rows_by_part
from benchmark.services.method_rows import Asked, Chosen, MethodTable, rows_of_model
from benchmark.services.paired_sides import Groups, scores_of_runs, versions_of_sides
from benchmark.services.plans import methods_of
from benchmark.services.reports import reports_of
from benchmark.services.runs import answering_step, family_of, method_of_run
from benchmark.suites.figures import KeptScores
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import group_named, keys_of, suite_named, units_of_group
from core.kept import kept_as
from core.messages import Sentence, gettext_noop, word
from core.statistics import method
from workers.models import JobState

Rows = dict[str, dict[str, list[MethodRow]]]
"""Rows by metric group and parse."""


def method_results(run: Run, groups: Groups) -> MethodResults | None:
    """Return what the models of a run came to by each method; None where nobody was asked by another. `groups` has the
    run's ranked entrants by metric group."""
    family = family_of(run)
    if len({method_of_run(other) for other in family}) < 2:
        return None
    reports = reports_of(family)  # what follows reads what these keep
    numbers = {other.pk: frozenset(reports[other.pk].numbers) for other in family}
    chosen = _chosen(run, family, numbers)
    titles = methods_of(suite_named(run.suite))
    asked = {name for name, _ in chosen}
    methods = {name: title for at, (name, title) in enumerate(titles.items()) if name in asked or at == 0}
    scores = scores_of_runs(family)
    used = sorted(
        {
            (name, endpoint, asked if isinstance(asked, str) else asked.entrant)
            for (name, endpoint), asked in chosen.items()
        }
    )
    versions = versions_of_sides(run, scores, groups, used, list(methods.items()))
    result = kept_as(
        "methods",
        versions,
        lambda: _compared(run, groups, methods, chosen, scores.read(), numbers[run.pk]),
    )
    used_runs = {asked.run.pk: asked.run for asked in chosen.values() if not isinstance(asked, str)}
    unfinished = [used_run.title for used_run in used_runs.values() if used_run.job.state != JobState.FINISHED]
    return replace(result, unfinished=unfinished)


def _chosen(run: Run, family: Sequence[Run], numbers: Mapping[int, frozenset[int]]) -> Chosen:
    """Return whose answers stand for each model of the run by each method: of several runs by it the one with the most
    of the run's samples, and of those the newest."""
    specs = dict(run.entrants.values_list("endpoint_id", "spec"))
    by_run: dict[int, list[tuple[int, int, Any]]] = {}
    entrants = Entrant.objects.filter(run__in=family, endpoint__in=specs)
    for run_id, endpoint, pk, spec in entrants.values_list("run_id", "endpoint_id", "pk", "spec"):
        by_run.setdefault(run_id, []).append((endpoint, pk, spec))
    answered = _answered(entrants, answering_step(run))
    chosen: Chosen = {}
    most = sorted(
        family, key=lambda other: -len(numbers[other.pk] & numbers[run.pk])
    )  # which keeps the order of the family
    for other in [run, *most]:
        for endpoint, pk, spec in by_run.get(other.pk, ()):
            place, why = (method_of_run(other), endpoint), _unfit(run, other, spec == specs[endpoint], numbers)
            why = why or ("" if pk in answered else gettext_noop("No answer yet."))
            if not isinstance(chosen.get(place), Asked):
                chosen[place] = chosen.get(place, why) if why else Asked(other, pk)
    return chosen


def _answered(entrants: QuerySet[Entrant], step: str) -> frozenset[int]:
    """Return the ids of those that have an answer: of the others nothing is known, which is not a score of nothing."""
    answers = RunItem.objects.filter(entrant=OuterRef("pk"), step=step, call__isnull=False)
    return frozenset(entrants.filter(Exists(answers)).values_list("pk", flat=True))


def _unfit(run: Run, other: Run, same_model: bool, numbers: Mapping[int, frozenset[int]]) -> str:
    if not same_model:
        return gettext_noop("The endpoint had other settings.")
    if not numbers[other.pk] & numbers[run.pk]:
        return Sentence("Asked about other {noun}.", noun=word(suite_named(run.suite).noun[1]))
    return ""


def _compared(
    run: Run, groups: Groups, methods: Mapping[str, str], chosen: Chosen,
    scores: Mapping[tuple[int, int], KeptScores], numbers: frozenset[int],
) -> MethodResults:  # fmt: skip
    endpoints = dict(run.entrants.values_list("pk", "endpoint_id"))
    rows: Rows = {}
    parts: Rows = {}
    without_parts: dict[str, str] = {}
    for group in keys_of(run.suite):
        models = [
            (entrant, endpoints[entrant.entrant]) for entrant in groups.get(group, ()) if entrant.entrant in endpoints
        ]
        if group_named(group).scored != answering_step(run):
            continue  # other steps are asked alike by all methods
        tests = len(models) * (len(methods) - 1)
        tables = [MethodTable(group, parse, methods, chosen, scores, numbers, tests) for parse in PARSES]
        for table in tables:
            compared = [row for entrant, endpoint in models for row in rows_of_model(table, entrant, endpoint)]
            if any(row.score for row in compared):
                rows.setdefault(group, {})[table.parse] = adjusted(compared)
        try:
            parts[group] = rows_by_part(group, run.dataset, tables, models)
        except SuiteFailed as error:
            without_parts[group] = str(error)
    first = next(iter(methods))
    how = {
        group: {
            parse: _how(parse_rows, methods[first], units_of_group(group)) for parse, parse_rows in by_parse.items()
        }
        for group, by_parse in rows.items()
    }
    return MethodResults(
        methods=dict(methods), plain=first, rows=rows, how=how, parts=parts, without_parts=without_parts
    )


def _how(rows: Sequence[MethodRow], plain: str, unit: str) -> str:
    tests = sum(row.p is not None for row in rows)
    return Sentence(
        "By the method less {plain}, over what was answered both ways; {method}; two-sided sign-flip "
        "test over {unit}; Holm's correction over the {tests} tests of this table, every model by "
        "every method.",
        plain=plain,
        method=method(seed=SEED, unit=unit),
        unit=word(unit),
        tests=tests,
    )
