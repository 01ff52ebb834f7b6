"""Everything that can go wrong in a call, translated once, with whether trying again can help.

BackendError
├── Rejected        the provider will never take this request                           never again
│   └── Forbidden   the key is missing, wrong or not allowed                            never again
├── Throttled       too many requests; `retry_after` seconds where the provider said so  again later
├── Overloaded      the provider failed and charged nothing                             again later
├── Unreachable     no connection: the request never left                               again later
├── Lost            sent, and no answer known: it may have been paid                    outcome unknown
└── Unreadable      an answer came that cannot be read: it was probably paid            outcome unknown
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Again(StrEnum):
    """Whether the same call may be sent again: never, later, or only as often as the policy for unknown outcomes allows."""

    NEVER = "never"
    LATER = "later"
    UNKNOWN = "unknown"


class BackendError(Exception):
    """`str()` is one sentence for people; `status` is the HTTP status or None; `headers` the ones that matter."""

    again = Again.NEVER

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.headers = dict(headers or {})


class Rejected(BackendError):
    pass


class Forbidden(Rejected):
    pass


class Throttled(BackendError):
    again = Again.LATER


class Overloaded(BackendError):
    again = Again.LATER


class Unreachable(BackendError):
    again = Again.LATER


class Lost(BackendError):
    again = Again.UNKNOWN


class Unreadable(BackendError):
    again = Again.UNKNOWN
