"""OpenAI and every server that speaks its chat completions.

Options: `max_tokens_field` (OpenAI itself wants max_completion_tokens, most compatible servers know only max_tokens),
`reasoning_effort`, `extra_body` (fields that a server wants besides).
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from typing import Any

import httpx2
import openai

from workers.backends.addresses import guard, host_of
from workers.backends.contract import Body, Completion, Request, Spec, Stop, Usage
from workers.backends.errors import (
    BackendError,
    Forbidden,
    Lost,
    Overloaded,
    Rejected,
    Throttled,
    Unreachable,
    Unreadable,
)
from workers.backends.headers import kept, retry_after
from workers.backends.keys import variable_problem

_NEVER_LEFT = {"ClientConnectorError", "ConnectionTimeoutError", "PoolTimeout", "UnsupportedProtocol", "InvalidURL"}
_STOPS = {"stop": Stop.END, "length": Stop.LENGTH, "content_filter": Stop.REFUSAL}


class OpenAIBackend:
    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.client = client_of(spec)

    def body(self, request: Request) -> Body:
        return body_of(self.spec, request)

    async def complete(self, body: Body, *, timeout: float, call: str) -> Completion:
        try:
            async with asyncio.timeout(timeout):
                # The package's plain request: its typed method takes twice the CPU, and drops answers that it dislikes.
                sent = {name: value for name, value in body.items() if name != "extra_body"}
                response = await self.client.post(
                    "/chat/completions",
                    cast_to=httpx2.Response,
                    body=sent | body.get("extra_body", {}),
                    options={
                        "headers": {"X-Client-Request-Id": call},
                        "idempotency_key": call,  # not sent; the package would draw one, and wait for the other thread at that
                        "security": {"bearer_auth": True},
                    },
                )
                return completion_of(read_json(response.content), response.headers)
        except TimeoutError:
            raise Lost(f"No answer within {timeout:g} s.") from None
        except openai.OpenAIError as error:
            raise translate(error) from error

    async def aclose(self) -> None:
        await self.client.close()


def client_of(spec: Spec) -> openai.AsyncOpenAI:
    """A client without retries: whether to send again is the ledger's decision."""
    return openai.AsyncOpenAI(
        api_key=api_key(spec),
        base_url=spec.base_url or None,
        max_retries=0,
        timeout=None,
        http_client=openai.DefaultAioHttpClient(timeout=None, **careful()),  # half the CPU of the default
    )


def careful() -> dict[str, Any]:
    """Settings of the packages' HTTP clients: no redirect is followed, and no forbidden address is asked."""
    return {"follow_redirects": False, "event_hooks": {"request": [guard()]}}


def api_key(spec: Spec) -> str:
    if not spec.api_key_env:
        return "none"  # the package wants one; servers without keys ignore it
    if problem := variable_problem(spec.api_key_env):
        raise Forbidden(problem)
    key = os.environ.get(spec.api_key_env, "")
    if not key:
        raise Forbidden(f"The environment variable {spec.api_key_env} is not set where the worker runs.")
    return key


def body_of(spec: Spec, request: Request) -> Body:
    field = spec.options.get("max_tokens_field") or ("max_tokens" if spec.base_url else "max_completion_tokens")
    body: Body = {
        "model": spec.model,
        "messages": [{"role": one.role, "content": one.content} for one in request.messages],
        field: request.max_tokens,
    }
    if spec.sets_temperature and request.temperature is not None:
        body["temperature"] = request.temperature
    if request.seed is not None:
        body["seed"] = request.seed
    if request.schema is not None and spec.json_schema:
        described = {"name": "answer", "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": described}
    if effort := spec.options.get("reasoning_effort"):
        body["reasoning_effort"] = effort
    if extra := spec.options.get("extra_body"):
        body["extra_body"] = extra
    return body


def read_json(content: bytes) -> dict[str, Any]:
    try:
        payload = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Unreadable(f"The answer is not UTF-8 (byte {error.start} of {len(content)}).") from error
    except ValueError as error:
        raise Unreadable(f"The answer is not JSON: {str(error)[:120]}; it has {len(content)} bytes.") from error
    if not isinstance(payload, dict):
        raise Unreadable(f"The answer is a JSON {type(payload).__name__}, expected an object.")
    return payload


def completion_of(payload: Mapping[str, Any], headers: Mapping[str, str]) -> Completion:
    """Reads one chat completion. Raises Unreadable where it has no choice with a message."""
    try:
        choice = payload["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content") or "", message.get("refusal") or ""
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise Unreadable("The answer has no choices[0].message.") from error
    stop = Stop.REFUSAL if refusal else _STOPS.get(choice.get("finish_reason") or "stop", Stop.END)
    return Completion(
        text=refusal or content,
        stop=stop,
        usage=usage_of(payload.get("usage") or {}),
        model=str(payload.get("model") or ""),
        reasoning=message.get("reasoning") or message.get("reasoning_content") or "",
        request_id=str(payload.get("id") or ""),
        headers=kept(headers),
    )


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """OpenAI's prompt_tokens include the cached ones."""
    prompt = usage.get("prompt_tokens_details") or {}
    completion = usage.get("completion_tokens_details") or {}
    return Usage(
        input=usage.get("prompt_tokens") or 0,
        cached=prompt.get("cached_tokens") or 0,
        cache_write=prompt.get("cache_write_tokens") or 0,
        output=usage.get("completion_tokens") or 0,
        reasoning=completion.get("reasoning_tokens") or 0,
    )


def translate(error: Exception) -> BackendError:
    """The one place where this package's errors become ours."""
    if isinstance(error, openai.APIStatusError):
        return of_status(error.status_code, said(error.body, error.response.text), error.response.headers)
    if isinstance(error, openai.APIConnectionError):
        return of_connection(error)
    if isinstance(error, openai.APIResponseValidationError):
        return Unreadable(f"The answer is not what the protocol says: {error}")
    return Rejected(f"The request could not be made: {error}")


def of_connection(error: Exception) -> BackendError:
    """Whether the request can have left. By class names, because the packages bring HTTP clients of their own, and those report
    a connection that broke in the middle as one that was never made."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    if ours := next((one for one in chain if isinstance(one, BackendError)), None):
        return ours
    names = {base.__name__ for one in chain for base in type(one).__mro__}
    told = str(chain[-1]) or type(chain[-1]).__name__
    if names & _NEVER_LEFT:
        return Unreachable(f"No connection: {told}".rstrip(".") + ".")
    if "DecodingError" in names:
        return Unreadable(f"The answer could not be decoded: {told}")
    return Lost(f"The connection broke before the answer was whole ({told.rstrip('.')}).")


def of_status(status: int, message: str, headers: Mapping[str, str]) -> BackendError:
    """An HTTP status as an error; the same rules for every provider."""
    told = f"HTTP {status}: {message[:500]}".rstrip(": ")
    common = {"status": status, "headers": kept(headers)}
    if 300 <= status < 400:
        return Rejected(f"HTTP {status}: {_redirected(headers)}", **common)
    if status == 429 and "insufficient_quota" in message:
        return Rejected(f"The account's quota is used up ({told})", **common)
    if status == 429:
        return Throttled(told, retry_after=retry_after(headers), **common)
    if status in (401, 403):
        return Forbidden(told, **common)
    if status in (408, 409) or status >= 500:
        return Overloaded(told, retry_after=retry_after(headers), **common)
    return Rejected(told, **common)


def _redirected(headers: Mapping[str, str]) -> str:
    host = host_of(headers.get("location") or "")
    to = f"sends on to another address ({host[:100]})" if host else "sends on to another address"
    return f"The server {to}, which is not followed; register the address that answers itself."


def said(body: Any, text: str) -> str:
    """What the provider's error says, in one line."""
    inner = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(inner, dict):
        parts = [str(inner[key]) for key in ("message", "code") if inner.get(key)]
        if parts:
            return " ".join(" ".join(parts).split())
    return " ".join(str(text).split())
