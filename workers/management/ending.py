"""What commands say of a job that they ran to its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workers.domain.outcomes import OUTCOME_NAMES, Outcome
from workers.domain.pricing import Money
from workers.models import Job, JobState
from workers.services.failures import Failures, Shortfall, Unusable

_NOTHING = {
    OUTCOME_NAMES[Outcome.FAILED]: "failed, no item got an answer",
    OUTCOME_NAMES[Outcome.USELESS]: "came to nothing, no answer is usable",
}
"""The states with which a command ends with 1."""
_OF_MONEY = ("known_cost", "unpriced_calls")


def said_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """What people read of a result: money in words; what it lacks is said in a sentence of its own."""
    said = {name: value for name, value in result.items() if name not in ("failures", "unusable_answers", *_OF_MONEY)}
    if "cost" in said:
        said["cost"] = str(Money.of_json(result))
    return said


def note_end(job: Job, shortfall: Shortfall, what: str, tell: Callable[[str], None]) -> None:
    """Says why a job is paused, or what it lacks; `what` names it. Of a job that came to nothing that is the command's last sentence."""
    if job.state == JobState.PAUSED:
        tell(f"The {what} is paused: {job.note or 'somebody paused it.'}")
    elif shortfall and job.standing not in _NOTHING:
        tell(f"The {what} is {job.standing}: {shortfall}")


def failure_of(result: Mapping[str, Any], what: str) -> str:
    """The sentence with which a command ends with 1; empty where something came of the job."""
    if result.get("state") not in _NOTHING:
        return ""
    failures, unusable = result["failures"], result["unusable_answers"]
    shortfall = Shortfall(
        Failures(**_fields(failures)) if failures else None, Unusable(**_fields(unusable)) if unusable else None
    )
    return f"The {what} {_NOTHING[result['state']]}: {shortfall}"


def _fields(told: Mapping[str, Any]) -> dict[str, Any]:
    return {"count": told["count"], "total": told["of"], "sentence": told["commonest"], "times": told["times"]}
