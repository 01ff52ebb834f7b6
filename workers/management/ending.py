"""What commands say of a job that they saw through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workers.models import Job, JobState
from workers.services.failures import Failures


def told_of(job: Job, failures: Failures | None) -> dict[str, Any]:
    """The state, and what failed: None where nothing did."""
    return {"state": job.standing, "failures": failures.as_json() if failures else None}


def said_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """What people read of a result: the failures are said in a sentence of their own."""
    return {name: value for name, value in result.items() if name != "failures"}


def note_end(job: Job, failures: Failures | None, what: str, tell: Callable[[str], None]) -> None:
    """Says why a job is paused, or what of it failed; `what` names it. A job that failed altogether is the command's last sentence."""
    if job.state == JobState.PAUSED:
        tell(f"The {what} is paused: {job.note or 'somebody paused it.'}")
    elif failures and not job.has_failed:
        tell(f"The {what} is {job.standing}: {failures}")


def failure_of(result: Mapping[str, Any], what: str) -> str:
    """The sentence with which a command ends with 1; empty where the job did not fail."""
    if result.get("state") != "failed":
        return ""
    return f"The {what} failed, no item got an answer: {Failures(**_fields(result['failures']))}"


def _fields(told: Mapping[str, Any]) -> dict[str, Any]:
    return {"count": told["count"], "total": told["of"], "sentence": told["commonest"], "times": told["times"]}
