"""What a run is to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from benchmark.models import Dataset, Form, Run
from benchmark.services.asking import prompt_set_named, reads_prompts
from benchmark.services.taken_over import needed_by_judge
from benchmark.suites.contract import Suite
from benchmark.suites.registry import suite_named
from workers.models import Endpoint

MOST_TOKENS, MOST_SEED, MOST_STORIES, MOST_REPETITIONS = 200_000, 2**31 - 1, 1_000_000, 100


class RunRefused(ValueError):
    """Says in one sentence why it cannot be launched; `field` of the plan is what to change."""

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is to be. `options` are the suite's settings, those that were not chosen at their defaults; `limit` 0 takes every
    sample; `max_tokens` of an answer; everything is asked `repetitions` times, at `temperature` where one is given; `budget` in US
    dollars, None for no cap; `source` is the run whose answers the judge reads anew."""

    dataset: Dataset
    endpoints: Sequence[Endpoint]
    stages: Sequence[str]
    suite: str
    judge: Endpoint | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    split: str = ""
    category: str = ""
    limit: int = 0
    max_tokens: int = 6000
    seed: int = 1
    budget: Decimal | None = None
    batch: bool = False
    source: Run | None = None
    title: str = ""
    repetitions: int = 1
    temperature: float | None = None

    def __post_init__(self) -> None:
        defaults = {one.name: one.default for one in self.definition.settings}
        object.__setattr__(self, "options", defaults | dict(self.options))
        object.__setattr__(self, "stages", list(dict.fromkeys(self.stages)))  # a form or a command may name one twice

    @property
    def definition(self) -> Suite:
        return suite_named(self.suite)

    @property
    def settings(self) -> dict[str, Any]:
        """What is chosen, as `Question.settings` has it of a run."""
        return {**self.options, "judge_reads_prompts": reads_prompts(self.judge)}

    @property
    def form(self) -> str:
        """The form of the answers: free text where the suite knows no other."""
        return self.options.get("form", Form.TEXT)

    @property
    def prompt_set(self) -> str:
        """The name of what is asked: of a chosen prompt set, else of the suite's own prompts."""
        chosen = next((one.name for one in self.definition.settings if one.prompt_set), None)
        return self.options[chosen] if chosen else self.definition.prompts_version or self.suite

    @property
    def self_test(self) -> bool:
        """Whether a judge is tested that was not yet."""
        return bool(self.options.get("self_test"))

    def without_test(self) -> Plan:
        """The same without a test of its judge."""
        return replace(self, options={**self.options, "self_test": False}) if self.self_test else self

    @property
    def judges(self) -> bool:
        """Whether the judge is asked."""
        step = self.definition.judging
        return step is not None and step.key in self.stages

    @property
    def judged_anew(self) -> tuple[str, ...]:
        """The steps whose answers are those of `source`: what the judge needs."""
        return needed_by_judge(self.definition) if self.source is not None else ()


def stages_of(endpoint: Endpoint, suite: str) -> tuple[str, ...]:
    """The steps that a run is launched with and that an endpoint can be asked for: a baseline does one thing, a model everything."""
    steps = suite_named(suite).launched
    return tuple(one.key for one in steps if endpoint.tasks is None or one.kind in endpoint.tasks)


def own_stages(plan: Plan, endpoint: Endpoint) -> list[str]:
    """The stages of which the endpoint gets places at the launch."""
    able = stages_of(endpoint, plan.suite)
    own = [stage for stage in plan.stages if not plan.definition.step(stage).judged and stage in able]
    if own or not plan.judges or plan.source is None:
        return own
    judging = plan.definition.judging
    there = plan.source.entrants.filter(endpoint=endpoint).exists()
    return [judging.key] if judging and there else []


def prompt_hashes(plan: Plan) -> dict[str, str]:
    """SHA-256 of the wording by stage; none of judging where the judge reads no prompt.

    Raises BadPromptSet where a request could not be made: no prompt of the level, no place for what it is to show.
    """
    sets = plan.definition.prompting
    if sets is None:
        return {stage: plan.definition.prompts.get(stage, "") for stage in plan.stages}
    prompts = prompt_set_named(sets, plan.prompt_set, plan.dataset.project)
    return sets.hashes(prompts, plan.settings, plan.stages)
