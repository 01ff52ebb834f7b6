"""From an item of a run to the question that its suite is asked to put."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar

from annotation.domain.schema import Schema
from annotation.models import Project
from benchmark.models import DatasetSample, Run, RunItem, StoredPromptSet
from benchmark.suites.contract import Question, Sample
from benchmark.suites.omnitom.prompting import (
    BadPromptSet,
    PromptSet,
    built_in,
    load_prompt_set,
)
from benchmark.suites.omnitom.prompting.sets import NAMES
from benchmark.suites.registry import suite_named
from workers.models import Endpoint
from workers.providers.contract import Request

T = TypeVar("T")
NO_ANSWERS: Mapping[str, str] = MappingProxyType({})


def prompt_set_named(name: str, project: Project) -> PromptSet:
    """A built-in set, or the project's own. Raises BadPromptSet."""
    if name in NAMES:
        return built_in(name)
    held = StoredPromptSet.objects.filter(project=project, name=name).first()
    if held is None:
        own = StoredPromptSet.objects.filter(project=project).values_list("name", flat=True)
        raise BadPromptSet(f"There is no prompt set {name!r}; there are {', '.join([*NAMES, *own])}.")
    return _loaded(held.pk)


@lru_cache(32)
def _loaded(pk: int) -> PromptSet:
    held = StoredPromptSet.objects.get(pk=pk)
    return load_prompt_set(held.files, name=held.name)


def reads_prompts(endpoint: Endpoint | None) -> bool:
    """A baseline computes its answer from the tables; it sees no wording, no examples, and as a judge no story."""
    return endpoint is not None and endpoint.about.reads_prompts


def request_for(item: RunItem, answers: Mapping[str, str]) -> Request | str:
    """What an item asks, or why it asks nothing. `item.sample` and `item.entrant.run.dataset` are loaded; `answers` are the raw answers to its
    story by step."""
    run = item.entrant.run
    return suite_named(run.suite).request(question_of(run, item.sample, item.stage, answers))


def stage_request(
    story: DatasetSample, step: str, run: Run, prompts: PromptSet, answers: Mapping[str, str] = NO_ANSWERS
) -> Request | str:
    """`request_for` of an item that need not be there, with a prompt set that is loaded."""
    return suite_named(run.suite).request(question_of(run, story, step, answers, prompts))


def question_of(
    run: Run, story: DatasetSample, step: str, answers: Mapping[str, str] = NO_ANSWERS, prompts: PromptSet | None = None
) -> Question:
    resources = RunResources(run, prompts or prompt_set_named(run.prompt_set, run.project))
    return Question(sample_of(story), step, settings_of(run), resources, answers)


def settings_of(run: Run) -> dict[str, Any]:
    """What the run was launched with, for its suite; `judge_reads_prompts` says whether the judge is asked in words."""
    chosen = {"form": run.form, "level": run.level, "prompt_set": run.prompt_set}
    return {**run.params, **chosen, "judge_reads_prompts": reads_prompts(run.judge)}


def sample_of(story: DatasetSample) -> Sample:
    return Sample(story.key, story.cluster, story.content, story.gold, story.category, story.split, story.group)


@dataclass(frozen=True, slots=True)
class RunResources:
    """`contract.Resources` of a run."""

    run: Run
    prompts: PromptSet | None

    @property
    def schema(self) -> Schema:
        return self.run.dataset.schema

    def derived(self, name: Hashable, compute: Callable[[Sequence[Sample]], T]) -> T:
        dataset = self.run.dataset
        return _derived(dataset.pk, dataset.digest, name, compute)


_kept: OrderedDict[Hashable, Any] = OrderedDict()
_MOST_KEPT = 32


def _derived(dataset: int, digest: str, name: Hashable, compute: Callable[[Sequence[Sample]], T]) -> T:
    """By digest too, as another database's dataset may have the same id."""
    key = (dataset, digest, name)
    if key not in _kept:
        held = (
            DatasetSample.objects.filter(dataset=dataset)
            .defer("votes", "methods", "adjudications")
            .order_by("position")
        )
        _kept[key] = compute([sample_of(one) for one in held])
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    return _kept[key]
