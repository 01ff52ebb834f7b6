"""The contract of backends: what goes in and what comes out.

A backend is one method wide. `body` turns a request into the provider's canonical request, a pure function; `complete`
sends a body and returns a completion or raises a `BackendError` (workers/providers/errors.py). The ledger keeps bodies,
so that a call can be sent again without the request that it came from.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

from core.incoming.thoughts import split_thoughts
from core.messages import gettext_noop
from workers.providers.errors import BackendError

JsonSchema = dict[str, Any]
"""A JSON Schema, or a part of one."""


def closed_object(properties: JsonSchema) -> JsonSchema:
    """Return the schema of an object that has all of these properties and no other."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


Body = dict[str, Any]
"""A provider's canonical request, as JSON has it."""
Task = Mapping[str, Any]
"""A question as data, as JSON has it: its `kind`, by which a backend that computes its answer finds how, and what only
whoever asks and that backend know."""
Options = Mapping[str, Any]
"""Settings of a provider's own, by name, as JSON has them: `Provider.options` says of which types they are, and its
backend alone reads them."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt. `role` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    `temperature` and `seed` are sent where the endpoint can set them. `schema` is a JSON schema with every property
    required and no additional ones; where the endpoint has no structured output, the prompt alone has to ask for the
    format. `task` says the same as data, for backends that compute their answer. `sample` numbers repeated draws of the
    same question: it is not part of the body, but of the ledger's key. `preset_answer` is the answer where it is known
    without asking: the ledger then has it from the start, and nothing is sent or paid; None for every other question.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float | None = None
    seed: int | None = None
    schema: Mapping[str, Any] | None = None
    task: Task = field(default_factory=dict)
    sample: int = 0
    preset_answer: str | None = None


def for_endpoint(request: Request, spec: Spec) -> Request:
    """Return the request for an endpoint: for a model without a system role, the system text goes in front of the first
    user message, with a blank line between."""
    system = [message.content for message in request.messages if message.role == "system"]
    if not (spec.no_system_role and system):
        return request
    others = [message for message in request.messages if message.role != "system"]
    at = next((at for at, message in enumerate(others) if message.role == "user"), None)
    first = [] if at is None else [others.pop(at).content]
    others.insert(at or 0, Message("user", "\n\n".join([*system, *first])))
    return replace(request, messages=tuple(others))


class Stop(StrEnum):
    """Reason why a model stopped: by itself, at the token limit, because it declined, because the provider's content
    filter stopped it, or for any other reason, such as a tool that it wants called."""

    END = "end"
    LENGTH = "length"
    REFUSAL = "refusal"
    FILTER = "filter"
    OTHER = "other"


EMPTY = gettext_noop("The answer is empty: the model ended without a word.")
ONLY_REASONING = gettext_noop("The answer is empty: the model ended after its reasoning.")
UNCLOSED = gettext_noop("The answer is empty: the model ended within its reasoning.")
NO_WORD = frozenset({EMPTY, ONLY_REASONING, UNCLOSED})
"""Problems of a completion whose model ended by itself and gave no answer."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `input` holds all prompt tokens, cached ones too; `reasoning` is a part of `output`.

    `cached` were read from the provider's cache, `cache_write` were put into it; both are parts of `input`. Without
    `reported`, the provider did not give the counts.
    """

    input: int = 0
    cached: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    reported: bool = True


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer to a call. `model` is the name that the provider answered with, `fingerprint` what it says of the
    system behind that name, empty where it says nothing; `headers` are those that came with it, in lower case:
    `Provider.kept_headers` says which the ledger keeps.

    `problem` is a sentence where the model did not stop by itself; `body` the answer as it came, where `text` is not
    all of it.

    This is the door for every answer. Thoughts that the model wrote into its `text` (core/incoming/thoughts.py) become
    `reasoning`. A model that ended by itself without an answer has the stop `OTHER` and one of NO_WORD as its problem.
    """

    text: str
    stop: Stop
    usage: Usage
    model: str
    reasoning: str = ""
    request_id: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""
    status: int = 200
    body: str = ""
    fingerprint: str = ""

    def __post_init__(self) -> None:
        answer, thoughts, unclosed = split_thoughts(self.text)
        reasoning = "\n\n".join(filter(None, (self.reasoning, thoughts)))
        self._set(text=answer, reasoning=reasoning)
        if self.stop is Stop.END and not answer.strip():
            why = UNCLOSED if unclosed else ONLY_REASONING if reasoning.strip() else EMPTY
            self._set(stop=Stop.OTHER, problem=why)

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True)
class Spec:
    """Description of an endpoint for its backend. `api_key_env` is the name of a variable, never its value.

    `options` are the provider's own: see each backend's docstring. Of an answer at most `answer_bytes` are read. With
    `hosts`, an endpoint that has an address is asked at these alone; `proxied`, through the proxy that the environment
    names.
    """

    provider: str
    model: str
    revision: str = ""
    base_url: str = ""
    api_key_env: str = ""
    sets_temperature: bool = True
    json_schema: bool = True
    no_system_role: bool = False
    max_concurrency: int = 16
    options: Options = field(default_factory=dict)
    answer_bytes: int = 16_000_000
    hosts: Sequence[str] = ()
    proxied: bool = False


class Backend(Protocol):
    def body(self, request: Request) -> Body:
        """Return the canonical request, equal for equal requests. Raises Rejected if it cannot be asked."""

    async def complete(self, body: Body, *, timeout: float, call: str) -> Completion:
        """Send `body` once, without retries. `timeout` in seconds; `call` is the ledger's id, sent along where
        possible."""

    async def aclose(self) -> None: ...


class EngineBackend(Protocol):
    """A backend that holds the model itself and takes many bodies at once. Blocks."""

    def body(self, request: Request) -> Body: ...

    def complete_many(self, bodies: Sequence[Body]) -> list[Completion | BackendError]:
        """Return a result for each body, in their order: a Completion or a BackendError."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """`ended` is true when results can be read; `problem` is set where the whole batch failed. Counts are in
    requests."""

    ended: bool
    done: int = 0
    failed: int = 0
    problem: str = ""


class BatchBackend(Protocol):
    """The provider's batch form, at half price. `uid` is ours: results and a search after a crash find their way back
    by it."""

    async def submit(self, uid: str, bodies: Sequence[tuple[str, Body]]) -> str:
        """Submit (custom id, body) pairs; returns the provider's id. Custom ids have 1 to 64 of letters, digits, _ and
        -."""

    async def find(self, uid: str) -> str | None:
        """Return the provider's id of the batch that was submitted as `uid`, None without one: after a crash."""

    async def status(self, batch_id: str) -> BatchStatus: ...

    def results(self, batch_id: str) -> AsyncIterator[tuple[str, Completion | BackendError]]:
        """Yield (custom id, Completion or BackendError) for every request that ended, in the provider's order."""
