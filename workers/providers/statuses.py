"""The meaning of a provider's errors: the same rules for every provider, for responses and for lines of a batch."""

import html
import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Protocol

from core.incoming.shapes import Open
from core.messages import Sentence, gettext_noop
from workers.providers.addresses import host_of
from workers.providers.errors import (
    BackendError,
    Filtered,
    Forbidden,
    Lost,
    OutOfQuota,
    Overloaded,
    Rejected,
    Throttled,
    UnknownModel,
    Unreadable,
    WrongAddress,
)
from workers.providers.headers import retry_after
from workers.providers.parsing import Inside
from workers.providers.wire import text_of

_FILTER = re.compile(r"content_?filter|content_?policy|responsibleai|moderation_blocked|data_inspection_failed", re.I)
_QUOTA = re.compile(
    r"insufficient_quota|billing_(hard_limit|error|not_active)|insufficient_(balance|credits?)|"
    r"credit balance is too low|reached your specified api usage limits|exceeded your current quota, please "
    r"check your plan and billing",
    re.I,
)
_MODEL = re.compile(
    r"model_not_(found|available|exist)|invalid[_ ]model|deploymentnotfound|not a valid model|"
    r"\bmodel\b(?:[^.]|\.(?=\S)){0,200}?\b(not found|(does )?not exist)|unknown model|^model: ",
    re.I,
)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.I | re.S)
_MESSAGE_LENGTH = 500
PERHAPS_PAID = {408, 502, 504, 520, 524}
"""Statuses under which a model may have answered although no answer arrived (see `of_status`)."""


class Answer(Protocol):
    """An HTTP response as both packages have it."""

    @property
    def status_code(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def content(self) -> bytes: ...


def of_response(answer: Answer) -> BackendError:
    """Return a response that is not a success as an error."""
    try:
        payload = json.loads(answer.content)
    except (ValueError, RecursionError):
        payload = None
    return of_status(answer.status_code, payload, text_of(answer.content), answer.headers)


def of_status(status: int, payload: Any, text: str, headers: Mapping[str, str]) -> BackendError:
    """Return an HTTP status as an error. `payload` is the body as JSON or None, `text` the body."""
    message = Sentence(
        "HTTP {status}: {payload}", status=status, payload=message_of(payload, text)[:_MESSAGE_LENGTH]
    ).rstrip(": ")
    common: dict[str, Any] = {"status": status, "headers": headers, "body": text}
    names = _names(payload)
    if 300 <= status < 400:
        return Rejected(Sentence("HTTP {status}: {headers}", status=status, headers=_redirected(headers)), **common)
    if (named := _by_name(status, payload, names)) is not None:
        return named(
            Sentence("Refused by the provider: {message}", message=message) if named is Filtered else message, **common
        )
    if status == 429:
        return Throttled(message, retry_after=retry_after(headers), **common)
    if status in (401, 403):
        return Forbidden(message, **common)
    if status in (404, 405):
        return WrongAddress(message, **common)
    if status in (408, 409) or status >= 500:
        # Can it have been paid? 504 and 524 come from a proxy that stopped waiting for a model at work; Azure charges
        # for a 408. 502 and 520 say that an answer did not get through: where the body is the provider's own error, it
        # failed itself and charges nothing; any other body is a proxy's, which cannot know. 500, 503 and 529 are
        # refusals before the work, or the provider's own failure.
        failed_itself = status in (502, 520) and error_of(payload)
        kind = Lost if status in PERHAPS_PAID and not failed_itself else Overloaded
        return kind(message, retry_after=retry_after(headers), **common)
    return Rejected(message, **common)


def of_error_in_answer(payload: Mapping[str, Any]) -> BackendError:
    """Return the error that came with status 200; gateways send it when a paid model broke off."""
    message = message_of(payload, "")[:_MESSAGE_LENGTH]
    code = error.code if (error := error_of(payload)) else None
    status = code if isinstance(code, int) else 200
    named = _by_name(status, payload, _names(payload))
    if named is Filtered:
        return Filtered(Sentence("Refused by the provider: {message}", message=message))
    message = Sentence("The provider answered with an error: {message}", message=message)
    return (named or Unreadable)(message)


def _by_name(status: int, payload: Any, names: str) -> type[BackendError] | None:
    """Return the kind of an error that the provider names, under whatever status; None without a known name."""
    error = error_of(payload)
    # OpenRouter's moderation refuses an input with HTTP 403.
    is_flagged = error is not None and "flagged_input" in error.metadata.model_fields_set
    if _FILTER.search(names) or is_flagged:
        return Filtered
    if status == 402 or _QUOTA.search(names):
        return OutOfQuota
    model = _MODEL.search(names) or (status == 404 and re.search(r"\b(model|deployment)\b", names, re.I))
    return UnknownModel if model and status in (200, 400, 404, 422) else None


def _names(payload: Any) -> str:
    """Return the names and messages of an error, wherever the provider puts them."""
    error = error_of(payload)
    if not error:
        detail = payload.get("detail") if isinstance(payload, dict) else None
        return detail if isinstance(detail, str) else ""
    words = [word for part in (error, error.innererror) for word in (part.message, part.code, part.type)]
    return "\n".join(str(word) for word in words if word)


class _Words(Open):
    """The message of an error and its names, of whatever type the provider makes them."""

    message: Any = None
    code: Any = None
    type: Any = None


class _About(Open):
    """Details that a router adds: the text that its moderation refused."""

    flagged_input: Any = None


class ProviderError(_Words):
    """An error as a provider says it; Azure names the reason in an inner one."""

    innererror: Annotated[_Words, Inside] = _Words()
    metadata: Annotated[_About, Inside] = _About()


def error_of(payload: Any) -> ProviderError | None:
    """Return the error of a body, with a message alone where it is not an object, None where there is none."""
    if isinstance(payload, list) and len(payload) == 1:  # Gemini's way
        payload = payload[0]
    if not isinstance(payload, dict):
        return None
    inner = payload.get("error")
    if isinstance(inner, dict) and inner:
        return ProviderError.of(inner)
    if inner:
        named = inner if isinstance(inner, str) else payload.get("message") or json.dumps(inner, ensure_ascii=False)
        return ProviderError(message=named)
    if "error" in (payload.get("object"), payload.get("type")):
        return ProviderError.of({"message": gettext_noop("without a word which")} | payload)
    is_error = "message" in payload and "code" in payload and "choices" not in payload
    return ProviderError.of(payload) if is_error else None


def message_of(payload: Any, text: str) -> str:
    """Return the message of the provider's error in one line; for a web page its title."""
    error = error_of(payload)
    parts = [str(word) for word in (error.message, error.code) if word] if error else []
    if not parts and text.lstrip()[:1] == "<":
        title = _TITLE.search(text)
        parts = [
            Sentence("a web page, “{unescape}”", unescape=html.unescape(title.group(1)))
            if title
            else gettext_noop("a web page")
        ]
    return " ".join(" ".join(parts or [str(text)]).split())


def _redirected(headers: Mapping[str, str]) -> str:
    host = host_of(headers.get("location") or "")
    to = (
        Sentence("sends on to another address ({host})", host=host[:100])
        if host
        else gettext_noop("sends on to another address")
    )
    return Sentence("The server {to}, which is not followed; register the address that answers itself.", to=to)
