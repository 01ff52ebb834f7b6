from workers.models.batch import Batch, BatchEntry, BatchState
from workers.models.call import COMPLETED, IN_FLIGHT, Attempt, Call, CallState, Closed, Unanswered
from workers.models.endpoint import Endpoint, EndpointRateLimit
from workers.models.item import IN_HAND, OPEN, Delivered, Failed, Item, ItemState, ToWait
from workers.models.job import Job, JobOutcome, JobState
from workers.models.making import Making
from workers.models.worker import Process, Worker, WorkerState

__all__ = [
    "COMPLETED",
    "IN_FLIGHT",
    "IN_HAND",
    "OPEN",
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
