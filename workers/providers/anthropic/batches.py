"""Anthropic's batch form: requests in one call, answered within 24 hours at half the price.

What the provider says of it: https://platform.claude.com/docs/en/build-with-claude/batch-processing.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import anthropic
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from anthropic.types.messages.batch_create_params import Request

from workers.providers.anthropic.backend import completion_of, translate
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
from workers.providers.contract import BatchStatus, Body, Completion
from workers.providers.errors import BackendError, Lost, Overloaded, Rejected
from workers.providers.options import whole
from workers.providers.statuses import error_of, of_error_in_answer, of_status
from workers.providers.wire import BY_LINE

MAX_REQUESTS = 100_000
MAX_BYTES = 256_000_000
PAGE = 100
SEARCHED = timedelta(days=29)
"""Time that `find` looks back: results are kept for 29 days."""
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class AnthropicBatches:
    """`timeout` in seconds for one answer, or for one piece of the results. `others` are ids of batches known to be
    another's.

    A batch carries nothing of ours but its custom ids, which therefore have to start with the uid, and they can be read
    only when it has ended. See `find` for what follows.
    """

    def __init__(
        self, client: anthropic.AsyncAnthropic, *, timeout: float = TIMEOUT, others: Collection[str] = ()
    ) -> None:
        self.client, self.timeout, self.others = client, timeout, frozenset(others)
        self._first_ids: dict[str, str] = {}

    async def submit(self, uid: str, bodies: Sequence[tuple[str, Body]]) -> str:
        """Submit a batch. Raises Rejected above 100,000 requests or 256 MB, Lost if it may have been made."""
        at_most(MAX_REQUESTS, len(bodies), "Anthropic")
        if strange := next((custom_id for custom_id, _ in bodies if not custom_id.startswith(uid)), None):
            raise Rejected(f"The custom id {strange} does not start with {uid}: the batch could not be found again.")
        requests = await asyncio.to_thread(_requests, bodies)
        try:
            batch = await self.client.messages.batches.create(requests=requests, timeout=UPLOAD_TIMEOUT)
        except (anthropic.AnthropicError, BackendError) as error:
            raise perhaps_submitted(translate(error)) from error
        return id_of(batch)

    async def find(self, uid: str) -> str | None:
        """Find a batch. Raises Lost while a batch runs that may be this one: custom ids are known only when a batch has
        ended.

        None therefore means that no batch of the last 29 days is this one. Asking again later is safe; submitting again
        after Lost could pay twice.
        """
        oldest, running = datetime.now(UTC) - SEARCHED, 0
        with reading(anthropic.AnthropicError, translate):
            async for batch in self.client.messages.batches.list(limit=PAGE, timeout=self.timeout):
                if batch.created_at < oldest:
                    break
                if batch.id in self.others:
                    continue
                if batch.processing_status != "ended":
                    running += 1
                elif batch.results_url and (await self._first_id(batch.id)).startswith(uid):
                    return batch.id
        if running:
            raise Lost(
                f"Batches at Anthropic that have not ended: {running}; one of them may be the batch in question."
            )
        return None

    async def status(self, batch_id: str) -> BatchStatus:
        """Return the status. A cancelled or expired batch has ended: its answers were paid, and can be read."""
        with reading(anthropic.AnthropicError, translate):
            batch = await self.client.messages.batches.retrieve(batch_id, timeout=self.timeout)
            counts = batch.request_counts
            return BatchStatus(
                ended=batch.processing_status == "ended",
                done=counts.succeeded,
                failed=counts.errored + counts.canceled + counts.expired,
            )

    async def results(self, batch_id: str) -> AsyncGenerator[Result, None]:
        """Yield the results. An unreadable line is Unreadable, with its custom id or ""."""
        async with aclosing(self._lines(batch_id)) as lines:
            async for line in lines:
                yield parse_line(line, _result)

    async def _lines(self, batch_id: str) -> AsyncGenerator[bytes, None]:
        results = self.client.messages.batches.with_streaming_response.results
        with reading(anthropic.AnthropicError, translate):
            async with results(batch_id, timeout=self.timeout, extra_headers=BY_LINE) as response:
                async for line in split_lines(response.iter_bytes()):
                    yield line

    async def _first_id(self, batch_id: str) -> str:
        """The first legible custom id of a batch that ended; "" where it has none, or its results are gone."""
        if batch_id not in self._first_ids:
            self._first_ids[batch_id] = ""
            try:
                async with aclosing(self.results(batch_id)) as results:
                    async for custom_id, _ in results:
                        if custom_id:
                            self._first_ids[batch_id] = custom_id
                            break
            except BackendError as error:
                if error.status != 404:
                    del self._first_ids[batch_id]
                    raise
        return self._first_ids[batch_id]


def _requests(bodies: Sequence[tuple[str, Body]]) -> list[Request]:
    """Return the requests of a batch. Raises Rejected if they are too large, or a text is not Unicode."""
    requests: list[Request] = []
    size = 0
    for custom_id, body in bodies:
        requests.append({"custom_id": custom_id, "params": cast(MessageCreateParamsNonStreaming, whole(body))})
        try:
            size += len(json.dumps(requests[-1], ensure_ascii=False).encode()) + 2
        except UnicodeEncodeError as error:
            raise Rejected(f"The request {custom_id} contains half a character (a lone surrogate).") from error
        no_larger(MAX_BYTES, size, "Anthropic")
    return requests


def _result(row: dict[str, Any]) -> Completion | BackendError:
    result = row["result"]
    match result["type"]:
        case "succeeded":
            if result.get("error"):  # beside an answer: the provider says that it is not whole
                raise of_error_in_answer(result["error"] if error_of(result["error"]) else result)
            return completion_of(result["message"], {})
        case "errored":
            error = result["error"]["error"]
            kind, detail = (
                error["type"],
                {"message": f"{error.get('message')} ({error['type']})", "type": error["type"]},
            )
            failure = of_status(_STATUS.get(kind, 500), {"error": detail}, json.dumps(result["error"]), {})
            # Anthropic bills no request that errored in a batch, a timeout neither.
            return Overloaded(str(failure), status=failure.status) if isinstance(failure, Lost) else failure
        case "canceled":
            # By a person at the provider: to send its requests again would be against their will.
            return Rejected("The batch was cancelled at the provider before this request was answered.")
        case "expired":
            return Overloaded("The batch expired before this request was answered.")
    raise ValueError(f"no such type of result: {result['type']}")
