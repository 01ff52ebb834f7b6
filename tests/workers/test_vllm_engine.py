"""vLLM in the process against a scripted engine; where VLLM_PYTHON names a Python that has vLLM, against the real one,
and what its server does with the fields of a request."""

import asyncio
import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.request import urlopen

import openai
import pytest

from core.texts import canonical
from tests.chaos.site import free_port
from workers.providers.contract import Completion, Message, Request, Spec, Stop
from workers.providers.errors import Overloaded, Rejected, Unreadable
from workers.providers.vllm.backend import VllmBackend
from workers.providers.vllm_engine import backend as vllm_engine
from workers.providers.vllm_engine.backend import VllmEngine

ROOT = Path(__file__).parents[2]
VLLM_PYTHON = os.environ.get("VLLM_PYTHON", "")
ON_CPU = {"VLLM_TARGET_DEVICE": "cpu", "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"} | os.environ
SCHEMA = {"type": "object", "properties": {"truth": {"enum": ["True", "False"]}}, "required": ["truth"]}


class RefusedError(Exception):
    pass


class ScriptedEngine:
    """Answers with the last message in capitals; a word is a token. `crash` in a message breaks it, schema {} is
    refused."""

    max_model_len, refusals = 50, (RefusedError,)

    def __init__(self) -> None:
        self.lists: list[list[str]] = []
        self.closed = 0
        self.finish_reason = "stop"

    def params(self, body):
        if body["temperature"] < 0:
            raise RefusedError("temperature must not be negative")
        return body

    def chat(self, messages, sampling_params, use_tqdm):
        asked = [conversation[-1]["content"] for conversation in messages]
        assert use_tqdm is False and [body["messages"] for body in sampling_params] == messages
        self.lists.append(asked)
        if any("crash" in prompt for prompt in asked):
            raise OSError("CUDA error: out of memory")
        if any(body.get("schema") == {} for body in sampling_params):
            raise RefusedError("a schema without a type")
        return [self._output(at, text) for at, text in enumerate(asked)]

    def _output(self, at, text):
        answer = SimpleNamespace(text=text.upper(), token_ids=text.split(), finish_reason=self.finish_reason)
        return SimpleNamespace(request_id=at, prompt_token_ids=[0] * 7, num_cached_tokens=4, outputs=[answer])

    def get_tokenizer(self):
        return self

    def apply_chat_template(self, messages, **how):
        assert how == {"add_generation_prompt": True, "tokenize": True, "return_dict": False}
        if not messages:
            raise ValueError("an empty conversation")
        return [word for message in messages for word in message["content"].split()]

    def split(self, text, token_ids):
        reasoning, mark, answer = text.rpartition("</THINK>")
        return reasoning, answer, token_ids.index("</think>") + 1 if mark else 0

    def close(self):
        self.closed += 1


def engine_of(load=lambda spec: ScriptedEngine(), **spec) -> VllmEngine:
    return VllmEngine(Spec("vllm-engine", "tiny", **spec), load=load)


@pytest.fixture
def engine() -> VllmEngine:
    return engine_of()


def asked(engine, *texts):
    return [engine.body(Request((Message("user", text),), max_tokens=10)) for text in texts]


def test_the_body_says_all_that_shapes_an_answer(engine):
    request = Request((Message("system", "s"), Message("user", "u")), max_tokens=5, seed=3, schema=SCHEMA, sample=2)
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    common = {"model": "tiny", "messages": messages, "max_tokens": 5, "temperature": 0.0, "seed": 3}
    assert engine.body(request) == common | {"schema": SCHEMA}
    assert canonical(engine.body(request)) == canonical(engine.body(request))
    other = engine_of(
        json_schema=False, options={"dtype": "float16", "quantization": "fp8", "gpu_memory_utilization": 0.5}
    )
    assert other.body(request) == common | {"engine": {"dtype": "float16", "quantization": "fp8"}}


def test_answers_are_completions_in_the_order_of_the_questions(engine):
    (answer,) = engine.complete_many(asked(engine, "let me see </think> yes it is"))
    assert (answer.text, answer.reasoning, answer.stop, answer.model) == (" YES IT IS", "LET ME SEE ", Stop.END, "tiny")
    # seven words, of which the first four end with the mark
    assert (answer.usage.input, answer.usage.cached, answer.usage.output, answer.usage.reasoning) == (7, 4, 7, 4)
    texts = ["b two", "a two", "b one", "a one"]
    answers = engine.complete_many(asked(engine, *texts))
    assert engine.engine.lists[1:] == [["a one", "a two", "b one", "b two"]], "equal beginnings are asked together"
    assert [answer.text for answer in answers] == [text.upper() for text in texts]
    assert engine.complete_many([]) == []
    seeds = []
    engine.engine.params = lambda body: seeds.append(body["seed"]) or body
    engine.complete_many([body | {"seed": at} for at, body in enumerate(asked(engine, "b", "a", "a", "a"))])
    assert seeds == [1, 2, 3, 0], "equal questions keep their order"


def test_an_answer_that_cannot_be_read_loses_only_itself(engine):
    def split(text, token_ids):
        if "BAD" in text:
            raise IndexError("the parser met half a mark")
        return "", text, 0

    engine.engine.split = split
    whole = engine.engine._output
    engine.engine._output = lambda at, text: SimpleNamespace(outputs=[]) if text == "empty" else whole(at, text)
    first, bad, empty, last = engine.complete_many(asked(engine, "one", "bad mark", "empty", "two"))
    assert (first.text, last.text) == ("ONE", "TWO")
    assert type(bad) is Unreadable and bad.body == "BAD MARK"
    assert str(bad) == "The engine's answer could not be read (IndexError: the parser met half a mark)."
    assert (type(empty), empty.body) == (Unreadable, "")
    assert engine.engine.closed == 0 and len(engine.engine.lists) == 1  # nothing is loaded or asked again


def test_how_an_answer_ends(engine):
    for prompt, ending in (("", "without a word."), ("I think </think> ", "after its reasoning.")):
        (answer,) = engine.complete_many(asked(engine, prompt))
        assert (answer.stop, answer.problem) == (Stop.OTHER, f"The answer is empty: the model ended {ending}")
    for reason, expected in (("length", Stop.LENGTH), ("abort", Overloaded), (None, Overloaded)):
        engine.engine.finish_reason = reason
        (answer,) = engine.complete_many(asked(engine, "a"))
        assert answer.stop == expected if isinstance(answer, Completion) else type(answer) is expected


def test_what_the_engine_cannot_take_fails_alone(engine):
    # 50 tokens in all, one of them for an answer: 49 words fit, 50 do not, however long the answer may be
    answers = engine.complete_many(asked(engine, "a", "x " * 50, "x " * 49, "b"))
    assert [type(answer) for answer in answers] == [Completion, Rejected, Completion, Completion]
    assert str(answers[1]) == "The prompt has 50 tokens; with the answer the engine takes 50 (max_model_len)."
    assert sum(len(prompts) for prompts in engine.engine.lists) == 3
    for odd, at in itertools.product(({"schema": {}}, {"temperature": -1.0}, {"messages": []}), (0, 3, 7)):
        bodies = asked(engine, *"abcdefgh")
        bodies[at] |= odd
        answers = engine.complete_many(bodies)
        assert [type(one) for one in answers] == [Rejected if number == at else Completion for number in range(8)]
        said = [answer.text for answer in answers if isinstance(answer, Completion)]
        assert said == [text for text in "ABCDEFGH" if text != "ABCDEFGH"[at]]
        assert "an empty conversation" in str(answers[at]) or odd != {"messages": []}  # it has no template


def test_a_broken_engine_fails_all_and_is_loaded_anew(engine):
    loads = []
    breaking = engine_of(lambda spec: loads.append(ScriptedEngine()) or loads[-1])
    answers = breaking.complete_many(asked(breaking, "a", "crash", "b"))
    assert [type(answer) for answer in answers] == [Overloaded] * 3
    assert "OSError: CUDA error: out of memory" in str(answers[0])
    assert (len(loads), loads[0].closed) == (1, 1)
    assert breaking.complete_many(asked(breaking, "a"))[0].text == "A" and len(loads) == 2
    scripted = engine.engine
    scripted.chat = lambda *args, **how: []  # it loses answers
    assert [type(answer) for answer in engine.complete_many(asked(engine, "a", "b"))] == [Overloaded] * 2
    engine.close()
    engine.close()
    assert scripted.closed == 1


def test_what_cannot_be_loaded_is_refused_with_the_reason(monkeypatch):
    for options, sentence in (
        ({"dtypes": "float16"}, "There is no option 'dtypes'"),
        ({"tensor_parallel_size": True}, "tensor_parallel_size wants int, not True"),
        ({"enforce_eager": "yes"}, "enforce_eager wants bool, not 'yes'"),
    ):
        with pytest.raises(Rejected, match=sentence):
            engine_of(options=options)
    monkeypatch.setitem(sys.modules, "vllm", None)
    monkeypatch.setenv("VLLM_WORKER_MULTIPROC_METHOD", "fork")
    with pytest.raises(Rejected, match="uv pip install 'vllm"):
        VllmEngine(Spec("vllm-engine", "tiny"))
    assert os.environ["VLLM_WORKER_MULTIPROC_METHOD"] == "spawn"

    def fail(**settings):
        raise RuntimeError("no such\nmodel")

    monkeypatch.setitem(sys.modules, "vllm", SimpleNamespace(LLM=fail))
    with pytest.raises(Rejected, match=r"load nowhere/tiny \(RuntimeError: no such model\)"):
        VllmEngine(Spec("vllm-engine", "nowhere/tiny"))


def test_the_models_own_sampling_settings_are_never_taken():
    options = {"dtype": "float16", "max_model_len": 99}
    own = {"generation_config": "vllm", "structured_outputs_config": {"backend": "guidance"}}
    spec = Spec("vllm-engine", "tiny", revision="abc", options=options)
    assert vllm_engine.settings_of(spec) == {"model": "tiny", "revision": "abc"} | options | own


# --- the real one


def of_the_real_one(test):
    needs = pytest.mark.skipif(not VLLM_PYTHON, reason="set VLLM_PYTHON to a Python that has vLLM")
    return pytest.mark.slow(pytest.mark.xdist_group("vllm")(needs(test)))


@of_the_real_one
def test_the_real_engine(tmp_path):
    command = [VLLM_PYTHON, "-m", "tests.workers.tiny_model", str(tmp_path), "--drive"]
    ran = subprocess.run(command, cwd=ROOT, env=ON_CPU, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr[-3000:]
    report = json.loads(next(line for line in ran.stdout.splitlines() if line.startswith('{"prompt_tokens"')))
    ended = [json.loads(answer["text"]) for answer in report["answers"] if answer["stop"] == "end"]
    assert len(ended) >= 32
    for judgement in ended:
        assert judgement["truth"] in ("True", "False", "Unknown")
        assert 1 <= judgement["sure"] <= 7 and len(judgement["why"]) <= 40
    # every question has its own length: the lengths tell whether the answers came back in the questions' order
    assert len(set(report["prompt_tokens"])) > 32
    assert [answer["input"] for answer in report["answers"]] == report["prompt_tokens"]
    kinds = [problem.split(":")[0] for problem in report["odd"]]
    assert kinds == ["Completion", "Rejected", "Rejected", "Rejected", "Completion"]


LABELS = ["True", "False", "Unknown"]
TRUTH = {"truth": {"type": "string", "enum": LABELS}}
HELD = {"type": "object", "properties": TRUTH, "required": ["truth"], "additionalProperties": False}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The base URL of a server that holds the tiny model; prints how long it took to start."""
    folder = tmp_path_factory.mktemp("vllm")
    model, port, log = str(folder / "tiny"), free_port(), folder / "log"
    subprocess.run([VLLM_PYTHON, "-m", "tests.workers.tiny_model", model], cwd=ROOT, env=ON_CPU, check=True)
    options = f"--model {model} --served-model-name tiny --port {port} --host 127.0.0.1 --enforce-eager"
    command = [VLLM_PYTHON, "-m", "vllm.entrypoints.openai.api_server", *options.split()]
    command += ["--generation-config", "vllm", "--structured-outputs-config", '{"backend": "guidance"}']
    started = time.monotonic()
    with log.open("wb") as out:
        server = subprocess.Popen(command, env=ON_CPU, stdout=out, stderr=out)
        try:
            while not _answers(f"http://127.0.0.1:{port}/health"):
                if server.poll() is not None or time.monotonic() > started + 300:
                    pytest.fail(f"The server did not start: {log.read_text(errors='replace')[-3000:]}")
                time.sleep(0.5)
            print(f"The server started in {time.monotonic() - started:.0f} s.")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()
            server.wait(60)


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5) as answer:
            return answer.status == 200
    except OSError:  # not listening yet
        return False


@of_the_real_one
def test_schemas_and_structured_outputs_are_honoured_and_guided_json_is_ignored(address):
    asking = {"model": "tiny", "messages": [{"role": "user", "content": "Is it in the box?"}], "temperature": 0.0}
    with openai.OpenAI(base_url=address, api_key="none", max_retries=0, timeout=120) as client:

        def ask(**fields) -> str:
            return client.chat.completions.create(**asking, max_tokens=60, **fields).choices[0].message.content

        described = {"name": "answer", "schema": HELD, "strict": True}
        text = ask(response_format={"type": "json_schema", "json_schema": described})
        assert json.loads(text)["truth"] in LABELS
        assert ask(extra_body={"structured_outputs": {"choice": LABELS}}) in LABELS
        free = ask()
        with pytest.raises(ValueError):
            json.loads(free)  # random weights: without a constraint no JSON
        assert ask(extra_body={"guided_json": HELD}) == free


@of_the_real_one
def test_the_backend_gets_an_answer_by_the_schema(address):
    async def ask(question: str):
        backend = VllmBackend(Spec("vllm", "tiny", base_url=address))
        try:
            request = Request((Message("user", question),), max_tokens=60, schema=HELD)
            return await backend.complete(backend.body(request), timeout=120, call="1")
        finally:
            await backend.aclose()

    completion = asyncio.run(ask("Is it in the box?"))
    assert json.loads(completion.text)["truth"] in LABELS
    assert completion.stop == Stop.END and completion.usage.input > 0 < completion.usage.output
    # the model takes 2,048 tokens
    with pytest.raises(Rejected, match="HTTP 400"):
        asyncio.run(ask("x " * 2048))
