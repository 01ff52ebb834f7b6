"""The last lines of commands that ran a job to its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.plain import Json
from workers.domain.outcomes import OUTCOME_NAMES, Outcome
from workers.domain.pricing import Money
from workers.models import Job, JobState
from workers.services.failures import Shortfall

_NOTHING = {
    OUTCOME_NAMES[Outcome.FAILED]: "failed, no item got an answer",
    OUTCOME_NAMES[Outcome.USELESS]: "came to nothing, no answer is readable",
}
"""The states with which a command exits with 1, in words."""
_OF_MONEY = ("known_cost", "unpriced_calls")


def printed_of(result: Mapping[str, Any]) -> Json:
    """Return what a person reads of a result that is ready for JSON: money in words, and no failures, which have a
    sentence of their own; of results within it the same."""
    left_out = ("failures", "unreadable_answers", *_OF_MONEY)
    printed = {name: _printed(value) for name, value in result.items() if name not in left_out}
    if "cost" in printed:
        printed["cost"] = str(Money.of_json(result))
    return printed


def _printed(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return printed_of(value) if "cost" in value else {name: _printed(each) for name, each in value.items()}


def note_end(job: Job, shortfall: Shortfall, what: str, tell: Callable[[str], None]) -> None:
    """Tell why a job is paused, or what it lacks; `what` names it. A job that came to nothing is the command's last
    sentence instead (`failure_of`)."""
    if job.state == JobState.PAUSED:
        tell(f"The {what} is paused: {job.note or 'somebody paused it.'}")
    elif shortfall and job.standing not in _NOTHING:
        tell(f"The {what} is {job.standing}: {shortfall}")


def failure_of(state: str, shortfall: Shortfall, what: str) -> str:
    """Return the sentence with which a command exits with 1; empty where something came of the job."""
    return f"The {what} {_NOTHING[state]}: {shortfall}" if state in _NOTHING else ""
