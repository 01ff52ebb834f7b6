"""Checks of whether a planned run can be launched. Each check raises RunRefused with one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.models import AnswerFormat, DatasetSample, Run
from benchmark.services.archiving import DELETED
from benchmark.services.asking import DatasetResources, reads_prompts
from benchmark.services.plans import (
    MOST_REPETITIONS,
    MOST_SEED,
    MOST_STORIES,
    MOST_TEMPERATURE,
    MOST_TOKENS,
    Plan,
    RunRefused,
    check_controls,
    own_steps,
    prompt_hashes,
    steps_of,
)
from benchmark.services.run_items import ended_answers, judged_answers, nothing_to_judge
from benchmark.suites.contract import Suite
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.prompt_sets import BadPromptSet
from benchmark.suites.settings import Setting
from core.messages import Sentence, gettext_noop, listed, word
from workers.domain.pricing import unknown_price_sentence
from workers.models import Endpoint
from workers.providers.registry import wants_address
from workers.services.jobs import MOST_MONEY


def check(plan: Plan, *, lean: bool = False) -> list[DatasetSample]:
    """Return the samples that the plan takes, imported ones without what they hold where they are to be `lean`. Raises
    RunRefused with one sentence, also for what would fail only when it is asked."""
    check_all_but_samples(plan)
    return _stories(plan, lean=lean and can_be_lean(plan.definition))


def check_all_but_samples(plan: Plan) -> None:
    """Check a plan whose samples are known already. Raises RunRefused."""
    _check_dataset(plan)
    _check_steps(plan)
    _check_numbers(plan)
    _check_options(plan, plan.definition.settings)
    check_controls(plan)
    for endpoint in plan.endpoints:
        if not own_steps(plan, endpoint):
            raise RunRefused(_nothing_for(plan, endpoint), "endpoints")
    check_answer_formats(plan)
    check_room(plan)
    check_addresses(plan)
    try:
        prompt_hashes(plan)
    except (BadPromptSet, SuiteFailed) as error:
        raise RunRefused(str(error), "prompt_set") from error


def can_be_lean(suite: Suite) -> bool:
    """Return whether a run of the suite is planned without what its samples hold: examples in prompts are chosen among
    gold."""
    return suite.load is not None and suite.prompting is None


def samples_of_import(plan: Plan) -> list[DatasetSample]:
    """Return the samples that answers made elsewhere are matched to; nobody is asked, so a plan needs no model. Raises
    RunRefused."""
    _check_dataset(plan)
    _check_numbers(plan)
    _check_options(plan, [setting.for_imports for setting in plan.definition.settings])
    return _stories(plan)


def _check_dataset(plan: Plan) -> None:
    """Raise RunRefused for samples of another suite, and for gold that this suite cannot ask about."""
    suite = plan.definition
    if plan.dataset.suite != (suite.name if suite.load else ""):
        needed = (
            Sentence("an imported copy of {suite}", suite=suite.title)
            if suite.load
            else gettext_noop("a version of the project's own gold")
        )
        raise RunRefused(
            Sentence(
                "{dataset} holds {content}; {suite} needs {needed}.",
                dataset=plan.dataset,
                content=plan.dataset.title or word("gold"),
                suite=suite.title,
                needed=needed,
            ),
            "dataset",
        )
    try:
        why = suite.unfit(DatasetResources(plan.dataset)) if suite.unfit else ""
    except SuiteFailed as error:
        raise RunRefused(str(error), "dataset") from error
    if why:
        raise RunRefused(f"{plan.dataset} {why}", "dataset")


def _check_options(plan: Plan, settings: Sequence[Setting]) -> None:
    """Raise RunRefused for options that are none of the settings, and for values out of range."""
    settings_by_name = {setting.name: setting for setting in settings}
    if "answer_format" in set(plan.options) - set(settings_by_name):
        raise RunRefused(
            Sentence("{definition} is answered in free text alone.", definition=plan.definition.title), "answer_format"
        )
    if unknown := sorted(set(plan.options) - set(settings_by_name)):
        available = listed(settings_by_name) or "none"
        raise RunRefused(
            Sentence(
                "{definition} has no option {unknown}; it has: {available}.",
                definition=plan.definition.title,
                unknown=repr(unknown[0]),
                available=available,
            ),
            "options",
        )
    for name, value in plan.options.items():
        try:
            settings_by_name[name].checked(value)
        except ValueError as error:
            raise RunRefused(str(error), name) from error
    if plan.temperature is not None and not 0 <= plan.temperature <= MOST_TEMPERATURE:
        raise RunRefused(
            Sentence(
                "The temperature is {temperature}; expected 0 to {most_temperature}.",
                temperature=plan.temperature,
                most_temperature=MOST_TEMPERATURE,
            ),
            "temperature",
        )


def _check_steps(plan: Plan) -> None:
    launched = [step.key for step in plan.definition.launched]
    if not plan.steps or not set(plan.steps) <= set(launched):
        expected = (
            Sentence("{steps} and {last}", steps=listed(launched[:-1]), last=launched[-1])
            if launched[1:]
            else launched[0]
        )
        raise RunRefused(
            Sentence(
                "The steps are {steps}; expected some of {expected}.",
                steps=listed(plan.steps) or word("none"),
                expected=expected,
            ),
            "steps",
        )
    _check_needs(plan)
    if plan.source is not None:
        _check_source(plan, plan.source)
    _check_judge(plan)
    if not plan.endpoints:
        raise RunRefused(gettext_noop("No model was chosen."), "endpoints")


def _check_needs(plan: Plan) -> None:
    """Raise RunRefused for a step whose question needs answers that nobody is asked for."""
    for step in (step for step in plan.definition.launched if step.key in plan.steps):
        there = {*plan.steps, *(plan.judged_anew if step.judged else ())}
        if lacking := [plan.definition.step(key) for key in step.needs if key not in there]:
            missing = lacking[0]
            anew = (
                Sentence(", or a run whose {answers} are judged anew", answers=missing.answers[1])
                if step.judged
                else ""
            )
            raise RunRefused(
                Sentence(
                    "{step} needs {answers}: choose {missing} too{anew}.",
                    step=step.label,
                    answers=missing.answers[1],
                    missing=missing.label.lower(),
                    anew=anew,
                ),
                "steps",
            )


def _check_judge(plan: Plan) -> None:
    if plan.judges and plan.judge is None:
        label = plan.definition.judging.label
        raise RunRefused(
            Sentence("{label} needs a judge: choose an endpoint, for instance the lexical judge.", label=label), "judge"
        )
    judged = {step.key for step in plan.definition.steps if step.judged}
    if plan.judge and not judged:
        raise RunRefused(
            Sentence("Nobody judges {definition}: leave the judge out.", definition=plan.definition.title), "judge"
        )
    if plan.judge and not set(steps_of(plan.judge, plan.suite)) & judged:
        raise RunRefused(Sentence("{judge} is a baseline that cannot judge.", judge=plan.judge.name), "judge")


def _check_numbers(plan: Plan) -> None:
    bounds = {
        "limit": (Sentence("The number of {noun}", noun=word(plan.definition.noun[1])), 0, MOST_STORIES),
        "max_tokens": (gettext_noop("The longest answer in tokens"), 1, MOST_TOKENS),
        "seed": (gettext_noop("The seed"), 0, MOST_SEED),
        "repetitions": (gettext_noop("The number of repetitions"), 1, MOST_REPETITIONS),
    }
    for name, (called, least, most) in bounds.items():
        if not least <= getattr(plan, name) <= most:
            raise RunRefused(
                Sentence(
                    "{called} is {plan}; expected {least} to {most}.",
                    called=called,
                    plan=getattr(plan, name),
                    least=least,
                    most=most,
                ),
                name,
            )
    if plan.budget is not None and not (plan.budget.is_finite() and 0 <= plan.budget < MOST_MONEY):
        raise RunRefused(
            Sentence("The budget is {budget}; expected US dollars, 0 or more, such as 2.50.", budget=plan.budget),
            "budget",
        )
    for endpoint in [*plan.endpoints, *([plan.judge] if plan.judge else [])]:
        if plan.budget is not None and not endpoint.prices.are_known:
            raise RunRefused(unknown_price_sentence(endpoint.name), "budget")


def _asked(plan: Plan) -> list[Endpoint]:
    """The models of the plan, and its judge where it judges."""
    return [*plan.endpoints, *([plan.judge] if plan.judge and plan.judges else [])]


def check_room(plan: Plan) -> None:
    """Raise RunRefused where the longest answer leaves no question any room in the context of an endpoint."""
    for endpoint in _asked(plan):
        if reads_prompts(endpoint) and 0 < endpoint.context_tokens <= plan.max_tokens:
            raise RunRefused(
                Sentence(
                    "Answers of up to {max_tokens} tokens leave no room for a question in the context of "
                    "{endpoint}, which holds {context_tokens}.",
                    max_tokens=f"{plan.max_tokens:,}",
                    endpoint=endpoint.name,
                    context_tokens=f"{endpoint.context_tokens:,}",
                ),
                "max_tokens",
            )


def check_addresses(plan: Plan) -> None:
    """Raise RunRefused for an endpoint without an address."""
    for endpoint in _asked(plan):
        if not endpoint.base_url and wants_address(endpoint.provider):
            field = "judge" if endpoint == plan.judge else "endpoints"
            raise RunRefused(
                Sentence("{endpoint} has no address: say where its server answers.", endpoint=endpoint.name), field
            )


def _stories(plan: Plan, *, lean: bool = False) -> list[DatasetSample]:
    samples = plan.dataset.samples.lean() if lean else plan.dataset.samples.all()
    stories = list(samples.selected(split=plan.split, category=plan.category, limit=plan.limit))
    if not stories:
        raise RunRefused(
            Sentence(
                "The choice of split and category leaves no {noun} of this dataset.", noun=word(plan.definition.noun[0])
            ),
            "split",
        )
    judging = plan.definition.judging
    if plan.source is None or judging is None or set(plan.steps) != {judging.key}:
        return stories
    rows = [
        row for endpoint in plan.endpoints for row in ended_answers(plan.source, endpoint).values_list("sample", "call")
    ]
    asked_stories, answered_stories = {story for story, _ in rows}, {story for story, call in rows if call}
    if any(story.pk in answered_stories for story in stories):
        return [story for story in stories if story.pk in asked_stories]
    raise RunRefused(nothing_to_judge(plan.definition), "source")


def _nothing_for(plan: Plan, endpoint: Endpoint) -> str:
    if endpoint.tasks is None:
        if plan.source is None:
            return Sentence("None of the chosen steps is for {endpoint}.", endpoint=endpoint.name)
        return Sentence(
            "{source} has no {definition} of {endpoint} to be judged.",
            source=plan.source,
            definition=judged_answers(plan.definition)[0],
            endpoint=endpoint.name,
        )
    able = " or ".join(endpoint.tasks)
    return Sentence(
        "{endpoint} is a baseline that can only {able}; none of the chosen steps is for it.",
        endpoint=endpoint.name,
        able=able,
    )


def _check_source(plan: Plan, source: Run) -> None:
    many = judged_answers(plan.definition)[1]
    if asked_too := [plan.definition.step(key) for key in plan.judged_anew if key in plan.steps]:
        raise RunRefused(
            Sentence(
                "A run that judges another's {many} makes none of its own; leave {asked_too} out.",
                many=word(many),
                asked_too=asked_too[0].label.lower(),
            ),
            "steps",
        )
    if not Run.objects.filter(pk=source.pk).exists():
        raise RunRefused(DELETED, "source")
    if source.dataset_id != plan.dataset.pk:
        raise RunRefused(
            Sentence(
                "The {many} of {source} are about version {version} of the dataset, not version {other_version}.",
                many=word(many),
                source=source.title,
                version=source.dataset.version,
                other_version=plan.dataset.version,
            ),
            "source",
        )
    if source.answer_format != plan.answer_format:
        answer_format = AnswerFormat(source.answer_format).label.lower()
        raise RunRefused(
            Sentence(
                "The {many} of {source} are {answer_format}, and are judged as such.",
                many=word(many),
                source=source.title,
                answer_format=answer_format,
            ),
            "answer_format",
        )


def check_answer_formats(plan: Plan) -> None:
    """Raise RunRefused where an endpoint of the plan cannot hold its answers to a schema that it is to keep to."""
    if plan.answer_format == AnswerFormat.STRUCTURED:
        _check_fitting(_asked(plan), "answer_format", gettext_noop("choose free text"))
    judge = plan.definition.judge
    if judge and plan.judge and plan.judges and judge.held_to_schema(plan.settings):
        _check_fitting(
            [plan.judge], "judge_answer_format", gettext_noop("let it judge in the answer format of the run")
        )


def _check_fitting(endpoints: Sequence[Endpoint], name: str, way_out: str) -> None:
    unable = [endpoint.name for endpoint in endpoints if not (endpoint.json_schema or endpoint.about.fits_schemas)]
    if unable:
        raise RunRefused(
            Sentence(
                "{unable} cannot hold its answers to a schema; {way_out}.", unable=listed(unable), way_out=way_out
            ),
            name,
        )
