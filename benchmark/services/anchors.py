"""Watches: judges and models that are asked the same again on a schedule, each time by a run of its own.

A repeat is due at a time that its watch keeps. Whoever finds it due takes it by a compare-and-swap of that time, so
that of all workers one begins it; what cannot begin is kept with its reason, and times that passed while nobody looked
are counted as missed.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction

from annotation.models import User
from annotation.services import audit
from benchmark.models import AnchorRepeat, AnchorWatch, Run
from benchmark.services.anchor_plans import WatchPlan, anchors_of, checked, plan_of_watch, repeat_plan
from benchmark.services.archiving import locked_run
from benchmark.services.judge_versions import version_failure
from benchmark.services.launches import start_run
from benchmark.services.plans import MOST_TITLE, RunRefused
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.prompt_sets import BadPromptSet
from core.messages import Sentence


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


def _begin(by: User | None, watch: AnchorWatch, repeat: AnchorRepeat, now: datetime) -> Run:
    """Start the run of a repeat. Raises RunRefused."""
    title = Sentence("Watch of {asked}: repeat {number}", asked=watch.asked.name, number=repeat.number)
    plan = repeat_plan(plan_of_watch(watch), title=title[:MOST_TITLE], anew=repeat.pk)
    repeat.run = start_run(by=by, plan=plan, now=now, stories=anchors_of(watch))
    repeat.save(update_fields=["run"])
    return repeat.run


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
        following, missed = watch.following(due, now)
        with transaction.atomic():  # a process that ends after it leaves a repeat that has not begun, which is shown
            claimed = AnchorWatch.objects.filter(pk=watch.pk).claim(due, following)
            repeat = _next(watch, due, missed) if claimed else None
        if repeat:
            begun.append(_begun(None, watch, repeat, now))
    return begun


@transaction.atomic
def stop_watch(*, by: User | None, watch: AnchorWatch) -> bool:
    """Ask the anchors no more; what was asked stays. Returns False where nobody asks."""
    watch = AnchorWatch.objects.select_for_update().get(pk=watch.pk)
    if watch.due_at is None:
        return False
    watch.go_on(None)
    audit.record(by=by, project=watch.project, action="watch.stopped", target=watch.uid)
    return True


@transaction.atomic
def resume_watch(*, by: User | None, watch: AnchorWatch, now: datetime) -> bool:
    """Ask the anchors on schedule again, first after one interval. Returns False where they are."""
    watch = AnchorWatch.objects.select_for_update().get(pk=watch.pk)
    if watch.due_at is not None:
        return False
    watch.go_on(now + timedelta(days=watch.every))
    audit.record(by=by, project=watch.project, action="watch.resumed", target=watch.uid)
    return True


@transaction.atomic
def note_concerns(*, by: User | None, watch: AnchorWatch, now: datetime) -> None:
    """Keep that somebody has taken note of what the watch noticed so far: the overview says no more of it."""
    watch = AnchorWatch.objects.select_for_update().get(pk=watch.pk)
    watch.note(now)
    audit.record(by=by, project=watch.project, action="watch.noted", target=watch.uid)
