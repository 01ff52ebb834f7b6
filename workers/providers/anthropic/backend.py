"""Anthropic's Messages. Sampling settings are not settable there: an endpoint says so (`sets_temperature`).

Options: `effort` (low to max), `cache` (true: the system text is marked for prompt caching).
"""

from collections.abc import Mapping
from typing import Annotated, Any

import anthropic
from pydantic import BeforeValidator

from core.incoming.misfit import Misfit
from core.incoming.shapes import Open
from workers.providers.client import address_of, api_key, http_client, of_chain
from workers.providers.contract import Body, Completion, Request, Spec, Usage
from workers.providers.errors import BackendError, Rejected, Unreadable
from workers.providers.parsing import Count, Name, Text, is_reported, object_of, parse_json, stop_of, unless_tools
from workers.providers.statuses import error_of, of_error_in_answer, of_response
from workers.providers.wire import exchange

ADDRESS = "https://api.anthropic.com"
MAX_TOKENS = 21_000
"""The package refuses more without streaming, before anything is sent."""


class AnthropicBackend:
    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.client = client_of(spec)

    def body(self, request: Request) -> Body:
        return body_of(self.spec, request)

    async def complete(self, body: Body, *, timeout: float, call: str) -> Completion:
        async with exchange(timeout) as current:
            try:
                response = await self.client.messages.with_raw_response.create(
                    **body, extra_headers={"X-Client-Request-Id": call}
                )
                media_type = response.headers.get("content-type", "")
                payload = parse_json(response.http_response.content, media_type)
                return current.with_body(completion_of(payload, response.headers))
            except (anthropic.AnthropicError, ValueError) as error:
                raise translate(error) from error

    async def aclose(self) -> None:
        await self.client.close()


def client_of(spec: Spec) -> anthropic.AsyncAnthropic:
    """Return a client without retries: the package would obey any Retry-After, for hours."""
    return anthropic.AsyncAnthropic(
        api_key=api_key(spec),
        base_url=address_of(spec, ADDRESS),
        max_retries=0,
        timeout=None,
        http_client=http_client(spec, ADDRESS),
    )


def body_of(spec: Spec, request: Request) -> Body:
    if request.max_tokens > MAX_TOKENS:
        raise Rejected(f"max_tokens is {request.max_tokens}; without streaming at most {MAX_TOKENS} can be asked for.")
    system = "\n\n".join(message.content for message in request.messages if message.role == "system")
    body: Body = {
        "model": spec.model,
        "max_tokens": request.max_tokens,
        "messages": [
            {"role": message.role, "content": message.content}
            for message in request.messages
            if message.role != "system"
        ],
    }
    if system:
        cache = {"cache_control": {"type": "ephemeral"}} if spec.options.get("cache") else {}
        body["system"] = [{"type": "text", "text": system} | cache]
    if spec.sets_temperature and request.temperature is not None:
        # The package has no parameter for it any more; gateways to older models still take the field.
        body["extra_body"] = {"temperature": request.temperature}
    has_schema = request.schema is not None and spec.json_schema
    effort = spec.options.get("effort")
    output = {"format": {"type": "json_schema", "schema": request.schema}} if has_schema else {}
    output |= {"effort": effort} if effort else {}
    return body | ({"output_config": output} if output else {})


class _Block(Open):
    """A part of the answer; one of another type than `text` and `thinking` has neither."""

    type: Text = ""
    text: Text = ""
    thinking: Text = ""


def _blocks(content: Any) -> Any:
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else content


class _Usage(Open):
    """Tokens as Anthropic counts them: `input_tokens` are those that the cache has no part in."""

    input_tokens: Count = 0
    cache_read_input_tokens: Count = 0
    cache_creation_input_tokens: Count = 0
    output_tokens: Count = 0


class _Answer(Open):
    """A message."""

    content: Annotated[list[_Block], BeforeValidator(_blocks)]
    stop_reason: Any = None
    model: Name = ""
    id: Name = ""


def completion_of(payload: Mapping[str, Any], headers: Mapping[str, str]) -> Completion:
    """Read one message. Raises Unreadable where it has no content, or what its error means."""
    if error_of(payload):  # whatever stands beside it: the provider says that it is not a whole answer
        raise of_error_in_answer(payload)
    try:
        answer = _Answer.of(payload)
    except Misfit as error:
        raise Unreadable("The answer has no list of content blocks.") from error
    text = "".join(block.text for block in answer.content if block.type == "text")
    reasoning = "\n".join(block.thinking for block in answer.content if block.type == "thinking")
    tools = any(block.type == "tool_use" for block in answer.content)
    stop, problem = stop_of(unless_tools(answer.stop_reason, text=text, tools=tools))
    return Completion(
        text=text,
        stop=stop,
        problem=problem,
        usage=usage_of(object_of(payload.get("usage")), text=text + reasoning),
        model=answer.model,
        reasoning=reasoning,
        request_id=answer.id,
        headers=dict(headers),
    )


def usage_of(usage: Mapping[str, Any], *, text: str = "") -> Usage:
    """Return the usage, with the cached tokens in `input`. A partial usage of an answer with a text does not count."""
    counts = _Usage.of(usage)
    read, written = counts.cache_read_input_tokens, counts.cache_creation_input_tokens
    total = counts.input_tokens + read + written
    return Usage(
        input=total,
        cached=read,
        cache_write=written,
        output=counts.output_tokens,
        reported=is_reported(total, counts.output_tokens, text),
    )


def translate(error: Exception) -> BackendError:
    """Translate the package's errors into ours, here and nowhere else."""
    if isinstance(error, anthropic.APIStatusError):
        return of_response(error.response)
    if isinstance(error, anthropic.APIResponseValidationError):
        return Unreadable(f"The answer is not what the protocol says: {error}")
    return of_chain(error)
