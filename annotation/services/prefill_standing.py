"""State of rounds of suggestions, as data for commands and the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.models import Prefill
from workers.services.failures import shortfall_json, shortfalls_of
from workers.services.progress import Progress, progress_of_all


def standing_of(prefill: Prefill) -> dict[str, Any]:
    """Return the standing of one round, see `standings_of`; its job is read anew."""
    prefill.job.refresh_from_db()
    return standings_of([prefill])[0]


def standings_of(rounds: Sequence[Prefill]) -> list[dict[str, Any]]:
    """Return [{round, job, state, failures, unusable_answers, held_back, items, calls, tokens, cost, known_cost,
    unpriced_calls}].

    `held_back` items wait for a person and are open; `items` are those that ended. Money is in US dollars. Three
    queries, however many the rounds.
    """
    jobs = [prefill.job for prefill in rounds]
    progress = progress_of_all(jobs)
    lacks = shortfalls_of({job: progress[job.pk].total for job in jobs})
    return [
        _standing(prefill, progress[prefill.job_id], shortfall_json(prefill.job, lacks[prefill.job_id]))
        for prefill in rounds
    ]


def _standing(prefill: Prefill, progress: Progress, shortfall: dict[str, Any]) -> dict[str, Any]:
    return {
        "round": prefill.uid,
        "job": prefill.job.uid,
        **shortfall,
        "held_back": progress.held,
        "items": {"done": progress.done, "failed": progress.failed, "unusable": progress.unusable},
        "calls": {"made": progress.made, "reused": progress.reused},
        "tokens": {"input": progress.input_tokens, "output": progress.output_tokens},
        **progress.money.as_json,
    }
