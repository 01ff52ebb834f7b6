"""What the commands about rounds of suggestions share: seeing one through, and what is printed of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from annotation.models import Prefill
from annotation.services.prefill_standing import standing_of
from workers.management.bar import JobBar
from workers.management.commands.work import interruptible
from workers.management.ending import note_end
from workers.models import JobState
from workers.services.failures import shortfall_of
from workers.services.progress import progress_of
from workers.services.run_to_end import run_to_end


def told(made: Prefill, *, wait: bool, tell: Callable[[str], None]) -> dict[str, Any]:
    """How the round stands; with `wait` at its end, and what it lacks is told then."""
    if not wait:
        return standing_of(made)
    _run_to_end(made, tell)
    total = progress_of(made.job).total
    note_end(made.job, shortfall_of(made.job, total=total), "round", tell)
    return standing_of(made)


def _run_to_end(made: Prefill, tell: Callable[[str], None]) -> None:
    bar = JobBar(made.job, time.monotonic)
    try:
        with interruptible(tell) as stop:
            run_to_end(job=made.job, on_progress=bar.refresh, stop=stop)
    finally:
        bar.close()
    if stop.is_set() and made.job.state == JobState.RUNNING:
        tell(f"The round is not done. A worker goes on with it, or: manage.py work --job {made.job.uid}")
