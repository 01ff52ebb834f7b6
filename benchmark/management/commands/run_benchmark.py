from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.domain.labelling import LEVELS
from annotation.management.commands._money import dollars
from annotation.management.commands._scope import check_scope
from annotation.management.json_command import JsonCommand
from annotation.models import Project
from benchmark.management.commands._runs import (
    check_examples,
    endpoint_named,
    flag,
    given,
    say_before,
    seen_through,
    told,
)
from benchmark.management.commands._scores import say_run
from benchmark.management.commands._suite_plans import suite_plan, version_of
from benchmark.models import LAUNCHED, Dataset, Form, Run, Stage
from benchmark.services.asking import reads_prompts
from benchmark.services.datasets import freeze
from benchmark.services.estimates import parts_of
from benchmark.services.plans import Plan, check
from benchmark.services.runs import start_run
from benchmark.suites.omnitom.prompting.choosing import SOURCES
from benchmark.suites.registry import suite_named, suites
from workers.management.ending import failure_of
from workers.models import Endpoint

ALL = "all"
OF_JUDGING = ("judge", "judge_level", "shots", "without_story", "no_self_test")
OF_ASKING = ("examples",)
OF_THE_SOURCE = ("level", "form", "prompt_set")
"""What a judge alone takes from the run whose extractions it judges; given, they choose that run."""


class Command(JsonCommand):
    help = (
        "Evaluates models against a project's gold, frozen as it is now unless --dataset names a version; a judge alone judges "
        "the newest extractions of the models that fit what is given. With --wait it sees the run through and prints the scores."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--suite", required=True, choices=list(suites()))
        parser.add_argument(
            "--stage",
            action="append",
            choices=list(
                dict.fromkeys([*(one.key for suite in suites().values() for one in suite.steps if one.chosen), ALL])
            ),
            help="May be given several times; a suite with one stage needs none.",
        )
        parser.add_argument(
            "--endpoint", required=True, action="append", metavar="NAME", help="May be given several times."
        )
        parser.add_argument("--level", type=int, choices=LEVELS, help="of extraction and labelling; 3 if not given")
        parser.add_argument("--form", choices=Form.values, help="text if not given")
        parser.add_argument("--prompt-set", metavar="NAME", help="the built-in set if not given")
        parser.add_argument("--examples", type=int, metavar="N", help="0 to 3, at level 4; 1 if not given")
        parser.add_argument("--examples-from", choices=list(SOURCES), help="sample if not given")
        parser.add_argument("--judge", metavar="NAME", help="the endpoint that judges extractions")
        parser.add_argument("--judge-level", type=int, choices=LEVELS, help="4 if not given")
        parser.add_argument(
            "--shots", type=int, metavar="N", help="the judge's examples: 0 to 3, at level 4; 3 if not given"
        )
        parser.add_argument(
            "--no-self-test", action="store_true", help="a judge that was not tested yet is not tested now either"
        )
        parser.add_argument("--without-story", action="store_true", help="the judge is not shown the story")
        parser.add_argument(
            "--dataset", type=int, metavar="VERSION", help="a frozen version instead of the present gold"
        )
        told = [f"{name}: {one.name}={one.default}" for name, suite in suites().items() for one in suite.settings]
        parser.add_argument(
            "--option", action="append", default=[], metavar="NAME=VALUE", help="; ".join(told) or "none so far"
        )
        parser.add_argument(
            "--repetitions", type=int, metavar="N", help="times everything is asked; the suite's own if not given"
        )
        parser.add_argument("--temperature", type=float, metavar="T", help="the suite's own if not given")
        parser.add_argument("--split", default="", metavar="NAME")
        parser.add_argument("--category", default="", metavar="NAME")
        parser.add_argument("--limit", type=int, default=0, metavar="N", help="the first N stories; 0 takes all")
        parser.add_argument("--max-tokens", type=int, metavar="N", help="of an answer; 6000 if not given")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--budget", metavar="USD", help="a hard cap: no call is made that could exceed it")
        parser.add_argument("--batch", action="store_true", help="as a batch, at the provider's lower price")
        parser.add_argument("--title", default="", metavar="TEXT")
        parser.add_argument("--wait", action="store_true")

    def work(self, **options) -> dict:
        project, suite = self.project(options["project"]), suite_named(options["suite"])
        if suite.load is None:
            check_scope(project, split=options["split"], category=options["category"])
        if options["limit"] < 0:
            raise ValueError(f"--limit is {options['limit']}; expected 0 or more {suite.noun[1]}.")
        with transaction.atomic():  # what is refused freezes nothing
            plan = _plan(project, options) if suite.protocol else suite_plan(project, suite, options)
            stories = check(plan)
            say_before(parts_of(plan, stories), plan, stories, self.note)
            run = start_run(by=None, plan=plan, now=timezone.now())
        if options["wait"]:
            seen_through(run, self.note)
        return told(run, scores=options["wait"])

    def say(self, result: dict) -> None:
        say_run(self, result)

    def failure(self, result: dict) -> str:
        return failure_of(result, "run")


def _plan(project: Project, options: dict[str, Any]) -> Plan:
    if not options["stage"]:
        raise ValueError(f"--stage is missing; expected some of {', '.join(map(str, LAUNCHED))}, or {ALL}.")
    if options["option"]:
        raise ValueError("--option is for suites with settings of their own; OmniToM's are flags.")
    chosen = set(options["stage"])
    stages = [stage for stage in LAUNCHED if ALL in chosen or stage in chosen]
    endpoints = [endpoint_named(name) for name in dict.fromkeys(options["endpoint"])]
    if options["judge"] and Stage.EXTRACT in stages and Stage.JUDGE not in stages:
        stages.append(Stage.JUDGE)  # a judge without something to judge would be a mistake
    judge = endpoint_named(options["judge"]) if options["judge"] else None
    _check_uses(options, stages, judge)
    dataset = version_of(project, options["dataset"]) if options["dataset"] is not None else None
    source = None
    if stages != [Stage.JUDGE] and dataset is None:
        dataset = freeze(by=None, project=project)[0]
    if Stage.JUDGE in stages and Stage.EXTRACT not in stages:
        source = _extracted(project, endpoints, dataset, options)
    plan = Plan(
        dataset=source.dataset if source else dataset, endpoints=endpoints, stages=stages, judge=judge, source=source,
        budget=dollars(options["budget"]), with_story=not options["without_story"],
        self_test=not options["no_self_test"], **_fields(options, source),
        repetitions=1 if options["repetitions"] is None else options["repetitions"],
        **{name: options[name] for name in ("split", "category", "limit", "seed", "batch", "title", "temperature")},
    )  # fmt: skip
    check_examples(options["examples"], "examples", plan.level, "level")
    check_examples(options["shots"], "shots", plan.judge_level, "judge's level")
    return plan


def _fields(options: dict[str, Any], source: Run | None) -> dict[str, Any]:
    """Fields of the plan that were given; of a source those that its extractions were made with."""
    names = (*OF_THE_SOURCE, "examples", "examples_from", "judge_level", "shots", "max_tokens")
    held = {name: getattr(source, name) for name in OF_THE_SOURCE} if source else {}
    return held | {name: options[name] for name in names if options[name] is not None}


def _check_uses(options: dict[str, Any], stages: Sequence[str], judge: Endpoint | None) -> None:
    """Raises ValueError for an option that no chosen stage has a use for."""
    named = ", ".join(stages)
    if Stage.JUDGE not in stages and (idle := given(options, OF_JUDGING)):
        raise ValueError(
            f"{flag(idle[0])} is for judging, and the stages are {named}: leave it out, or add --stage judge."
        )
    if judge is not None and not reads_prompts(judge) and (idle := given(options, OF_JUDGING[1:4])):
        raise ValueError(f"{flag(idle[0])} is of no use: {judge.name} is a baseline that reads the two tables alone.")
    if list(stages) == [Stage.JUDGE] and (idle := given(options, OF_ASKING)):
        raise ValueError(f"{flag(idle[0])} is for extraction and labelling, and the stages are {named}: leave it out.")


def _extracted(project: Project, endpoints: list[Endpoint], dataset: Dataset | None, options: dict[str, Any]) -> Run:
    """The newest run with extractions of all of these models that fits what is given."""
    wanted = {name: options[name] for name in OF_THE_SOURCE if options[name] is not None}
    runs = Run.objects.filter(project=project, source=None, **wanted).order_by("-id")
    if dataset is not None:
        runs = runs.filter(dataset=dataset)
    for run in runs:
        held = set(run.entrants.values_list("endpoint_id", flat=True))
        if Stage.EXTRACT in run.stages and held >= {one.pk for one in endpoints}:
            return run
    names = ", ".join(one.name for one in endpoints)
    of = [f"version {dataset.version} of the dataset"] if dataset is not None else []
    of += [f"{name.replace('_', ' ')} {value}" for name, value in wanted.items()]
    told_of = f" with {', '.join(of)}" if of else ""
    raise ValueError(f"No run of {project.slug} has extractions of {names}{told_of}; add --stage extract.")
