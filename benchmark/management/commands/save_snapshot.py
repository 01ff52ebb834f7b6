from __future__ import annotations

from annotation.management.json_command import JsonCommand
from benchmark.management.commands._comparing import OF_COMPARING, add_choices, compared
from benchmark.management.commands._plans import flag, given
from benchmark.management.commands._runs import run_of
from benchmark.services.snapshots import save_comparison_snapshot, save_run_snapshot


class Command(JsonCommand):
    help = (
        "Saves a snapshot of the report of a run, for members who may see results; with --against the comparison of "
        "one of its models with a model of that run."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("run", metavar="RUN", help="its id, as in the address of its page")
        parser.add_argument("--title", default="", metavar="TEXT")
        parser.add_argument("--against", metavar="RUN", help="the run of the other model; it may be the same run")
        add_choices(parser)

    def work(self, **options) -> dict:
        run = run_of(options["run"])
        if options["against"]:
            runs, keys, comparison = compared(run, run_of(options["against"]), options)
            snapshot = save_comparison_snapshot(
                by=None, project=run.project, runs=runs, keys=keys, comparison=comparison, title=options["title"]
            )
        elif idle := given(options, OF_COMPARING):
            raise ValueError(f"{flag(idle[0])} is for a comparison: name the other run with --against.")
        else:
            snapshot = save_run_snapshot(by=None, run=run, title=options["title"])
        return {
            "snapshot": snapshot.uid,
            "title": snapshot.title,
            "address": f"/p/{run.project.slug}/results/snapshots/{snapshot.uid}/",
        }
