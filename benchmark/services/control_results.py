"""Results of a run's models under its controls, beside theirs as published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from benchmark.controls.chosen import CONTROLS, outdated
from benchmark.controls.differences import paired
from benchmark.domain.beside import ControlResults, ControlRow, Left
from benchmark.domain.flips import Flips, flips_by_cluster
from benchmark.domain.inference import adjusted
from benchmark.models import Entrant, Run, RunItem
from benchmark.services.asking import settings_of
from benchmark.services.at_once import kept_once
from benchmark.services.leaderboards import KEPT_SECONDS, SEED
from benchmark.services.paired_sides import (
    Asked,
    Groups,
    common_cases,
    digest_of_sides,
    paired_sides,
    scores_of_runs,
)
from benchmark.services.reports import reports_of
from benchmark.suites.asked import PARSES, Columns
from benchmark.suites.registry import group_named, keys_of, nouns_of_group, suite_named, units_of_group
from benchmark.suites.results import EntrantResults
from benchmark.suites.story_scores import KeptScores, clusters_of, scores_by_story, statements_by_sample
from core.language import gettext_noop
from core.reads import Read
from core.statistics import method
from workers.models import JobState


def control_results(run: Run, groups: Groups) -> ControlResults | None:
    """Return what the controls of a run came to; None for a run without one. `groups` has the run's ranked entrants by
    metric group."""
    controls = _CONTROLS(run=run.pk)
    if not controls:
        return None
    for control in controls:
        control.original = run
    reports = reports_of([run, *controls])  # what follows reads what these keep
    scores = scores_of_runs([run, *controls])
    digest = digest_of_sides(run, scores, groups)
    result = kept_once(
        "controls", digest, lambda: _compared(run, controls, groups, scores.read()),
        answers=sum(report.scored for report in reports.values()), seconds=KEPT_SECONDS,
    )  # fmt: skip
    unfinished = [CONTROLS[control.control].title for control in controls if control.job.state != JobState.FINISHED]
    return replace(result, unfinished=unfinished)


def _compared(
    run: Run, controls: Sequence[Run], groups: Groups,
    scores: Mapping[Asked, KeptScores],
) -> ControlResults:  # fmt: skip
    endpoints = dict(run.entrants.values_list("pk", "endpoint_id"))
    rows_of = Entrant.objects.filter(run__in=controls).values_list("run_id", "endpoint_id", "pk")
    beside = {(run, endpoint): pk for run, endpoint, pk in rows_of}
    rows: dict[str, dict[str, list[ControlRow]]] = {}
    for group in keys_of(run.suite):
        models = [entrant for entrant in groups.get(group, ()) if entrant.entrant in endpoints]
        for parse in PARSES:
            compared = []
            for control in controls:
                for entrant in models:
                    endpoint = endpoints[entrant.entrant]
                    both = [scores.get((side_run.pk, endpoint)) for side_run in (run, control)]
                    sides = [side for kept in both if kept and (side := kept.columns(group, parse))]
                    if len(sides) == 2 and (row := _row(entrant, control, group, sides)).n:
                        compared.append(replace(row, beside_entrant=beside[control.pk, endpoint]))
            rows.setdefault(group, {})[parse] = adjusted(compared)
    methods = {
        group: {parse: _method(parse_rows, units_of_group(group)) for parse, parse_rows in by_parse.items()}
        for group, by_parse in rows.items()
    }
    moved = {(row.control, group) for group, by_parse in rows.items() for parse in PARSES for row in by_parse[parse]}
    left = [
        replace(_left(run, control), still=_still(control, groups, moved), unread=outdated(settings_of(control)))
        for control in controls
    ]
    return ControlResults(rows=rows, methods=methods, left=left)


_CONTROLS = Read[Run](
    lambda given: (
        Run.objects.filter(original_id=given.run)
        .select_related("project", "dataset", "judge", "job", "source")
        .order_by("pk")
    )
)
"""Every page and file of a run asks whether it has any."""


def _still(control: Run, groups: Groups, moved: Set[tuple[str, str]]) -> list[str]:
    """Return the scores of the groups that rest on what was asked under a control, and of which it changes nothing;
    none where nothing has figures."""
    if not any(name == control.control for name, _ in moved):
        return []
    metric_groups = [
        group_named(group) for group, entrants in groups.items() if entrants and (control.control, group) not in moved
    ]
    return [group.score_title for group in metric_groups if {*group.rests_on} & {*control.steps}]


def _row(entrant: EntrantResults, control: Run, group: str, sides: Sequence[Columns]) -> ControlRow:
    """Return what one model comes to under one control, over the samples that the control changes."""
    score, clusters = group_named(group).score, clusters_of(sides[0])
    cases = common_cases(sides, group)
    pair = paired_sides(cases, group)
    numbers = set(sides[1].stories) & set(sides[0].stories)
    described = CONTROLS[control.control]
    clusters_by_number = {number: clusters.get(number, str(number)) for number in numbers}
    scores = [
        {number: value for number, value in scores_by_story(columns, score).items() if number in numbers}
        for columns in sides
    ]
    both = _agreed(sides, numbers) or paired_scores(scores, clusters_by_number, group)
    row = ControlRow(
        key=entrant.key, model=entrant.model, kind=entrant.kind, entrant=entrant.entrant, run=entrant.run,
        control=described.name, title=described.title, beside=control.uid,
        published=pair.means[0], controlled=pair.means[1], agreement=both.agreement,
        flips=list(both.flips), stories=_flips(both, clusters_by_number),
    )  # fmt: skip
    return row.with_difference(replace(pair.difference, p=pair.difference.p if entrant.kind == "model" else None))


class _Both(NamedTuple):
    """The answers that a model gave both ways: the share that is the same, None without any, the numbers of samples
    with another one, and those of all."""

    agreement: float | None
    flips: Sequence[int]
    compared: Sequence[int]


def _agreed(sides: Sequence[Columns], numbers: Set[int]) -> _Both | None:
    """Hold the answers of both sides against each other, an unread one as another than any that was read; None where
    it is not known what they say."""
    first, second = (statements_by_sample(side) for side in sides)
    if first is None or second is None:
        return None
    compared = [number for number in sorted(numbers) if first.get(number) and second.get(number)]
    flips = [number for number in compared if first[number] != second[number]]
    return _Both(1 - len(flips) / len(compared) if compared else None, flips, compared)


def paired_scores(scores: Sequence[Mapping[int, float | None]], clusters: Mapping[int, str], group: str) -> _Both:
    """Hold scores against each other, of samples that have one both ways."""
    both = paired(scores[0], scores[1], clusters, seed=SEED, unit=units_of_group(group), resamples=1)
    compared = [
        number for number, value in scores[0].items() if value is not None and scores[1].get(number) is not None
    ]
    return _Both(both.agreement, both.flips, compared)


def _flips(both: _Both, clusters: Mapping[int, str]) -> list[Flips]:
    return flips_by_cluster((clusters[number] for number in both.compared), (clusters[number] for number in both.flips))


def _method(rows: Sequence[ControlRow], unit: str) -> str:
    tests = sum(row.p is not None for row in rows)
    return gettext_noop(
        "Published less controlled, over the samples that the control changes, missing answers at their worst; "
        f"{method(seed=SEED, unit=unit)}; two-sided sign-flip test over {unit}; Holm's correction over the {tests} "
        "tests of this table, every model under every control."
    )


def _left(run: Run, control: Run) -> Left:
    """Return which samples of the run stay as they are under a control, and so were not asked under it."""
    asked, under = (
        set(RunItem.objects.filter(entrant__run=side).order_by().values_list("sample__number", flat=True).distinct())
        for side in (run, control)
    )
    described = CONTROLS[control.control]
    left = sorted(asked - under)
    steps = [suite_named(run.suite).step(step).label.lower() for step in run.steps if step not in control.steps]
    return Left(
        control=described.name, title=described.title, samples=len(asked), same=len(left), numbers=ranges(left),
        why=described.same if left else "", steps=", ".join(steps), noun=list(nouns_of_group(keys_of(run.suite)[0])),
    )  # fmt: skip


def ranges(numbers: Sequence[int]) -> str:
    """Return rising numbers as `1–4, 7`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in parts)
