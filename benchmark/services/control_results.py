"""Results of a run's models under its controls, beside theirs as published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from benchmark.controls.chosen import CONTROLS, outdated
from benchmark.domain.beside import ControlResults, ControlRow, Left
from benchmark.domain.flips import Flips, Repeated, flips_by_cluster, repeated_scores, repeated_statements
from benchmark.domain.inference import adjusted
from benchmark.models import Entrant, Run, RunItem
from benchmark.services.asking import settings_of
from benchmark.services.leaderboards import SEED
from benchmark.services.paired_sides import (
    Asked,
    Groups,
    common_cases,
    paired_sides,
    scores_of_runs,
    versions_of_sides,
)
from benchmark.services.reports import reports_of
from benchmark.suites.figures import KeptScores, clusters_of, scores_by_story, statements_by_sample
from benchmark.suites.questions import PARSES, Columns
from benchmark.suites.registry import group_named, keys_of, nouns_of_group, suite_named, units_of_group
from benchmark.suites.results import EntrantResults
from core.kept import kept_as
from core.messages import Sentence, listed, word
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
    reports_of([run, *controls])  # what follows reads what these keep
    scores = scores_of_runs([run, *controls])
    versions = versions_of_sides(run, scores, groups)
    result = kept_as(
        "controls",
        versions,
        lambda: _compared(run, controls, groups, scores.read()),
    )
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
        tests = max(len(models) * len(controls), 1)
        for parse in PARSES:
            compared = []
            for control in controls:
                for entrant in models:
                    endpoint = endpoints[entrant.entrant]
                    both = [scores.get((side_run.pk, endpoint)) for side_run in (run, control)]
                    sides = [side for kept in both if kept and (side := kept.columns(group, parse))]
                    if len(sides) == 2 and (row := _row(entrant, control, group, sides, tests)).asked:
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


def _row(entrant: EntrantResults, control: Run, group: str, sides: Sequence[Columns], tests: int) -> ControlRow:
    """Return one model's figures under one control, over the samples that the control changes."""
    score, clusters = group_named(group).score, clusters_of(sides[0])
    cases = common_cases(sides, group)
    pair = paired_sides(cases, group, tests)
    numbers = set(sides[1].stories) & set(sides[0].stories)
    described = CONTROLS[control.control]
    clusters_by_number = {number: clusters.get(number, str(number)) for number in numbers}
    scores = [
        {number: value for number, value in scores_by_story(columns, score).items() if number in numbers}
        for columns in sides
    ]
    answers, by_score = _same_answers(sides, numbers), repeated_scores(*scores)
    both = answers or by_score
    row = ControlRow(
        key=entrant.key, model=entrant.model, kind=entrant.kind, entrant=entrant.entrant, run=entrant.run,
        control=described.name, title=described.title, beside=control.uid,
        published=pair.means[0], controlled=pair.means[1],
        same_answer=answers and answers.same, same_score=by_score.same, by_score=answers is None,
        flips=list(both.flips), stories=_flips(both, clusters_by_number),
    )  # fmt: skip
    return row.with_difference(replace(pair.difference, p=pair.difference.p if entrant.kind == "model" else None))


def _same_answers(sides: Sequence[Columns], numbers: Set[int]) -> Repeated | None:
    """Compare what the answers of both sides say; None where it is not known."""
    first, second = (statements_by_sample(side) for side in sides)
    return None if first is None or second is None else repeated_statements(first, second, numbers)


def _flips(both: Repeated, clusters: Mapping[int, str]) -> list[Flips]:
    return flips_by_cluster((clusters[number] for number in both.compared), (clusters[number] for number in both.flips))


def _method(rows: Sequence[ControlRow], unit: str) -> str:
    tests = sum(row.p is not None for row in rows)
    return Sentence(
        "Published less controlled, over the samples that the control changes and that were answered "
        "both ways; {method}; two-sided sign-flip test over {unit}; Holm's correction over the "
        "{tests} tests of this table, every model under every control.",
        method=method(seed=SEED, unit=unit),
        unit=word(unit),
        tests=tests,
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
        why=described.same if left else "", steps=listed(steps), noun=list(nouns_of_group(keys_of(run.suite)[0])),
    )  # fmt: skip


def ranges(numbers: Sequence[int]) -> str:
    """Return rising numbers as `1–4, 7`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number, number])
    return listed((str(first) if first == last else f"{first}–{last}" for first, last in parts))
