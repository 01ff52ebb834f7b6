from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from annotation.management.json_command import JsonCommand
from annotation.models import Project
from benchmark.domain.provenance import Statements
from benchmark.management.commands._plans import options_given
from benchmark.management.commands._runs import run_summary, say_run
from benchmark.models import Dataset
from benchmark.services.launches import planned
from benchmark.services.made_elsewhere.files import READERS
from benchmark.services.made_elsewhere.importing import import_answers, importable, preview_of
from benchmark.suites.registry import suite_for, suite_of_gold, suites
from workers.services.run_to_end import run_to_end

MOST_LINES = 20
"""Rows of what does not fit that a terminal shows; --json has all."""


class Command(JsonCommand):
    help = (
        "Keeps answers that were made elsewhere as a run beside the others: the file of score_outputs, samples of "
        "lm-evaluation-harness (.jsonl) or a log of inspect_ai (.eval, .json). Answers are matched to samples by id, "
        "or by story and question; what does not match, is double or is missing is listed. The run has the samples "
        "that the files answer."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--suite", choices=list(suites()), help="that of the dataset if not given")
        parser.add_argument("--dataset", type=int, metavar="VERSION", help="the newest of the suite if not given")
        parser.add_argument(
            "--model", default="", metavar="NAME", help="the model that answered, where the file does not say"
        )
        parser.add_argument(
            "--format", default="", choices=["", *READERS], help="what the file looks like if not given"
        )
        parser.add_argument(
            "--step",
            default="",
            metavar="STEP",
            help="the step that is answered; the suite's answering step if not given",
        )
        parser.add_argument(
            "--repetitions",
            type=int,
            default=0,
            metavar="N",
            help="answers to each question; those of the file if not given",
        )
        parser.add_argument(
            "--option",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="a setting of the suite that answers are read by, or what its ids are of",
        )
        parser.add_argument("--split", default="", metavar="NAME")
        parser.add_argument("--category", default="", metavar="NAME")
        parser.add_argument("--limit", type=int, default=0, metavar="N", help="only the first N samples; 0 takes all")
        parser.add_argument("--title", default="", metavar="TEXT")
        parser.add_argument(
            "--whole", action="store_true", help="count the chosen samples that the files do not answer as missing"
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would be kept, and keep nothing")

    def work(self, **options: Any) -> dict[str, Any]:
        project = self.project(options["project"])
        dataset = _dataset(project, options)
        suite = suite_for(options["suite"] or dataset.suite or suite_of_gold().name, dataset.schema)
        own = suite.released.answer_ids.options if suite.released.answer_ids else ()
        given = options_given([*(setting.for_imports for setting in suite.settings), *own], options["option"])
        ids = {option.name: given[option.name] for option in own if option.name in given}
        plan = planned(
            suite,
            options,
            dataset=dataset,
            endpoints=[],
            steps=[step.key for step in importable(suite)],
            options={name: value for name, value in given.items() if name not in ids},
        )
        for path in options["files"]:
            if not path.exists():
                raise ValueError(f"There is no file {path}.")
        statements = Statements(options["model"], options["format"], options["step"], ids, options["whole"])
        preview = preview_of([(path, path.name) for path in options["files"]], plan, statements)
        summary = {"suite": suite.name, "dataset": dataset.version, **preview.summary}
        if options["dry_run"]:
            return {"run": None, **summary}
        run = import_answers(by=None, preview=preview, now=timezone.now())
        run_to_end(job=run.job)
        return run_summary(run, scores=True)[0] | summary

    def say(self, result: dict[str, Any]) -> None:
        lists = (("to no sample", "unmatched"), ("double", "double"), ("without an answer", "unanswered"))
        for what, rows in ((what, result[name]) for what, name in lists):
            for row in rows[:MOST_LINES]:
                self.note(f"{what}: {row['where']} {row['why']}")
            if left := len(rows) - MOST_LINES:
                self.note(f"{what}: {left:,} more") if left > 0 else None
        if result["missing"]:
            keys = ", ".join(result["missing"][:MOST_LINES]) + (" …" if len(result["missing"]) > MOST_LINES else "")
            self.note(f"missing: {result['missing_answers']:,} answers, to {keys}")
        if left := result["samples"] - result["taken"]:
            self.note(
                f"not part of the run: {left:,} of {result['samples']:,} samples, which are not answered (--whole "
                "counts them as missing)"
            )
        self.note("calls, tokens and price: imported, not known")
        listed = {"unmatched", "double", "missing", "unanswered"}
        unknown = {"facts", "calls", "tokens", "cost", "known_cost", "unpriced_calls"}
        counts = {name: len(result[name]) for name in ("unmatched", "double", "unanswered")}
        say_run(self, {name: value for name, value in result.items() if name not in listed | unknown} | counts)


def _dataset(project: Project, options: dict[str, Any]) -> Dataset:
    datasets = Dataset.objects.filter(project=project)
    if options["suite"]:
        datasets = datasets.asked_about_by(suite_for(options["suite"], project.schema))
    if options["dataset"] is not None:
        datasets = datasets.filter(version=options["dataset"])
    dataset = datasets.order_by("-version").first()
    if dataset is None:
        versions = (
            ", ".join(map(str, Dataset.objects.filter(project=project).values_list("version", flat=True))) or "none"
        )
        raise ValueError(f"{project.name} has no such dataset; its versions are {versions}.")
    return dataset
