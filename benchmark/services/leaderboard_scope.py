"""The leaderboard of a dataset version: which runs are on it, over which stories, and what an address or a command left
open."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from django.db.models import QuerySet

from annotation.models import Project
from benchmark.models import AnswerFormat, Dataset, Run
from benchmark.services.absences import Absence, absences, apart, is_absent, uncovered, unscored
from benchmark.services.asking import chosen_of
from benchmark.services.calibration import calibration
from benchmark.services.conditions import FIELDS, Ranking, named, ranked_together
from benchmark.services.leaderboards import (
    OF_RUN,
    Selection,
    entrants_of,
    newest,
    ranked_entrants,
    selection_named,
    selections_of,
)
from benchmark.services.reports import RunMetrics, reports_of
from benchmark.suites.registry import group_named, group_suite, is_suite, keys_of, suite_named, suites, suites_of
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import label
from workers.models import JobState


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The rankings of one suite on a dataset version in one answer format, over the stories of a selection."""

    selections: Sequence[Selection]
    chosen: Selection | None
    """One of the selections. None without a run."""
    entrants: Mapping[str, Sequence[EntrantResults]]
    common: Mapping[str, Mapping[str, str]]
    rankings: Mapping[str, Ranking]
    """By metric group the rows of its ranking, the settings that all of them share, and the conditions that it is
    within."""
    conditions: Mapping[str, Sequence[str]]
    """The names of all conditions by field."""
    runs: Sequence[Run]
    fitting: Sequence[Run]
    failed: Sequence[Run]
    """All runs, those with figures of the stories, and those that failed and would have some."""
    absent: Sequence[Absence]
    """Models that the rankings do not have: no answer, other conditions, or a run of other stories."""
    withheld: int = 0
    """The number of its stories that wait for the work of the reader."""


def finished_runs(dataset: Dataset, answer_format: str, suite: str = "") -> list[Run]:
    """Return the listed finished runs of one suite, newest first, with their entrants; without a name, of the suite
    that `suite_to_show` chooses."""
    suite = suite or suite_to_show(dataset)
    return list(_finished().filter(dataset=dataset, suite=suite, answer_format=answer_format))


def finished_runs_of(project: Project) -> list[Run]:
    """Return the listed finished runs of a project, newest first, with their entrants: of the suites that there are."""
    return [run for run in _finished().filter(project=project) if is_suite(run.suite)]


def leaderboard_scopes(project: Project) -> list[dict[str, Any]]:
    """Return {dataset, suite, answer_format} of the leaderboards of a project that have figures, that of the newest run
    first, those of answers made elsewhere last."""
    runs = [run for run in finished_runs_of(project) if not run.job.has_failed]
    newest = {(run.dataset_id, run.suite, run.answer_format): run for run in reversed(runs)}
    here = {(run.dataset_id, run.suite, run.answer_format) for run in runs if not run.made_elsewhere}
    return [
        {"dataset": run.dataset, "suite": suite_named(run.suite), "answer_format": AnswerFormat(run.answer_format)}
        for scope, run in sorted(newest.items(), key=lambda row: (row[0] in here, row[1].pk), reverse=True)
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
) -> Leaderboard:
    """Return `leaderboard_of` of these finished runs of one suite and answer format, newest first, with their
    `reports_of`, without corrected scores; of all metric groups or of some `groups`."""
    selections = selections_of(dataset, reports, runs)
    chosen = _chosen(dataset, suite, selections, key)
    fitting = [run for run in runs if chosen and chosen.stories <= set(reports[run.pk].numbers)]
    others = [run for run in runs if run not in fitting]
    everybody, without, conditions = _everybody(groups or keys_of(suite), fitting, reports, all_runs)
    absent = [absence for group, entrants in without.items() for absence in absences(group, entrants)]
    absent += unscored(suite, fitting, reports)
    ranked, common, rankings = {}, {}, {}
    for group, entrants in everybody.items():
        together, rankings[group] = _ranked(dataset, group, entrants, asked or {}, conditions, runs)
        labelled, common[group] = label(together)
        ranked[group] = ranked_entrants(labelled, group, chosen)
        absent += apart(group, rankings[group])
        present = {entrant.name for entrant in (*entrants, *without[group])}
        stories = chosen.stories if chosen else frozenset()
        absent += uncovered(group, entrants_of(others, reports, group), present, stories)
    return Leaderboard(
        selections=selections,
        chosen=chosen,
        entrants=ranked,
        common=common,
        rankings=rankings,
        conditions=conditions,
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

    That is `asked` (split, runs, judge, prompts) if it does; else with the entrants' own conditions, with all runs, or
    over the stories of one of their runs. If no ranking holds all of them it is `asked`.
    """
    suite = group_suite(group)
    runs = finished_runs(dataset, answer_format, suite)
    reports = reports_of(runs)
    selections = selections_of(dataset, reports, runs)
    splits = dict.fromkeys([asked.get("split", ""), *(f"{OF_RUN}{key.partition('.')[0]}" for key in keys)])
    for split, every in product(splits, dict.fromkeys([asked.get("runs") == "all", True])):
        chosen = _chosen(dataset, suite, selections, split)
        fitting = [run for run in runs if chosen and chosen.stories <= set(reports[run.pk].numbers)]
        everybody, _, conditions = _everybody(keys_of(suite), fitting, reports, every)
        within = [entrant.within for entrant in everybody[group] if entrant.key in keys]  # a baseline has no prompts
        own = {field: next(filter(None, (names[field] for names in within)), "") for field in FIELDS}
        for given in ({field: asked.get(field, "") for field in FIELDS}, own):
            together, _ = _ranked(dataset, group, everybody[group], given, conditions, runs)
            if set(keys) <= {entrant.key for entrant in together}:
                address = {"split": split, "runs": "all" if every else "", **given}
                return {name: value for name, value in address.items() if value}
    return dict(asked)


def asks_plainly(run: Run) -> bool:
    """Return whether a run asks by the method that others are held against, as one does whose suite asks in one way."""
    setting = suite_named(run.suite).method
    return not run.imported and (setting is None or chosen_of(run)[setting.name] == setting.default)


def _ranked(
    dataset: Dataset,
    group: str,
    entrants: Sequence[EntrantResults],
    asked: Mapping[str, str],
    names_by_field: Mapping[str, Iterable[str]],
    runs: Sequence[Run],
) -> tuple[list[EntrantResults], Ranking]:
    """Return `ranked_together` of these named entrants, of the preferred judge if none is asked for. Of conditions that
    equally many models have, those of a plain run come first, and then the newest: a launch by several methods has them
    all, and other suites and papers are plain.

    Judges that studies chose are preferred, those of the very dataset before others and the latest choice before
    earlier ones; then those with verdicts, by their number of models.
    """
    versions: dict[str, str] = {}
    models: Counter[str] = Counter()
    heard, score = set(), group_named(group).score
    for entrant in entrants:
        judge, overall = entrant.within["judge"] or "", entrant.metrics.parses.overall("repaired")
        if judge:
            versions[judge] = (entrant.conditions["judge"] or ["", ""])[1]
            models[judge] += entrant.kind == "model"
        # a score of the careful parse that is not zero whatever a judge says
        has_score = entrant.kind != "person" and overall.value_of(score) is not None
        if has_score and (overall.bounds_of(score) or (0, 1))[1] > 0:
            heard.add(judge)
    judges = list(versions)
    if judges[1:]:
        chosen = calibration.chosen_versions(dataset)
        at = {
            judge: next((at for at, version in enumerate(chosen) if version.startswith(versions[judge])), len(chosen))
            for judge in judges
        }
        judges.sort(key=lambda judge: (at[judge], judge not in heard, -models[judge]))
    plain = {run.uid for run in runs if asks_plainly(run)}
    in_order = sorted(entrants, key=lambda entrant: entrant.run not in plain)
    return ranked_together(in_order, asked, names_by_field, judges=judges)


Everybody = dict[str, list[EntrantResults]]
"""Entrants by metric group."""


def _everybody(
    groups: Iterable[str], runs: Sequence[Run], reports: Mapping[int, RunMetrics], all_runs: bool
) -> tuple[Everybody, Everybody, dict[str, list[str]]]:
    """Return the named entrants with figures, only the newest of each settings unless `all_runs`, those without an
    answer, and the names of all conditions by field."""
    everybody, without = {}, {}
    for group in groups:
        entrants = entrants_of(runs, reports, group)
        without[group] = [entrant for entrant in entrants if is_absent(entrant)]
        # before the newest is chosen: an earlier run has figures
        entrants = [entrant for entrant in entrants if not is_absent(entrant)]
        everybody[group] = named(entrants if all_runs else newest(entrants))
    within = [entrant.within for entrants in everybody.values() for entrant in entrants]
    return everybody, without, {field: sorted({name for own in within if (name := own[field])}) for field in FIELDS}


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
