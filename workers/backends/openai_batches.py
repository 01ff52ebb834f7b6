"""OpenAI's batch form: a file of requests, answered within 24 hours at half the price.

What the provider says of it: https://platform.openai.com/docs/guides/batch. Reading the results of both providers, line by
line, is here too.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import IO, Any

import openai

from workers.backends.contract import BatchStatus, Body, Completion, Stop
from workers.backends.errors import Again, BackendError, Lost, Overloaded, Rejected, Unreachable, Unreadable
from workers.backends.openai import completion_of, translate
from workers.backends.options import whole
from workers.backends.statuses import of_error_in_answer, of_status
from workers.backends.wire import BY_LINE, text_of

MAX_REQUESTS = 50_000
MAX_BYTES = 200_000_000
PAGE = 100
SEARCHED = timedelta(days=30)
"""How far back `find` looks. A batch runs for a day; its files are kept for thirty."""
TIMEOUT, UPLOAD_TIMEOUT = 60.0, 600.0
_CUSTOM_ID = re.compile(rb'"custom_id"\s*:\s*"([A-Za-z0-9_-]{1,64})"')

Result = tuple[str, Completion | BackendError]


class OpenAIBatches:
    """`timeout` in seconds for one answer, or for one piece of a file.

    A batch carries its uid as metadata. A file that was uploaded for a batch that never came to be costs nothing.
    """

    def __init__(self, client: openai.AsyncOpenAI, *, timeout: float = TIMEOUT) -> None:
        self.client, self.timeout = client, timeout

    async def submit(self, uid: str, bodies: Sequence[tuple[str, Body]]) -> str:
        """Raises Rejected above 50,000 requests or 200 MB, Lost where the batch may or may not have been made."""
        at_most(MAX_REQUESTS, len(bodies), "OpenAI")
        file_id = await self._upload(uid, bodies)
        try:
            batch = await self.client.batches.create(
                input_file_id=file_id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={"credence": uid},
                timeout=self.timeout,
            )
        except (openai.OpenAIError, BackendError) as error:
            raise perhaps_taken(translate(error)) from error
        return id_of(batch)

    async def _upload(self, uid: str, bodies: Sequence[tuple[str, Body]]) -> str:
        with tempfile.TemporaryFile() as file:
            await asyncio.to_thread(_write, file, bodies)
            with reading(openai.OpenAIError, translate):
                uploaded = await self.client.files.create(
                    file=(f"{uid}.jsonl", file, "application/jsonl"), purpose="batch", timeout=UPLOAD_TIMEOUT
                )
                return uploaded.id

    async def find(self, uid: str) -> str | None:
        oldest = (datetime.now(UTC) - SEARCHED).timestamp()
        with reading(openai.OpenAIError, translate):
            async for batch in self.client.batches.list(limit=PAGE, timeout=self.timeout):
                if (batch.metadata or {}).get("credence") == uid:
                    return batch.id
                if batch.created_at < oldest:
                    return None
        return None

    async def status(self, batch_id: str) -> BatchStatus:
        """Batches that expired or were cancelled have ended: what was answered by then was paid, and can be read."""
        with reading(openai.OpenAIError, translate):
            batch = await self.client.batches.retrieve(batch_id, timeout=self.timeout)
            counts = batch.request_counts
            return BatchStatus(
                ended=batch.status in {"completed", "failed", "expired", "cancelled"},
                done=counts.completed if counts else 0,
                failed=counts.failed if counts else 0,
                problem=_problem(batch) if batch.status == "failed" else "",
            )

    async def results(self, batch_id: str) -> AsyncIterator[Result]:
        """A line that cannot be read is Unreadable; its custom id is "" where not even that is legible."""
        with reading(openai.OpenAIError, translate):
            batch = await self.client.batches.retrieve(batch_id, timeout=self.timeout)
            files = [file for file in (batch.output_file_id, batch.error_file_id) if file]
        for file in files:
            async with aclosing(self._lines(file)) as lines:
                async for line in lines:
                    yield read_line(line, _result)

    async def _lines(self, file: str) -> AsyncIterator[bytes]:
        with reading(openai.OpenAIError, translate):
            content = self.client.files.with_streaming_response.content
            async with content(file, timeout=self.timeout, extra_headers=BY_LINE) as response:
                async for line in split_lines(response.iter_bytes()):
                    yield line


def at_most(limit: int, requests: int, provider: str) -> None:
    """Raises Rejected."""
    if requests > limit:
        raise Rejected(f"{provider} takes at most {limit:,} requests in one batch; this one has {requests:,}.")


def no_larger(limit: int, size: int, provider: str) -> None:
    """Sizes in bytes. Raises Rejected."""
    if size > limit:
        raise Rejected(f"{provider} takes at most {limit / 1e6:,.0f} MB in one batch; this one has more.")


def id_of(batch: Any) -> str:
    """Raises Unreadable: the package hands on whatever came with status 200."""
    identity = getattr(batch, "id", None)
    if not identity:
        raise Unreadable("The provider took the batch and answered with something that is no batch.")
    return identity


def perhaps_taken(error: BackendError) -> BackendError:
    """The error of a call that hands a batch over: only `find` can say whether the batch was made."""
    unknown = error.again is Again.UNKNOWN
    return Lost(f"The batch may have been taken. {error}", body=error.body) if unknown else error


@contextmanager
def reading(raised: type[Exception], translate: Callable[[Exception], BackendError]) -> Iterator[None]:
    """Errors of calls that charge nothing: one whose answer was lost can be made again."""
    try:
        yield
    except (raised, BackendError) as error:
        known = translate(error)
        raise (Unreachable(str(known), body=known.body) if isinstance(known, Lost) else known) from error
    except (AttributeError, TypeError) as error:
        # The package hands on whatever came with status 200, as text if need be.
        raise Unreadable(f"The provider's answer is not what its protocol says: {error}") from error


async def split_lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Lines that are not empty. The packages' own splitters also break at U+2028, which JSON texts may contain."""
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
        raise Unreachable(f"The results broke off ({type(error).__name__}); they can be read again.") from error
    if rest.strip():
        yield bytes(rest)


def read_line(line: bytes, result: Callable[[dict[str, Any]], Completion | BackendError]) -> Result:
    """One line of results; `result` reads its object and may raise. An error keeps the line as its body."""
    custom_id = ""
    try:
        row = json.loads(line.decode("utf-8"))
        custom_id = str(row["custom_id"])
        found = result(row)
        if isinstance(found, Completion) and found.stop is Stop.OTHER:
            found = replace(found, body=text_of(line))
        return custom_id, found
    except BackendError as error:
        error.body = error.body or text_of(line)
        return custom_id, error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        problem = f"A line of the results cannot be read: {str(error)[:200]}; it has {len(line)} bytes."
        return custom_id or _custom_id(line), Unreadable(problem, body=text_of(line))


def _custom_id(line: bytes) -> str:
    # Inside an answer's text the quotes are escaped, so an answer cannot pass for another request.
    found = _CUSTOM_ID.search(line)
    return found.group(1).decode() if found else ""


def _write(file: IO[bytes], bodies: Sequence[tuple[str, Body]]) -> None:
    for custom_id, body in bodies:
        row = {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": whole(body)}
        file.write(json.dumps(row).encode() + b"\n")
        no_larger(MAX_BYTES, file.tell(), "OpenAI")
    file.seek(0)


def _problem(batch: Any) -> str:
    errors = (batch.errors.data if batch.errors else None) or []
    told = [f"{one.message or one.code}" + (f" (line {one.line})" if one.line else "") for one in errors[:3]]
    return "; ".join(told) or "The provider refused the batch and does not say why."


def _result(row: dict[str, Any]) -> Completion | BackendError:
    response = row.get("response")
    if not response:
        error = row["error"]
        told = f"{error.get('message') or 'No answer'} ({error.get('code')})"
        # A batch is cancelled by a person at the provider: to send its requests again would be against their will.
        return Rejected(told) if error.get("code") == "batch_cancelled" else Overloaded(told)
    if response["status_code"] != 200:
        body = response.get("body")
        return of_status(response["status_code"], body, json.dumps(body, ensure_ascii=False), {})
    if row.get("error"):  # beside an answer: the provider says that it is no whole one
        raise of_error_in_answer({"error": row["error"]})
    return completion_of(response["body"], {"x-request-id": response.get("request_id") or ""})
