import shlex
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.json_command import JsonCommand
from annotation.models import Project
from benchmark.domain.tables import Cell
from benchmark.management.commands._runs import percent
from benchmark.models import AnswerFormat, Dataset
from benchmark.services.conditions import FIELDS
from benchmark.services.entered_rows import rows_of
from benchmark.services.leaderboard_scope import (
    Leaderboard,
    answer_format_to_show,
    datasets_of,
    leaderboard_of,
    suite_to_show,
    version_to_show,
)
from benchmark.services.leaderboards import selection_named
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import group_named, suite_for, suite_named, suite_of_gold, suites
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import score_of
from benchmark.suites.showing.missing import leads, missing_of
from core.plain import Json, plain


def add_filters(parser: ArgumentParser, *, required: bool = True) -> None:
    """Add the options that choose a leaderboard."""
    parser.add_argument("--project", required=required, metavar="SLUG")
    names = [*dict.fromkeys([*suites(), suite_of_gold().name])]
    parser.add_argument("--suite", choices=names, help="that of the newest run by default")
    parser.add_argument("--dataset", type=int, metavar="V", help="a version; the newest one with runs by default")
    parser.add_argument("--answer-format", choices=AnswerFormat.values, help="text, unless all runs are structured")
    parser.add_argument("--split", metavar="NAME", help="only stories of this split, or run:ID for those of a run")
    parser.add_argument("--prompts", metavar="NAME", help="the ranking of models asked with these prompts")
    parser.add_argument("--judge", metavar="NAME", help="the ranking of models judged by this judge")
    parser.add_argument("--all-runs", action="store_true", help="not only the newest run of each setting")


def asked_for(project: Project, options: Mapping[str, Any]) -> tuple[Dataset, str, str, Leaderboard]:
    """Return (dataset, suite, answer format, leaderboard) that the options ask for. Raises ValueError for a version or
    split that does not exist."""
    chosen = suite_for(options["suite"], project.schema).name if options["suite"] else ""
    dataset = _version(project, options["dataset"], chosen)
    suite = chosen or suite_to_show(dataset)
    answer_format = options["answer_format"] or answer_format_to_show(dataset, suite)
    conditions = {condition: options[condition] or "" for condition in FIELDS}
    of_conditions = partial(
        leaderboard_of, dataset, answer_format, options["split"], suite=suite, all_runs=options["all_runs"]
    )
    leaderboard = of_conditions(asked=conditions)
    full = dict(conditions)
    for field, name in conditions.items():
        # a name, or the only one that begins with it: `lexical-judge` for `lexical-judge, rules 3`
        names = leaderboard.conditions[field]
        alike = [candidate for candidate in names if candidate.startswith(f"{name}, ")]
        if name and name not in names:
            if len(alike) != 1:
                what = f"{len(alike)} rankings have" if alike else "No ranking has"
                raise ValueError(f"{what} the {field} {name!r}; there are: {'; '.join(names) or 'none'}.")
            full[field] = alike[0]
    if full != conditions:
        leaderboard = of_conditions(asked=full)
    named = selection_named(dataset, options["split"] or "", suite)
    covered = named and leaderboard.chosen and leaderboard.chosen.stories == named.stories
    if options["split"] and not covered:
        keys = ", ".join(selection.key for selection in leaderboard.selections if selection.key) or "none"
        raise ValueError(f"No run covers the split {options['split']!r}; there are: {keys}.")
    return dataset, suite, str(answer_format), leaderboard


def _version(project: Project, number: int | None, suite: str) -> Dataset:
    datasets = datasets_of(project, suite)
    dataset = version_to_show(project, suite) if number is None else datasets.filter(version=number).first()
    if dataset is None:
        versions = ", ".join(map(str, datasets.values_list("version", flat=True))) or "none"
        version = "" if number is None else f"version {number} of "
        kind = f"{version}its gold" if version else "published gold"
        if suite and suite_named(suite).copied.load:
            kind = f"{version}{'a copy' if version else 'copy'} of {suite_named(suite).title}"
        raise ValueError(f"{project.slug} has no {kind}; there are: {versions}.")
    return dataset


class Command(JsonCommand):
    help = (
        "Prints the leaderboard of a version of the gold, or of a copy of a benchmark; the command results prints and "
        "writes its tables."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_filters(parser)

    def work(self, **options: Any) -> Json:
        project = self.project(options["project"])
        dataset, suite, answer_format, leaderboard = asked_for(project, options)
        for absence in leaderboard.absent:
            if absence.failed:  # the others are told with the ranking
                self.note(str(absence))
        entered = rows_of(project, suite)
        return {
            "project": project.slug,
            "suite": suite,
            "dataset": dataset.version,
            "title": dataset.title,
            "answer_format": answer_format,
            "stories": leaderboard.chosen.label if leaderboard.chosen else "",
            "groups": {
                group: [_row(entrant, group) for entrant in entrants]
                for group, entrants in leaderboard.entrants.items()
            },
            "rankings": leaderboard.rankings,
            "notes": {group: leads(entrants, group) for group, entrants in leaderboard.entrants.items()},
            "absent": leaderboard.absent,
            **({"entered": entered} if entered else {}),
        }

    def say(self, result: Json) -> None:
        copy = f"{result['title']}, version {result['dataset']}"
        gold = f"{suite_named(result['suite']).title} on version {result['dataset']} of the gold"
        over = result["stories"] or "no finished run"
        self.stdout.write(f"{copy if result['title'] else gold}, {result['answer_format']}, {over}")
        for group, rows in result["groups"].items():
            if rows:
                self._say_group(group, rows)
                for note in result["notes"][group]:
                    self.stdout.write(note)
                figures = [figure for row in rows for parse in PARSES if (figure := row[parse])]
                if reasons := dict.fromkeys(reason for figure in figures if (reason := figure.get("reason"))):
                    self.stdout.write(f"No interval [–]: {'; or '.join(reasons)}.")
                apart = []  # the models in rankings of their own, with the options that show these
                for other in result["rankings"][group].others:
                    within = " ".join(f"--{condition} {shlex.quote(name)}" for condition, name in other.within.items())
                    apart.append(f"{', '.join(dict.fromkeys(other.models))} ({other.rows} with {within})")
                if apart:
                    self.stdout.write(f"Ranked apart: {'; '.join(apart)}.")
            uncovered = [
                f"{absence.model} ({absence.why}; --split run:{absence.run})"
                for absence in result["absent"]
                if absence.group == group and absence.covered is not None
            ]
            if uncovered:
                self.stdout.write(f"Without a run on all of these stories: {'; '.join(uncovered)}.")
        if not any(result["groups"].values()):
            self.note("No finished run has figures of these stories; --dataset and --split choose others.")

    def _say_group(self, group: str, rows: Sequence[Json]) -> None:
        title = f"{group_named(group).score_title} (%)"
        wide = max(len(title), *(len(row["model"]) for row in rows))
        heads = "".join(f"{parse:>22}" for parse in PARSES)
        self.stdout.write(f"\n{title:{wide}}{'rank':>6}{heads}{'left out':>10}{'worst to best':>16}  group")
        for row in rows:
            metrics = ""
            for figure in (row[parse] for parse in PARSES):
                text = "–"
                if figure:
                    ends = ", ".join(f"{100 * end:.1f}" for end in figure["interval"] or ()) or "–"
                    text = f"{100 * figure['value']:.2f} [{ends}]"
                metrics += f"{text:>22}"
            low, high = row["worst_case"], row["best_case"]
            span = "" if low is None or high is None or low == high else f"{100 * low:.1f} to {100 * high:.1f}"
            missing = f"{percent(row['left_out']):>10}{span:>16}"
            self.stdout.write(f"{row['model']:{wide}}{row['rank'] or '–':>6}{metrics}{missing}  {row['group'] or '–'}")


def _row(entrant: EntrantResults, group: str) -> Json:
    """Return an entrant of a ranking as JSON has it: shares are fractions, official ones numbers too."""
    ranking, missing = entrant.ranking["repaired"], missing_of(entrant, group)
    reason = (ranking.reason or None) if ranking and ranking.rank is None else None
    return {
        "model": entrant.model,
        "kind": entrant.kind,
        "run": entrant.run,
        "settings": entrant.settings,
        **({"judge_test": entrant.judge_test} if entrant.judge_test else {}),
        "rank": ranking.rank if ranking else None,
        "rank_interval": ranking.ranks if ranking else None,
        "group": entrant.group["repaired"],
        **({"reason": reason} if reason else {}),
        "stories": missing.stories,
        "unreadable": missing.unreadable,
        "lost": missing.lost,
        "left_out": missing.left_out,
        "worst_case": missing.low,
        "best_case": missing.high,
        **{parse: _figure(score_of(entrant, parse, group)) for parse in PARSES},
    }


def _figure(cell: Cell | None) -> Json | None:
    """Return {value, interval, n, unreadable, bounds[, reason]}. Returns None without a figure."""
    if cell is None or cell.value is None:
        return None
    reason = {} if cell.interval else {"reason": cell.reason}
    figure = {"value": float(cell.value), "interval": plain(cell.interval), "n": cell.n}
    return figure | {"unreadable": cell.unreadable, "bounds": plain(cell.bounds)} | reason
