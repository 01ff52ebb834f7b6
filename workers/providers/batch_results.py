"""Parts that the batch forms of all providers share: limits, errors of calls that charge nothing, and results read line
by line."""

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from core.messages import Sentence, gettext_noop
from workers.providers.contract import Completion, Stop
from workers.providers.errors import Again, BackendError, Lost, Rejected, Unreachable, Unreadable
from workers.providers.wire import text_of

TIMEOUT, UPLOAD_TIMEOUT = 60.0, 600.0
"""Seconds for one answer of the provider, and for handing a batch over."""
_CUSTOM_ID = re.compile(rb'"custom_id"\s*:\s*"([A-Za-z0-9_-]{1,64})"')

Result = tuple[str, Completion | BackendError]


def at_most(limit: int, requests: int, provider: str) -> None:
    """Raise Rejected for a batch of more than `limit` requests."""
    if requests > limit:
        raise Rejected(
            Sentence(
                "{provider} takes at most {limit} requests in one batch; this one has {requests}.",
                provider=provider,
                limit=f"{limit:,}",
                requests=f"{requests:,}",
            )
        )


def no_larger(limit: int, size: int, provider: str) -> None:
    """Raise Rejected for a batch of more than `limit` bytes."""
    if size > limit:
        raise Rejected(
            Sentence(
                "{provider} takes at most {limit} MB in one batch; this one has more.",
                provider=provider,
                limit=f"{limit / 1000000.0:,.0f}",
            )
        )


def id_of(batch: Any) -> str:
    """Return a batch's id. Raises Unreadable without one: the package passes on whatever came with status 200."""
    identity: str | None = getattr(batch, "id", None)
    if not identity:
        raise Unreadable(gettext_noop("The provider took the batch and answered with something that is not a batch."))
    return identity


def perhaps_submitted(error: BackendError) -> BackendError:
    """Return the error of a call that submits a batch: only `find` can say whether the batch was made."""
    unknown = error.again is Again.UNKNOWN
    return Lost(Sentence("The batch may have been taken. {error}", error=error), body=error.body) if unknown else error


@contextmanager
def reading(raised: type[Exception], translate: Callable[[Exception], BackendError]) -> Iterator[None]:
    """Translate the errors of calls that charge nothing: one whose answer was lost can be made again."""
    try:
        yield
    except (raised, BackendError) as error:
        translated = translate(error)
        if isinstance(translated, Lost):
            translated = Unreachable(str(translated), body=translated.body)
        raise translated from error
    except (AttributeError, TypeError) as error:
        # The package passes on whatever came with status 200, as text if need be.
        raise Unreadable(
            Sentence("The provider's answer is not what its protocol says: {error}", error=error)
        ) from error


async def split_lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the lines that are not empty; unlike the packages', not split at U+2028, which JSON may contain."""
    rest = bytearray()
    try:
        async for chunk in chunks:
            *whole, last = chunk.split(b"\n")
            for line in whole:
                rest += line
                if rest.strip():
                    yield bytes(rest)
                rest.clear()
            rest += last
    except Unreadable:
        raise
    except Exception as error:  # the packages' HTTP client, whose classes are its own
        raise Unreachable(
            Sentence("The results broke off ({name}); they can be read again.", name=type(error).__name__)
        ) from error
    if rest.strip():
        yield bytes(rest)


def parse_line(line: bytes, result: Callable[[dict[str, Any]], Completion | BackendError]) -> Result:
    """Read one line of results; `result` reads its object and may raise. An error keeps the line as its body."""
    custom_id = ""
    try:
        row = json.loads(line.decode("utf-8-sig"))
        custom_id = str(row["custom_id"])
        outcome = result(row)
        if isinstance(outcome, Completion) and outcome.stop is Stop.OTHER:
            outcome = replace(outcome, body=text_of(line))
        return custom_id, outcome
    except BackendError as error:
        error.body = error.body or text_of(line)
        return custom_id, error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        problem = Sentence(
            "A line of the results cannot be read: {error}; it has {line} bytes.",
            error=str(error)[:200],
            line=len(line),
        )
        # Inside an answer's text the quotes are escaped, so an answer cannot pass for another request.
        if not custom_id and (found := _CUSTOM_ID.search(line)):
            custom_id = found[1].decode()
        return custom_id, Unreadable(problem, body=text_of(line))
