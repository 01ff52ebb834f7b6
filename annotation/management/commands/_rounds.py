"""Shared by the commands about rounds of suggestions: running one to its end, and its progress."""

from __future__ import annotations

import time
from collections.abc import Callable

from annotation.models import Prefill
from annotation.services.prefill_progress import RoundProgress, progress_of_round
from workers.management.commands.work import interruptible
from workers.management.console import JobBar, note_end
from workers.models import JobState
from workers.services.progress import progress_of, shortfall_of
from workers.services.run_to_end import run_to_end


def progress_after(prefill: Prefill, *, wait: bool, tell: Callable[[str], None]) -> RoundProgress:
    """Return the progress of a round; with `wait` that at its end, after writing what it lacks."""
    if not wait:
        return progress_of_round(prefill)
    _run_to_end(prefill, tell)
    total = progress_of(prefill.job).total
    note_end(prefill.job, shortfall_of(prefill.job, total=total), "round", tell)
    return progress_of_round(prefill)


def _run_to_end(prefill: Prefill, tell: Callable[[str], None]) -> None:
    bar = JobBar(prefill.job, time.monotonic)
    try:
        with interruptible(tell) as stop:
            run_to_end(job=prefill.job, on_progress=bar.refresh, stop=stop)
    finally:
        bar.close()
    if stop.is_set() and prefill.job.state == JobState.RUNNING:
        tell(f"The round is not done. A worker goes on with it, or: manage.py work --job {prefill.job.uid}")
