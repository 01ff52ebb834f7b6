"""Progress of runs, as data for the API: what commands print of them, and by model and step why answers are missing."""

from __future__ import annotations

from collections.abc import Sequence, Set
from datetime import datetime
from typing import Any

from django.db.models import Count

from benchmark.models import Run, RunItem
from benchmark.services.items import STATES
from benchmark.services.watching import StageProgress, stage_progress, to_come_of
from benchmark.suites.registry import suite_named
from workers.domain.pricing import Money
from workers.services.failures import shortfall_json, shortfalls_of
from workers.services.progress import progress_of_all


def run_rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return what a list says of each run, with its entrants prefetched: what it is, its state, ended items, calls,
    tokens and US dollars.

    `to_come` counts the questions that an answer will open. The number of queries does not depend on that of the runs.
    """
    jobs = [run.job for run in runs]
    progress, coming = progress_of_all(jobs), to_come_of(runs)
    lacks = shortfalls_of({job: progress[job.pk].total for job in jobs})
    rows = []
    for run in runs:
        counts = progress[run.job_id]
        rows.append({
            **_what(run),
            **shortfall_json(run.job, lacks[run.job_id]),
            "note": run.job.note,
            "budget": run.job.budget,
            "held_back": counts.held,
            "items": {"done": counts.done, "failed": counts.failed, "unusable": counts.unusable},
            "open": counts.waiting + counts.in_flight,
            "to_come": coming.get(run.pk, 0),
            "calls": {"made": counts.made, "reused": counts.reused},
            "tokens": {"input": counts.input_tokens, "output": counts.output_tokens},
            **_money(run, counts.money, counts.done + counts.unusable),
        })  # fmt: skip
    return rows


def _what(run: Run) -> dict[str, Any]:
    return {
        "run": run.uid,
        "title": run.title,
        "suite": run.suite,
        "dataset": run.dataset.version,
        "answer_format": run.form,
        "steps": [step.key for step in suite_named(run.suite).steps if step.key in run.stages],
        "models": [entrant.name for entrant in run.entrants.all()],
        "judge": run.judge.name if run.judge else None,
        "source": run.source.uid if run.source else None,
        "imported": run.imported or None,
        "created_at": run.created_at,
        "created_by": run.created_by and run.created_by.username,
    }


def progress_rows(run: Run, *, now: datetime) -> list[dict[str, Any]]:
    """Return how each model stands at each step, models in the order of the run."""
    return [_progress(run, row) for row in stage_progress(run, now=now)]


def _money(run: Run, money: Money, answers: int) -> dict[str, Any]:
    """Return what the answers cost; of answers that were made elsewhere nobody knows, which is not nothing."""
    return (Money(unpriced=answers) if run.imported else money).as_json


def _progress(run: Run, row: StageProgress) -> dict[str, Any]:
    counts = ("total", "done", "unusable", "failed", "cancelled", "in_flight", "waiting", "held", "reused")
    return {
        "model": row.name,
        "step": row.stage,
        **{name: getattr(row, name) for name in counts},
        "answers_a_minute": row.rate,
        "seconds_left": row.seconds_left,
        "tokens": {"input": row.input_tokens, "output": row.output_tokens},
        **_money(run, row.money, row.done + row.unusable),
    }


_MISSING = ("unusable", "failed", "cancelled")


def missing_rows(run: Run, closed: Set[int] = frozenset()) -> list[dict[str, Any]]:
    """Return [{model, step, state, reason, items}] of items that ended without an answer that can be used, the
    commonest reason of each first.

    Items of samples in `closed` are not among them.
    """
    items = RunItem.objects.filter(entrant__run=run).without(closed).order_by("entrant__position", "stage")
    rows = []
    for state in _MISSING:
        reasons = items.filter(STATES[state]).values_list(
            "entrant__position", "entrant__name", "stage", "unusable", "item__problem"
        )
        for *_, name, stage, unusable, problem, count in reasons.annotate(Count("pk")):
            row = {"model": name, "step": stage, "state": state, "reason": unusable or problem or "", "items": count}
            rows.append(row)
    places = {name: at for at, name in enumerate(run.entrants.values_list("name", flat=True))}
    order = [step.key for step in suite_named(run.suite).steps]
    return sorted(rows, key=lambda row: (places[row["model"]], order.index(row["step"]), -row["items"], row["reason"]))
