"""Progress of rounds of suggestions, for commands and the API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.models import Prefill
from core.plain import Json, plain
from workers.domain.pricing import Money
from workers.services.progress import (
    Failures,
    Progress,
    Shortfall,
    UnreadableAnswers,
    progress_of_all,
    shortfalls_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundProgress:
    """The progress of one round. `failures` and `unreadable_answers` are None where there are none, `held_back` items
    wait for a person and are open, `items` are those that ended."""

    round: str
    job: str
    state: str
    failures: Failures | None
    unreadable_answers: UnreadableAnswers | None
    held_back: int
    items: dict[str, int]
    calls: dict[str, int]
    tokens: dict[str, int]
    money: Money

    @property
    def shortfall(self) -> Shortfall:
        return Shortfall(self.failures, self.unreadable_answers)

    def as_json(self) -> Json:
        """The fields as commands print them and the API answers with them, the money in US dollars last."""
        names = ("round", "job", "state", "failures", "unreadable_answers", "held_back", "items", "calls", "tokens")
        return {name: plain(getattr(self, name)) for name in names} | self.money.as_json


def progress_of_round(prefill: Prefill) -> RoundProgress:
    """Return the progress of one round, whose job is read anew."""
    prefill.job.refresh_from_db()
    return progress_of_rounds([prefill])[0]


def progress_of_rounds(rounds: Sequence[Prefill]) -> list[RoundProgress]:
    """Return the progress of each round, in three queries, however many they are."""
    jobs = [prefill.job for prefill in rounds]
    progress = progress_of_all(jobs)
    lacks = shortfalls_of({job: progress[job.pk].total for job in jobs})
    return [_progress(prefill, progress[prefill.job_id], lacks[prefill.job_id]) for prefill in rounds]


def _progress(prefill: Prefill, progress: Progress, shortfall: Shortfall) -> RoundProgress:
    return RoundProgress(
        round=prefill.uid,
        job=prefill.job.uid,
        state=prefill.job.standing,
        failures=shortfall.failures,
        unreadable_answers=shortfall.unreadable,
        held_back=progress.held_back,
        items=progress.ended_items,
        calls=progress.calls,
        tokens=progress.tokens,
        money=progress.money,
    )
