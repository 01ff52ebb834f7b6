from workers.models.batch import Batch, BatchEntry, BatchState
from workers.models.call import COMPLETED, GIVEN_UP, IN_FLIGHT, NOT_READ, Attempt, Call, CallState, Closed, Unanswered
from workers.models.endpoint import Endpoint, EndpointRateLimit
from workers.models.item import IN_HAND, OPEN, PARSED, UNSENT, Delivered, Failed, Item, ItemState, ToWait
from workers.models.job import CANCELLABLE, EXTENDABLE, PAUSABLE, RESUMABLE, UNENDED, Job, JobOutcome, JobState
from workers.models.making import Making
from workers.models.worker import Process, Worker, WorkerState

__all__ = [
    "CANCELLABLE",
    "COMPLETED",
    "EXTENDABLE",
    "GIVEN_UP",
    "IN_FLIGHT",
    "IN_HAND",
    "NOT_READ",
    "OPEN",
    "PARSED",
    "PAUSABLE",
    "RESUMABLE",
    "UNENDED",
    "UNSENT",
    "Attempt",
    "Batch",
    "BatchEntry",
    "BatchState",
    "Call",
    "CallState",
    "Closed",
    "Delivered",
    "Endpoint",
    "EndpointRateLimit",
    "Failed",
    "Item",
    "ItemState",
    "Job",
    "JobOutcome",
    "JobState",
    "Making",
    "Process",
    "ToWait",
    "Unanswered",
    "Worker",
    "WorkerState",
]
