from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.utils import timezone

from annotation.management.json_command import JsonCommand, check_scope
from benchmark.controls.chosen import CONTROLS
from benchmark.management.commands._plans import add_flags, settings_with_flags, suite_plans
from benchmark.management.commands._runs import finish_runs, run_summary, say_before, say_run
from benchmark.services.estimates import askings_of_plans
from benchmark.services.launches import start_runs
from benchmark.services.plans import method_of, methods_of
from benchmark.services.runs import sweep_of
from benchmark.suites.registry import suite_for, suites
from core.plain import Json


class Command(JsonCommand):
    help = (
        "Evaluates models against a project's gold, published as it is now unless --dataset names a version; a judge "
        "alone judges the newest answers of the models that fit what is given. With --wait it sees the run "
        "through and prints the scores."
    )

    def add_arguments(self, parser: CommandParser) -> None:
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

    def work(self, **options: Any) -> Json:
        project = self.project(options["project"])
        suite = suite_for(options["suite"], project.schema)
        if suite.copied.load is None:
            check_scope(project, split=options["split"], category=options["category"])
        with transaction.atomic():  # what is refused publishes nothing
            plans = suite_plans(project, suite, options)
            say_before(askings_of_plans(plans), self.note)
            runs = start_runs(by=None, plans=plans, now=timezone.now())
        for run in runs if options["wait"] else ():
            finish_runs(run, self.note)
        summaries, failures = zip(*(run_summary(run, scores=options["wait"]) for run in runs), strict=True)
        self.failed = next(filter(None, failures), "")
        if len(runs) == 1:
            return summaries[0]
        own = len(sweep_of(runs[0]))
        judged = {run.title: summary for run, summary in zip(runs[own:], summaries[own:], strict=True)} if own else {}
        if not options["levels"] and not judged:
            return {"methods": dict(zip(map(method_of, plans), summaries, strict=True))}
        levels = dict(zip((str(plan.options["level"]) for plan in plans), summaries[:own], strict=False))
        return {"levels": levels} | ({"judges": judged} if judged else {})

    def say(self, result: Json) -> None:
        if "run" in result:
            return say_run(self, result)
        for group, runs in result.items():
            for name, summary in runs.items():
                self.stdout.write(f"\n{f'level {name}' if group == 'levels' else name}")
                say_run(self, summary)

    def failure(self, result: Json) -> str:
        return self.failed
