"""Job handlers: what jobs ask, and what becomes of the answers. The apps above register theirs at start; nothing here
knows those apps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from workers.models import Call, Item, ItemState, Job
from workers.providers.contract import Request


@dataclass(frozen=True, slots=True)
class Received:
    """The result of an item: DONE, UNREADABLE or FAILED, with a sentence where it is not done."""

    state: ItemState = ItemState.DONE
    problem: str = ""


class JobHandler(Protocol):
    """Handler of the jobs of an app above. Every method but `prepare` is called in a transaction, and each may be
    called again after a crash."""

    def prepare(self, job: Job, stopped: Callable[[], bool]) -> None:
        """Make the items of a job that is preparing, in short transactions of its own, from where it was left, until
        all are there, it cannot be done, or `stopped`; others may do the same at the same time."""
        return None

    def ask(self, items: Sequence[Item]) -> Mapping[int, Request | str]:
        """Return by item id the request, or one sentence that says why it cannot be asked."""

    def receive(self, answered: Sequence[tuple[Item, Call]]) -> Mapping[int, Received]:
        """Take completed answers, and return by item id the result. Each item is committed exactly once."""

    def failed_before(self, job: Job) -> int:
        """Return how many failures the job took over from earlier work, which its own items do not count."""
        return 0

    def closed(self, job: Job, action: str = "") -> str:
        """Return one sentence where the action is not to be done to the job, or without one nothing at all, because
        what it was for is gone or put away; else ""."""
        return ""

    def cancelled(self, job: Job) -> None:
        """Called in the transaction that cancels the job, after its waiting items were."""
        return None

    def finished(self, job: Job) -> None:
        """Called when no item of the job is open any more."""
        return None


class HandlerUnknown(LookupError):
    """A kind of job that no app of this process registered, as one sentence."""


_HANDLERS: dict[str, JobHandler] = {}


def register(name: str, handler: JobHandler) -> None:
    """Register the handler of jobs whose `handler` is `name`."""
    _HANDLERS[name] = handler


def handler_of(name: str) -> JobHandler:
    """Return the handler of jobs whose `handler` is `name`. Raises HandlerUnknown where no app registered one."""
    if name not in _HANDLERS:
        raise HandlerUnknown(f"No app registered a handler for {name!r} jobs.")
    return _HANDLERS[name]


def closed(job: Job, action: str = "") -> str:
    """Return why an action is not to be done to a job, or without one nothing at all, in one sentence; empty where it
    can, and where no app knows the job."""
    handler = _HANDLERS.get(job.handler)
    return handler.closed(job, action) if handler else ""


def tell_cancelled(job: Job) -> None:
    """Tell the handler of a job, if an app knows it, that it was cancelled."""
    if handler := _HANDLERS.get(job.handler):
        handler.cancelled(job)
