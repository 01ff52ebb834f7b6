"""What a run is to be, and why it cannot be launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db.models import Q, QuerySet

from benchmark.models import Dataset, DatasetSample, Form, Run, RunItem, Stage
from benchmark.services.asking import DatasetResources, prompt_set_named, reads_prompts
from benchmark.services.results import WITHOUT_CALL
from benchmark.suites.contract import Suite
from benchmark.suites.omnitom.prompting import LEVELS, MAX_EXAMPLES
from benchmark.suites.omnitom.prompting.choosing import SAMPLE, SOURCES
from benchmark.suites.prompt_sets import BadPromptSet
from benchmark.suites.registry import suite_named
from workers.domain.pricing import unknown_price_told
from workers.models import Endpoint
from workers.services.jobs import MOST_MONEY

MOST_TOKENS, MOST_SEED, MOST_STORIES, MOST_REPETITIONS = 200_000, 2**31 - 1, 1_000_000, 100


class RunRefused(ValueError):
    """Says in one sentence why it cannot be launched; `field` of the plan is what to change."""

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is to be. `examples` and `shots` are in-context examples of extraction and labelling, and of the judge, both
    at level 4; `examples_from` is a key of SOURCES, which other one a category falls back to; `limit` 0 takes every story;
    `max_tokens` of an answer; `options` are those of the suite's settings that were chosen; everything is asked `repetitions` times, at
    `temperature` where one is given; `budget` in US dollars, None for no cap; `self_test` has a judge tested that was not yet."""

    dataset: Dataset
    endpoints: Sequence[Endpoint]
    stages: Sequence[str]
    judge: Endpoint | None = None
    level: int = 3
    form: str = Form.TEXT
    prompt_set: str = "omnitom-1"
    judge_level: int = 4
    shots: int = 3
    examples: int = 1
    examples_from: str = SAMPLE
    with_story: bool = True
    split: str = ""
    category: str = ""
    limit: int = 0
    max_tokens: int = 6000
    seed: int = 1
    budget: Decimal | None = None
    batch: bool = False
    source: Run | None = None
    title: str = ""
    self_test: bool = False
    suite: str = "omnitom"
    options: Mapping[str, Any] = field(default_factory=dict)
    repetitions: int = 1
    temperature: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "stages", list(dict.fromkeys(self.stages)))  # a form or a command may name one twice

    @property
    def definition(self) -> Suite:
        return suite_named(self.suite)

    @property
    def settings(self) -> dict[str, Any]:
        """What is chosen, as `Question.settings` has it of a run."""
        names = ("form", "level", "prompt_set", "judge_level", "shots", "examples", "examples_from", "with_story")
        chosen = {name: getattr(self, name) for name in names}
        return chosen | {"judge_reads_prompts": reads_prompts(self.judge), **self.options}


def stages_of(endpoint: Endpoint, suite: str = "omnitom") -> tuple[str, ...]:
    """The steps that a run is launched with and that an endpoint can be asked for: a baseline does one thing, a model everything."""
    steps = [one for one in suite_named(suite).steps if one.chosen]
    return tuple(one.key for one in steps if endpoint.tasks is None or one.kind in endpoint.tasks)


def check(plan: Plan) -> list[DatasetSample]:
    """The samples that the plan takes. Raises RunRefused with one sentence, also for what could not be asked later."""
    _check_dataset(plan)
    _check_stages(plan)
    _check_numbers(plan)
    _check_options(plan)
    for endpoint in plan.endpoints:
        if not own_stages(plan, endpoint):
            raise RunRefused(_nothing_for(plan, endpoint), "endpoints")
    if plan.form == Form.STRUCTURED:
        check_structured(plan)
    check_room(plan)
    try:
        prompt_hashes(plan)
    except BadPromptSet as error:
        raise RunRefused(str(error), "prompt_set") from error
    return _stories(plan)


def _check_dataset(plan: Plan) -> None:
    """Raises RunRefused for samples of another suite, and for gold that this one cannot ask about."""
    suite = plan.definition
    if plan.dataset.suite != (suite.name if suite.load else ""):
        wanted = f"an imported copy of {suite.title}" if suite.load else "a version of the project's own gold"
        raise RunRefused(
            f"{plan.dataset} holds {plan.dataset.title or 'gold'}; {suite.title} needs {wanted}.", "dataset"
        )
    if suite.unfit and (why := suite.unfit(DatasetResources(plan.dataset))):
        raise RunRefused(f"{plan.dataset} {why}", "dataset")


def _check_options(plan: Plan) -> None:
    """Raises RunRefused for options that the suite does not have, or that cannot be."""
    known = {one.name: one for one in plan.definition.settings}
    if unknown := sorted(set(plan.options) - set(known)):
        there = ", ".join(known) or "none"
        raise RunRefused(f"{plan.definition.title} has no option {unknown[0]!r}; it has: {there}.", "options")
    for name, value in plan.options.items():
        try:
            known[name].checked(value)
        except ValueError as error:
            raise RunRefused(str(error), name) from error
    if plan.temperature is not None and not 0 <= plan.temperature <= 2:
        raise RunRefused(f"The temperature is {plan.temperature}; expected 0 to 2.", "temperature")
    if plan.form == Form.STRUCTURED and not plan.definition.structured:
        raise RunRefused(f"{plan.definition.title} is answered in free text alone.", "form")


def _check_stages(plan: Plan) -> None:
    known = [one.key for one in plan.definition.steps if one.chosen]
    if not plan.stages or not set(plan.stages) <= set(known):
        expected = f"{', '.join(known[:-1])} and {known[-1]}" if known[1:] else known[0]
        raise RunRefused(f"The stages are {', '.join(plan.stages) or 'none'}; expected some of {expected}.", "stages")
    if Stage.JUDGE in plan.stages and Stage.EXTRACT not in plan.stages and plan.source is None:
        raise RunRefused(
            "Judging needs extractions: choose extraction too, or a run whose extractions are judged anew.", "stages"
        )
    if plan.source is not None:
        _check_source(plan, plan.source)
    if Stage.JUDGE in plan.stages and plan.judge is None:
        raise RunRefused("Judging needs a judge: choose an endpoint, for instance the lexical judge.", "judge")
    if plan.judge and not set(stages_of(plan.judge, plan.suite)) & {
        one.key for one in plan.definition.steps if one.judged
    }:
        raise RunRefused(f"{plan.judge.name} is a baseline that cannot judge.", "judge")
    if not plan.endpoints:
        raise RunRefused("No model was chosen.", "endpoints")


def _check_numbers(plan: Plan) -> None:
    bounds = {
        "level": ("The prompt level", LEVELS[0], LEVELS[-1]),
        "judge_level": ("The judge's prompt level", LEVELS[0], LEVELS[-1]),
        "limit": (f"The number of {plan.definition.noun[1]}", 0, MOST_STORIES),
        "max_tokens": ("The longest answer in tokens", 1, MOST_TOKENS),
        "seed": ("The seed", 0, MOST_SEED),
        "repetitions": ("The number of repetitions", 1, MOST_REPETITIONS),
    }
    for who, name in (("The judge", "shots"), ("A prompt", "examples")):
        if not 0 <= getattr(plan, name) <= MAX_EXAMPLES:
            raise RunRefused(f"{who} can have 0 to {MAX_EXAMPLES} examples, not {getattr(plan, name)}.", name)
    for name, (called, least, most) in bounds.items():
        if not least <= getattr(plan, name) <= most:
            raise RunRefused(f"{called} is {getattr(plan, name)}; expected {least} to {most}.", name)
    if plan.examples_from not in SOURCES:
        raise RunRefused(f"Examples come from {' or '.join(SOURCES)}, not {plan.examples_from!r}.", "examples_from")
    if plan.budget is not None and not (plan.budget.is_finite() and 0 <= plan.budget < MOST_MONEY):
        raise RunRefused(f"The budget is {plan.budget}; expected US dollars, 0 or more, such as 2.50.", "budget")
    for one in [*plan.endpoints, *([plan.judge] if plan.judge else [])]:
        if plan.budget is not None and not one.prices.are_known:
            raise RunRefused(unknown_price_told(one.name), "budget")


def check_room(plan: Plan) -> None:
    """Raises RunRefused where the longest answer leaves no question any room in the context of an endpoint."""
    judges = [plan.judge] if plan.judge and Stage.JUDGE in plan.stages else []
    for endpoint in [*plan.endpoints, *judges]:
        if reads_prompts(endpoint) and 0 < endpoint.context_tokens <= plan.max_tokens:
            raise RunRefused(
                f"Answers of up to {plan.max_tokens:,} tokens leave no room for a question in the context of {endpoint.name}, which "
                f"holds {endpoint.context_tokens:,}.",
                "max_tokens",
            )


def _stories(plan: Plan) -> list[DatasetSample]:
    stories = list(plan.dataset.samples.selected(split=plan.split, category=plan.category, limit=plan.limit))
    if not stories:
        raise RunRefused(
            f"The choice of split and category leaves no {plan.definition.noun[0]} of this dataset.", "split"
        )
    if plan.source is None or set(plan.stages) != {Stage.JUDGE}:
        return stories
    rows = [row for one in plan.endpoints for row in ended_extractions(plan.source, one).values_list("sample", "call")]
    asked, answered = {story for story, _ in rows}, {story for story, call in rows if call}
    if any(story.pk in answered for story in stories):
        return [story for story in stories if story.pk in asked]
    raise RunRefused("The earlier run has no extraction of these models and stories yet.", "source")


def ended_extractions(source: Run, model: Endpoint) -> QuerySet[RunItem]:
    """The places of a run where the model was asked for an extraction and nothing is to come: with an answer, or lost for good."""
    held = RunItem.objects.filter(entrant__run=source, entrant__endpoint=model, stage=Stage.EXTRACT)
    return held.filter(Q(call__isnull=False) | Q(item__state__in=WITHOUT_CALL) | Q(item=None) & ~Q(unusable=""))


def extracted_by(source: Run, model: Endpoint) -> QuerySet[RunItem]:
    """Those that can be judged."""
    return ended_extractions(source, model).filter(call__isnull=False)


def _nothing_for(plan: Plan, endpoint: Endpoint) -> str:
    if endpoint.tasks is None:
        return f"{plan.source} has no extraction of {endpoint.name} to be judged."
    able = " or ".join(endpoint.tasks)
    return f"{endpoint.name} is a baseline that can only {able}; none of the chosen stages is for it."


def _check_source(plan: Plan, source: Run) -> None:
    if Stage.EXTRACT in plan.stages:
        raise RunRefused(
            "A run that judges another's extractions makes none of its own; leave extraction out.", "stages"
        )
    if source.dataset_id != plan.dataset.pk:
        raise RunRefused(
            f"The extractions of {source.title} are about version {source.dataset.version} of the dataset, "
            f"not version {plan.dataset.version}.",
            "source",
        )
    if source.form != plan.form:
        told = Form(source.form).label.lower()
        raise RunRefused(f"The extractions of {source.title} are {told}, and are judged as such.", "form")


def check_structured(plan: Plan) -> None:
    """Raises RunRefused where an endpoint of the plan cannot hold its answers to a schema."""
    judges = [plan.judge] if plan.judge and Stage.JUDGE in plan.stages else []
    asked = [*plan.endpoints, *judges]
    unable = [one.name for one in asked if not (one.json_schema or one.about.fits_schemas)]
    if unable:
        raise RunRefused(f"{', '.join(unable)} cannot hold its answers to a schema; choose free text.", "form")


def own_stages(plan: Plan, endpoint: Endpoint) -> list[str]:
    """The stages of which the endpoint gets places at the launch."""
    able = stages_of(endpoint, plan.suite)
    own = [stage for stage in plan.stages if stage != Stage.JUDGE and stage in able]
    judged_anew = plan.source is not None and plan.source.entrants.filter(endpoint=endpoint).exists()
    return own or ([Stage.JUDGE] if judged_anew and Stage.JUDGE in plan.stages else [])


def prompted_stages(plan: Plan) -> list[str]:
    """The stages at which somebody reads a prompt: a baseline does not."""
    models = [one for one in plan.endpoints if reads_prompts(one)]
    return [
        stage
        for stage in plan.stages
        if (
            reads_prompts(plan.judge) if stage == Stage.JUDGE else any(stage in own_stages(plan, one) for one in models)
        )
    ]


def prompt_hashes(plan: Plan) -> dict[str, str]:
    """SHA-256 of the wording by stage; none of judging where the judge reads no prompt.

    Raises BadPromptSet where a request could not be made: no prompt of the level, no place for what it is to show.
    """
    sets = plan.definition.prompting
    if sets is None:
        return {stage: plan.definition.prompts.get(stage, "") for stage in plan.stages}
    prompts = prompt_set_named(sets, plan.prompt_set, plan.dataset.project)
    return sets.hashes(prompts, plan.settings, plan.stages)
