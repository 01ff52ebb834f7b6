"""Plans of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_DOWN, Decimal

from benchmark.controls.chosen import senseless
from benchmark.domain.parameters import LONGEST_ANSWER, Options
from benchmark.models import AnswerFormat, Dataset, Run
from benchmark.services.asking import prompt_set_named, reads_prompts
from benchmark.services.taken_over import needed_by_judge
from benchmark.suites.contract import Suite
from benchmark.suites.guarding import SuiteFailed
from benchmark.suites.registry import suite_for, suite_named
from benchmark.suites.settings import SEED, Settings
from core.messages import gettext_noop
from workers.models import Endpoint

HANDLER = gettext_noop("evaluation")
"""The job handler of runs."""
MOST_TOKENS, MOST_SEED, MOST_STORIES, MOST_REPETITIONS, MOST_TITLE = 200_000, 2**31 - 1, 1_000_000, 100, 200
MOST_TEMPERATURE = 2


class RunRefused(ValueError):
    """A plan that cannot be launched. Its text says why in one sentence; `field` names the field of the plan to
    change."""

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run. `options` are the suite's settings, those that were not chosen at their defaults; `limit` 0
    takes every sample; `suite` becomes the one for the schema that the dataset's gold is labelled by; `max_tokens` of
    an answer; everything is asked `repetitions` times, at `temperature` where one is given; `budget` in US dollars,
    None for no cap; `source` is the run whose answers the judge reads anew. `controls` name those under which
    everything is asked once more; `control` is the one of a plan under it, `original` the run beside which that
    stands. `anew` numbers a draw of the ledger: with another number the same questions are asked again, not taken from
    what was answered."""

    dataset: Dataset
    endpoints: Sequence[Endpoint]
    steps: Sequence[str]
    suite: str
    judge: Endpoint | None = None
    options: Options = field(default_factory=dict)
    split: str = ""
    category: str = ""
    limit: int = 0
    max_tokens: int = LONGEST_ANSWER
    seed: int = SEED
    budget: Decimal | None = None
    batch: bool = False
    source: Run | None = None
    title: str = ""
    repetitions: int = 1
    temperature: float | None = None
    controls: Sequence[str] = ()
    control: str = ""
    original: Run | None = None
    anew: int = 0

    def __post_init__(self) -> None:
        if self.definition.load is None:
            object.__setattr__(self, "suite", suite_for(self.suite, self.dataset.schema).name)
        defaults = {setting.name: setting.default for setting in self.definition.settings}
        object.__setattr__(self, "options", defaults | dict(self.options))
        unknown = {*self.steps} - {step.key for step in self.definition.steps}  # kept, to be refused
        steps = self._programmed() if self.definition.program and not unknown else self.steps
        left_out = senseless(self.definition.controls, self.control) if self.control else {}
        # a form or a command may name one twice
        object.__setattr__(self, "steps", [step for step in dict.fromkeys(steps) if step not in left_out])
        object.__setattr__(self, "controls", tuple(dict.fromkeys(self.controls)))

    def _programmed(self) -> Sequence[str]:
        """Return the steps that the suite's program names, of which one that judges another's answers makes none, and
        judging where there is a judge."""
        program, judging = self.definition.program, self.definition.judging
        try:
            own = program(self.options) if program and self.source is None else ()
        except SuiteFailed as error:
            raise RunRefused(str(error)) from error
        return [*own, judging.key] if judging and self.judge else own

    @property
    def definition(self) -> Suite:
        return suite_named(self.suite)

    @property
    def settings(self) -> Settings:
        """The chosen settings, as `Question.settings` has them."""
        return Settings(
            self.options,
            seed=self.seed,
            max_tokens=self.max_tokens,
            repetitions=self.repetitions,
            temperature=self.temperature,
            judge_reads_prompts=reads_prompts(self.judge),
            control=self.control,
        )

    @property
    def answer_format(self) -> str:
        """The answer format: free text where the suite has no other."""
        return self.options.get("answer_format", AnswerFormat.TEXT)

    @property
    def prompt_set(self) -> str:
        """The name of the prompt set that is used: the chosen one, else the suite's own prompts."""
        chosen = next((setting.name for setting in self.definition.settings if setting.prompt_set), None)
        return self.options[chosen] if chosen else self.definition.prompts_version or self.suite

    @property
    def self_test(self) -> bool:
        """True where the judge's self-test is run where it is still missing."""
        return bool(self.options.get("self_test"))

    def without_test(self) -> Plan:
        """Return the plan without a self-test of its judge."""
        return replace(self, options={**self.options, "self_test": False}) if self.self_test else self

    @property
    def judges(self) -> bool:
        """True where the judge is asked."""
        step = self.definition.judging
        return step is not None and step.key in self.steps

    @property
    def judged_anew(self) -> tuple[str, ...]:
        """The steps whose answers are taken from `source`: those that the judge needs."""
        return needed_by_judge(self.definition) if self.source is not None else ()


def title_of(plan: Plan) -> str:
    """Return the name of the plan's run: the one that was given, else its models and what they are asked."""
    names = ", ".join(endpoint.name for endpoint in plan.endpoints[:3]) + (" …" if len(plan.endpoints) > 3 else "")
    what = ", ".join(plan.steps) if plan.definition.chooses_steps else plan.definition.title
    return (plan.title or f"{names}: {what}")[:MOST_TITLE]


def part_of(budget: Decimal | None, parts: int) -> Decimal | None:
    """Return one of so many equal parts of a budget, of which no sum is above the whole; None where there is no cap."""
    return budget if budget is None or parts == 1 else (budget / parts).quantize(Decimal("0.0001"), ROUND_DOWN)


def steps_of(endpoint: Endpoint, suite: str) -> tuple[str, ...]:
    """Return the keys of the launched steps that an endpoint can answer: a baseline has its tasks, a model all of
    them."""
    steps = suite_named(suite).launched
    return tuple(step.key for step in steps if endpoint.tasks is None or step.kind in endpoint.tasks)


def own_steps(plan: Plan, endpoint: Endpoint) -> list[str]:
    """Return the steps at which the endpoint gets items at the launch."""
    able = steps_of(endpoint, plan.suite)
    entrant_steps = [step for step in plan.steps if not plan.definition.step(step).judged and step in able]
    if entrant_steps or not plan.judges or plan.source is None:
        return entrant_steps
    judging = plan.definition.judging
    there = plan.source.entrants.filter(endpoint=endpoint).exists()
    return [judging.key] if judging and there else []


def prompt_hashes(plan: Plan) -> dict[str, str]:
    """Return the SHA-256 of the wording by step; none of judging where the judge reads no prompt.

    Raises BadPromptSet where a request could not be made: no prompt of the level, no place for what it is to show.
    """
    sets = plan.definition.prompting
    if sets is None:
        return {step: plan.definition.prompts.get(step, "") for step in plan.steps}
    prompts = prompt_set_named(sets, plan.prompt_set, plan.dataset.project)
    return sets.hashes(prompts, plan.settings, plan.steps)
