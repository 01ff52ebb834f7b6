"""OpenAI's batch form: a file of requests, answered within 24 hours at half the price.

What the provider says of it: https://platform.openai.com/docs/guides/batch.
"""

import asyncio
import json
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import IO, Any

import openai

from workers.providers.batch_results import (
    TIMEOUT,
    UPLOAD_TIMEOUT,
    Result,
    at_most,
    id_of,
    no_larger,
    parse_line,
    perhaps_submitted,
    reading,
    split_lines,
)
from workers.providers.chat_completions import completion_of, translate
from workers.providers.contract import BatchStatus, Body, Completion
from workers.providers.errors import BackendError, Overloaded, Rejected
from workers.providers.options import whole
from workers.providers.statuses import of_error_in_answer, of_status
from workers.providers.wire import BY_LINE

MAX_REQUESTS = 50_000
MAX_BYTES = 200_000_000
PAGE = 100
SEARCHED = timedelta(days=30)
"""How far back `find` looks. A batch runs for a day; its files are kept for thirty."""


class OpenAIBatches:
    """`timeout` in seconds for one answer, or for one piece of a file.

    A batch carries its uid as metadata. A file that was uploaded for a batch that never came to be costs nothing.
    """

    def __init__(self, client: openai.AsyncOpenAI, *, timeout: float = TIMEOUT) -> None:
        self.client, self.timeout = client, timeout

    async def submit(self, uid: str, bodies: Sequence[tuple[str, Body]]) -> str:
        """Submit a batch. Raises Rejected above 50,000 requests or 200 MB, Lost if it may have been made."""
        at_most(MAX_REQUESTS, len(bodies), "OpenAI")
        with tempfile.TemporaryFile() as file:
            await asyncio.to_thread(_write, file, bodies)
            with reading(openai.OpenAIError, translate):
                uploaded = await self.client.files.create(
                    file=(f"{uid}.jsonl", file, "application/jsonl"), purpose="batch", timeout=UPLOAD_TIMEOUT
                )
                file_id = uploaded.id
        try:
            batch = await self.client.batches.create(
                input_file_id=file_id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={"credence": uid},
                timeout=self.timeout,
            )
        except (openai.OpenAIError, BackendError) as error:
            raise perhaps_submitted(translate(error)) from error
        return id_of(batch)

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
        """Return the status. A cancelled or expired batch has ended: its answers were paid, and can be read."""
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
        """Yield the results. An unreadable line is Unreadable, with its custom id or ""."""
        with reading(openai.OpenAIError, translate):
            batch = await self.client.batches.retrieve(batch_id, timeout=self.timeout)
            files = [file for file in (batch.output_file_id, batch.error_file_id) if file]
        for file in files:
            async with aclosing(self._lines(file)) as lines:
                async for line in lines:
                    yield parse_line(line, _result)

    async def _lines(self, file: str) -> AsyncGenerator[bytes, None]:
        with reading(openai.OpenAIError, translate):
            content = self.client.files.with_streaming_response.content
            async with content(file, timeout=self.timeout, extra_headers=BY_LINE) as response:
                async for line in split_lines(response.iter_bytes()):
                    yield line


def _write(file: IO[bytes], bodies: Sequence[tuple[str, Body]]) -> None:
    for custom_id, body in bodies:
        row = {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": whole(body)}
        file.write(json.dumps(row).encode() + b"\n")
        no_larger(MAX_BYTES, file.tell(), "OpenAI")
    file.seek(0)


def _problem(batch: Any) -> str:
    errors = (batch.errors.data if batch.errors else None) or []
    sentences = [
        f"{error.message or error.code}" + (f" (line {error.line})" if error.line else "") for error in errors[:3]
    ]
    return "; ".join(sentences) or "The provider refused the batch and does not say why."


def _result(row: dict[str, Any]) -> Completion | BackendError:
    response = row.get("response")
    if not response:
        error = row["error"]
        problem = f"{error.get('message') or 'No answer'} ({error.get('code')})"
        # A batch is cancelled by a person at the provider: to send its requests again would be against their will.
        return Rejected(problem) if error.get("code") == "batch_cancelled" else Overloaded(problem)
    if response["status_code"] != 200:
        body = response.get("body")
        return of_status(response["status_code"], body, json.dumps(body, ensure_ascii=False), {})
    if row.get("error"):  # beside an answer: the provider says that it is not whole
        raise of_error_in_answer({"error": row["error"]})
    return completion_of(response["body"], {"x-request-id": response.get("request_id") or ""})
