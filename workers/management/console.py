"""A progress bar on the terminal for a running job."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

from django.utils.text import Truncator
from tqdm import tqdm

from core.plain import Json
from workers.domain.outcomes import OUTCOME_NAMES, Outcome
from workers.domain.pricing import Money
from workers.models import Endpoint, Job, JobState
from workers.services.progress import Shortfall, progress_of


def endpoint_named(name: str) -> Endpoint:
    """Return the endpoint of that name. Raises ValueError, which says what there is."""
    endpoint = Endpoint.objects.filter(name=name).first()
    if endpoint is None:
        names = ", ".join(Endpoint.objects.values_list("name", flat=True)) or "none"
        raise ValueError(f"There is no endpoint {name!r}; there are: {names}.")
    return endpoint


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


class JobBar:
    """A bar on standard error. `refresh` may be called often: it reads the job at most twice a second."""

    def __init__(self, job: Job, clock: Callable[[], float]) -> None:
        self.job, self.clock, self.looked_at = job, clock, 0.0
        title = Truncator(job.title).chars(30)  # which says that it goes on
        self.bar = tqdm(total=progress_of(job).total, file=sys.stderr, unit="item", dynamic_ncols=True, desc=title)

    def refresh(self, *, force: bool = False) -> None:
        if not force and self.clock() - self.looked_at < 0.5:
            return
        self.looked_at = self.clock()
        now = progress_of(self.job)
        self.bar.total = now.total
        self.bar.n = now.ended
        counts = {
            "in flight": now.in_flight,
            "failed": now.failed,
            "unreadable": now.unreadable,
            "cost": str(now.money),
        }
        self.bar.set_postfix(counts, refresh=True)

    def close(self) -> None:
        self.refresh(force=True)
        self.bar.close()
