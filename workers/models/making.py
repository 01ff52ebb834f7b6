from core.idempotency import IdempotencyRecord


class Making(IdempotencyRecord):
    """The record of a button pressed, or of a POST of the API, that carried a one-time key; `core` finds this model by
    `IDEMPOTENCY_MODEL`."""
