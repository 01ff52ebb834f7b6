"""The one writer of what becomes of a run after its work: its name, its place in the archive, and its end.

Whatever builds on a run (extending it, asking for missing rows, judging it anew, running it again, saving a snapshot)
takes the run's row by `locked_run` first, so that it and a deletion wait for each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from annotation.models import User
from annotation.services import audit
from benchmark.models import (
    Run,
    RunItem,
    RunParcel,
    RunPreparation,
    RunReport,
    Snapshot,
    SnapshotItem,
    StoryScores,
    SweepPick,
    UnmatchedReport,
    UnreadParcel,
)
from benchmark.services.calibration import calibration
from benchmark.services.plans import RunRefused
from benchmark.suites.registry import suite_named
from core.messages import Sentence, gettext_noop, listed, noted
from workers.models import Job

DELETED = gettext_noop("The run was deleted.")
ARCHIVED = gettext_noop("The run is archived; restore it first.")
LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True)
class Deletion:
    """The effects of deleting a run: what it takes away (`items`, of which `answered` have a call in the ledger), what
    stays (`reports`), and why it is `refused`, empty where it is not."""

    items: int
    answered: int
    models: int
    reports: Sequence[Snapshot]
    refused: str


def locked_run(run: Run, *, changed: bool = False) -> Run:
    """Lock the row of a run in the caller's transaction, so that nobody deletes it meanwhile. Raises RunRefused where
    somebody has, and for an archived run that is to be `changed`."""
    row = Run.objects.select_for_update().filter(pk=run.pk).only("pk", "archived_at").first()
    if row is None:
        raise RunRefused(DELETED)
    if changed and row.archived_at:
        raise RunRefused(ARCHIVED)
    return run


@transaction.atomic
def rename_run(*, by: User | None, run: Run, title: str) -> bool:
    """Give a run another name, its job too. Returns False where it has that name. Raises RunRefused."""
    title = " ".join(title.replace("\x00", "").split())
    if not title:
        raise RunRefused("A run needs a name.", "title")
    if len(title) > LONGEST_TITLE:
        raise RunRefused(
            "The name has {title} characters; expected up to {longest_title}.",
            "title",
            title=f"{len(title):,}",
            longest_title=LONGEST_TITLE,
        )
    job = _locked_job(run)
    locked_run(run)
    run.refresh_from_db(fields=["title"])
    if title == run.title:
        return False
    before, run.title, job.title = run.title, title, title
    run.save(update_fields=["title"])
    job.save(update_fields=["title"])
    audit.record(by=by, project=run.project, action="run.renamed", target=run.uid, title=title, before=before)
    return True


@transaction.atomic
def archive_run(*, by: User | None, run: Run, now: datetime) -> bool:
    """Take an ended run off lists, leaderboards and comparisons. Returns False where it is archived. Raises
    RunRefused."""
    _locked_job(run)
    locked_run(run)
    if problem := _working(run, "archived"):
        raise RunRefused(problem)
    archived = Run.objects.filter(pk=run.pk, archived_at=None).update(archived_at=now)
    if archived:
        audit.record(by=by, project=run.project, action="run.archived", target=run.uid)
    return bool(archived)


@transaction.atomic
def restore_run(*, by: User | None, run: Run) -> bool:
    """Put an archived run back on lists, leaderboards and comparisons. Returns False where it is there. Raises
    RunRefused."""
    locked_run(run)
    restored = Run.objects.archived().filter(pk=run.pk).update(archived_at=None)
    if restored:
        audit.record(by=by, project=run.project, action="run.restored", target=run.uid)
    return bool(restored)


def deletion_of(run: Run) -> Deletion:
    """Return what deleting the run would do now."""
    beside = _with_controls(run)
    items = RunItem.objects.filter(entrant__run__in=beside)
    reports = Snapshot.objects.filter(pk__in=SnapshotItem.objects.filter(entrant__run__in=beside).values("snapshot"))
    return Deletion(
        items=items.count(),
        answered=items.filter(call__isnull=False).count(),
        models=run.entrants.count(),
        reports=list((reports | Snapshot.objects.filter(run__in=beside)).defer("metrics")),
        refused=_working(run, "deleted") or _resting_on(run, beside),
    )


@transaction.atomic
def delete_run(*, by: User | None, run: Run, now: datetime) -> Deletion:
    """Delete a run's items and figures, and the run from every page, its controls too. Its calls stay in the ledger,
    its job in the list of work, and snapshots as they are. Raises RunRefused while it works, where a watch
    or a study of alignment rests on it, where its judge or a model of it was chosen, where other runs judge its
    answers anew, and where it was deleted before."""
    _locked_job(run)
    list(Job.objects.select_for_update().filter(run__original=run).order_by("pk"))
    locked_run(run)
    deletion = deletion_of(run)
    if deletion.refused:
        raise RunRefused(deletion.refused)
    beside = _with_controls(run)
    StoryScores.objects.filter(run__in=beside).delete()
    RunReport.objects.filter(run__in=beside).delete()
    RunItem.objects.filter(entrant__run__in=beside).delete()
    for left in (RunPreparation, RunParcel, UnmatchedReport, UnreadParcel):
        left.objects.filter(run__in=beside).delete()
    for each in beside:
        each.deleted_at = now
        each.save(update_fields=["deleted_at"])
    run.deleted_at = now
    details = {"title": run.title, "items": deletion.items, "answers": deletion.answered}
    audit.record(by=by, project=run.project, action="run.deleted", target=run.uid, **details)
    return deletion


def _resting_on(run: Run, beside: list[Run]) -> str:
    """Name what rests on the run or one under its controls: calibration, a model that a sweep chose, or a run that
    judges its answers anew. Returns "" if nothing does."""
    if refusal := calibration.rests_on(beside):
        return refusal
    picks = list(SweepPick.objects.filter(entrant__run__in=beside).select_related("entrant__run").order_by("pk"))
    if picks:
        groups = {group.key: group.title for group in suite_named(picks[0].entrant.run.suite).groups}
        names = [noted(pick.entrant.name, groups.get(pick.group, pick.group)) for pick in picks]
        named = listed(names[:3]) + (" …" if len(names) > 3 else "")
        return Sentence("Its sweep chose {named}; archive it instead.", named=named)
    count = run.judged_anew.count()
    named = listed(f"“{judging.title}”" for judging in run.judged_anew.all()[:3]) + (" …" if count > 3 else "")
    if count == 1:
        return Sentence("1 run judges its answers anew: {named}. Delete that first, or archive this one.", named=named)
    text = gettext_noop("{count} runs judge its answers anew: {named}. Delete these first, or archive this one.")
    return Sentence(text, count=f"{count:,}", named=named) if count else ""


def _with_controls(run: Run) -> list[Run]:
    """The run and those under its controls, with the present state of their jobs."""
    return list(Run.objects.filter(Q(pk=run.pk) | Q(original=run)).select_related("job"))


def _locked_job(run: Run) -> Job:
    """Lock the job of a run, before its run: who extends a run takes them in this order."""
    return Job.objects.select_for_update().get(pk=run.job_id)


def _working(run: Run, done: str) -> str:
    """Say that the run, or one under its controls, has not ended; empty where all have."""
    for member in _with_controls(run):
        if not member.job.has_ended:
            what = (
                gettext_noop("The run")
                if member == run
                else Sentence("“{member}”, under a control of the run,", member=member.title)
            )
            return Sentence(
                "{what} is {standing}: let it end or cancel it before it is {done}.",
                what=what,
                standing=member.job.standing,
                done=done,
            )
    return ""
