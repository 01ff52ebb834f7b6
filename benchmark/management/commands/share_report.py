from __future__ import annotations

from annotation.management.json_command import JsonCommand
from benchmark.management.commands._comparing import OF_COMPARING, add_choices, compared
from benchmark.management.commands._flags import flag, given
from benchmark.management.commands._runs import run_of
from benchmark.services.shared_reports import freeze_comparison, freeze_run


class Command(JsonCommand):
    help = (
        "Keeps the report of a run as it is now, for members who may see results; with --against the comparison of "
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
            report = freeze_comparison(
                by=None, project=run.project, runs=runs, keys=keys, comparison=comparison, title=options["title"]
            )
        elif idle := given(options, OF_COMPARING):
            raise ValueError(f"{flag(idle[0])} is for a comparison: name the other run with --against.")
        else:
            report = freeze_run(by=None, run=run, title=options["title"])
        return {
            "report": report.uid,
            "title": report.title,
            "address": f"/p/{run.project.slug}/results/reports/{report.uid}/",
        }
