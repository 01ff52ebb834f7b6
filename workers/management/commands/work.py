from __future__ import annotations

import time

from workers.management.bar import JobBar
from workers.management.json_command import JsonCommand
from workers.models import Job
from workers.services.drain import Drain
from workers.services.jobs import progress_of
from workers.services.waiting import see_through


class Command(JsonCommand):
    help = "Works off what waits, in this process, without a broker; with --job sees one job through and shows a bar."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--job", metavar="ID")

    def work(self, **options) -> dict:
        if not options["job"]:
            Drain().run()
            return {"open jobs": Job.objects.filter(state="running").count()}
        job = Job.objects.filter(uid=options["job"]).first()
        if job is None:
            raise ValueError(f"There is no job {options['job']!r}.")
        bar = JobBar(job, time.monotonic)
        try:
            see_through(job=job, on_look=bar.refresh)
        finally:
            bar.close()
        done = progress_of(job)
        return {"job": job.uid, "state": job.state, "done": done.done, "failed": done.failed, "unusable": done.unusable}
