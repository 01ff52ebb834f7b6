"""Models that answer a small OpenToM by rule: one is right however it is asked, one overlooks false beliefs unless it
reasons step by step."""

from pathlib import Path

from django.utils import timezone

from benchmark.models import Dataset, Run
from benchmark.services.launches import start_runs
from benchmark.services.plans import Plan, plans_by_method
from benchmark.services.reports import reports_of
from tests.benchmark.controls import world as controls
from tests.benchmark.settled import make_endpoint, work_off
from tests.benchmark.suites.opentom.small import GOLD, TRUTHS
from tests.cast import Cast, new_cast
from tests.copies import copied
from workers.models import Endpoint
from workers.providers.scripted.backend import FUNCTIONS

STEADY, THINKS = "steady", "thinks"
QUESTIONS = 5 * 23
METHODS = ("plain", "cot", "s2a")


def steady(prompt: str, key: str) -> str:
    return f"Final answer: {GOLD[key]}"


def thinks(prompt: str, key: str) -> str:
    return f"Final answer: {(GOLD if 'step by step' in prompt else TRUTHS)[key]}"


def _function(rule):
    def answer(body) -> str:
        key = body["task"].get("key", "")
        return rule(body["messages"][-1]["content"], key) if key in GOLD else "What matters."

    return answer


FUNCTIONS[STEADY], FUNCTIONS[THINKS] = _function(steady), _function(thinks)


def opentom(cast: Cast, folder: Path) -> tuple[Dataset, list[Endpoint]]:
    """The small copy as a dataset, and both models."""
    dataset, _ = controls.opentom(cast, folder)
    return dataset, [make_endpoint(name, model=name, options={"function": name}) for name in (STEADY, THINKS)]


def plan(dataset: Dataset, models: list[Endpoint], **fields) -> Plan:
    """Five narratives, as a launch says it but for its methods."""
    chosen = {"limit": QUESTIONS, "max_tokens": 50, "title": "Two thinkers"} | fields
    return Plan(dataset, models, ["answer"], "opentom", **chosen)


def methods_world(folder: Path, *methods: str) -> tuple[Cast, list[Run]]:
    """Finished runs of both models by each method, with their reports, made once."""
    return copied(f"methods {methods}", lambda: _made(folder, methods))


def _made(folder: Path, methods: tuple[str, ...]) -> tuple[Cast, list[Run]]:
    cast = new_cast()
    plans = plans_by_method(plan(*opentom(cast, folder)), methods)
    runs = start_runs(by=cast.alice, plans=plans, now=timezone.now())
    done = [Run.objects.select_related("job", "dataset", "project").get(pk=work_off(run).pk) for run in runs]
    reports_of(done)
    return cast, done
