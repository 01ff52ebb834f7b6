from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db import transaction
from django.utils import timezone

from annotation.management.commands._scope import check_scope
from annotation.management.json_command import JsonCommand
from benchmark.controls.chosen import CONTROLS
from benchmark.management.commands._plans import add_flags, settings_with_flags, suite_plans
from benchmark.management.commands._runs import RunSummary, finish_runs, run_summary, say_before, say_run
from benchmark.services.estimates import askings_of_plans
from benchmark.services.launches import start_runs
from benchmark.services.plans import method_of, methods_of
from benchmark.services.sweeps import sweep_of
from benchmark.suites.registry import suite_for, suites
from core.plain import Json, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Launched:
    """Several runs of one launch: by method, or by level with those of further judges."""

    methods: Mapping[str, RunSummary] = field(default_factory=dict)
    levels: Mapping[str, RunSummary] = field(default_factory=dict)
    judges: Mapping[str, RunSummary] = field(default_factory=dict)

    @property
    def by_name(self) -> dict[str, RunSummary]:
        """The runs as people tell them apart."""
        levels = {f"level {level}": summary for level, summary in self.levels.items()}
        return {**self.methods, **levels, **self.judges}

    def as_json(self) -> Json:
        """{methods}, or {levels[, judges]}."""
        runs = {"methods": self.methods, "levels": self.levels, "judges": self.judges}
        return {name: plain(summaries) for name, summaries in runs.items() if summaries}


class Command(JsonCommand):
    help = (
        "Evaluates models against a project's gold, published as it is now unless --dataset names a version; a judge "
        "alone judges the newest answers of the models that fit what is given. With --wait it sees the run "
        "through and prints the scores."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--suite", required=True, choices=list(suites()))
        steps = "; ".join(
            f"{name}: {', '.join(step.key for step in suite.launched)}" for name, suite in suites().items()
        )
        parser.add_argument(
            "--step", action="append", metavar="STEP",
            help="A step that is asked; may be given several times, or be all; a suite with one step needs none. "
            f"{steps}",
        )  # fmt: skip
        parser.add_argument(
            "--endpoint", required=True, action="append", metavar="NAME", help="May be given several times."
        )
        parser.add_argument("--judge", metavar="NAME", help="the endpoint that judges answers")
        add_flags(parser, settings_with_flags())
        parser.add_argument(
            "--dataset", type=int, metavar="VERSION", help="a published version instead of the present gold"
        )
        defaults = [
            f"{name}: {setting.name}={setting.default}"
            for name, suite in suites().items()
            for setting in suite.settings
            if not setting.flag
        ]
        parser.add_argument(
            "--option", action="append", default=[], metavar="NAME=VALUE", help="; ".join(defaults) or "none so far"
        )
        parser.add_argument(
            "--repetitions", type=int, metavar="N", help="times everything is asked; the suite's own if not given"
        )
        controls = ", ".join(CONTROLS)
        parser.add_argument(
            "--control", action="append", default=[], metavar="NAME",
            help=f"ask everything once more under this control, beside the run; may be given several times: {controls}",
        )  # fmt: skip
        methods = "; ".join(
            f"{name}: {', '.join(offered)}" for name, suite in suites().items() if (offered := methods_of(suite))
        )
        parser.add_argument(
            "--method",
            action="append",
            default=[],
            metavar="NAME",
            help=(
                f"ask by this method; given several times, each is a run of its own, and their reports compare "
                f"them. {methods}"
            ),
        )
        parser.add_argument(
            "--levels",
            nargs="+",
            type=int,
            default=[],
            metavar="N",
            help="sweep: ask at each of these prompt levels, a run each, which one table holds against each other",
        )
        parser.add_argument(
            "--judges", nargs="+", default=[], metavar="NAME",
            help="more judges of the answers of the last level, a run each, in the same launch",
        )  # fmt: skip
        parser.add_argument(
            "--judge-levels", nargs="+", type=int, default=[], metavar="N",
            help="sweep: each judge judges them at each of these levels of its prompt, a run each",
        )  # fmt: skip
        parser.add_argument("--temperature", type=float, metavar="T", help="the suite's own if not given")
        parser.add_argument("--split", default="", metavar="NAME")
        parser.add_argument("--category", default="", metavar="NAME")
        parser.add_argument("--limit", type=int, default=0, metavar="N", help="the first N samples; 0 takes all")
        parser.add_argument("--max-tokens", type=int, metavar="N", help="of an answer; the suite's own if not given")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--budget", metavar="USD", help="a hard cap: no call is made that could exceed it")
        parser.add_argument("--batch", action="store_true", help="as a batch, at the provider's lower price")
        parser.add_argument("--title", default="", metavar="TEXT")
        parser.add_argument("--wait", action="store_true")

    def work(self, **options) -> RunSummary | Launched:
        project = self.project(options["project"])
        suite = suite_for(options["suite"], project.schema)
        if suite.load is None:
            check_scope(project, split=options["split"], category=options["category"])
        with transaction.atomic():  # what is refused publishes nothing
            plans = suite_plans(project, suite, options)
            say_before(askings_of_plans(plans), self.note)
            runs = start_runs(by=None, plans=plans, now=timezone.now())
        for run in runs if options["wait"] else ():
            finish_runs(run, self.note)
        summaries = [run_summary(run, scores=options["wait"]) for run in runs]
        if len(runs) == 1:
            return summaries[0]
        own = len(sweep_of(runs[0]))
        judged = {run.title: summary for run, summary in zip(runs[own:], summaries[own:], strict=True)} if own else {}
        if options["levels"] or judged:
            levels = dict(zip((str(plan.options["level"]) for plan in plans), summaries[:own], strict=False))
            return Launched(levels=levels, judges=judged)
        return Launched(methods=dict(zip(map(method_of, plans), summaries, strict=True)))

    def say(self, result: RunSummary | Launched) -> None:
        for name, summary in _by_name(result).items():
            if name:
                self.stdout.write(f"\n{name}")
            say_run(self, summary.as_json())

    def failure(self, result: RunSummary | Launched) -> str:
        return next(filter(None, (summary.failure for summary in _by_name(result).values())), "")


def _by_name(result: RunSummary | Launched) -> dict[str, RunSummary]:
    """Return each run by its method, or by its level, under an empty name where there is one run."""
    return {"": result} if isinstance(result, RunSummary) else result.by_name
