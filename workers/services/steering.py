"""What the buttons beside a job do."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from django.http import Http404
from django.utils import timezone

from workers.models import Job, JobState
from workers.services import jobs
from workers.services.holding import holds_back

ACTIONS: dict[str, tuple[JobState, ...]] = {
    "pause": (JobState.RUNNING,),
    "resume": (JobState.PAUSED,),
    "retry": tuple(JobState),
    "cancel": (JobState.RUNNING, JobState.PAUSED),
}
"""What can be done to a job, and in which states: a running one is resumed, too, where it holds items back."""


def steer_strictly(job: Job, action: str, *, budget: str = "", what: str = "job") -> None:
    """`steer` for whom no page offers only the buttons that fit. Raises JobRefused, which calls the job `what`, also where nothing would
    change."""
    holds = action == "resume" and job.state == JobState.RUNNING and holds_back(job)
    if holds and budget:
        raise jobs.JobRefused(f"The {what} holds items back and goes on beside; a budget is for one that is paused.")
    if job.state not in ACTIONS[action] and not holds:
        expected = " or ".join(ACTIONS[action])
        raise jobs.JobRefused(f"The {what} is {job.standing}; expected {expected} to {action} it.")
    if told := steer(job, action, budget=budget):
        raise jobs.JobRefused(told)


def steer(job: Job, action: str, *, budget: str = "") -> str:
    """pause, resume, cancel or retry. Returns one sentence where it is refused, else "". Raises Http404 for anything else.

    `budget` is what somebody typed beside Resume: US dollars, empty for the budget that the job has.
    """
    now = timezone.now()
    match action:
        case "pause":
            jobs.pause_job(job=job)
        case "resume":
            return _resume(job, budget)
        case "cancel":
            jobs.cancel_job(job=job, now=now)
        case "retry":
            if job.state == JobState.CANCELLED:
                return "The job was cancelled, so its failed items are not asked again; start a new one instead."
            jobs.retry_failed(job=job, now=now)
        case _:
            raise Http404("There is no such action.")
    return ""


def _resume(job: Job, said: str) -> str:
    try:
        resume_with(job, read_budget(said))
    except jobs.JobRefused as refusal:
        return str(refusal)
    return ""


def resume_with(job: Job, budget: Decimal | None) -> None:
    """Goes on with a paused job, and with what a running one holds back. Raises JobRefused where the budget is too small to go on with."""
    if job.state == JobState.PAUSED:
        jobs.check_budget(job, budget)
        jobs.resume_job(job=job, budget=budget)
    elif job.state == JobState.RUNNING:
        jobs.resume_job(job=job)


def read_budget(said: str) -> Decimal | None:
    """None where nothing is said; what is no number becomes NaN, which `check_budget` refuses."""
    try:
        return Decimal(said.strip()) if said.strip() else None
    except InvalidOperation:
        return Decimal("NaN")
