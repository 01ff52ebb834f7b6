"""Plans of runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_DOWN, Decimal

from benchmark.controls.chosen import CONTROLS, LISTS_VERSION, controls_of, refused, senseless
from benchmark.domain.parameters import LONGEST_ANSWER, Options, Parameters
from benchmark.models import AnswerFormat, Dataset, DatasetSample, Run
from benchmark.services.asking import (
    chosen_of,
    prompt_set_named,
    reads_prompts,
    sample_asked,
)
from benchmark.suites.contract import Suite
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.registry import suite_for, suite_named
from benchmark.suites.settings import COLUMN, OPTION, PARAMETER, SEED, Setting, Settings
from core.messages import Sentence, gettext_noop, labelled, listed, sentences, uncapitalised, word
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
        judging = self.definition.judging
        return judging.needs if judging and self.source is not None else ()


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


FIELD = "method"
"""The field of refusals for the choice of methods, whatever the setting's own name."""


def methods_of(suite: Suite) -> dict[str, str]:
    """Return the methods by which a suite asks, name → title, the one that others are held against first; none where it
    asks in one way."""
    setting = suite.method
    if setting is None:
        return {}
    return {
        str(name): title for name, title in sorted(setting.choices, key=lambda choice: choice[0] != setting.default)
    }


def method_of(plan: Plan) -> str:
    """Return the name of the plan's method; empty for a suite that asks in one way."""
    setting = plan.definition.method
    return str(plan.options[setting.name]) if setting else ""


def plans_by_method(plan: Plan, methods: Sequence[str]) -> list[Plan]:
    """Return a plan for each of the methods, in the order in which the suite has them, under names that tell them apart
    and with equal parts of the budget; the plan itself where none is named. Raises RunRefused."""
    if not methods:
        return [plan]
    setting, offered = plan.definition.method, methods_of(plan.definition)
    if setting is None:
        raise RunRefused(
            Sentence("{definition} asks in one way: leave the methods out.", definition=plan.definition.title), FIELD
        )
    if unknown := [name for name in methods if name not in offered]:
        raise RunRefused(
            Sentence(
                "There is no method {unknown}; {definition} has: {offered}.",
                unknown=repr(unknown[0]),
                definition=plan.definition.title,
                offered=listed(offered),
            ),
            FIELD,
        )
    chosen = [name for name in offered if name in methods]
    return [
        replace(
            plan,
            options={**plan.options, setting.name: name},
            title=_titled(plan, offered[name]) if chosen[1:] else plan.title,
            budget=part_of(plan.budget, len(chosen)),
        )
        for name in chosen
    ]


def _titled(plan: Plan, method: str) -> str:
    ending = f": {method}"
    return f"{title_of(plan)[: MOST_TITLE - len(ending)]}{ending}"


NO_LEVEL = 3
"""The column's value of a run whose prompts have no levels; nobody reads it."""


def draft_of(plan: Plan, stories: Sequence[DatasetSample]) -> Run:
    """The run that the plan would make on these stories, for asking what it would ask; it is not saved."""
    return Run(
        project=plan.dataset.project, dataset=plan.dataset, suite=plan.suite, judge=plan.judge, control=plan.control,
        original=plan.original, params=_parameters(plan, stories).as_json(),
        steps=list(plan.steps), **_columns(plan),
    )  # fmt: skip


def _columns(plan: Plan) -> Options:
    """Return what the run has columns for, by its fields."""
    by_field = {setting.name: plan.options[setting.name] for setting in _settings(plan, COLUMN)}
    return {"answer_format": plan.answer_format, "level": NO_LEVEL, "prompt_set": plan.prompt_set} | by_field


def _stored(plan: Plan, where: str) -> Options:
    return {setting.name: plan.options[setting.name] for setting in _settings(plan, where)}


def _settings(plan: Plan, where: str) -> list[Setting]:
    """The settings of the plan that runs keep there."""
    return [setting for setting in plan.definition.settings_in(plan.steps) if setting.stored == where]


def _parameters(plan: Plan, stories: Sequence[DatasetSample]) -> Parameters:
    return Parameters(
        own=_stored(plan, PARAMETER),
        split=plan.split,
        category=plan.category,
        limit=plan.limit,
        max_tokens=plan.max_tokens,
        seed=plan.seed,
        batch=plan.batch,
        repetitions=plan.repetitions,
        temperature=plan.temperature,
        options=_stored(plan, OPTION),
        example_stories=tuple(calibration_of(plan, stories)) if plan.definition.prompting else None,
        control_lists=LISTS_VERSION if plan.control else None,
        anew=plan.anew,
        stories=len(stories),
        budget=plan.budget,
    )


def plan_of(run: Run) -> Plan:
    """Return what the run was launched with, and its controls: to extend it, and to run it again."""
    parameters, controls = run.parameters, list(run.controls.order_by("pk").values_list("control", flat=True))
    return Plan(
        dataset=run.dataset,
        endpoints=[entrant.endpoint for entrant in run.entrants.select_related("endpoint")],
        steps=run.steps,
        suite=run.suite,
        judge=run.judge,
        options=chosen_of(run),
        source=run.source,
        title=run.title,
        budget=None if parameters.budget is None else parameters.budget * (1 + len(controls)),
        controls=controls,
        control=run.control,
        original=run.original,
        anew=parameters.anew,
        split=parameters.split,
        category=parameters.category,
        limit=parameters.limit,
        max_tokens=parameters.max_tokens or LONGEST_ANSWER,
        seed=parameters.seed,
        batch=parameters.batch,
        repetitions=parameters.repetitions,
        temperature=parameters.temperature,
    )


NOT_AGAIN = gettext_noop("{control}: {about}{counted}, and are not asked again. {same}")
ONE_NOT_AGAIN = gettext_noop("{control}: {about}{counted}, and is not asked again. {same}")


@dataclass(frozen=True, slots=True)
class UnderControl:
    """A plan under one control: `samples` are those that it changes, `same` those that stay as they are, which are not
    asked again. `notes` say what it makes no sense for; None for `plan` where nobody is asked anything."""

    name: str
    plan: Plan | None
    samples: Sequence[DatasetSample]
    same: Sequence[DatasetSample]
    notes: Sequence[str]

    @property
    def title(self) -> str:
        return CONTROLS[self.name].title


def check_controls(plan: Plan) -> None:
    """Raise RunRefused for a control that there is not, or that makes no sense for anything of the plan."""
    for name in plan.controls:
        if why := _no_control(plan, name):
            raise RunRefused(why, "controls")


def _no_control(plan: Plan, name: str) -> str:
    """Return why the plan cannot be asked under a control; empty where it can."""
    suite = plan.definition
    if name not in CONTROLS:
        offered = listed(control.name for control in controls_of(suite.controls)) or "none"
        return Sentence(
            "There is no control {name}; {suite} has: {offered}.", name=repr(name), suite=suite.title, offered=offered
        )
    if why := senseless(suite.controls, name).get(""):
        return Sentence(
            "{suite} has no control “{controls}”: {why}",
            suite=suite.title,
            controls=CONTROLS[name].title,
            why=_within(why),
        )
    if why := refused(suite.controls, name, method_of(plan)):
        method = methods_of(suite)[method_of(plan)]
        return Sentence(
            "{suite} has no control “{controls}” with the method {method}: {why}",
            suite=suite.title,
            controls=CONTROLS[name].title,
            method=method,
            why=_within(why),
        )
    if not _steps_under(plan, name):
        return Sentence(
            "Under the control “{controls}” nothing is left to be asked. {plan}",
            controls=CONTROLS[name].title,
            plan=sentences(*_notes(plan, name)),
        )
    return ""


def under_controls(plan: Plan, samples: Sequence[DatasetSample]) -> Iterator[UnderControl]:
    """Yield what is asked under each control of the plan, whose own samples these are."""
    for name in plan.controls:
        yield under_control(plan, name, samples)


def under_control(plan: Plan, name: str, samples: Sequence[DatasetSample], total: int = 0) -> UnderControl:
    """Return what is asked of these samples under a control; where they are a part of as many as `total`, notes say
    what that tells of all."""
    source = plan.source and plan.source.controls.filter(control=name).first()
    notes = _notes(plan, name)
    if plan.source and source is None:
        return UnderControl(
            name,
            None,
            [],
            [],
            [
                *notes,
                Sentence(
                    "{source} was not asked under the control “{controls}”.",
                    source=plan.source.title,
                    controls=CONTROLS[name].title,
                ),
            ],
        )
    asked = asked_under(plan, name, source)
    if not asked.endpoints:
        return UnderControl(
            name,
            None,
            [],
            [],
            [
                *notes,
                Sentence(
                    "Under the control “{controls}” no model has anything to answer.", controls=CONTROLS[name].title
                ),
            ],
        )
    draft = draft_of(asked, samples)
    changed = {
        sample.pk for sample in DatasetSample.in_full(samples) if sample_asked(draft, sample).published is not None
    }
    kept, same = ([sample for sample in samples if (sample.pk in changed) is there] for there in (True, False))
    notes += _same_sentences(plan.definition, name, len(same), len(samples), total) if same else []
    notes += _part_sentences(plan.definition, name, len(samples), total) if len(samples) < total else []
    return UnderControl(name, asked if kept else None, kept, same, notes)


def asked_under(plan: Plan, name: str, source: Run | None = None) -> Plan:
    """Return the plan of what is asked under a control; without endpoints where no model has anything to answer."""
    title = labelled(plan.title, CONTROLS[name].title)[:MOST_TITLE] if plan.title else ""
    asked = replace(
        plan.without_test(),
        controls=(),
        control=name,
        steps=_steps_under(plan, name),
        title=title,
        source=source,
        budget=budget_of_each(plan),
    )
    return replace(
        asked,
        judge=asked.judge if asked.judges else None,
        endpoints=[endpoint for endpoint in asked.endpoints if own_steps(asked, endpoint)],
    )


def budget_of_each(plan: Plan) -> Decimal | None:
    """The budget of the run as published and of each under a control: equal parts, of which no sum is above the
    whole."""
    return part_of(plan.budget, 1 + len(plan.controls))


def _steps_under(plan: Plan, name: str) -> list[str]:
    left_out = senseless(plan.definition.controls, name)
    return [step for step in plan.steps if step not in left_out]


def _notes(plan: Plan, name: str) -> list[str]:
    left_out = senseless(plan.definition.controls, name)
    return [
        (
            Sentence(
                "{controls}: {step} is left out. {left_out}",
                controls=CONTROLS[name].title.capitalize(),
                step=plan.definition.step(step).label.lower(),
                left_out=left_out[step],
            )
        )
        for step in plan.steps
        if step in left_out
    ]


def _same_sentences(suite: Suite, name: str, same: int, looked: int, total: int) -> list[str]:
    """Say how many of the samples stay as they are, about how many of all where only a part was looked at."""
    singular, many = suite.noun
    about, count, total = ("about ", round(same * total / looked), total) if looked < total else ("", same, looked)
    counted = (
        Sentence("{count} of {total} {many} stay as they are", count=f"{count:,}", total=f"{total:,}", many=word(many))
        if count > 1
        else Sentence("1 {singular} stays as it is", singular=word(singular))
    )
    return [
        (NOT_AGAIN if count > 1 else ONE_NOT_AGAIN).format(
            control=CONTROLS[name].title.capitalize(), about=about, counted=counted, same=CONTROLS[name].same
        )
    ]


def _part_sentences(suite: Suite, name: str, looked: int, total: int) -> list[str]:
    return [
        (
            Sentence(
                "{controls}: estimated from {looked} of the {total} {noun}, drawn by whole {cluster}.",
                controls=CONTROLS[name].title.capitalize(),
                looked=f"{looked:,}",
                total=f"{total:,}",
                noun=word(suite.noun[1]),
                cluster=word(suite.cluster[1]),
            )
        )
    ]


def _within(sentence: str) -> str:
    return uncapitalised(sentence)


def calibration_of(plan: Plan, stories: Sequence[DatasetSample]) -> list[int]:
    """Numbers of the dataset's calibration samples that may serve where `stories` are asked; none where nothing needs
    them."""
    sets = plan.definition.prompting
    if sets is None:
        return []
    needed = sets.serving(plan.settings, plan.steps, {story.category for story in stories})
    if not needed:
        return []
    asked_numbers = {story.number for story in stories}
    candidates = plan.dataset.samples.filter(split=sets.split, category__in=needed).order_by("position")
    return [number for number in candidates.values_list("number", flat=True) if number not in asked_numbers]
