from typing import Any

from django.core.management.base import CommandParser

from annotation.management.json_command import JsonCommand
from benchmark.management.commands._plans import flag, given
from benchmark.management.commands._runs import OF_COMPARING, compared, run_of
from benchmark.management.commands.leaderboard import add_filters, asked_for
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
        title = options["title"]
        if options["page"] == "across":
            project = self.project(options["project"] or "")
            snapshot = save_across_snapshot(by=None, project=project, title=title)
        elif options["page"]:
            dataset, suite, answer_format, leaderboard = asked_for(self.project(options["project"] or ""), options)
            query = {
                "version": dataset.version,
                **({"suite": suite} if suite != suite_to_show(dataset) else {}),
                "answer_format": answer_format,
                "split": leaderboard.chosen.key if leaderboard.chosen else "",
                **({"runs": "all"} if options["all_runs"] else {}),
                **{condition: options[condition] for condition in FIELDS if options[condition]},
            }
            snapshot = save_leaderboard_snapshot(
                by=None, dataset=dataset, leaderboard=leaderboard, query=query, title=title
            )
        elif options["against"]:
            runs, keys, comparison = compared(run_of(options["run"]), run_of(options["against"]), options)
            snapshot = save_comparison_snapshot(
                by=None, project=runs[0].project, runs=runs, keys=keys, comparison=comparison, title=title
            )
        else:
            if idle := given(options, OF_COMPARING):
                raise ValueError(f"{flag(idle[0])} is for a comparison: name the other run with --against.")
            snapshot = save_run_snapshot(by=None, run=run_of(options["run"]), title=title)
        address = f"/p/{snapshot.project.slug}/results/snapshots/{snapshot.uid}/"
        return {"snapshot": snapshot.uid, "title": snapshot.title, "address": address}
