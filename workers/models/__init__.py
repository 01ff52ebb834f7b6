from core.idempotency import IdempotencyRecord
from workers.models.batch import Batch, BatchEntry, BatchState
from workers.models.call import COMPLETED, GIVEN_UP, IN_FLIGHT, NOT_PARSED, Attempt, Call, CallState
from workers.models.endpoint import Endpoint, EndpointRateLimit
from workers.models.item import (
    CAME_BACK,
    IN_HAND,
    OPEN,
    PARSED,
    TO_SERVE,
    TROUBLED,
    UNSENT,
    WITHOUT_ANSWER,
    Item,
    ItemState,
)
from workers.models.job import CANCELLABLE, EXTENDABLE, PAUSABLE, RESUMABLE, UNENDED, Job, JobOutcome, JobState
from workers.models.worker import Process, Worker, WorkerState

__all__ = [
    "CAME_BACK",
    "CANCELLABLE",
    "COMPLETED",
    "EXTENDABLE",
    "GIVEN_UP",
    "IN_FLIGHT",
    "IN_HAND",
    "NOT_PARSED",
    "OPEN",
    "PARSED",
    "PAUSABLE",
    "RESUMABLE",
    "TO_SERVE",
    "TROUBLED",
    "UNENDED",
    "UNSENT",
    "WITHOUT_ANSWER",
    "Attempt",
    "Batch",
    "BatchEntry",
    "BatchState",
    "Call",
    "CallState",
    "Endpoint",
    "EndpointRateLimit",
    "Item",
    "ItemState",
    "Job",
    "JobOutcome",
    "JobState",
    "Making",
    "Process",
    "Worker",
    "WorkerState",
]


class Making(IdempotencyRecord):
    """The record of a button pressed, or of a POST of the API, that carried a one-time key; `core` finds this model by
    `IDEMPOTENCY_MODEL`."""
