"""What the buttons beside a job do."""

from __future__ import annotations

from django.http import Http404
from django.utils import timezone

from workers.models import Job
from workers.services import jobs


def steer(job: Job, action: str) -> None:
    """pause, resume, cancel or retry. Raises Http404 for anything else."""
    now = timezone.now()
    match action:
        case "pause":
            jobs.pause_job(job=job)
        case "resume":
            jobs.resume_job(job=job)
        case "cancel":
            jobs.cancel_job(job=job, now=now)
        case "retry":
            jobs.retry_failed(job=job, now=now)
        case _:
            raise Http404("There is no such action.")
