"""How rounds of suggestions stand, as data for commands and the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.models import Prefill
from workers.services.failures import shortfall_json, shortfalls_of
from workers.services.progress import Progress, progress_of_all


def standing_of(made: Prefill) -> dict[str, Any]:
    """The standing of one round, see `standings_of`; its job is read anew."""
    made.job.refresh_from_db()
    return standings_of([made])[0]


def standings_of(rounds: Sequence[Prefill]) -> list[dict[str, Any]]:
    """[{round, job, state, failures, unusable_answers, held_back, items, calls, tokens, cost, known_cost, unpriced_calls}].

    `held_back` items wait for a person and are open; `items` are those that ended. Money is in US dollars. Three queries, however many
    the rounds.
    """
    jobs = [one.job for one in rounds]
    progress = progress_of_all(jobs)
    lacks = shortfalls_of({job: progress[job.pk].total for job in jobs})
    return [_standing(one, progress[one.job_id], shortfall_json(one.job, lacks[one.job_id])) for one in rounds]


def _standing(made: Prefill, done: Progress, told: dict[str, Any]) -> dict[str, Any]:
    return {
        "round": made.uid,
        "job": made.job.uid,
        **told,
        "held_back": done.held,
        "items": {"done": done.done, "failed": done.failed, "unusable": done.unusable},
        "calls": {"made": done.made, "reused": done.reused},
        "tokens": {"input": done.input_tokens, "output": done.output_tokens},
        **done.money.as_json,
    }
