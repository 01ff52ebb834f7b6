"""Plans of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_DOWN, Decimal
from types import MappingProxyType
from typing import Any

from benchmark.controls.chosen import CONTROLS, LISTS_VERSION, controls_of, refused, senseless
from benchmark.domain.parameters import LONGEST_ANSWER, SEED, SHARED, Options, Parameters
from benchmark.models import AnswerFormat, Dataset, DatasetSample, Run
from benchmark.services.asking import chosen_of, prompt_set_named, reads_prompts, sample_asked
from benchmark.suites.contract import Suite
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.registry import suite_for, suite_named
from benchmark.suites.settings import COLUMN, OPTION, PARAMETER, Setting, Settings
from core.messages import Refusal, Sentence, gettext_noop, labelled, listed, sentences, uncapitalised, word
from workers.models import Endpoint

HANDLER = gettext_noop("evaluation")
"""The job handler of runs."""
MOST_TOKENS, MOST_SEED, MOST_STORIES, MOST_REPETITIONS, MOST_TITLE = 200_000, 2**31 - 1, 1_000_000, 100, 200
MOST_TEMPERATURE = 2
NOTHING: Mapping[str, Sequence[Any]] = MappingProxyType({})


class RunRefused(Refusal):
    """A plan that cannot be launched."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A run as planned: what a page, a command or the API chose, with the rows that its names stand for."""

    dataset: Dataset
    endpoints: Sequence[Endpoint]
    steps: Sequence[str]
    suite: str
    """Becomes the suite for the schema that the gold of the dataset is labelled by."""
    judge: Endpoint | None = None
    options: Options = field(default_factory=dict)
    """Settings of the suite; those that were not chosen get their defaults."""
    split: str = ""
    category: str = ""
    limit: int = 0
    """0 takes all samples."""
    max_tokens: int = LONGEST_ANSWER
    seed: int = SEED
    budget: Decimal | None = None
    """In US dollars; None for no cap."""
    batch: bool = False
    source: Run | None = None
    """The run whose answers the judge judges again."""
    title: str = ""
    repetitions: int = 1
    temperature: float | None = None
    controls: Sequence[str] = ()
    """Everything is asked once more under each of these."""
    control: str = ""
    original: Run | None = None
    """The run as published, of a run under a `control`."""
    anew: int = 0
    """Number of a draw of the ledger: under another number the same questions are asked again."""

    def __post_init__(self) -> None:
        if self.definition.copied.load is None:
            object.__setattr__(self, "suite", suite_for(self.suite, self.dataset.schema).name)
        defaults = {setting.name: setting.default for setting in self.definition.settings}
        object.__setattr__(self, "options", defaults | dict(self.options))
        steps, program, judging = self.steps, self.definition.asking.program, self.definition.judging
        unknown = {*steps} - {step.key for step in self.definition.steps}  # kept, to be refused
        if program and not unknown:  # which names the steps, and judging is one of them if there is a judge
            try:
                steps = program(self.options) if self.source is None else ()
            except SuiteFailed as error:
                raise RunRefused(str(error)) from error
            steps = [*steps, judging.key] if judging and self.judge else steps
        left_out = senseless(self.definition.controls, self.control) if self.control else {}
        # a form or a command may name one twice
        object.__setattr__(self, "steps", [step for step in dict.fromkeys(steps) if step not in left_out])
        object.__setattr__(self, "controls", tuple(dict.fromkeys(self.controls)))

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
        return self.options[chosen] if chosen else self.definition.asking.prompts_version or self.suite

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
    """Return the keys of the launched steps that an endpoint can answer: all, or the tasks of a baseline."""
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
    """Return the SHA-256 of the wording by step. Raises BadPromptSet if a request could not be made."""
    sets = plan.definition.asking.prompting
    if sets is None:
        return {step: plan.definition.asking.prompts.get(step, "") for step in plan.steps}
    prompts = prompt_set_named(sets, plan.prompt_set, plan.dataset.project)
    return sets.hashes(prompts, plan.settings, plan.steps)


def methods_of(suite: Suite) -> dict[str, str]:
    """Return name → title of the methods by which a suite asks, the default first; empty if it asks in one way."""
    setting = suite.method
    if setting is None:
        return {}
    return {str(name): title for name, title in sorted(setting.choices, key=lambda row: row[0] != setting.default)}


def method_of(plan: Plan) -> str:
    """Return the name of the plan's method, or "" for a suite that asks in one way."""
    setting = plan.definition.method
    return str(plan.options[setting.name]) if setting else ""


def plans_of_launch(
    plan: Plan,
    *,
    methods: Sequence[str] = (),
    swept: Mapping[str, Sequence[Any]] = NOTHING,
    judges: Sequence[Endpoint] = (),
    judge_levels: Sequence[int] = (),
) -> list[Plan]:
    """Return the plans of all runs of a launch: by method, by swept choice, and by further judge. Raises RunRefused."""
    return plans_with_judges(plans_of_sweep(plans_by_method(plan, methods), swept), judges, judge_levels)


def plans_by_method(plan: Plan, methods: Sequence[str]) -> list[Plan]:
    """Return a plan for each method, in the order of the suite; the plan itself if none is named. Raises RunRefused."""
    if not methods:
        return [plan]
    suite, offered = plan.definition, methods_of(plan.definition)
    if suite.method is None:
        raise RunRefused("{definition} asks in one way: leave the methods out.", "method", definition=suite.title)
    if unknown := [name for name in methods if name not in offered]:
        raise RunRefused(
            "There is no method {unknown}; {definition} has: {offered}.", "method",
            unknown=repr(unknown[0]), definition=suite.title, offered=listed(offered),
        )  # fmt: skip
    return _parted(plan, [(offered[name], {suite.method.name: name}) for name in offered if name in methods])


def swept_settings(suite: Suite) -> dict[str, Setting]:
    """Return the settings of which a launch may take several choices, a run each, by the field that names them."""
    return {setting.swept: setting for setting in suite.settings if setting.swept}


def plans_of_sweep(plans: Sequence[Plan], swept: Mapping[str, Sequence[Any]]) -> list[Plan]:
    """Return each plan at each chosen value, by field; the plans themselves if none is chosen. Raises RunRefused."""
    for field_name, values in swept.items():
        if values:
            parted = []
            for plan in plans:
                setting = _swept_setting(plan, field_name, values)
                chosen = [value for value, _ in setting.choices if value in values]
                names = [(f"{setting.label.lower()} {value}", {setting.name: value}) for value in chosen]
                parted += _parted(plan, names)
            plans = parted
    return list(plans)


def _swept_setting(plan: Plan, field_name: str, values: Sequence[Any]) -> Setting:
    """Return the setting that is swept in that field. Raises RunRefused if it does not offer all of the values."""
    setting = swept_settings(plan.definition).get(field_name)
    if setting is None:
        raise RunRefused(
            "{definition} has nothing to sweep as {field}: leave it out.", field_name,
            definition=plan.definition.title, field=field_name,
        )  # fmt: skip
    offered = [value for value, _ in setting.choices]
    if unknown := [value for value in values if value not in offered]:
        raise RunRefused(
            "{setting} is {unknown}; expected {offered}.", field_name,
            setting=setting.label, unknown=unknown[0], offered=" or ".join(map(str, offered)),
        )  # fmt: skip
    return setting


def _parted(plan: Plan, choices: Sequence[tuple[str, Options]]) -> list[Plan]:
    """Return the plan once for each choice, with its options, its name in the title and an equal part of the budget."""
    budget = part_of(plan.budget, len(choices))
    return [
        replace(
            plan,
            options={**plan.options, **options},
            title=_ending_in(plan, name) if choices[1:] else plan.title,
            budget=budget,
        )
        for name, options in choices
    ]


def _ending_in(plan: Plan, name: str) -> str:
    ending = f": {name}"
    return f"{title_of(plan)[: MOST_TITLE - len(ending)]}{ending}"


def plans_with_judges(plans: Sequence[Plan], judges: Sequence[Endpoint] = (), levels: Sequence[int] = ()) -> list[Plan]:
    """Return the plans of a launch and, after them, one by each further judge and at each further level of its prompt.

    Further judges judge the answers of the last plan, which are asked for once. All plans have equal parts of the
    budget. A judge that reads no prompt has one level. Raises RunRefused.
    """
    last = plans[-1]
    if not judges and not levels:
        return list(plans)
    suite, judging = last.definition, last.definition.judging
    if judging is None or last.judge is None or not last.judges:
        raise RunRefused("Nothing of this launch is judged: name a judge and tick its step.", "judge")
    swept = [name for name, setting in swept_settings(suite).items() if setting in suite.judging_settings]
    setting = _swept_setting(last, (swept or ["judge_levels"])[0], levels) if swept or levels else None
    turns = [
        (judge, {setting.name: level} if setting and level is not None else {})
        for judge in dict.fromkeys([last.judge, *judges])
        for level in (sorted(levels) if levels and reads_prompts(judge) else [None])
    ]
    budget = part_of(None if last.budget is None else last.budget * len(plans), len(plans) + len(turns) - 1)
    asked = [step for step in last.steps if step in (*judging.needs, judging.key)]
    own = [replace(plan, budget=budget, options={**plan.options, **turns[0][1]}) for plan in plans]
    return own + [
        replace(
            last, judge=judge, steps=asked, controls=(), options={**last.options, **options}, budget=budget,
            title=_ending_in(last, f"{judge.name}{''.join(f', L{level}' for level in options.values())}"),
        )
        for judge, options in turns[1:]
    ]  # fmt: skip


NO_LEVEL = 3
"""The column's value of a run whose prompts have no levels; nobody reads it."""


def draft_of(plan: Plan, stories: Sequence[DatasetSample]) -> Run:
    """Return the run, not saved, that the plan would make on these stories."""
    stored: dict[str, dict[str, Any]] = {COLUMN: {}, PARAMETER: {}, OPTION: {}}
    for setting in plan.definition.settings_in(plan.steps):
        stored[setting.stored][setting.name] = plan.options[setting.name]
    parameters = Parameters(
        **{name: getattr(plan, name) for name in SHARED},
        own=stored[PARAMETER],
        options=stored[OPTION],
        example_stories=tuple(calibration_of(plan, stories)) if plan.definition.asking.prompting else None,
        control_lists=LISTS_VERSION if plan.control else None,
        stories=len(stories),
    )
    columns = {"answer_format": plan.answer_format, "level": NO_LEVEL, "prompt_set": plan.prompt_set} | stored[COLUMN]
    return Run(
        project=plan.dataset.project, dataset=plan.dataset, suite=plan.suite, judge=plan.judge, control=plan.control,
        original=plan.original, params=parameters.as_json(), steps=list(plan.steps), **columns,
    )  # fmt: skip


def plan_of(run: Run) -> Plan:
    """Return the plan that the run was launched with, and its controls: to extend it, and to run it again."""
    parameters, controls = run.parameters, list(run.controls.order_by("pk").values_list("control", flat=True))
    shared = {name: getattr(parameters, name) for name in SHARED} | {
        "max_tokens": parameters.max_tokens or LONGEST_ANSWER,
        "budget": None if parameters.budget is None else parameters.budget * (1 + len(controls)),
    }
    return Plan(
        dataset=run.dataset,
        endpoints=[entrant.endpoint for entrant in run.entrants.select_related("endpoint")],
        steps=run.steps,
        suite=run.suite,
        judge=run.judge,
        options=chosen_of(run),
        source=run.source,
        title=run.title,
        controls=controls,
        control=run.control,
        original=run.original,
        **shared,
    )


def check_controls(plan: Plan) -> None:
    """Raise RunRefused for an unknown control, and for one that makes no sense for anything of the plan."""
    suite = plan.definition
    for name in plan.controls:
        if name not in CONTROLS:
            offered = listed(control.name for control in controls_of(suite.controls)) or "none"
            raise RunRefused(
                "There is no control {name}; {suite} has: {offered}.", "controls",
                name=repr(name), suite=suite.title, offered=offered,
            )  # fmt: skip
        title = CONTROLS[name].title
        if why := senseless(suite.controls, name).get(""):
            raise RunRefused(
                "{suite} has no control “{controls}”: {why}", "controls",
                suite=suite.title, controls=title, why=uncapitalised(why),
            )  # fmt: skip
        if why := refused(suite.controls, name, method_of(plan)):
            raise RunRefused(
                "{suite} has no control “{controls}” with the method {method}: {why}", "controls",
                suite=suite.title, controls=title, method=methods_of(suite)[method_of(plan)], why=uncapitalised(why),
            )  # fmt: skip
        if not _steps_under(plan, name):
            raise RunRefused(
                "Under the control “{controls}” nothing is left to be asked. {plan}", "controls",
                controls=title, plan=sentences(*_notes(plan, name)),
            )  # fmt: skip


def under_control(
    plan: Plan, name: str, samples: Sequence[DatasetSample], total: int = 0
) -> tuple[Plan | None, list[DatasetSample], list[str]]:
    """Return (plan, samples that the control changes, notes on the others) of what is asked under a control.

    Samples that stay as they are are not asked again. The plan is None if nobody is asked anything. If the samples
    are a part of `total`, the notes estimate the counts of all.
    """
    source, title = plan.source and plan.source.controls.filter(control=name).first(), CONTROLS[name].title
    notes = _notes(plan, name)
    if plan.source and source is None:
        why = Sentence(
            "{source} was not asked under the control “{controls}”.", source=plan.source.title, controls=title
        )
        return None, [], [*notes, why]
    asked = asked_under(plan, name, source)
    if not asked.endpoints:
        why = Sentence("Under the control “{controls}” no model has anything to answer.", controls=title)
        return None, [], [*notes, why]
    draft = draft_of(asked, samples)
    changed = {
        sample.pk for sample in DatasetSample.in_full(samples) if sample_asked(draft, sample).published is not None
    }
    kept = [sample for sample in samples if sample.pk in changed]
    if same := len(samples) - len(kept):
        notes.append(_same_sentence(plan.definition, name, same, len(samples), total))
    if len(samples) < total:
        nouns = plan.definition.noun[1], plan.definition.cluster[1]
        notes.append(
            Sentence(
                "{controls}: estimated from {looked} of the {total} {noun}, drawn by whole {cluster}.",
                controls=title.capitalize(), looked=f"{len(samples):,}", total=f"{total:,}",
                noun=word(nouns[0]), cluster=word(nouns[1]),
            )
        )  # fmt: skip
    return asked if kept else None, kept, notes


def asked_under(plan: Plan, name: str, source: Run | None = None) -> Plan:
    """Return the plan of what is asked under a control; it has no endpoints if no model has anything to answer."""
    asked = replace(
        plan.without_test(),
        controls=(),
        control=name,
        steps=_steps_under(plan, name),
        title=labelled(plan.title, CONTROLS[name].title)[:MOST_TITLE] if plan.title else "",
        source=source,
        budget=part_of(plan.budget, 1 + len(plan.controls)),  # as the run as published has
    )
    return replace(
        asked,
        judge=asked.judge if asked.judges else None,
        endpoints=[endpoint for endpoint in asked.endpoints if own_steps(asked, endpoint)],
    )


def _steps_under(plan: Plan, name: str) -> list[str]:
    left_out = senseless(plan.definition.controls, name)
    return [step for step in plan.steps if step not in left_out]


def _notes(plan: Plan, name: str) -> list[str]:
    left_out, title = senseless(plan.definition.controls, name), CONTROLS[name].title.capitalize()
    return [
        Sentence(
            "{controls}: {step} is left out. {left_out}",
            controls=title, step=plan.definition.step(step).label.lower(), left_out=left_out[step],
        )
        for step in plan.steps
        if step in left_out
    ]  # fmt: skip


NOT_AGAIN = gettext_noop("{control}: {about}{counted}, and are not asked again. {same}")
ONE_NOT_AGAIN = gettext_noop("{control}: {about}{counted}, and is not asked again. {same}")


def _same_sentence(suite: Suite, name: str, same: int, looked: int, total: int) -> str:
    """Return how many of the samples stay as they are, about how many of all if only a part was looked at."""
    singular, many = suite.noun
    about, count, total = ("about ", round(same * total / looked), total) if looked < total else ("", same, looked)
    counted = (
        Sentence("{count} of {total} {many} stay as they are", count=f"{count:,}", total=f"{total:,}", many=word(many))
        if count > 1
        else Sentence("1 {singular} stays as it is", singular=word(singular))
    )
    control = CONTROLS[name]
    return (NOT_AGAIN if count > 1 else ONE_NOT_AGAIN).format(
        control=control.title.capitalize(), about=about, counted=counted, same=control.same
    )


def calibration_of(plan: Plan, stories: Sequence[DatasetSample]) -> list[int]:
    """Return the numbers of the calibration samples that may serve as examples for these stories."""
    sets = plan.definition.asking.prompting
    if sets is None:
        return []
    needed = sets.serving(plan.settings, plan.steps, {story.category for story in stories})
    if not needed:
        return []
    asked_numbers = {story.number for story in stories}
    candidates = plan.dataset.samples.filter(split=sets.split, category__in=needed).order_by("position")
    return [number for number in candidates.values_list("number", flat=True) if number not in asked_numbers]
