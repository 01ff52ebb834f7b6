"""Baselines that apps register, answers that are drawn by chance, and the backend. It computes answers from
`Request.task`, never from the messages."""

import hashlib
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from workers.providers.contract import Body, Completion, Options, Request, Spec, Stop, Task, Usage
from workers.providers.errors import Rejected
from workers.providers.options import KnownOptions


def seeded(options: Options, seed: int | None) -> Body:
    """Return the settings of a baseline that draws: the request's seed, else that of the endpoint's options, else 0."""
    return {"seed": options.get("seed", 0) if seed is None else seed}


def generator(body: Body, key: object) -> random.Random:
    """Return the random numbers of one question, by the seed, the repetition and the JSON value `key`."""
    return random.Random(hashlib.sha256(json.dumps([body["seed"], body["sample"], key]).encode()).digest())


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """One kind of task that a model of the provider answers.

    - `name`: the model; several baselines may share it, each for another `task`, a kind of `Request.task`.
    - `answer`: the text of the answer to a body, whose `task` is the request's.
    - `sample`: a task to try it with, without its kind.
    - `settings`: what of an endpoint's options and of the request's seed an answer depends on; it goes into the body.
      Raises Rejected for what cannot work.
    - `options`: those that it takes, and `options_note` what they are for, such as "seed for random".
    - `rules`: the version of what it computes by, None where there is only one. Runs record it.
    """

    name: str
    task: str
    answer: Callable[[Body], str]
    sample: Task
    settings: Callable[[Options, int | None], Body] = lambda options, seed: {}
    options: KnownOptions = field(default_factory=dict)
    options_note: str = ""
    rules: int | None = None


class BaselineBackend:
    """Computes a baseline's answers. Raises Rejected for a model that is none of `baselines`, and for options that
    cannot work."""

    def __init__(self, spec: Spec, baselines: Sequence[Baseline]) -> None:
        self.spec = spec
        self.baselines = {baseline.task: baseline for baseline in baselines if baseline.name == spec.model}
        if not self.baselines:
            names = ", ".join(dict.fromkeys(baseline.name for baseline in baselines))
            raise Rejected(f"There is no baseline {spec.model!r}; there are {names}.")
        for baseline in baselines:
            baseline.settings(spec.options, None)

    def body(self, request: Request) -> Body:
        kind = request.task.get("kind")
        if kind not in self.baselines:
            kinds = " or ".join(self.baselines)
            raise Rejected(f"The baseline {self.spec.model} can only {kinds}, not {kind or 'answer freely'}.")
        settings = self.baselines[kind].settings(self.spec.options, request.seed)
        return {"model": self.spec.model, "task": dict(request.task), "sample": request.sample, **settings}

    async def complete(self, body: Body, *, timeout: float, call: str) -> Completion:
        text = self.baselines[body["task"]["kind"]].answer(body)
        return Completion(text=text, stop=Stop.END, usage=Usage(), model=self.spec.model)

    async def aclose(self) -> None:
        pass
