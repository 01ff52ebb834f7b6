"""Checks of whether a plan can be launched. Each check raises RunRefused with one sentence."""

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
    """Return the samples that the plan takes, without their contents if they can be `lean`. Raises RunRefused."""
    check_all_but_samples(plan)
    return _samples(plan, lean=lean and can_be_lean(plan.definition))


def check_all_but_samples(plan: Plan) -> None:
    """Check a plan whose samples are known already. Raises RunRefused."""
    _check_dataset(plan)
    _check_steps(plan)
    _check_numbers(plan)
    _check_options(plan, plan.definition.settings)
    check_controls(plan)
    for endpoint in plan.endpoints:
        if own_steps(plan, endpoint):
            continue
        if endpoint.tasks is not None:
            raise RunRefused(
                "{endpoint} is a baseline that can only {able}; none of the chosen steps is for it.", "endpoints",
                endpoint=endpoint.name, able=" or ".join(endpoint.tasks),
            )  # fmt: skip
        if plan.source is None:
            raise RunRefused("None of the chosen steps is for {endpoint}.", "endpoints", endpoint=endpoint.name)
        raise RunRefused(
            "{source} has no {definition} of {endpoint} to be judged.", "endpoints",
            source=plan.source, definition=judged_answers(plan.definition)[0], endpoint=endpoint.name,
        )  # fmt: skip
    check_endpoints(plan)
    try:
        prompt_hashes(plan)
    except (BadPromptSet, SuiteFailed) as error:
        raise RunRefused(str(error), "prompt_set") from error


def can_be_lean(suite: Suite) -> bool:
    """Return whether runs of the suite are planned without the contents of their samples."""
    return suite.copied.load is not None and suite.asking.prompting is None


def samples_of_import(plan: Plan) -> list[DatasetSample]:
    """Return the samples that imported answers are matched to; such a plan needs no model. Raises RunRefused."""
    _check_dataset(plan)
    _check_numbers(plan)
    _check_options(plan, [setting.for_imports for setting in plan.definition.settings])
    return _samples(plan)


def _check_dataset(plan: Plan) -> None:
    """Raise RunRefused for samples of another suite, and for gold that this suite cannot ask about."""
    suite = plan.definition
    if plan.dataset.suite != (suite.name if suite.copied.load else ""):
        needed = (
            Sentence("an imported copy of {suite}", suite=suite.title)
            if suite.copied.load
            else gettext_noop("a version of the project's own gold")
        )
        raise RunRefused(
            "{dataset} holds {content}; {suite} needs {needed}.", "dataset",
            dataset=plan.dataset, content=plan.dataset.title or word("gold"), suite=suite.title, needed=needed,
        )  # fmt: skip
    try:
        why = suite.gold.unfit(DatasetResources(plan.dataset)) if suite.gold.unfit else ""
    except SuiteFailed as error:
        raise RunRefused(str(error), "dataset") from error
    if why:
        raise RunRefused(f"{plan.dataset} {why}", "dataset")


def _check_options(plan: Plan, settings: Sequence[Setting]) -> None:
    """Raise RunRefused for options that are none of the settings, and for values out of range."""
    settings_by_name, title = {setting.name: setting for setting in settings}, plan.definition.title
    unknown = sorted(set(plan.options) - set(settings_by_name))
    if "answer_format" in unknown:
        raise RunRefused("{definition} is answered in free text alone.", "answer_format", definition=title)
    if unknown:
        raise RunRefused(
            "{definition} has no option {unknown}; it has: {available}.", "options",
            definition=title, unknown=repr(unknown[0]), available=listed(settings_by_name) or "none",
        )  # fmt: skip
    for name, value in plan.options.items():
        try:
            settings_by_name[name].checked(value)
        except ValueError as error:
            raise RunRefused(str(error), name) from error
    if plan.temperature is not None and not 0 <= plan.temperature <= MOST_TEMPERATURE:
        raise RunRefused(
            "The temperature is {temperature}; expected 0 to {most_temperature}.", "temperature",
            temperature=plan.temperature, most_temperature=MOST_TEMPERATURE,
        )  # fmt: skip


def _check_steps(plan: Plan) -> None:
    suite = plan.definition
    launched = [step.key for step in suite.launched]
    if not plan.steps or not set(plan.steps) <= set(launched):
        several = Sentence("{steps} and {last}", steps=listed(launched[:-1]), last=launched[-1])
        raise RunRefused(
            "The steps are {steps}; expected some of {expected}.", "steps",
            steps=listed(plan.steps) or word("none"), expected=several if launched[1:] else launched[0],
        )  # fmt: skip
    for step in suite.launched:
        there = {*plan.steps, *(plan.judged_anew if step.judged else ())}
        lacking = [suite.step(key) for key in step.needs if key not in there]
        if step.key in plan.steps and lacking:
            answers = lacking[0].answers[1]
            anew = Sentence(", or a run whose {answers} are judged anew", answers=answers) if step.judged else ""
            raise RunRefused(
                "{step} needs {answers}: choose {missing} too{anew}.", "steps",
                step=step.label, answers=answers, missing=lacking[0].label.lower(), anew=anew,
            )  # fmt: skip
    if plan.source is not None:
        _check_source(plan, plan.source)
    _check_judge(plan)
    if not plan.endpoints:
        raise RunRefused("No model was chosen.", "endpoints")


def _check_judge(plan: Plan) -> None:
    suite = plan.definition
    if suite.judging and plan.judges and plan.judge is None:
        label = suite.judging.label
        raise RunRefused(
            "{label} needs a judge: choose an endpoint, for instance the lexical judge.", "judge", label=label
        )
    judged = {step.key for step in suite.steps if step.judged}
    if plan.judge and not judged:
        raise RunRefused("Nobody judges {definition}: leave the judge out.", "judge", definition=suite.title)
    if plan.judge and not set(steps_of(plan.judge, plan.suite)) & judged:
        raise RunRefused("{judge} is a baseline that cannot judge.", "judge", judge=plan.judge.name)


def _check_numbers(plan: Plan) -> None:
    bounds = {
        "limit": (Sentence("The number of {noun}", noun=word(plan.definition.noun[1])), 0, MOST_STORIES),
        "max_tokens": (gettext_noop("The longest answer in tokens"), 1, MOST_TOKENS),
        "seed": (gettext_noop("The seed"), 0, MOST_SEED),
        "repetitions": (gettext_noop("The number of repetitions"), 1, MOST_REPETITIONS),
    }
    for name, (called, least, most) in bounds.items():
        if not least <= (value := getattr(plan, name)) <= most:
            raise RunRefused(
                "{called} is {plan}; expected {least} to {most}.", name,
                called=called, plan=value, least=least, most=most,
            )  # fmt: skip
    if plan.budget is None:
        return
    if not (plan.budget.is_finite() and 0 <= plan.budget < MOST_MONEY):
        raise RunRefused(
            "The budget is {budget}; expected US dollars, 0 or more, such as 2.50.", "budget", budget=plan.budget
        )
    for endpoint in [*plan.endpoints, *([plan.judge] if plan.judge else [])]:
        if not endpoint.prices.are_known:
            raise RunRefused(unknown_price_sentence(endpoint.name), "budget")


def check_endpoints(plan: Plan) -> None:
    """Raise RunRefused for an endpoint that is asked and has no address, no room for a question or no schemas."""
    asked = [*plan.endpoints, *([plan.judge] if plan.judge and plan.judges else [])]
    if plan.answer_format == AnswerFormat.STRUCTURED:
        _check_fitting(asked, "answer_format", gettext_noop("choose free text"))
    judge = plan.definition.judge
    if judge and plan.judge and plan.judges and judge.held_to_schema(plan.settings):
        way_out = gettext_noop("let it judge in the answer format of the run")
        _check_fitting([plan.judge], "judge_answer_format", way_out)
    for endpoint in asked:
        if reads_prompts(endpoint) and 0 < endpoint.context_tokens <= plan.max_tokens:
            raise RunRefused(
                "Answers of up to {max_tokens} tokens leave no room for a question in the context of "
                "{endpoint}, which holds {context_tokens}.", "max_tokens",
                max_tokens=f"{plan.max_tokens:,}", endpoint=endpoint.name,
                context_tokens=f"{endpoint.context_tokens:,}",
            )  # fmt: skip
    for endpoint in asked:
        if not endpoint.base_url and wants_address(endpoint.provider):
            field = "judge" if endpoint == plan.judge else "endpoints"
            raise RunRefused("{endpoint} has no address: say where its server answers.", field, endpoint=endpoint.name)


def _check_fitting(endpoints: Sequence[Endpoint], name: str, way_out: str) -> None:
    unable = [endpoint.name for endpoint in endpoints if not (endpoint.json_schema or endpoint.about.fits_schemas)]
    if unable:
        raise RunRefused(
            "{unable} cannot hold its answers to a schema; {way_out}.", name, unable=listed(unable), way_out=way_out
        )


def _samples(plan: Plan, *, lean: bool = False) -> list[DatasetSample]:
    chosen = plan.dataset.samples.lean() if lean else plan.dataset.samples.all()
    samples = list(chosen.selected(split=plan.split, category=plan.category, limit=plan.limit))
    suite = plan.definition
    if not samples:
        raise RunRefused(
            "The choice of split and category leaves no {noun} of this dataset.", "split", noun=word(suite.noun[0])
        )
    if plan.source is None or suite.judging is None or set(plan.steps) != {suite.judging.key}:
        return samples
    rows = [
        row for endpoint in plan.endpoints for row in ended_answers(plan.source, endpoint).values_list("sample", "call")
    ]
    answered, asked = {sample for sample, call in rows if call}, {sample for sample, _ in rows}
    if any(sample.pk in answered for sample in samples):
        return [sample for sample in samples if sample.pk in asked]
    raise RunRefused(nothing_to_judge(suite), "source")


def _check_source(plan: Plan, source: Run) -> None:
    many = word(judged_answers(plan.definition)[1])
    if asked_too := [plan.definition.step(key) for key in plan.judged_anew if key in plan.steps]:
        raise RunRefused(
            "A run that judges another's {many} makes none of its own; leave {asked_too} out.", "steps",
            many=many, asked_too=asked_too[0].label.lower(),
        )  # fmt: skip
    if not Run.objects.filter(pk=source.pk).exists():
        raise RunRefused(DELETED, "source")
    if source.dataset_id != plan.dataset.pk:
        raise RunRefused(
            "The {many} of {source} are about version {version} of the dataset, not version {other_version}.", "source",
            many=many, source=source.title, version=source.dataset.version, other_version=plan.dataset.version,
        )  # fmt: skip
    if source.answer_format != plan.answer_format:
        raise RunRefused(
            "The {many} of {source} are {answer_format}, and are judged as such.", "answer_format",
            many=many, source=source.title, answer_format=AnswerFormat(source.answer_format).label.lower(),
        )  # fmt: skip
