"""Pausing, resuming, retrying and cancelling runs, for pages, commands and the API alike."""

from __future__ import annotations

from benchmark.models import Run
from benchmark.services.archiving import ARCHIVED, DELETED
from benchmark.services.runs import IMPORTED
from workers.services.jobs import JobRefused, require_action


def not_steered(run: Run) -> str:
    """Return why nothing of that can be done to a run, whatever its state; empty where it can."""
    if run.deleted_at:
        return DELETED
    return ARCHIVED if (run.original or run).archived_at else IMPORTED if run.imported else ""


def steer(run: Run, action: str, *, budget: str = "") -> None:
    """Pause, resume, retry or cancel a run. Raises JobRefused, also where nothing would change."""
    if refusal := not_steered(run):
        raise JobRefused(refusal)
    require_action(run.job, action, budget=budget, what="run")
