"""A progress bar on the terminal for a running job."""

from __future__ import annotations

import sys
from collections.abc import Callable

from django.utils.text import Truncator
from tqdm import tqdm

from workers.models import Job
from workers.services.progress import progress_of


class JobBar:
    """A bar on standard error. `refresh` may be called often: it reads the job at most twice a second."""

    def __init__(self, job: Job, clock: Callable[[], float]) -> None:
        self.job, self.clock, self.looked_at = job, clock, 0.0
        title = Truncator(job.title).chars(30)  # which says that it goes on
        self.bar = tqdm(total=progress_of(job).total, file=sys.stderr, unit="item", dynamic_ncols=True, desc=title)

    def refresh(self, *, force: bool = False) -> None:
        if not force and self.clock() - self.looked_at < 0.5:
            return
        self.looked_at = self.clock()
        now = progress_of(self.job)
        self.bar.total = now.total
        self.bar.n = now.ended
        counts = {
            "in flight": now.in_flight,
            "failed": now.failed,
            "unreadable": now.unreadable,
            "cost": str(now.money),
        }
        self.bar.set_postfix(counts, refresh=True)

    def close(self) -> None:
        self.refresh(force=True)
        self.bar.close()
