"""The leaderboard of a dataset version: which runs are on it, over which stories, and what an address or a command left
open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

from django.db.models import QuerySet, prefetch_related_objects

from annotation.models import Project
from benchmark.models import AnswerFormat, Dataset, Run
from benchmark.services.absences import Absence, absences, apart, is_absent, uncovered, unscored
from benchmark.services.calibration import calibration
from benchmark.services.conditions import FIELDS, Ranking, named, ranked_together
from benchmark.services.judge_preference import judges_in_order
from benchmark.services.leaderboards import entrants_of, newest, ranked_entrants
from benchmark.services.reports import RunMetrics, reports_of
from benchmark.services.runs import asks_plainly
from benchmark.services.selections import OF_RUN, Selection, selection_named, selections_of
from benchmark.suites.contract import Suite
from benchmark.suites.registry import group_suite, is_suite, keys_of, suite_named, suites, suites_of
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import label
from core.reads import Read
from workers.models import JobState


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The rankings of one suite on a dataset version in one answer format, over the stories of a selection.

    `chosen` is one of the `selections`, None without a run. By metric group, `entrants` are the rows of its ranking,
    `common` the settings that all of them share and `rankings` which conditions it is of; `conditions` has all that
    there are, by field. Of the `runs`, `fitting` ones have figures of its stories and `failed` ones would have;
    `absent` are models that the rankings do not have, with the reason: no answer, other conditions, or a run of other
    stories. `withheld` counts its stories that wait for the work of who reads it.
    """

    selections: Sequence[Selection]
    chosen: Selection | None
    entrants: Mapping[str, Sequence[EntrantResults]]
    common: Mapping[str, Mapping[str, str]]
    rankings: Mapping[str, Ranking]
    conditions: Mapping[str, Sequence[str]]
    runs: Sequence[Run]
    fitting: Sequence[Run]
    failed: Sequence[Run]
    absent: Sequence[Absence]
    withheld: int = 0


def finished_runs(dataset: Dataset, answer_format: str, suite: str = "") -> list[Run]:
    """Return the listed finished runs of one suite, newest first, with their entrants; without a name, of the suite
    that `suite_to_show` chooses."""
    suite = suite or suite_to_show(dataset)
    runs = _FINISHED_OF(dataset=dataset.pk, suite=suite, answer_format=str(answer_format))
    prefetch_related_objects(runs, "entrants")
    return runs


_FINISHED_OF = Read[Run](
    lambda given: (
        _finished()
        .prefetch_related(None)
        .filter(dataset_id=given.dataset, suite=given.suite, answer_format=given.answer_format)
    )
)


def finished_runs_of(project: Project) -> list[Run]:
    """Return the listed finished runs of a project, newest first, with their entrants: of the suites that there are."""
    return [run for run in _finished().filter(project=project) if is_suite(run.suite)]


class LeaderboardScope(NamedTuple):
    """A dataset version with the suite and the answer format that runs with figures have on it."""

    dataset: Dataset
    suite: Suite
    answer_format: AnswerFormat


def leaderboard_scopes(project: Project) -> list[LeaderboardScope]:
    """Return what leaderboards of a project can be opened of, that of the newest run first, those of answers made
    elsewhere last."""
    runs = [run for run in finished_runs_of(project) if not run.job.has_failed]
    newest_by_scope = {(run.dataset_id, run.suite, run.answer_format): run for run in reversed(runs)}
    here = {(run.dataset_id, run.suite, run.answer_format) for run in runs if not run.made_elsewhere}
    newest = sorted(newest_by_scope, key=lambda scope: (scope in here, newest_by_scope[scope].pk), reverse=True)
    return [
        LeaderboardScope(run.dataset, suite_named(run.suite), AnswerFormat(run.answer_format))
        for run in (newest_by_scope[scope] for scope in newest)
    ]


def _finished() -> QuerySet[Run]:
    runs = Run.objects.listed().filter(job__state=JobState.FINISHED)
    return runs.select_related("judge", "project", "dataset", "source", "job").prefetch_related("entrants")


def leaderboard_of(
    dataset: Dataset,
    answer_format: str,
    key: str | None,
    *,
    suite: str = "",
    all_runs: bool = False,
    asked: Mapping[str, str] | None = None,
) -> Leaderboard:
    """Return the leaderboard of one suite, as `finished_runs`. `key` names a selection; an unknown one is the largest.
    `asked` names conditions of the rankings. Rows have their corrected scores."""
    suite = suite or suite_to_show(dataset)
    runs = finished_runs(dataset, answer_format, suite)
    leaderboard = leaderboard_of_runs(dataset, suite, runs, reports_of(runs), key, all_runs=all_runs, asked=asked)
    return with_corrections(leaderboard)


def with_corrections(leaderboard: Leaderboard) -> Leaderboard:
    """Return the leaderboard with the corrected scores of its rows, where their figures can be corrected."""
    stories = leaderboard.chosen.stories if leaderboard.chosen else None
    entrants = {}
    for group, rows in leaderboard.entrants.items():
        corrected = calibration.of_ranking(group, rows, leaderboard.runs, stories)
        entrants[group] = [replace(row, corrected=corrected.get(row.key)) for row in rows]
    return replace(leaderboard, entrants=entrants)


def leaderboard_of_runs(
    dataset: Dataset,
    suite: str,
    runs: Sequence[Run],
    reports: Mapping[int, RunMetrics],
    key: str | None = None,
    *,
    all_runs: bool = False,
    asked: Mapping[str, str] | None = None,
    groups: Sequence[str] = (),
    selections: Sequence[Selection] | None = None,
) -> Leaderboard:
    """Return `leaderboard_of` of these finished runs of one suite and answer format, newest first, with their
    `reports_of`; of some metric `groups` alone where they are named, with their `selections_of` where they are known.
    """
    reports = {run.pk: reports[run.pk] for run in runs}
    selections = selections_of(dataset, reports, runs) if selections is None else selections
    chosen = _chosen(dataset, suite, selections, key)
    fitting = _fitting(runs, reports, chosen)
    everybody, without = _everybody(groups or keys_of(suite), fitting, reports, all_runs)
    absent = [absence for group, entrants in without.items() for absence in absences(group, entrants)]
    absent += unscored(suite, fitting, reports)
    all_conditions = {field: _names(everybody.values(), field) for field in FIELDS}
    ranked, common, rankings = {}, {}, {}
    for group, entrants in everybody.items():
        together, rankings[group] = _ranked(dataset, group, entrants, asked or {}, all_conditions, runs)
        labelled, common[group] = label(together)
        ranked[group] = ranked_entrants(labelled, group, chosen)
        absent += apart(group, rankings[group])
        present = {entrant.name for entrant in (*entrants, *without[group])}
        others = entrants_of([run for run in runs if run not in fitting], reports, group)
        absent += uncovered(group, others, present, chosen.stories if chosen else frozenset())
    return Leaderboard(
        selections=selections,
        chosen=chosen,
        entrants=ranked,
        common=common,
        rankings=rankings,
        conditions=all_conditions,
        runs=runs,
        fitting=[run for run in fitting if not run.job.has_failed],
        failed=[run for run in fitting if run.job.has_failed],
        absent=absent,
    )


def ranking_with(
    dataset: Dataset, answer_format: str, group: str, keys: Sequence[str], *, asked: Mapping[str, str]
) -> dict[str, str]:
    """Return what the address of a leaderboard asks for so that its ranking of `group` holds all entrants of these
    `keys`.

    That is `asked` (split, runs, judge, prompts) where it does; else with the entrants' own conditions, with all runs,
    or over the stories of one of their runs. Where no ranking holds all of them it is `asked`.
    """
    suite = group_suite(group)
    runs = finished_runs(dataset, answer_format, suite)
    reports = reports_of(runs)
    selections = selections_of(dataset, reports, runs)
    splits = dict.fromkeys([asked.get("split", ""), *(f"{OF_RUN}{key.partition('.')[0]}" for key in keys)])
    for split, every in product(splits, dict.fromkeys([asked.get("runs") == "all", True])):
        fitting = _fitting(runs, reports, _chosen(dataset, suite, selections, split))
        everybody, _ = _everybody(keys_of(suite), fitting, reports, every)
        all_conditions = {field: _names(everybody.values(), field) for field in FIELDS}
        given = {field: asked.get(field, "") for field in FIELDS}
        for conditions in (given, _own_conditions(everybody[group], keys)):
            together, _ = _ranked(dataset, group, everybody[group], conditions, all_conditions, runs)
            if set(keys) <= {entrant.key for entrant in together}:
                address = {"split": split, "runs": "all" if every else "", **conditions}
                return {name: value for name, value in address.items() if value}
    return dict(asked)


def _ranked(
    dataset: Dataset,
    group: str,
    entrants: Sequence[EntrantResults],
    asked: Mapping[str, str],
    names_by_field: Mapping[str, Iterable[str]],
    runs: Sequence[Run],
) -> tuple[list[EntrantResults], Ranking]:
    """Return `ranked_together` of these entrants, of the judge that is preferred where none is asked for. Of conditions
    that equally many models have, those of a plain run come first, and then the newest: a launch by several methods has
    them all, and what other suites and papers have to set beside it is plain."""
    plain = {run.uid for run in runs if asks_plainly(run)}
    in_order = sorted(entrants, key=lambda entrant: entrant.run not in plain)
    return ranked_together(in_order, asked, names_by_field, judges=judges_in_order(dataset, group, entrants))


def _fitting(runs: Sequence[Run], reports: Mapping[int, RunMetrics], chosen: Selection | None) -> list[Run]:
    """Return the runs that cover the stories of the selection."""
    return [run for run in runs if chosen and chosen.stories <= set(reports[run.pk].numbers)]


def _everybody(
    groups: Iterable[str], runs: Sequence[Run], reports: Mapping[int, RunMetrics], all_runs: bool
) -> tuple[dict[str, list[EntrantResults]], dict[str, list[EntrantResults]]]:
    """Return, by metric group, the named entrants with figures (only the newest of each settings unless `all_runs`),
    and those without an answer."""
    everybody, without = {}, {}
    for group in groups:
        entrants = entrants_of(runs, reports, group)
        without[group] = [entrant for entrant in entrants if is_absent(entrant)]
        # before the newest is chosen: an earlier run has figures
        entrants = [entrant for entrant in entrants if not is_absent(entrant)]
        everybody[group] = named(entrants if all_runs else newest(entrants))
    return everybody, without


def _own_conditions(entrants: Sequence[EntrantResults], keys: Sequence[str]) -> dict[str, str]:
    """Return, by field, the first condition that one of the entrants has; a baseline has no prompts."""
    conditions = [entrant.within for entrant in entrants if entrant.key in keys]
    return {field: next(filter(None, (condition[field] for condition in conditions)), "") for field in FIELDS}


def _names(groups: Iterable[Sequence[EntrantResults]], field: str) -> list[str]:
    """Return all names of a condition, sorted."""
    return sorted({name for entrants in groups for entrant in entrants if (name := entrant.within[field])})


def _chosen(dataset: Dataset, suite: str, selections: Sequence[Selection], key: str | None) -> Selection | None:
    """Return the selection of that name, or the one with the same stories: a run may be about a split."""
    if key and key not in {selection.key for selection in selections}:
        named = selection_named(dataset, key, suite)
        key = next((selection.key for selection in selections if named and selection.stories == named.stories), None)
    return next((selection for selection in selections if selection.key == key), selections[0] if selections else None)


def version_to_show(project: Project, suite: str = "") -> Dataset | None:
    """Return the newest version that has a run, one of this site before answers made elsewhere, or the newest one; None
    without any. With a name, of those that the suite can be run on, and by its runs alone."""
    datasets, listed = datasets_of(project, suite), Run.objects.listed().filter(project=project)
    listed = listed.filter(suite=suite, dataset__in=datasets) if suite else listed
    for runs in (listed.made_here(), listed):
        newest = runs.select_related("dataset").only("suite", "dataset").order_by("-dataset__version")
        if used := next((run.dataset for run in newest if is_suite(run.suite)), None):
            return used
    return datasets.order_by("-version").first()


def datasets_of(project: Project, suite: str = "") -> QuerySet[Dataset]:
    """Return the versions that a suite can be run on, its copies or published gold; all without a name."""
    datasets = Dataset.objects.filter(project=project)
    return datasets.asked_about_by(suite_named(suite)) if suite else datasets


def answer_format_to_show(dataset: Dataset, suite: str) -> AnswerFormat:
    """Return free text, unless all runs of the suite on the version are structured. Answers made elsewhere count where
    there is no run of this site."""
    listed = Run.objects.listed().filter(dataset=dataset, suite=suite)
    formats = (set(runs.values_list("answer_format", flat=True)) for runs in (listed.made_here(), listed))
    answer_formats = next(filter(None, formats), set())
    return AnswerFormat.STRUCTURED if answer_formats == {AnswerFormat.STRUCTURED} else AnswerFormat.TEXT


def suites_with_runs(dataset: Dataset) -> list[str]:
    """Return the suites of the runs on the version, that of the newest run first, those of answers made elsewhere
    last."""
    listed = Run.objects.listed().filter(dataset=dataset).order_by("-id")
    newest = [name for runs in (listed.made_here(), listed) for name in runs.values_list("suite", flat=True)]
    return [name for name in dict.fromkeys(newest) if is_suite(name)]


def suite_to_show(dataset: Dataset, ran: Sequence[str] | None = None) -> str:
    """Return the suite of the newest run on the version, or the first that can ask about it, else the first there
    is. `ran` are its `suites_with_runs`, where these are known."""
    ran = suites_with_runs(dataset) if ran is None else ran
    if ran:
        return ran[0]
    able = suites_of(dataset.suite, dataset.schema)
    return next(iter([*(suite.name for suite in able), *suites()]))
