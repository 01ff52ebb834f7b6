from typing import Any

from django.core.management.base import CommandParser

from annotation.management.json_command import JsonCommand
from annotation.models import Project
from benchmark.management.commands._comparing import OF_COMPARING, compared
from benchmark.management.commands._plans import flag, given
from benchmark.management.commands._runs import run_of
from benchmark.management.commands.leaderboard import add_filters, asked_for
from benchmark.models import Snapshot
from benchmark.services.conditions import FIELDS
from benchmark.services.leaderboard_scope import suite_to_show
from benchmark.services.snapshots import (
    save_across_snapshot,
    save_comparison_snapshot,
    save_leaderboard_snapshot,
    save_run_snapshot,
)
from benchmark.suites.questions import PARSES

PAGES = ("leaderboard", "across")


class Command(JsonCommand):
    help = (
        "Saves a snapshot for members who may see results: of the report of a run, with --against of the comparison of "
        "one of its models with a model of that run, or with --page of the leaderboard or of models across suites."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", nargs="?", metavar="RUN", help="its id, as in the address of its page")
        parser.add_argument("--title", default="", metavar="TEXT")
        parser.add_argument("--page", choices=PAGES, help="a page of --project instead of a run")
        add_filters(parser, required=False)
        parser.add_argument("--against", metavar="RUN", help="the run of the other model; it may be the same run")
        parser.add_argument("--model", metavar="NAME", help="of RUN, if it has several")
        parser.add_argument("--other-model", metavar="NAME", help="of the other run, if it has several")
        parser.add_argument("--group", metavar="KEY", help="the metric group that is compared; the first by default")
        parser.add_argument("--parse", choices=PARSES, help="repaired by default")

    def work(self, **options: Any) -> dict[str, Any]:
        if bool(options["run"]) == bool(options["page"]):
            raise ValueError("Name a run, or a page with --page.")
        snapshot = _of_page(self.project(options["project"] or ""), options) if options["page"] else _of_run(options)
        address = f"/p/{snapshot.project.slug}/results/snapshots/{snapshot.uid}/"
        return {"snapshot": snapshot.uid, "title": snapshot.title, "address": address}


def _of_run(options: dict[str, Any]) -> Snapshot:
    run = run_of(options["run"])
    if options["against"]:
        runs, keys, comparison = compared(run, run_of(options["against"]), options)
        return save_comparison_snapshot(
            by=None, project=run.project, runs=runs, keys=keys, comparison=comparison, title=options["title"]
        )
    if idle := given(options, OF_COMPARING):
        raise ValueError(f"{flag(idle[0])} is for a comparison: name the other run with --against.")
    return save_run_snapshot(by=None, run=run, title=options["title"])


def _of_page(project: Project, options: dict[str, Any]) -> Snapshot:
    if options["page"] == "across":
        return save_across_snapshot(by=None, project=project, title=options["title"])
    asked = asked_for(project, options)
    query = {
        "version": asked.dataset.version,
        **({"suite": asked.suite} if asked.suite != suite_to_show(asked.dataset) else {}),
        "answer_format": asked.answer_format,
        "split": asked.leaderboard.chosen.key if asked.leaderboard.chosen else "",
        **({"runs": "all"} if options["all_runs"] else {}),
        **{condition: options[condition] for condition in FIELDS if options[condition]},
    }
    return save_leaderboard_snapshot(
        by=None, dataset=asked.dataset, leaderboard=asked.leaderboard, query=query, title=options["title"]
    )
