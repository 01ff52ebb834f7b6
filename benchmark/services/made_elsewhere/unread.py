"""Files of answers that are too large for a request: kept as they came, and read and matched by a worker.

The run is there at once, and prepares. Its files lie in the database until the transaction that keeps what was read of
them, which deletes them: so a process may be killed at any moment, and the next one reads them anew. What is wrong with
them ends the run as failed, with the sentence that a preview would have said.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import IO

from django.db import transaction
from django.utils import timezone

from annotation.models import User
from benchmark.domain.provenance import Making, Statements, UnreadFiles
from benchmark.models import Run, RunPreparation, UnreadParcel
from benchmark.services.made_elsewhere import taking
from benchmark.services.made_elsewhere.importing import (
    Preview,
    as_import,
    begin,
    describe,
    keep_what_was_read,
    preview_of,
    provenance_of,
    refuse_twice,
    rows_of,
    steps_of_import,
)
from benchmark.services.made_elsewhere.reading import digest_of_all
from benchmark.services.plan_checks import samples_of_import
from benchmark.services.plans import Plan, draft_of, plan_of
from core.messages import Sentence, listed
from workers.models import Job, JobState
from workers.services.notify import WORKERS

AT_ONCE = 500_000
"""Bytes of files up to which the request that brings them reads them."""
_STRETCH = 1_000_000
"""Bytes of a file that lie in one row."""


def import_unread(
    *, by: User | None, files: Sequence[tuple[IO[bytes], str]], plan: Plan, declared: Statements, now: datetime
) -> Run:
    """Return a run whose files, each with the name that it is called by, a worker reads, matches and takes in; `plan`
    and `declared` are as `preview_of` takes them. Raises RunRefused for what is known to be wrong without reading."""
    checked = as_import(replace(plan, repetitions=plan.repetitions or 1))
    run = draft_of(checked, samples_of_import(checked))
    names = listed((name for _, name in files))
    run.title = (plan.title or Sentence("Imported from {names}", names=names))[:200]
    run.steps = steps_of_import(plan)
    making = Making(by=by.username if by else "", at=now.isoformat(), file=names, model=declared.model)
    unread = UnreadFiles(declared=declared, repetitions=plan.repetitions, title=plan.title)
    with transaction.atomic():
        begin(run, by, preparing=True)
        kept = [(_keep(run, position, *file), file[1]) for position, file in enumerate(files)]
        whole = replace(making, digest=digest_of_all(kept))
        run.spec = replace(provenance_of(plan, whole), unread=unread).as_json()
        run.save(update_fields=["spec"])
        RunPreparation.objects.create(run=run, samples=[], of=0)
    WORKERS.notify()
    return run


def _keep(run: Run, position: int, file: IO[bytes], name: str) -> str:
    """Keep a file as it came; returns its SHA-256."""
    digest = hashlib.sha256()
    file.seek(0)
    while content := file.read(_STRETCH):
        digest.update(content)
        UnreadParcel.objects.create(run=run, position=position, name=name[:255], content=content)
    return digest.hexdigest()


def read(run: Run) -> None:
    """Read and match the files of a run where that is still to be done, and leave its answers to be taken in. Raises
    BadFile, RunRefused."""
    if not UnreadParcel.objects.filter(run=run).exists():
        return
    unread = run.provenance.unread
    if unread is None:
        raise LookupError(f"Run {run.uid} keeps files, and not how they are to be read.")
    plan = replace(plan_of(run), repetitions=unread.repetitions, title=unread.title)
    with tempfile.TemporaryDirectory(prefix="credence-answers-") as folder:
        preview = preview_of(_written(run, Path(folder)), plan, unread.declared)
    refuse_twice(preview, but=run.pk)
    _fill(run, preview)


def _written(run: Run, folder: Path) -> list[tuple[Path, str]]:
    """Write the files into a folder; a log is read by the ending of its name."""
    names: dict[Path, str] = {}
    for stretch in UnreadParcel.objects.filter(run=run).order_by("position", "pk").iterator(chunk_size=1):
        path = folder / f"{stretch.position}{Path(stretch.name).suffix}"
        names[path] = stretch.name
        with path.open("ab") as target:
            target.write(stretch.content)
    return list(names.items())


@transaction.atomic
def _fill(run: Run, preview: Preview) -> None:
    """Keep what was read, unless somebody has, or the run was cancelled meanwhile."""
    job = Job.objects.select_for_update().get(pk=run.job_id)
    if job.state != JobState.PREPARING or not UnreadParcel.objects.filter(run=run).exists():
        return
    asked = draft_of(preview.plan, preview.stories)
    for field in ("params", "answer_format", "level", "prompt_set"):
        setattr(run, field, getattr(asked, field))
    describe(run, preview, by=run.imported.by if run.imported else "", now=timezone.now())
    run.save()
    job.title = run.title
    job.save(update_fields=["title"])
    keep_what_was_read(run, preview, run.created_by)
    taking.take_later(run, rows_of(preview))
    UnreadParcel.objects.filter(run=run).delete()
