"""Baseline answers, computed from `Request.task`, never from the messages."""

from collections.abc import Sequence

from workers.providers.baseline.baseline import Baseline
from workers.providers.contract import Body, Completion, Request, Spec, Stop, Usage
from workers.providers.errors import Rejected


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
