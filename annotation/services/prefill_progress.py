"""Progress of rounds of suggestions, as data for commands and the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from annotation.models import Prefill
from workers.services.failures import shortfall_json, shortfalls_of
from workers.services.progress import Progress, progress_of_all


class RoundProgress(TypedDict):
    """The progress of one round. `failures` and `unusable_answers` are None where there are none, `held_back` items
    wait for a person and are open, `items` are those that ended. Money is in US dollars."""

    round: str
    job: str
    state: str
    failures: dict[str, Any] | None
    unusable_answers: dict[str, Any] | None
    held_back: int
    items: dict[str, int]
    calls: dict[str, int]
    tokens: dict[str, int]
    cost: float | None
    known_cost: float
    unpriced_calls: int


def progress_of_round(prefill: Prefill) -> RoundProgress:
    """Return the progress of one round, whose job is read anew."""
    prefill.job.refresh_from_db()
    return progress_of_rounds([prefill])[0]


def progress_of_rounds(rounds: Sequence[Prefill]) -> list[RoundProgress]:
    """Return the progress of each round, in three queries, however many they are."""
    jobs = [prefill.job for prefill in rounds]
    progress = progress_of_all(jobs)
    lacks = shortfalls_of({job: progress[job.pk].total for job in jobs})
    return [
        _as_data(prefill, progress[prefill.job_id], shortfall_json(prefill.job, lacks[prefill.job_id]))
        for prefill in rounds
    ]


def _as_data(prefill: Prefill, progress: Progress, shortfall: dict[str, Any]) -> RoundProgress:
    return {
        "round": prefill.uid,
        "job": prefill.job.uid,
        **shortfall,
        "held_back": progress.held_back,
        "items": {"done": progress.done, "failed": progress.failed, "unusable": progress.unusable},
        "calls": {"made": progress.made, "reused": progress.reused},
        "tokens": {"input": progress.input_tokens, "output": progress.output_tokens},
        **progress.money.as_json,
    }
