from __future__ import annotations

from typing import Any

from annotation.management.json_command import JsonCommand
from benchmark.management.commands._runs import flag, given, run_of
from benchmark.models import Form, Run, SharedReport
from benchmark.services.comparisons import compare, pair_of
from benchmark.services.shared_reports import freeze_comparison, freeze_run
from benchmark.services.story_scores import READINGS

STAGES = {"extract": "stage1", "label": "stage2"}
OF_COMPARING = ("model", "other_model", "stage", "reading")


class Command(JsonCommand):
    help = (
        "Keeps the report of a run as it is now, for members who may see results; with --against the comparison of one of its "
        "models with a model of that run."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("run", metavar="RUN", help="its id, as in the address of its page")
        parser.add_argument("--title", default="", metavar="TEXT")
        parser.add_argument("--against", metavar="RUN", help="the run of the other model; it may be the same run")
        parser.add_argument("--model", metavar="NAME", help="of RUN, where it has several")
        parser.add_argument("--other-model", metavar="NAME", help="of the run after --against, where it has several")
        parser.add_argument("--stage", choices=list(STAGES), help="what is compared; extraction, if both have it")
        parser.add_argument("--reading", choices=READINGS, help="repaired if not given")

    def work(self, **options) -> dict:
        run = run_of(options["run"])
        if options["against"]:
            report = _compared(run, run_of(options["against"]), options)
        elif idle := given(options, OF_COMPARING):
            raise ValueError(f"{flag(idle[0])} is for a comparison: name the other run with --against.")
        else:
            report = freeze_run(by=None, run=run, title=options["title"])
        return {
            "report": report.uid,
            "title": report.title,
            "address": f"/p/{run.project.slug}/results/reports/{report.uid}/",
        }


def _compared(run: Run, other: Run, options: dict[str, Any]) -> SharedReport:
    if run.project_id != other.project_id:
        raise ValueError("The two runs are of different projects.")
    keys = [_key(run, options["model"], "model"), _key(other, options["other_model"], "other_model")]
    runs, entries = pair_of(run.project, *keys)
    stage = STAGES[options["stage"]] if options["stage"] else next(iter(entries))
    if stage not in entries:
        raise ValueError(f"The two have no scores of {options['stage']} in common.")
    reading = options["reading"] or "repaired"
    if reading == "official" and runs[0].form == Form.STRUCTURED:
        raise ValueError("Structured output has no official reading.")
    comparison = compare(entries[stage], stage, reading)
    return freeze_comparison(
        by=None, project=run.project, runs=runs, keys=keys, comparison=comparison, title=options["title"]
    )


def _key(run: Run, name: str | None, option: str) -> str:
    """As comparisons call a model of a run."""
    held = {one.name: one for one in run.entrants.all()}
    if name is None and len(held) == 1:
        name = next(iter(held))
    if name not in held:
        raise ValueError(f"Name a model of {run.uid} with {flag(option)}, one of: {', '.join(held)}.")
    return f"{run.uid}.{held[name].pk}"
