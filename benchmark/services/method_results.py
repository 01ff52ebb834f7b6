"""What models of a run come to by each method, beside what they come to asked plainly."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.core.cache import cache

from benchmark.domain.beside import MethodResults, MethodRow
from benchmark.models import Entrant, Run
from benchmark.services.leaderboards import KEPT_SECONDS, SEED
from benchmark.services.method_plans import methods_of
from benchmark.services.method_runs import answering_step, family_of, method_of_run
from benchmark.services.paired_sides import (
    adjusted,
    common_cases,
    paired_sides,
    score_estimate,
    scores_of_runs,
    side_of,
)
from benchmark.services.reports import reports_of
from benchmark.suites.asked import Columns
from benchmark.suites.registry import group_named, keys_of, suite_named, units_of_group
from benchmark.suites.shown import EntrantResults
from benchmark.suites.story_scores import PARSES
from core.language import gettext_noop
from core.made_by import made_by
from core.plain import plain
from core.statistics import method
from workers.models import JobState


@dataclass(frozen=True, slots=True)
class _Asked:
    """Whose answers stand for a model by a method: `entrant` of `run`."""

    run: Run
    entrant: int


Chosen = dict[tuple[str, int], _Asked | str]
"""By (method, endpoint id); a sentence where a run by the method cannot stand for the model."""


def method_results(run: Run, stages: Mapping[str, Sequence[EntrantResults]]) -> MethodResults | None:
    """Return what the models of a run came to by each method; None where nobody was asked by another. `stages` has the
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
    keys, read = scores_of_runs(family)
    used = sorted(
        {
            (name, endpoint, asked if isinstance(asked, str) else asked.entrant)
            for (name, endpoint), asked in chosen.items()
        }
    )
    identity = [made_by(), run.pk, SEED, sorted(keys.values()), used, list(methods.items()), _labels(stages)]
    digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()
    result: MethodResults | None = cache.get(f"methods:{digest}")
    if result is None:
        result = _compared(run, stages, methods, chosen, _finder(keys, read()), numbers[run.pk])
        cache.set(f"methods:{digest}", result, KEPT_SECONDS)
    used_runs = {asked.run.pk: asked.run for asked in chosen.values() if not isinstance(asked, str)}
    unfinished = [used_run.title for used_run in used_runs.values() if used_run.job.state != JobState.FINISHED]
    return replace(result, unfinished=unfinished)


def _labels(stages: Mapping[str, Sequence[EntrantResults]]) -> list[list[str]]:
    return [[stage, entrant.key, entrant.model] for stage, entrants in stages.items() for entrant in entrants]


def _chosen(run: Run, family: Sequence[Run], numbers: Mapping[int, frozenset[int]]) -> Chosen:
    """Return whose answers stand for each model of the run by each method: of several runs by it the one with the most
    of the run's samples, and of those the newest."""
    specs = dict(run.entrants.values_list("endpoint_id", "spec"))
    by_run: dict[int, list[tuple[int, int, Any]]] = {}
    rows = Entrant.objects.filter(run__in=family, endpoint__in=specs).values_list("run_id", "endpoint_id", "pk", "spec")
    for of, endpoint, pk, spec in rows:
        by_run.setdefault(of, []).append((endpoint, pk, spec))
    chosen: Chosen = {}
    most = sorted(
        family, key=lambda other: -len(numbers[other.pk] & numbers[run.pk])
    )  # which keeps the order of the family
    for other in [run, *most]:
        for endpoint, pk, spec in by_run.get(other.pk, ()):
            place, why = (method_of_run(other), endpoint), _unfit(run, other, spec == specs[endpoint], numbers)
            if not isinstance(chosen.get(place), _Asked):
                chosen[place] = chosen.get(place, why) if why else _Asked(other, pk)
    return chosen


def _unfit(run: Run, other: Run, same_model: bool, numbers: Mapping[int, frozenset[int]]) -> str:
    if not same_model:
        return gettext_noop("The endpoint had other settings.")
    if not numbers[other.pk] & numbers[run.pk]:
        return gettext_noop(f"Asked about other {suite_named(run.suite).noun[1]}.")
    return ""


def _finder(keys: Mapping[tuple[int, int], int], metrics: Mapping[int, Any]) -> Callable[[int, int], Any]:
    """Return what finds the scores of (run id, endpoint id)."""
    return lambda run, endpoint: metrics.get(keys.get((run, endpoint), 0))


@dataclass(frozen=True, slots=True)
class _Table:
    """One metric group in one parse: the methods, the first of which is plain, whose answers count, their scores by
    run and endpoint, and over which samples; the report corrects over so many `tests`."""

    stage: str
    parse: str
    methods: Mapping[str, str]
    chosen: Chosen
    scores: Callable[[int, int], Any]
    numbers: frozenset[int]
    tests: int

    @property
    def plain(self) -> str:
        return next(iter(self.methods))

    def asked(self, method: str, endpoint: int) -> _Asked | str:
        return self.chosen.get((method, endpoint), "Not asked.")

    def columns(self, method: str, endpoint: int) -> Columns | None:
        """Return the scores of a model by a method, None where there are none."""
        asked = self.asked(method, endpoint)
        return None if isinstance(asked, str) else side_of(self.scores(asked.run.pk, endpoint), self.stage, self.parse)


def _compared(
    run: Run, stages: Mapping[str, Sequence[EntrantResults]], methods: Mapping[str, str], chosen: Chosen,
    scores: Callable[[int, int], Any], numbers: frozenset[int],
) -> MethodResults:  # fmt: skip
    endpoints = dict(run.entrants.values_list("pk", "endpoint_id"))
    rows: dict[str, dict[str, list[MethodRow]]] = {}
    for stage in keys_of(run.suite):
        models = [entrant for entrant in stages.get(stage, ()) if entrant.entrant in endpoints]
        if group_named(stage).scored != answering_step(run):
            continue  # other steps are asked alike by all methods
        for parse in PARSES:
            table = _Table(stage, parse, methods, chosen, scores, numbers, len(models) * (len(methods) - 1))
            compared = [row for entrant in models for row in _of_model(table, entrant, endpoints[entrant.entrant])]
            if any(row.score for row in compared):
                rows.setdefault(stage, {})[parse] = adjusted(compared)
    first = next(iter(methods))
    how = {
        stage: {parse: _how(of, methods[first], units_of_group(stage)) for parse, of in by_parse.items()}
        for stage, by_parse in rows.items()
    }
    return MethodResults(methods=dict(methods), plain=first, rows=rows, how=how)


def _of_model(table: _Table, entrant: EntrantResults, endpoint: int) -> list[MethodRow]:
    """Return the rows of one model, by the plain method first."""
    rows = []
    for name, title in table.methods.items():
        asked = table.asked(name, endpoint)
        row = MethodRow(
            key=entrant.key, model=entrant.model, kind=entrant.kind, entrant=entrant.entrant, run=entrant.run,
            method=name, title=title,
        )  # fmt: skip
        if not isinstance(asked, str):
            row = _scored(replace(row, beside=asked.run.uid, beside_entrant=asked.entrant), table, endpoint)
        why = asked if isinstance(asked, str) else _why(table, row, endpoint)
        rows.append(replace(row, why=why, p=row.p if entrant.kind == "model" else None))
    return rows


def _scored(row: MethodRow, table: _Table, endpoint: int) -> MethodRow:
    """Return the row with the score by its method, and the difference to that by the plain one."""
    own, beside = table.columns(row.method, endpoint), table.columns(table.plain, endpoint)
    if not own:
        return row
    alone = common_cases([own], table.stage, table.numbers)
    missing = [int(alone.missing[0]) if alone.stories else None, None]
    row = replace(row, score=score_estimate(alone, table.stage), missing=missing)
    if row.method == table.plain or not beside:
        return row
    pair = paired_sides(common_cases([own, beside], table.stage, table.numbers), table.stage, table.tests)
    return replace(row, **plain(pair.difference), own=pair.means[0], plain=pair.means[1])


def _why(table: _Table, row: MethodRow, endpoint: int) -> str:
    """Return why a row of somebody who was asked lacks a figure; empty where it lacks none."""
    if row.score is None:
        return gettext_noop(f"No {table.parse} figures.")
    if row.value is not None or row.method == table.plain:
        return ""
    title = table.methods[table.plain]
    if isinstance(table.asked(table.plain, endpoint), str):
        return gettext_noop(f"Not asked {title}.")
    return gettext_noop(f"Nothing was asked both ways, or has {table.parse} figures.")


def _how(rows: Sequence[MethodRow], plain: str, unit: str) -> str:
    tests = sum(row.p is not None for row in rows)
    return gettext_noop(
        f"By the method less {plain}, over what was asked both ways, missing answers at their worst; "
        f"{method(seed=SEED, unit=unit)}; two-sided sign-flip test over {unit}; Holm's correction over the {tests} "
        "tests of this table, every model by every method."
    )
