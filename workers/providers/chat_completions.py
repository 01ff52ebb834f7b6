"""OpenAI's chat completions, which OpenAI and many other servers speak: the base of the backends for such servers.

Options (`options.CHAT`): `max_tokens_field` (OpenAI itself wants max_completion_tokens, most compatible servers know
only max_tokens), `reasoning_effort`, `seed` (false: none is sent), `extra_body` (fields that a server wants besides;
none that a call could cost more by: options.py).
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import httpx2
import openai
from pydantic import BeforeValidator, Field

from core.incoming.misfit import Misfit
from core.incoming.shapes import Open
from core.messages import Sentence, gettext_noop
from workers.providers.client import address_of, api_key, http_client, of_chain
from workers.providers.contract import Body, Completion, Request, Spec, Usage
from workers.providers.errors import BackendError, Unreadable
from workers.providers.options import check_limits, whole
from workers.providers.parsing import (
    DECLINED,
    Count,
    Given,
    Inside,
    Name,
    Text,
    content_of,
    is_reported,
    object_of,
    parse_json,
    stop_of,
    unless_tools,
)
from workers.providers.statuses import error_of, of_error_in_answer, of_response
from workers.providers.wire import exchange


class ChatBackend:
    """Asks a server that speaks chat completions. `own` is the address where the endpoint names none, `key_header` the
    header that carries the key alone where that is not Authorization with a bearer token.

    A backend whose server counts tokens in fields of its own overrides `usage`, and nothing else.
    """

    own = ""
    key_header = ""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.client = client_of(spec, own=self.own)

    def body(self, request: Request) -> Body:
        return body_of(self.spec, request)

    def usage(self, payload: Mapping[str, Any], text: str) -> Usage:
        """Return what the whole answer says of its tokens; `text` is all that the model wrote, reasoning included."""
        return reported_usage(payload, text)

    async def complete(self, body: Body, *, timeout: float, call: str) -> Completion:
        headers: dict[str, str | openai.Omit] = {"X-Client-Request-Id": call}
        if self.key_header:  # the key travels otherwise than as a bearer token
            headers["Authorization"] = openai.omit
            if self.spec.api_key_env:
                headers[self.key_header] = api_key(self.spec)
        async with exchange(timeout) as current:
            try:
                # The package's plain request: its typed method takes twice the CPU, and drops answers that it dislikes.
                response = await self.client.post(
                    "/chat/completions",
                    cast_to=httpx2.Response,
                    body=whole(body),
                    options={
                        "headers": headers,
                        # not sent; the package would draw one, and wait for the other thread at that
                        "idempotency_key": call,
                        "security": {"bearer_auth": True},
                    },
                )
                payload = parse_json(response.content, response.headers.get("content-type", ""))
                return current.with_body(completion_of(payload, response.headers, usage=self.usage))
            except openai.OpenAIError as error:
                raise translate(error) from error

    async def aclose(self) -> None:
        await self.client.close()


class OpenAIBackend(ChatBackend):
    own = "https://api.openai.com/v1"


def client_of(spec: Spec, *, own: str = "") -> openai.AsyncOpenAI:
    """Return a client without retries: whether to send again is the ledger's decision."""
    return openai.AsyncOpenAI(
        api_key=api_key(spec),
        base_url=address_of(spec, own),
        max_retries=0,
        timeout=None,
        http_client=http_client(spec, own),
    )


def body_of(spec: Spec, request: Request) -> Body:
    check_limits(spec.options)  # as it stands today, whatever it was registered with
    field = spec.options.get("max_tokens_field") or ("max_tokens" if spec.base_url else "max_completion_tokens")
    body: Body = {
        "model": spec.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        field: request.max_tokens,
    }
    if spec.sets_temperature and request.temperature is not None:
        body["temperature"] = request.temperature
    if request.seed is not None and spec.options.get("seed", True):
        body["seed"] = request.seed
    if request.schema is not None and spec.json_schema:
        described = {"name": "answer", "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": described}
    if effort := spec.options.get("reasoning_effort"):
        body["reasoning_effort"] = effort
    if extra := spec.options.get("extra_body"):
        body["extra_body"] = extra
    return body


class _PromptDetails(Open):
    cached_tokens: Count = 0
    cache_write_tokens: Count = 0


class _CompletionDetails(Open):
    reasoning_tokens: Count = 0


class _Usage(Open):
    """The usage of a chat completion, where OpenAI puts it."""

    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    prompt_tokens_details: Annotated[_PromptDetails, Inside] = _PromptDetails()
    completion_tokens_details: Annotated[_CompletionDetails, Inside] = _CompletionDetails()


class _Message(Open):
    """Message of the model; servers call its reasoning by either name."""

    content: Any = None
    refusal: Text = ""
    reasoning: Text = ""
    reasoning_content: Text = ""
    tool_calls: Given = False
    function_call: Given = False


class _Choice(Open):
    message: _Message
    finish_reason: Any = None
    error: Any = None


def _first(choices: Any) -> Any:
    return choices[:1] if isinstance(choices, list) else choices


class _Answer(Open):
    """A chat completion, whose first choice is read."""

    choices: Annotated[list[_Choice], Field(min_length=1), BeforeValidator(_first)]
    model: Name = ""
    id: Name = ""
    system_fingerprint: Name = ""


def reported_usage(payload: Mapping[str, Any], text: str) -> Usage:
    """Return the usage of a whole chat completion, from where OpenAI puts it."""
    return usage_of(object_of(payload.get("usage")), text=text)


def completion_of(
    payload: Mapping[str, Any],
    headers: Mapping[str, str],
    *,
    usage: Callable[[Mapping[str, Any], str], Usage] = reported_usage,
) -> Completion:
    """Read one chat completion, its tokens by `usage`. Raises Unreadable, or the error that it holds."""
    if error_of(payload):  # whatever stands beside it: the provider says that the answer is not whole
        raise of_error_in_answer(payload)
    try:
        answer = _Answer.of(payload)
    except Misfit as error:
        raise Unreadable(gettext_noop("The answer has no choices[0].message.")) from error
    [choice] = answer.choices
    if choice.error:  # a router's way of saying that the model broke off
        raise of_error_in_answer({"error": choice.error})
    message = choice.message
    text, thoughts = content_of(message.content)
    reasoning = message.reasoning or message.reasoning_content or thoughts
    tools = message.tool_calls or message.function_call
    reason = DECLINED if message.refusal else unless_tools(choice.finish_reason, text=text, tools=tools)
    stop, problem = stop_of(reason)
    return Completion(
        text=message.refusal or text,
        stop=stop,
        problem=problem,
        usage=usage(payload, message.refusal + text + reasoning),
        model=answer.model,
        reasoning=reasoning,
        request_id=answer.id,
        fingerprint=answer.system_fingerprint,
        headers=dict(headers),
    )


def usage_of(usage: Mapping[str, Any], *, text: str = "") -> Usage:
    """Return the usage; prompt_tokens include cached ones. A partial usage of an answer with a text does not count."""
    read = _Usage.of(usage)
    return Usage(
        input=read.prompt_tokens,
        cached=read.prompt_tokens_details.cached_tokens,
        cache_write=read.prompt_tokens_details.cache_write_tokens,
        output=read.completion_tokens,
        reasoning=read.completion_tokens_details.reasoning_tokens,
        reported=is_reported(read.prompt_tokens, read.completion_tokens, text),
    )


def translate(error: Exception) -> BackendError:
    """Translate the package's errors into ours, here and nowhere else."""
    if isinstance(error, openai.APIStatusError):
        return of_response(error.response)
    if isinstance(error, openai.APIResponseValidationError):
        return Unreadable(Sentence("The answer is not what the protocol says: {error}", error=error))
    return of_chain(error)
