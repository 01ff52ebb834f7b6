"""Making the items of a run that is too large for a request: by a worker, in short transactions, from where the last
one left off.

A row of `RunPreparation` says about which samples items are there. Whoever makes the next ones moves it on in the same
transaction, and only from where it was read: so processes may be killed, or do it at the same time, and no item is
missing or made twice.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any

from django.db import DatabaseError, transaction
from django.utils import timezone

from annotation.services.short_writes import ShortWrites
from benchmark.models import DatasetSample, Run, RunItem, RunPreparation
from benchmark.services.asking import sample_asked
from benchmark.services.made_elsewhere import importing
from benchmark.services.made_elsewhere.files import BadFile
from benchmark.services.plans import Plan, RunRefused, own_steps, plan_of
from benchmark.services.run_items import add_run_items, nothing_to_judge
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.questions import BadQuestion
from core.messages import gettext_noop
from workers.models import Item, Job, JobState
from workers.services.notify import WORKERS
from workers.services.run_to_end import UNPREPARED

log = logging.getLogger(__name__)
AT_ONCE = importing.ANSWERS_AT_ONCE
"""Items up to which a launch makes them itself."""
A_STEP = 1_000
"""Items that one transaction makes, in some 50 ms of a processor: votes wait no longer for it, and what a step takes
besides its items is little."""
LOOKED_AT = 250
"""Samples that are looked at in one step, where a control asks only about those that it changes."""
NOTHING_CHANGES = gettext_noop("This control changes none of the run's samples, so there is nothing to ask under it.")


def is_large(plan: Plan, samples: int) -> bool:
    """Return whether the items of a run of the plan about so many samples are left to a worker."""
    steps = sum(len(own_steps(plan, endpoint)) for endpoint in plan.endpoints)
    return samples * steps * plan.repetitions > AT_ONCE


def extend(run: Run, samples: Sequence[DatasetSample]) -> None:
    """Have workers make the items that the run lacks about these samples. Nothing of it is asked meanwhile."""
    Job.objects.filter(pk=run.job_id).prepare_more()
    run.job.refresh_from_db()
    leave_to_workers(run, samples, extends=True)


def leave_to_workers(run: Run, samples: Sequence[DatasetSample], **fields: bool) -> None:
    """Have workers make the items of a run about these samples; if it `looks`, only about those that its control
    changes."""
    positions = sorted(sample.position for sample in samples)
    RunPreparation.objects.create(run=run, samples=positions, of=len(samples), **fields)
    WORKERS.notify()


def prepare_run(job: Job, stopped: Callable[[], bool]) -> None:
    """Make the items of a job's run from where that was left, until all are there, they cannot be made, or `stopped`.
    Raises DatabaseError; then it can be tried again."""
    run = Run.objects.select_related("project", "dataset", "judge", "source", "job", "original").get(job=job)
    try:
        if run.imported and not stopped():
            importing.read_files(run)
        while run.imported and not stopped():
            if not importing.take_next(run):
                return
        plan, writes = plan_of(run), ShortWrites()
        while not stopped():
            preparation = RunPreparation.objects.filter(run=run).first()
            if preparation is None or not _step(run, plan, preparation, writes):
                return
    except (SuiteFailed, BadQuestion, BadFile, RunRefused) as error:
        _fail(run, str(error))
    except DatabaseError:
        raise
    except Exception:
        log.exception("The items of run %s could not be made.", run.uid)
        _fail(run, importing.FAILED if run.imported else UNPREPARED)


def _step(run: Run, plan: Plan, preparation: RunPreparation, writes: ShortWrites) -> bool:
    """Make the items about the next samples; returns whether somebody has more to make."""
    entrants = list(run.entrants.select_related("endpoint"))
    steps = {entrant.pk: own_steps(plan, entrant.endpoint) for entrant in entrants}
    a_sample = max(1, plan.repetitions * sum(map(len, steps.values())))
    count = max(1, A_STEP // a_sample)
    following = _following(run, preparation, min(count, LOOKED_AT) if preparation.looks else count)
    asked = _changed(run, following) if preparation.looks else following
    with writes.transaction(2 * a_sample * len(asked)):  # an item is a row here and one of the workers
        job = Job.objects.select_for_update().get(pk=run.job_id)
        unmoved = RunPreparation.objects.filter(pk=preparation.pk, done=preparation.done)
        moved = {"done": preparation.done + len(following), "kept": preparation.kept + len(asked)}
        if job.state != JobState.PREPARING or not unmoved.update(**moved):  # cancelled, or somebody else made them
            return Job.objects.preparing().filter(pk=run.job_id).exists()
        there = RunItem.objects.filter(entrant__in=entrants, sample__in=asked).values_list("entrant", "sample")
        has_items = {*there} if preparation.extends else set()
        for entrant in entrants:
            if samples := [sample for sample in asked if (entrant.pk, sample.pk) not in has_items]:
                add_run_items(run, entrant, steps[entrant.pk], samples, timezone.now())
        if preparation.done + len(following) == preparation.of:
            return _end(run, preparation)
    return True


def _following(run: Run, preparation: RunPreparation, count: int) -> list[DatasetSample]:
    positions = preparation.samples[preparation.done : preparation.done + count]
    samples = run.dataset.samples.filter(position__in=positions).order_by("position")
    return list(samples.defer("methods", "votes", "adjudications") if preparation.looks else samples.lean())


def _changed(run: Run, samples: Sequence[DatasetSample]) -> list[DatasetSample]:
    return [sample for sample in samples if sample_asked(run, sample).published is not None]


def _end(run: Run, preparation: RunPreparation) -> bool:
    """Let the run begin, in the caller's transaction; one without items fails, which nobody could answer."""
    if not Item.objects.filter(job=run.job_id).exists():
        why = NOTHING_CHANGES if preparation.looks else nothing_to_judge(plan_of(run).definition)
        return _fail(run, why)
    if preparation.looks:
        row = Run.objects.select_for_update().get(pk=run.pk)
        stories = RunItem.objects.filter(entrant__run=run).values("sample").distinct().count()
        row.params = row.parameters.about(stories, None).as_json()
        row.save(update_fields=["params"])
    RunPreparation.objects.filter(pk=preparation.pk).delete()
    Job.objects.filter(pk=run.job_id).prepared()
    WORKERS.notify()
    return False


@transaction.atomic
def _fail(run: Run, why: str) -> bool:
    """End a run that cannot be prepared, without its new items; a retry continues an extension. Returns False."""
    job = Job.objects.select_for_update().get(pk=run.job_id)
    failed = Job.objects.filter(pk=job.pk).fail_preparation(why, now=timezone.now())
    if failed and not RunPreparation.objects.filter(run=run, extends=True).exists():
        importing.take_back_answers(run)
    return False


def prepared_of(runs: Sequence[Run]) -> dict[int, dict[str, int]]:
    """Return {"done", "of"} by run id for runs that are preparing, in samples, or in answers of an import; both are 0
    while its files are read. One query."""
    preparing = [run.pk for run in runs if run.job.state == JobState.PREPARING]
    rows: Any = RunPreparation.objects.filter(run__in=preparing).values("run", "done", "of") if preparing else ()
    return {row.pop("run"): row for row in rows}


def to_prepare(run: Run) -> list[int] | None:
    """Return the positions of all samples of a run whose items are not all there; None where they are."""
    preparation = RunPreparation.objects.filter(run=run).first()
    return None if preparation is None else preparation.samples
