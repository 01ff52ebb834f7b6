"""Models that answer a small OpenToM by rule: one reads the story in front of it, one knows the stories as they were
published by heart."""

import re
from pathlib import Path

import pytest
from django.utils import timezone

from benchmark.models import Dataset, Run
from benchmark.services.launches import start_run
from benchmark.services.plans import Plan
from benchmark.services.reports import report_of
from benchmark.suites.registry import suite_named
from tests.benchmark.importing import import_benchmark
from tests.benchmark.settled import make_endpoint, work_off
from tests.benchmark.suites.opentom import small
from tests.cast import Cast, new_cast
from tests.copies import copied
from workers.models import Endpoint
from workers.providers.scripted.backend import FUNCTIONS

PUBLISHED = [entry["narrative"] for entry in small.small()["meta_data.json"].values()]
_STORY = re.compile(r"(\w+) and \w+ find an? .+? in (.+?)\. \w+ carries it to (.+?) while (\w+) (looks on|is out)")
READS, REMEMBERS = "reads", "remembers"
QUESTIONS = 5 * 23


def reads(prompt: str, task: dict) -> str:
    """What follows from the story in the prompt; without one, the first of what may be answered."""
    story = _STORY.search(prompt)
    if story is None:
        return task["choices"][0]
    mover, old, new, _observer, sight = story.groups()
    seen, about = sight == "looks on", prompt[story.end() :]
    knows = seen or (f"From {mover}'s perspective" in about and "does" not in about)
    if "narrator" in about:
        return new if "end of the story" in about else old
    if "where it was" in about:
        return "No" if knows else "Yes"
    if "where precisely" in about:
        return new if knows else old
    if "fullness" in about:
        return ("less full" if f"fullness of {old} " in about else "more full") if knows else "equally full"
    if "accessibility" in about:
        return "less accessible" if knows else "equally accessible"
    return "positive" if seen else "neutral"


def remembers(prompt: str, task: dict) -> str:
    """The published answer where the story is as published; else a guess."""
    return small.GOLD[task["key"]] if any(story in prompt for story in PUBLISHED) else task["choices"][0]


def _function(rule):
    return lambda body: rule(body["messages"][-1]["content"], body["task"])


FUNCTIONS[READS], FUNCTIONS[REMEMBERS] = _function(reads), _function(remembers)


def opentom(cast: Cast, folder: Path) -> tuple[Dataset, dict[str, Endpoint]]:
    """The small copy as a dataset, and both models."""
    suite = suite_named("opentom")
    with pytest.MonkeyPatch.context() as patch:
        copy = small.released(patch, folder / "OpenToM")
        dataset, _ = import_benchmark(by=None, project=cast.project, suite=suite, folder=copy, options={})
    return dataset, {name: make_endpoint(name, model=name, options={"function": name}) for name in (READS, REMEMBERS)}


def plan(dataset: Dataset, models: dict[str, Endpoint], **fields) -> Plan:
    """Five narratives, asked plainly."""
    chosen = {"limit": QUESTIONS, "max_tokens": 50, "title": "Two readers"} | fields
    return Plan(dataset, list(models.values()), ["answer"], "opentom", **chosen)


def controlled_world(folder: Path, *controls: str) -> tuple[Cast, Run]:
    """A finished run of both models with finished controls and their reports, made once."""
    return copied(f"controls {controls}", lambda: _made(folder, controls))


def _made(folder: Path, controls: tuple[str, ...]) -> tuple[Cast, Run]:
    cast = new_cast()
    run = start_run(by=cast.alice, plan=plan(*opentom(cast, folder), controls=controls), now=timezone.now())
    for each in (run, *run.controls.all()):
        report_of(work_off(each))
    return cast, Run.objects.select_related("job", "dataset", "project").get(pk=run.pk)
