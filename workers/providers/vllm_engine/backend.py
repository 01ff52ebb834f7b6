"""vLLM inside the worker's process: a list of prompts goes to the engine, without a server between.

Options: `dtype`, `quantization`, `tensor_parallel_size`, `max_model_len`, `gpu_memory_utilization`, `seed` and
`enforce_eager` are vLLM's own and by default left to it; `reasoning_parser` is the name of the vLLM parser that keeps a
model's reasoning apart from its answer; `structured_outputs_backend` is what enforces a schema (default guidance:
xgrammar lets raw control characters into strings with a maximum length).

The model's own sampling settings are never taken: everything that shapes an answer is in the body, such options
included.
"""

import gc
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from workers.providers.contract import Body, Completion, Request, Spec, Stop, Usage
from workers.providers.errors import BackendError, Overloaded, Rejected, Unreadable
from workers.providers.options import check_options
from workers.providers.vllm_engine.options import OPTIONS

log = logging.getLogger(__name__)

SHAPING = ("dtype", "quantization", "reasoning_parser")
"""Options that change answers: part of the body, so that two settings of one model never share them."""
NOT_INSTALLED = "vLLM is not installed where this worker runs; install it there with: uv pip install 'vllm>=0.32'"
_STOPS = {"stop": Stop.END, "length": Stop.LENGTH}


class Engine(Protocol):
    """The part of vLLM that is used. `refusals` are the errors that concern one request and leave the engine usable."""

    max_model_len: int
    refusals: tuple[type[Exception], ...]

    def params(self, body: Body) -> Any:
        """Return the sampling parameters of one body."""

    def chat(self, messages: list[list[dict[str, str]]], sampling_params: list[Any], use_tqdm: bool) -> list[Any]:
        """Return an output for each conversation, in their order, shaped like vLLM's RequestOutput."""

    def get_tokenizer(self) -> Any: ...

    def split(self, text: str, token_ids: Sequence[int]) -> tuple[str, str, int]:
        """Return (reasoning, answer, tokens of reasoning)."""

    def close(self) -> None: ...


class VllmEngine:
    """A model loaded into this process by vLLM. Raises Rejected with the reason where it cannot be loaded."""

    def __init__(self, spec: Spec, *, load: Callable[[Spec], Engine] | None = None) -> None:
        check_options(spec.options, OPTIONS)
        self.spec = spec
        self._load = load or load_vllm
        self.engine: Engine | None = self._load(spec)

    def body(self, request: Request) -> Body:
        """Return the canonical request; it has `schema` and `engine` only where they are set."""
        body: Body = {
            "model": self.spec.model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "max_tokens": request.max_tokens,
            "temperature": 0.0 if request.temperature is None else request.temperature,
            "seed": request.seed,
        }
        if request.schema is not None and self.spec.json_schema:
            body["schema"] = dict(request.schema)
        if shaping := {name: self.spec.options[name] for name in SHAPING if name in self.spec.options}:
            body["engine"] = shaping
        return body

    def complete_many(self, bodies: Sequence[Body]) -> list[Completion | BackendError]:
        """Return Rejected for bodies that can never be answered, Overloaded for all if the engine failed."""
        if not bodies:
            return []
        try:
            engine = self.engine = self.engine or self._load(self.spec)
            tokenizer = engine.get_tokenizer()
            problems = [_problem(body, tokenizer, engine.max_model_len) for body in bodies]
            # Neighbours that begin alike find their common prefix in the cache before it is pushed out.
            asked = [at for at, problem in enumerate(problems) if problem is None]
            order = sorted(asked, key=lambda at: [(each["role"], each["content"]) for each in bodies[at]["messages"]])
            answers = dict(zip(order, self._ask(engine, [bodies[at] for at in order]), strict=True))
            return [answers[at] if problem is None else problem for at, problem in enumerate(problems)]
        except Exception as error:
            log.exception("The engine of %s failed.", self.spec.model)
            self.close()
            problem = f"The engine failed ({type(error).__name__}: {_line(error)}); the worker's log says more."
            return [Overloaded(problem)] * len(bodies)

    def close(self) -> None:
        """Give the GPU back; the next question loads the model again."""
        engine, self.engine = self.engine, None
        if engine is not None:
            try:
                engine.close()
            except Exception:  # a broken engine may not even close
                log.exception("The engine of %s did not close.", self.spec.model)

    def _ask(self, engine: Engine, bodies: Sequence[Body]) -> list[Completion | BackendError]:
        """Ask the engine a list; if it refuses one of them, ask the halves separately."""
        if not bodies:
            return []
        try:
            params = [engine.params(body) for body in bodies]
            outputs = engine.chat([body["messages"] for body in bodies], params, use_tqdm=False)
        except engine.refusals as error:
            if len(bodies) == 1:
                return [Rejected(f"vLLM refuses the request: {_line(error)}")]
            middle = len(bodies) // 2
            return [*self._ask(engine, bodies[:middle]), *self._ask(engine, bodies[middle:])]
        if len(outputs) != len(bodies):
            raise RuntimeError(f"{len(outputs)} answers to {len(bodies)} questions")
        return [self._read(engine, output) for output in outputs]

    def _read(self, engine: Engine, output: Any) -> Completion | BackendError:
        """Read one output; whatever a parser raises concerns this answer alone, which is kept as it came."""
        try:
            answer = output.outputs[0]
            if answer.finish_reason not in _STOPS:
                return Overloaded(f"The engine gave this request up ({answer.finish_reason or 'no reason given'}).")
            reasoning, text, thought = engine.split(answer.text, answer.token_ids)
            usage = Usage(
                input=len(output.prompt_token_ids or ()),
                cached=output.num_cached_tokens or 0,
                output=len(answer.token_ids),
                reasoning=thought,
            )
            return Completion(
                text=text,
                stop=_STOPS[answer.finish_reason],
                usage=usage,
                model=self.spec.model,
                reasoning=reasoning,
                request_id=str(output.request_id),
            )
        except Exception as error:
            log.exception("An answer of %s could not be read.", self.spec.model)
            problem = f"The engine's answer could not be read ({type(error).__name__}: {_line(error)})."
            answers = getattr(output, "outputs", None) or ()  # in which anything may be missing
            return Unreadable(problem, body="\n".join(str(getattr(answer, "text", "")) for answer in answers))


def _problem(body: Body, tokenizer: Any, room: int) -> Rejected | None:
    """Return why a body cannot be asked: one prompt that is too long would otherwise fail the whole list."""
    try:
        tokens = count_tokens(tokenizer, body["messages"])
    except Exception as error:  # whatever a chat template or tokenizer raises, it concerns this prompt alone
        return Rejected(
            f"The model's chat template cannot take these messages ({type(error).__name__}: {_line(error)})."
        )
    if tokens < room:  # as vLLM's server does: an answer that meets the end of the context stops there
        return None
    return Rejected(f"The prompt has {tokens:,} tokens; with the answer the engine takes {room:,} (max_model_len).")


def count_tokens(tokenizer: Any, messages: Sequence[Mapping[str, str]]) -> int:
    """Count the tokens of the whole prompt, with those of the template and of the beginning of the answer."""
    tokens = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=False)
    return len(tokens)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


class _Vllm:
    """The real engine."""

    def __init__(self, llm: Any, reasoning_parser: str) -> None:
        from vllm import SamplingParams, exceptions
        from vllm.sampling_params import StructuredOutputsParams

        self._llm, self._sampling, self._structured = llm, SamplingParams, StructuredOutputsParams
        self.refusals: tuple[type[Exception], ...] = (exceptions.VLLMClientError, ValueError)
        self.max_model_len = llm.model_config.max_model_len
        self.chat, self.get_tokenizer = llm.chat, llm.get_tokenizer
        self._parser = None
        if reasoning_parser:
            from vllm.reasoning import ReasoningParserManager

            self._parser = ReasoningParserManager.get_reasoning_parser(reasoning_parser)(llm.get_tokenizer())

    def params(self, body: Body) -> Any:
        schema = body.get("schema")
        return self._sampling(
            max_tokens=body["max_tokens"],  # explicit: vLLM's own default is 16
            temperature=body["temperature"],
            seed=body["seed"],
            structured_outputs=self._structured(json=schema) if schema is not None else None,
        )

    def split(self, text: str, token_ids: Sequence[int]) -> tuple[str, str, int]:
        if self._parser is None:
            return "", text, 0
        reasoning, answer = self._parser.extract_reasoning(text, None)
        # Templates often open the reasoning in the prompt, so everything but the answer is counted, not what stands
        # between marks.
        thought = len(token_ids) - len(self._parser.extract_content_ids(list(token_ids))) if reasoning else 0
        return reasoning or "", answer or "", thought

    def close(self) -> None:
        self._llm.llm_engine.engine_core.shutdown()
        del self._llm, self.chat, self.get_tokenizer
        gc.collect()


def load_vllm(spec: Spec) -> Engine:
    """Import vLLM and load the model, which takes minutes for a large one. Raises Rejected with the reason."""
    # The children of a Celery worker may hold threads and a CUDA context, which a fork would copy.
    os.environ["VLLM_WORKER_MULTIPROC_METHOD"] = "spawn"
    try:
        from vllm import LLM
    except ImportError as error:
        raise Rejected(NOT_INSTALLED) from error
    try:
        return _Vllm(LLM(**settings_of(spec)), spec.options.get("reasoning_parser", ""))
    except Exception as error:
        log.exception("vLLM could not load %s.", spec.model)
        raise Rejected(f"vLLM could not load {spec.model} ({type(error).__name__}: {_line(error)}).") from error


def settings_of(spec: Spec) -> dict[str, Any]:
    """Return the keyword arguments of vllm.LLM."""
    options = dict(spec.options)
    structured = options.pop("structured_outputs_backend", "guidance")
    return options | {
        "model": spec.model,
        "revision": spec.revision or None,
        "generation_config": "vllm",
        "structured_outputs_config": {"backend": structured},
    }
