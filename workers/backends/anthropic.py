"""Anthropic's Messages. Sampling settings are not settable there: an endpoint says so (`sets_temperature`).

Options: `effort` (low to max), `cache` (true: the system text is marked for prompt caching).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import anthropic

from workers.backends.contract import Body, Completion, Request, Spec, Stop, Usage
from workers.backends.errors import BackendError, Lost, Rejected, Unreadable
from workers.backends.headers import kept
from workers.backends.openai import api_key, careful, of_connection, of_status, read_json, said

MAX_TOKENS = 21_000
"""The package refuses more without streaming, before anything is sent."""
_STOPS = {"max_tokens": Stop.LENGTH, "model_context_window_exceeded": Stop.LENGTH, "refusal": Stop.REFUSAL}


class AnthropicBackend:
    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.client = client_of(spec)

    def body(self, request: Request) -> Body:
        return body_of(self.spec, request)

    async def complete(self, body: Body, *, timeout: float, call: str) -> Completion:
        try:
            async with asyncio.timeout(timeout):
                response = await self.client.messages.with_raw_response.create(
                    **body, extra_headers={"X-Client-Request-Id": call}
                )
                return completion_of(read_json(response.http_response.content), response.headers)
        except TimeoutError:
            raise Lost(f"No answer within {timeout:g} s.") from None
        except (anthropic.AnthropicError, ValueError) as error:
            raise translate(error) from error

    async def aclose(self) -> None:
        await self.client.close()


def client_of(spec: Spec) -> anthropic.AsyncAnthropic:
    """A client without retries: the package would obey any Retry-After, for hours."""
    return anthropic.AsyncAnthropic(
        api_key=api_key(spec),
        base_url=spec.base_url or None,
        max_retries=0,
        timeout=None,
        http_client=anthropic.DefaultAioHttpClient(timeout=None, **careful()),
    )


def body_of(spec: Spec, request: Request) -> Body:
    if request.max_tokens > MAX_TOKENS:
        raise Rejected(f"max_tokens is {request.max_tokens}; without streaming at most {MAX_TOKENS} can be asked for.")
    system = "\n\n".join(one.content for one in request.messages if one.role == "system")
    body: Body = {
        "model": spec.model,
        "max_tokens": request.max_tokens,
        "messages": [{"role": one.role, "content": one.content} for one in request.messages if one.role != "system"],
    }
    if system:
        cache = {"cache_control": {"type": "ephemeral"}} if spec.options.get("cache") else {}
        body["system"] = [{"type": "text", "text": system} | cache]
    if spec.sets_temperature and request.temperature is not None:
        # The package has no parameter for it any more; gateways to older models still take the field.
        body["extra_body"] = {"temperature": request.temperature}
    output: dict[str, Any] = {}
    if request.schema is not None and spec.json_schema:
        output["format"] = {"type": "json_schema", "schema": request.schema}
    if effort := spec.options.get("effort"):
        output["effort"] = effort
    return body | ({"output_config": output} if output else {})


def completion_of(payload: Mapping[str, Any], headers: Mapping[str, str]) -> Completion:
    """Reads one message. Raises Unreadable where it has no content."""
    content = payload.get("content")
    if not isinstance(content, list):
        raise Unreadable("The answer has no list of content blocks.")
    texts = [one.get("text") or "" for one in content if isinstance(one, dict) and one.get("type") == "text"]
    thoughts = [one.get("thinking") or "" for one in content if isinstance(one, dict) and one.get("type") == "thinking"]
    return Completion(
        text="".join(texts),
        stop=_STOPS.get(payload.get("stop_reason") or "", Stop.END),
        usage=usage_of(payload.get("usage") or {}),
        model=str(payload.get("model") or ""),
        reasoning="\n".join(thoughts),
        request_id=str(payload.get("id") or ""),
        headers=kept(headers),
    )


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """Anthropic's input_tokens exclude the cache's; here `input` holds all."""
    read, written = usage.get("cache_read_input_tokens") or 0, usage.get("cache_creation_input_tokens") or 0
    return Usage(
        input=(usage.get("input_tokens") or 0) + read + written,
        cached=read,
        cache_write=written,
        output=usage.get("output_tokens") or 0,
    )


def translate(error: Exception) -> BackendError:
    """The one place where this package's errors become ours."""
    if isinstance(error, anthropic.APIStatusError):
        return of_status(error.status_code, said(error.body, error.response.text), error.response.headers)
    if isinstance(error, anthropic.APIConnectionError):
        return of_connection(error)
    if isinstance(error, anthropic.APIResponseValidationError):
        return Unreadable(f"The answer is not what the protocol says: {error}")
    return Rejected(f"The request could not be made: {error}")
