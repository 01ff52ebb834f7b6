"""Everything that can go wrong in a call, translated once, with whether trying again can help.

BackendError
├── Rejected          the provider will never take this request                              never again
│   ├── Forbidden     the key is missing, wrong or not allowed                               never again
│   ├── OutOfQuota    the account has no money or quota left                                 never again
│   ├── UnknownModel  the provider does not have the model                                   never again
│   ├── UnknownProvider  no provider of this name is registered here                        never again
│   ├── WrongAddress  a server answers, and nothing that models speak is at this path        never again
│   └── Filtered      the provider's content filter refuses to have it answered              never again
├── Throttled         too many requests; `retry_after` seconds where the provider said so     again later
├── Overloaded        the provider failed and charged nothing                                again later
├── Unreachable       no connection: the request never left                                  again later
├── Lost              sent, and no answer known: it may have been paid                       outcome unknown
└── Unreadable        an answer came that cannot be read: it was probably paid               outcome unknown
    ├── Streamed      it is an event stream, which nobody asked for                          outcome unknown
    └── TooLong       it is longer than what is read                                         outcome unknown
"""

from collections.abc import Mapping
from enum import StrEnum

from core.messages import gettext_noop
from workers.providers.redaction import redact


class Again(StrEnum):
    """Permission to send the same call again: never, later, or only as often as the policy for unknown outcomes
    allows."""

    NEVER = "never"
    LATER = "later"
    UNKNOWN = "unknown"


class BackendError(Exception):
    """`str()` is one sentence for people; `status` is the HTTP status or None; `headers` those of the answer, in lower
    case; `body` is what was read of it. No key is in any of them.

    `kind` is what tables call it. `advice` says what a person has to do before any call to the endpoint can succeed; it
    is empty where the error concerns one call.
    """

    again = Again.NEVER
    kind = ""
    advice = ""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
        body: str = "",
    ) -> None:
        super().__init__(redact(message))
        self.status = status
        self.retry_after = retry_after
        self.headers = {name.lower(): value for name, value in (headers or {}).items()}
        self.body = body

    def __init_subclass__(cls) -> None:
        cls.kind = cls.__dict__.get("kind") or cls.__name__.lower()


class Rejected(BackendError):
    """One request is refused. If the first requests of a job are all refused in the same words, a setting is wrong."""


class Forbidden(Rejected):
    advice = gettext_noop(
        "The key is not accepted: set the right one where the workers run, start them anew, then resume."
    )


class OutOfQuota(Rejected):
    kind = gettext_noop("out of quota")
    advice = gettext_noop("The provider says that the quota is exhausted: top it up, then resume.")


class UnknownModel(Rejected):
    kind = gettext_noop("unknown model")
    advice = gettext_noop("The provider does not know this model: correct its name on the model's page, then resume.")


class UnknownProvider(Rejected):
    kind = gettext_noop("unknown provider")
    advice = gettext_noop(
        "The provider of this model is not registered here any more: switch the model off, or bring the provider "
        "back, then resume."
    )


class WrongAddress(Rejected):
    kind = gettext_noop("wrong address")
    advice = gettext_noop("No model answers at this address: correct it on the model's page, then resume.")


class Filtered(Rejected):
    kind = "refused"


class Throttled(BackendError):
    again = Again.LATER


class Overloaded(BackendError):
    again = Again.LATER


class Unreachable(BackendError):
    again = Again.LATER
    advice = gettext_noop(
        "The server cannot be reached: start it, or correct the address on the model's page, then resume."
    )


class Lost(BackendError):
    again = Again.UNKNOWN


class Unreadable(BackendError):
    again = Again.UNKNOWN


class Streamed(Unreadable):
    advice = gettext_noop(
        "The server streams its answers: have it, or the gateway before it, answer whole, then resume."
    )


class TooLong(Unreadable):
    pass
