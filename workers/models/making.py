from __future__ import annotations

from core.idempotency.record import IdempotencyRecord


class Making(IdempotencyRecord):
    """Buttons pressed on any page and any POST of the API that carried a key; `core` finds it by `IDEMPOTENCY_MODEL`."""
