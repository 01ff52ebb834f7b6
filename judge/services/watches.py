"""Watches: judges and models that are asked the same again on a schedule, each time by a run of its own.

A repeat is due at a time that its watch keeps. Whoever finds it due takes it by a compare-and-swap of that time, so
that of all workers one begins it; what cannot begin is kept with its reason, and times that passed while nobody looked
are counted as missed.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from math import ceil

from django.db import transaction
from django.db.models import QuerySet

from annotation.models import User
from annotation.services import audit
from benchmark.domain.parameters import SEED
from benchmark.models import DatasetSample, Run, RunItem
from benchmark.services.archiving import locked_run
from benchmark.services.estimates import Asking, Estimate, estimate_all, parts_of
from benchmark.services.judges import judged_at, version_failure
from benchmark.services.launches import judging_plans, start_run
from benchmark.services.plan_checks import check_all_but_samples
from benchmark.services.plans import MOST_SEED, MOST_TITLE, Plan, RunRefused, plan_of
from benchmark.services.run_items import answers_by
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.prompt_sets import BadPromptSet
from benchmark.suites.registry import suite_named
from core.messages import Sentence, gettext_noop, word
from judge.domain.calibration.drift import FEWEST_ROUNDS, WANTED_BASELINE
from judge.domain.sampling import permanent_number
from judge.models import AnchorRepeat, AnchorWatch
from judge.models.watch import FEWEST_ANCHORS, MOST_ANCHORS, MOST_DAYS
from workers.models import Endpoint

CHANGES = {"stop": "stopped", "resume": "resumed", "note": "noted"}
"""The actions on a watch, and what the audit log calls them."""


@dataclass(frozen=True, slots=True)
class Watchable:
    """Part of a run that can be watched: who was `asked` at a `step`, about what these `models` answered. `key` names
    it within its run."""

    key: str
    asked: Endpoint
    step: str
    models: tuple[Endpoint, ...]
    judges: bool


@dataclass(frozen=True, slots=True)
class WatchPlan:
    """The choices of a watch before it is made: how many `stories` are its anchors, after how many days they are
    asked again, the drop of agreement that its chart is for (a share), and what each repeat may cost in US dollars,
    None without a cap."""

    run: Run
    what: Watchable
    stories: int = 20
    every: int = 7
    drop: float = 0.1
    seed: int = SEED
    budget: Decimal | None = None

    @property
    def rounds(self) -> int:
        """Return how often every anchor is asked again at the start, so that there is enough to compare with."""
        return max(FEWEST_ROUNDS, ceil(WANTED_BASELINE / self.stories))


def watchable_of(run: Run) -> list[Watchable]:
    """Return the judge of a run, about all its models and about each of them, and its models, step by step. Baselines
    and imported answers are omitted: nobody can ask them again, or they cannot change."""
    entrants = [entrant.endpoint for entrant in run.entrants.select_related("endpoint")]
    suite, watchable = suite_named(run.suite), []
    if run.judge and (step := judged_at(run)) and run.judge.about.reads_prompts:
        answered = tuple(endpoint for endpoint in entrants if answers_by(run.source or run, endpoint).exists())
        about = {"judge": answered} if answered else {}
        about |= {f"judge:{endpoint.name}": (endpoint,) for endpoint in answered if len(answered) > 1}
        watchable = [Watchable(key, run.judge, step, models, judges=True) for key, models in about.items()]
    if run.source_id or run.imported or run.control:
        return watchable
    steps = [step.key for step in suite.launched if not step.judged and step.key in run.steps]
    return watchable + [
        Watchable(f"{step}:{endpoint.name}", endpoint, step, (endpoint,), judges=False)
        for step in (steps[-1:] if suite.asking.program else steps)
        for endpoint in entrants
        if endpoint.about.reads_prompts and _answered(run, endpoint, step).exists()
    ]


def _answered(run: Run, model: Endpoint, step: str) -> QuerySet[RunItem]:
    return RunItem.objects.filter(entrant__run=run, entrant__endpoint=model, step=step, call__isnull=False)


def checked(plan: WatchPlan) -> list[DatasetSample]:
    """Return the samples that a watch asks about: those of the stories with the smallest permanent numbers, among those
    with an answer. Raises RunRefused."""
    bounds = {
        "stories": (gettext_noop("The number of anchors"), plan.stories, FEWEST_ANCHORS, MOST_ANCHORS),
        "every": (gettext_noop("The number of days"), plan.every, 1, MOST_DAYS),
        "seed": (gettext_noop("The seed"), plan.seed, 0, MOST_SEED),
    }
    for name, (called, value, least, most) in bounds.items():
        if not least <= value <= most:
            text = "{called} is {value}; expected {least} to {most}."
            raise RunRefused(Sentence(text, called=called, value=value, least=least, most=most), name)
    if not 0.01 <= plan.drop <= 0.5:
        raise RunRefused(Sentence("The drop is {drop} points; expected 1 to 50.", drop=f"{100 * plan.drop:g}"), "drop")
    what, origin = plan.what, plan.run.source or plan.run
    answered = [
        answers_by(origin, model) if what.judges else _answered(plan.run, model, what.step) for model in what.models
    ]
    ids = {pk for items in answered for pk in items.values_list("sample_id", flat=True)}
    samples = list(DatasetSample.objects.lean().filter(pk__in=ids).order_by("position"))
    clusters = sorted(
        {sample.cluster for sample in samples}, key=lambda cluster: (permanent_number(plan.seed, cluster), cluster)
    )
    if len(clusters) < plan.stories:
        text = "The run has answers about {clusters} {units}; {stories} were asked for."
        units = word(suite_named(plan.run.suite).cluster[1])
        raise RunRefused(Sentence(text, clusters=len(clusters), units=units, stories=plan.stories), "stories")
    chosen = set(clusters[: plan.stories])
    return [sample for sample in samples if sample.cluster in chosen]


def repeat_plan(plan: WatchPlan, *, title: str = "", anew: int = 0) -> Plan:
    """Return the plan of asking the anchors once: the questions of the run, put by draw `anew` of the ledger. Raises
    RunRefused."""
    run, what = plan.run, plan.what
    if what.judges:
        [asked] = judging_plans(run, judges=[what.asked], options={})
        asked = replace(asked, endpoints=[model for model in asked.endpoints if model in what.models])
    else:
        base = plan_of(run)
        steps = base.steps if base.definition.asking.program else [what.step]
        asked = replace(base, endpoints=[what.asked], steps=steps, judge=None, source=None, split="", category="")
    asked = replace(
        asked.without_test(), controls=(), limit=0, repetitions=1, budget=plan.budget, title=title, anew=anew
    )
    check_all_but_samples(asked)
    return asked


def estimate_of_repeat(plan: WatchPlan) -> Estimate:
    """Estimate what asking the anchors once costs; the ledger never has any of these answers. Raises RunRefused."""
    samples, asked = checked(plan), repeat_plan(plan, anew=1)
    return estimate_all([Asking(asked, samples, parts_of(asked, samples))])


@transaction.atomic
def start_watch(*, by: User | None, plan: WatchPlan, now: datetime) -> AnchorWatch:
    """Make a watch and ask its anchors for the first time: once for the first verdicts, and `plan.rounds` times for
    what an unchanged judge or model says when it is asked again. Raises RunRefused; then nothing was made."""
    samples = checked(plan)
    locked_run(plan.run)
    if why := version_failure(plan.run):
        raise RunRefused(why)
    watch = AnchorWatch.objects.create(
        project=plan.run.project, run=plan.run, asked=plan.what.asked, step=plan.what.step,
        about=[model.pk for model in plan.what.models], anchors=[sample.number for sample in samples],
        seed=plan.seed, rounds=plan.rounds, every=plan.every, drop=plan.drop, budget=plan.budget, created_by=by,
        due_at=now + timedelta(days=plan.every),
    )  # fmt: skip
    for number in range(1 + plan.rounds):
        repeat = AnchorRepeat.objects.create(watch=watch, number=number, due_at=now)
        _begin(by, watch, repeat, now)
    details = {"asked": plan.what.asked.name, "stories": plan.stories, "every": plan.every, "rounds": plan.rounds}
    audit.record(by=by, project=watch.project, action="watch.started", target=watch.uid, **details)
    return watch


def _begin(by: User | None, watch: AnchorWatch, repeat: AnchorRepeat, now: datetime) -> None:
    """Start the run of a repeat. Raises RunRefused."""
    title = Sentence("Watch of {asked}: repeat {number}", asked=watch.asked.name, number=repeat.number)
    about, judges = Endpoint.objects.in_bulk(watch.about), suite_named(watch.run.suite).step(watch.step).judged
    what = Watchable("", watch.asked, watch.step, tuple(about[pk] for pk in watch.about if pk in about), judges)
    made_with = WatchPlan(watch.run, what, len(watch.anchors), watch.every, watch.drop, watch.seed, watch.budget)
    plan = repeat_plan(made_with, title=title[:MOST_TITLE], anew=repeat.pk)
    anchors = list(DatasetSample.objects.filter(dataset=watch.run.dataset_id, number__in=watch.anchors))
    repeat.run = start_run(by=by, plan=plan, now=now, stories=anchors)
    repeat.save(update_fields=["run"])


def ask_again(*, by: User | None, watch: AnchorWatch, now: datetime) -> AnchorRepeat:
    """Ask the anchors of a watch once more, beside its schedule. What cannot begin is kept as a repeat without a run,
    with the reason."""
    with transaction.atomic():
        repeat = _next(watch, now)
    return _begun(by, watch, repeat, now)


def _next(watch: AnchorWatch, due: datetime, missed: int = 0) -> AnchorRepeat:
    """Return the next repeat, still without a run, in the caller's transaction."""
    AnchorWatch.objects.select_for_update().get(pk=watch.pk)  # repeats are numbered one after the other
    return AnchorRepeat.objects.create(watch=watch, number=watch.repeats.count(), due_at=due, missed=missed)


def _begun(by: User | None, watch: AnchorWatch, repeat: AnchorRepeat, now: datetime) -> AnchorRepeat:
    try:
        with transaction.atomic():
            _begin(by, watch, repeat, now)
    except (RunRefused, SuiteFailed, BadPromptSet) as error:
        repeat.run, repeat.why_not = None, str(error)
        repeat.save(update_fields=["run", "why_not"])
    return repeat


def ask_due(*, now: datetime) -> list[AnchorRepeat]:
    """Begin every repeat that is due; one for each watch, however many times have passed. May run twice at once."""
    begun = []
    for watch in AnchorWatch.objects.due(now).select_related("run__project", "run__dataset", "asked", "project"):
        due = watch.due_at
        assert due, "it is due"
        following, missed = watch.following(due, now)
        with transaction.atomic():  # a process that ends after it leaves a repeat that has not begun, which is shown
            claimed = AnchorWatch.objects.filter(pk=watch.pk).claim(due, following)
            repeat = _next(watch, due, missed) if claimed else None
        if repeat:
            begun.append(_begun(None, watch, repeat, now))
    return begun


@transaction.atomic
def change_watch(*, by: User | None, watch: AnchorWatch, action: str, now: datetime) -> None:
    """Stop asking the anchors of a watch ("stop"), ask them on schedule again, first after one interval ("resume"), or
    keep that somebody has taken note of everything that was noticed so far ("note")."""
    watch = AnchorWatch.objects.select_for_update().get(pk=watch.pk)
    if action == "note":
        watch.note(now)
    elif (action == "stop") != (watch.due_at is None):
        watch.go_on(None if action == "stop" else now + timedelta(days=watch.every))
    else:
        return
    audit.record(by=by, project=watch.project, action=f"watch.{CHANGES[action]}", target=watch.uid)
