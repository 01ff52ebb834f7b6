from __future__ import annotations

import time

from django.utils import timezone

from annotation.domain.labelling import LEVELS
from annotation.management.commands._scope import check_scope
from annotation.management.json_command import JsonCommand
from annotation.services.prefill import start_prefill
from workers.management.bar import JobBar
from workers.models import Endpoint
from workers.services.jobs import progress_of
from workers.services.waiting import see_through


class Command(JsonCommand):
    help = "Has a model suggest labels for the stories of a project; with --wait sees it through."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--endpoint", required=True, metavar="NAME")
        parser.add_argument("--level", type=int, choices=LEVELS, default=3)
        parser.add_argument("--split", metavar="NAME")
        parser.add_argument("--category", metavar="NAME")
        parser.add_argument("--limit", type=int, metavar="N")
        parser.add_argument("--wait", action="store_true")

    def work(self, **options) -> dict:
        project = self.project(options["project"])
        endpoint = Endpoint.objects.filter(name=options["endpoint"]).first()
        if endpoint is None:
            known = ", ".join(Endpoint.objects.values_list("name", flat=True)) or "none"
            raise ValueError(f"There is no endpoint {options['endpoint']!r}; there are: {known}.")
        check_scope(project, split=options["split"], category=options["category"])
        stories = project.stories.in_split(options["split"]).in_category(options["category"])
        chosen = list(stories.select_related("project", "category").order_by("number")[: options["limit"]])
        made = start_prefill(
            by=None, project=project, endpoint=endpoint, stories=chosen, level=options["level"], now=timezone.now()
        )
        if options["wait"]:
            bar = JobBar(made.job, time.monotonic)
            try:
                see_through(job=made.job, on_look=bar.refresh)
            finally:
                bar.close()
        done = progress_of(made.job)
        return {
            "round": made.uid,
            "state": made.job.state,
            "items": {"done": done.done, "failed": done.failed, "unusable": done.unusable},
            "calls": {"made": done.made, "reused": done.reused},
            "tokens": {"input": done.input_tokens, "output": done.output_tokens},
            "cost": float(done.cost),
        }
