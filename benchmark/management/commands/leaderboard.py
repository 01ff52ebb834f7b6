from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from annotation.management.json_command import JsonCommand
from annotation.models import Project
from benchmark.domain.entered import PaperRow
from benchmark.domain.report_rows import RowMetric
from benchmark.domain.tables import Table
from benchmark.management.commands._files import add_width, check_output, content_of, written
from benchmark.management.commands._runs import percent
from benchmark.models import AnswerFormat, Dataset
from benchmark.services.absences import Absence
from benchmark.services.conditions import FIELDS, Ranking
from benchmark.services.differences import pair_table, pairs_of
from benchmark.services.documents import leaderboard_document, tables_of
from benchmark.services.entered_rows import rows_of
from benchmark.services.leaderboard_scope import (
    Leaderboard,
    answer_format_to_show,
    datasets_of,
    leaderboard_of,
    suite_to_show,
    version_to_show,
)
from benchmark.services.plot_data import plots_of, score_of
from benchmark.services.selections import selection_named
from benchmark.services.snapshots import save_leaderboard_snapshot
from benchmark.suites.judges import JudgeTestSummary
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import group_named, suite_for, suite_named, suite_of_gold, suites
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.missing import leads, missing_of
from core.plain import WHERE_THERE_IS_ONE

KINDS = ("model", "baseline", "person")


class Command(JsonCommand):
    help = (
        "Prints the leaderboard of a version of the gold, or of a copy of a benchmark. With --output it writes one "
        "of its tables (csv, json, tex) or plots (svg, pdf, png), or the differences between all pairs."
    )

    def add_arguments(self, parser) -> None:
        example = suite_of_gold().groups[-1].key
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--suite", choices=list(suites()), help="that of the dataset's newest run if not given")
        parser.add_argument("--dataset", type=int, metavar="VERSION", help="the newest one with runs if not given")
        parser.add_argument("--answer-format", choices=AnswerFormat.values, help="text, unless all runs are structured")
        parser.add_argument("--split", metavar="NAME", help="only stories of this split, or run:ID for those of a run")
        parser.add_argument(
            "--prompts", metavar="NAME", help="the ranking of models that were asked so; of most models if not given"
        )
        parser.add_argument(
            "--judge", metavar="NAME", help="the ranking of models that were judged so; of most models if not given"
        )
        parser.add_argument("--all-runs", action="store_true", help="not only the newest of each setting")
        parser.add_argument("--kind", choices=KINDS, help="only these rows; differences have all pairs")
        parser.add_argument("--name", metavar="NAME", help=f"the table or plot to write, such as {example}")
        parser.add_argument("--output", metavar="PATH", help="its ending says the format")
        add_width(parser)
        parser.add_argument(
            "--save-snapshot", action="store_true", help="keep it as it is now, for members who may see results"
        )
        parser.add_argument("--title", metavar="TEXT", help="save-snapshot: what the saved leaderboard is called")

    def work(self, **options) -> PrintedLeaderboard:
        check_output(options)
        if options["title"] is not None and not options["save_snapshot"]:
            raise ValueError("--title is for --save-snapshot, which keeps the leaderboard as it is now.")
        project = self.project(options["project"])
        chosen = suite_for(options["suite"], project.schema).name if options["suite"] else ""
        dataset = _version(project, options["dataset"], chosen)
        suite = chosen or suite_to_show(dataset)
        answer_format = options["answer_format"] or answer_format_to_show(dataset, suite)
        leaderboard = _leaderboard(dataset, answer_format, suite, options)
        kind = options["kind"]
        groups = {
            group: [entrant for entrant in entrants if not kind or entrant.kind == kind]
            for group, entrants in leaderboard.entrants.items()
        }
        entered = [] if kind else rows_of(project, suite)
        result = PrintedLeaderboard(
            project=project.slug,
            suite=suite,
            dataset=dataset.version,
            title=dataset.title or None,
            answer_format=str(answer_format),
            stories=leaderboard.chosen.label if leaderboard.chosen else "",
            groups={
                group: [PrintedRow.of(entrant, group) for entrant in entrants] for group, entrants in groups.items()
            },
            rankings=leaderboard.rankings,
            notes={group: leads(entrants, group) for group, entrants in groups.items()},
            absent=leaderboard.absent,
            entered=entered or None,
        )
        for absence in leaderboard.absent:
            if absence.failed:  # the others are told with the ranking
                self.note(str(absence))
        if options["save_snapshot"]:
            uid = _shared(dataset, suite, answer_format, leaderboard, options)
            result = replace(result, snapshot=uid, address=f"/p/{project.slug}/results/snapshots/{uid}/")
        if not options["output"]:
            return result
        document = leaderboard_document("Leaderboard", groups, leaderboard.absent, entered)
        tables = tables_of(document) | _differences(leaderboard)
        file = written(
            options["output"],
            content_of(options["output"], options["name"], tables, plots_of(document), width=options["width"]),
        )
        return replace(result, path=file.path, bytes=file.bytes)

    def say(self, result: PrintedLeaderboard) -> None:
        copy = f"{result.title}, version {result.dataset}"
        gold = f"{suite_named(result.suite).title} on version {result.dataset} of the gold"
        self.stdout.write(
            f"{copy if result.title else gold}, {result.answer_format}, {result.stories or 'no finished run'}"
        )
        for group, rows in result.groups.items():
            if rows:
                wide = max(len(group_named(group).score_title) + 4, *(len(row.model) for row in rows))
                heads = "".join(f"{parse:>22}" for parse in PARSES)
                title = f"{group_named(group).score_title} (%)"
                self.stdout.write(f"\n{title:{wide}}{'rank':>6}{heads}{'left out':>10}{'worst to best':>16}  group")
            for row in rows:
                metrics = "".join(f"{_metric_text(row.of_parse(parse)):>22}" for parse in PARSES)
                missing = f"{percent(row.left_out):>10}{_ends(row):>16}"
                self.stdout.write(f"{row.model:{wide}}{row.rank or '–':>6}{metrics}{missing}  {row.group or '–'}")
            for note in (*result.notes[group], *_no_intervals(rows), *_apart(result.rankings[group])) if rows else ():
                self.stdout.write(note)
            for note in _uncovered(result.absent, group):
                self.stdout.write(note)
        if not any(result.groups.values()):
            self.note("No finished run has figures of these stories; --dataset and --split choose others.")
        if result.snapshot is not None:
            self.stdout.write(f"\nkept: {result.address}")
        if result.path is not None:
            self.stdout.write(f"\npath: {result.path}")


def _leaderboard(dataset: Dataset, answer_format: str, suite: str, options: Mapping[str, Any]) -> Leaderboard:
    """Return the leaderboard that the options ask for. Raises ValueError for a split that no run covers."""
    conditions = {condition: options[condition] or "" for condition in FIELDS}
    leaderboard_asked = partial(
        leaderboard_of, dataset, answer_format, options["split"], suite=suite, all_runs=options["all_runs"]
    )
    leaderboard = leaderboard_asked(asked=conditions)
    if (full := {field: _full_name(field, name, leaderboard) for field, name in conditions.items()}) != conditions:
        leaderboard = leaderboard_asked(asked=full)
    named = selection_named(dataset, options["split"] or "", suite)
    if options["split"] and (
        named is None or leaderboard.chosen is None or leaderboard.chosen.stories != named.stories
    ):
        keys = ", ".join(selection.key for selection in leaderboard.selections if selection.key) or "none"
        raise ValueError(f"No run covers the split {options['split']!r}; there are: {keys}.")
    return leaderboard


def _shared(
    dataset: Dataset, suite: str, answer_format: str, leaderboard: Leaderboard, options: Mapping[str, Any]
) -> str:
    """Keep the whole leaderboard as it is now. Returns the id of the snapshot."""
    query = {
        "version": dataset.version,
        **({"suite": suite} if suite != suite_to_show(dataset) else {}),
        "answer_format": str(answer_format),
        "split": leaderboard.chosen.key if leaderboard.chosen else "",
        **({"runs": "all"} if options["all_runs"] else {}),
        **{condition: options[condition] for condition in FIELDS if options[condition]},
    }
    snapshot = save_leaderboard_snapshot(
        by=None, dataset=dataset, leaderboard=leaderboard, query=query, title=options["title"] or ""
    )
    return snapshot.uid


def _full_name(field: str, name: str, leaderboard: Leaderboard) -> str:
    """Return the only name of the rankings' `field` that begins with `name`."""
    names = leaderboard.conditions[field]
    alike = [candidate for candidate in names if candidate.startswith(f"{name}, ")]
    if not name or name in names:
        return name
    if len(alike) != 1:
        what = f"{len(alike)} rankings have" if alike else "No ranking has"
        raise ValueError(f"{what} the {field} {name!r}; there are: {'; '.join(names) or 'none'}.")
    return alike[0]


def _version(project: Project, number: int | None, suite: str) -> Dataset:
    """Return the version of that number, else the one to show; of `suite` where it is named. Raises ValueError."""
    datasets = datasets_of(project, suite)
    dataset = version_to_show(project, suite) if number is None else datasets.filter(version=number).first()
    if dataset is None:
        versions = ", ".join(map(str, datasets.values_list("version", flat=True))) or "none"
        raise ValueError(f"{project.slug} has no {_datasets_text(suite, number)}; there are: {versions}.")
    return dataset


def _datasets_text(suite: str, number: int | None) -> str:
    version = "" if number is None else f"version {number} of "
    if suite and suite_named(suite).copied.load:
        return f"{version}{'a copy' if version else 'copy'} of {suite_named(suite).title}"
    return f"{version}its gold" if version else "published gold"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedRow:
    """An entrant of a ranking as the command prints it: the self-test of the judge, where one judged; its rank with an
    interval from eight models on, the letters of its group, or the reason why it has no rank; numbers of stories, of
    those without a score, and of these that judges or providers lost; the score with them at their worst and best; and
    its score in both parses."""

    model: str
    kind: str
    run: str
    settings: Mapping[str, str]
    judge_test: JudgeTestSummary | None = field(metadata=WHERE_THERE_IS_ONE)
    rank: int | None
    rank_interval: Sequence[int] | None
    group: str | None
    reason: str | None = field(metadata=WHERE_THERE_IS_ONE)
    stories: int
    unreadable: int
    lost: int
    left_out: float | None
    worst_case: float | None
    best_case: float | None
    official: RowMetric | None
    repaired: RowMetric | None

    @classmethod
    def of(cls, entrant: EntrantResults, group: str) -> PrintedRow:
        ranking, missing = entrant.ranking["repaired"], missing_of(entrant, group)
        return cls(
            model=entrant.model,
            kind=entrant.kind,
            run=entrant.run,
            settings=entrant.settings,
            judge_test=entrant.judge_test,
            rank=ranking.rank if ranking else None,
            rank_interval=ranking.ranks if ranking else None,
            group=entrant.group["repaired"],
            reason=(ranking.reason or None) if ranking and ranking.rank is None else None,
            stories=missing.stories,
            unreadable=missing.unreadable,
            lost=missing.lost,
            left_out=missing.left_out,
            worst_case=missing.low,
            best_case=missing.high,
            official=_number(score_of(entrant, "official", group)),
            repaired=_number(score_of(entrant, "repaired", group)),
        )

    def of_parse(self, parse: str) -> RowMetric | None:
        return self.official if parse == "official" else self.repaired


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedLeaderboard:
    """A leaderboard as the command prints it, by metric group: the rows, the conditions of the ranking, and what has to
    be known before it is read. A copy of a benchmark has a `title`. The `snapshot` that keeps it and its `address` are
    there where it was shared, `path` and `bytes` where a file was written."""

    project: str
    suite: str
    dataset: int
    title: str | None = field(metadata=WHERE_THERE_IS_ONE)
    answer_format: str
    stories: str
    groups: Mapping[str, Sequence[PrintedRow]]
    rankings: Mapping[str, Ranking]
    notes: Mapping[str, Sequence[str]]
    absent: Sequence[Absence]
    entered: Sequence[PaperRow] | None = field(metadata=WHERE_THERE_IS_ONE)
    snapshot: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    address: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    path: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    bytes: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


def _number(metric: RowMetric | None) -> RowMetric | None:
    """Return a figure with its value as a number: official values are texts of six decimals."""
    return None if metric is None or metric.value is None else replace(metric, value=float(metric.value))


def _differences(leaderboard: Leaderboard) -> dict[str, Callable[[], Table]]:
    """Return the tables `differences-GROUP-PARSE`, which hold all pairs."""

    def make(group: str, parse: str):
        entrants = leaderboard.entrants[group]
        rows, method = pairs_of(entrants, group, leaderboard.chosen, parse)
        absent = [absence.absent_model for absence in leaderboard.absent if absence.group == group]
        return replace(pair_table(rows, group, parse, method, entrants), absent=absent)

    return {
        f"differences-{group}-{parse}": partial(make, group, parse)
        for group, entrants in leaderboard.entrants.items()
        for parse in PARSES
        if any(entrant.parses.of(parse) for entrant in entrants)
    }


def _apart(ranking: Ranking) -> list[str]:
    """Say what stands in rankings of its own, and how to see it."""
    descriptions = []
    for other in ranking.others:
        options = " ".join(f"--{condition} {shlex.quote(name)}" for condition, name in other.within.items())
        descriptions.append(f"{', '.join(dict.fromkeys(other.models))} ({other.rows} with {options})")
    return [f"Ranked apart: {'; '.join(descriptions)}."] if descriptions else []


def _uncovered(absent: Sequence[Absence], group: str) -> list[str]:
    """Name the models whose runs have a part of the stories, and say how to see them."""
    descriptions = [
        f"{absence.model} ({absence.why}; --split run:{absence.run})"
        for absence in absent
        if absence.group == group and absence.covered is not None
    ]
    return [f"Without a run on all of these stories: {'; '.join(descriptions)}."] if descriptions else []


NO_INTERVAL = "[–]"


def _no_intervals(rows: Sequence[PrintedRow]) -> list[str]:
    """Say why figures that are printed have no interval."""
    metrics = [metric for row in rows for parse in PARSES if (metric := row.of_parse(parse))]
    reasons = dict.fromkeys(metric.reason for metric in metrics if metric.reason and not metric.interval)
    return [f"No interval {NO_INTERVAL}: {'; or '.join(reasons)}."] if reasons else []


def _ends(row: PrintedRow) -> str:
    """Write worst and best case, where something is missing: answers, or rows that a judge left out."""
    low, high = row.worst_case, row.best_case
    return "" if low is None or high is None or low == high else f"{100 * low:.1f} to {100 * high:.1f}"


def _metric_text(metric: RowMetric | None) -> str:
    if metric is None:
        return "–"
    ends = "[{:.1f}, {:.1f}]".format(*(100 * end for end in metric.interval)) if metric.interval else NO_INTERVAL
    return f"{100 * float(metric.value or 0):.2f} {ends}".strip()
