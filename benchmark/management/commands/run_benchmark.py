from __future__ import annotations

import time

from django.utils import timezone

from annotation.domain.labelling import LEVELS
from annotation.management.commands._scope import check_scope
from annotation.management.json_command import JsonCommand
from annotation.models import Project
from benchmark.models import Form, Run, Stage
from benchmark.services.datasets import freeze
from benchmark.services.plans import Plan
from benchmark.services.reports import report_of, scores_of
from benchmark.services.runs import SUITE, start_run
from workers.management.bar import JobBar
from workers.models import Endpoint
from workers.services.jobs import progress_of
from workers.services.waiting import see_through

ALL = "all"


class Command(JsonCommand):
    help = "Evaluates models against a project's gold, frozen as it is now; with --wait sees it through and prints the scores."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--suite", required=True, choices=[SUITE])
        parser.add_argument(
            "--stage", required=True, action="append", choices=[*Stage.values, ALL], help="May be given several times."
        )
        parser.add_argument(
            "--endpoint", required=True, action="append", metavar="NAME", help="May be given several times."
        )
        parser.add_argument("--judge", metavar="NAME", help="The endpoint that judges extractions.")
        parser.add_argument("--level", type=int, choices=LEVELS, default=3)
        parser.add_argument("--form", choices=Form.values, default=Form.TEXT)
        parser.add_argument("--split", default="", metavar="NAME")
        parser.add_argument("--category", default="", metavar="NAME")
        parser.add_argument("--limit", type=int, default=0, metavar="N", help="The first N stories; 0 takes all.")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--wait", action="store_true")

    def work(self, **options) -> dict:
        project = self.project(options["project"])
        check_scope(project, split=options["split"], category=options["category"])
        if options["limit"] < 0:
            raise ValueError(f"--limit is {options['limit']}; expected 0 or more stories.")
        run = start_run(by=None, plan=_plan(project, options), now=timezone.now())
        if options["wait"]:
            _see_through(run)
        return _told(run, scores=options["wait"])


def _plan(project: Project, options: dict) -> Plan:
    chosen = set(options["stage"])
    stages = [stage for stage in Stage.values if ALL in chosen or stage in chosen]
    endpoints = [_endpoint(name) for name in dict.fromkeys(options["endpoint"])]
    if options["judge"] and Stage.EXTRACT in stages and Stage.JUDGE not in stages:
        stages.append(Stage.JUDGE)  # a judge without something to judge would be a mistake
    own = {"level": options["level"], "form": options["form"]}
    source = None
    if Stage.JUDGE in stages and Stage.EXTRACT not in stages:
        source = _extracted(project, endpoints)
    return Plan(
        dataset=source.dataset if source else freeze(by=None, project=project)[0],
        endpoints=endpoints,
        stages=stages,
        judge=_endpoint(options["judge"]) if options["judge"] else None,
        source=source,
        **{name: options[name] for name in ("split", "category", "limit", "seed")},
        **({"level": source.level, "form": source.form, "prompt_set": source.prompt_set} if source else own),
    )


def _endpoint(name: str) -> Endpoint:
    endpoint = Endpoint.objects.filter(name=name).first()
    if endpoint is None:
        known = ", ".join(Endpoint.objects.values_list("name", flat=True)) or "none"
        raise ValueError(f"There is no endpoint {name!r}; there are: {known}.")
    return endpoint


def _extracted(project: Project, endpoints: list[Endpoint]) -> Run:
    """The newest run with extractions of all of these models."""
    runs = Run.objects.filter(project=project, source=None).order_by("-id")
    for run in runs:
        held = set(run.entrants.values_list("endpoint_id", flat=True))
        if Stage.EXTRACT in run.stages and held >= {one.pk for one in endpoints}:
            return run
    names = ", ".join(one.name for one in endpoints)
    raise ValueError(f"No run of {project.slug} has extractions of {names}; add --stage extract.")


def _see_through(run: Run) -> None:
    bar = JobBar(run.job, time.monotonic)
    try:
        see_through(job=run.job, on_look=bar.refresh)
    finally:
        bar.close()
    report_of(run)


def _told(run: Run, *, scores: bool) -> dict:
    run.job.refresh_from_db()
    done = progress_of(run.job)
    told = {
        "run": run.uid,
        "state": run.job.state,
        "items": {"done": done.done, "failed": done.failed, "unusable": done.unusable},
        "calls": {"made": done.made, "reused": done.reused},
        "tokens": {"input": done.input_tokens, "output": done.output_tokens},
        "cost": float(done.cost),
    }
    return told | {"scores": scores_of(run)} if scores else told
