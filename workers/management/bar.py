"""A bar on the terminal for a job that runs."""

from __future__ import annotations

import sys
from collections.abc import Callable

from tqdm import tqdm

from workers.models import Job
from workers.services.progress import progress_of


class JobBar:
    """Drawn on standard error; `refresh` reads the job and may be called often: it looks at most twice a second."""

    def __init__(self, job: Job, clock: Callable[[], float]) -> None:
        self.job, self.clock, self.looked = job, clock, 0.0
        self.bar = tqdm(
            total=progress_of(job).total, file=sys.stderr, unit="item", dynamic_ncols=True, desc=job.title[:30]
        )

    def refresh(self, *, force: bool = False) -> None:
        if not force and self.clock() - self.looked < 0.5:
            return
        self.looked = self.clock()
        now = progress_of(self.job)
        self.bar.total = now.total
        self.bar.n = now.ended
        told = {"in flight": now.in_flight, "failed": now.failed, "unusable": now.unusable, "cost": str(now.money)}
        self.bar.set_postfix(told, refresh=True)

    def close(self) -> None:
        self.refresh(force=True)
        self.bar.close()
