"""Progress of runs, as data for the API: what commands print of them, and by model and step why answers are missing."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Count

from benchmark.domain.provenance import Making
from benchmark.models import Run, RunItem
from benchmark.services.items import STATES
from benchmark.services.preparing import Prepared, prepared_of
from benchmark.services.watching import StepProgress, step_progress, to_come_of
from benchmark.suites.registry import suite_named
from core.plain import Json
from workers.domain.pricing import Money
from workers.services.failures import Failures, Shortfall, UnreadableAnswers, shortfalls_of
from workers.services.progress import Calls, Ended, Progress, Tokens, progress_of_all


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as lists have it. `failures` and `unreadable_answers` are None where there are none; `to_come` counts the
    questions that an answer will open, `held_back` the items that wait for a person. `preparing` is None where all
    first questions are there. `cost` is in US dollars, None where some calls are of unknown price, which `known_cost`
    leaves out."""

    run: str
    title: str
    suite: str
    dataset: int
    answer_format: str
    steps: list[str]
    models: list[str]
    judge: str | None
    source: str | None
    imported: Making | None
    created_at: datetime
    created_by: str | None
    state: str
    failures: Failures | None
    unreadable_answers: UnreadableAnswers | None
    note: str
    budget: Decimal | None
    held_back: int
    items: Ended
    open: int
    to_come: int
    preparing: Prepared | None
    calls: Calls
    tokens: Tokens
    cost: float | None
    known_cost: float
    unpriced_calls: int


def run_rows(runs: Sequence[Run]) -> list[RunRow]:
    """Return the rows of runs with their entrants prefetched. The number of queries does not depend on that of the
    runs."""
    jobs = [run.job for run in runs]
    progress, coming, prepared = progress_of_all(jobs), to_come_of(runs), prepared_of(runs)
    lacks = shortfalls_of({job: progress[job.pk].total for job in jobs})
    return [
        _row(run, progress[run.job_id], lacks[run.job_id], coming.get(run.pk, 0), prepared.get(run.pk)) for run in runs
    ]


def _row(run: Run, counts: Progress, lack: Shortfall, to_come: int, prepared: Prepared | None) -> RunRow:
    return RunRow(
        run=run.uid,
        title=run.title,
        suite=run.suite,
        dataset=run.dataset.version,
        answer_format=run.answer_format,
        steps=[step.key for step in suite_named(run.suite).steps if step.key in run.steps],
        models=[entrant.name for entrant in run.entrants.all()],
        judge=run.judge.name if run.judge else None,
        source=run.source.uid if run.source else None,
        imported=run.imported,
        created_at=run.created_at,
        created_by=run.created_by and run.created_by.username,
        state=run.job.standing,
        failures=lack.failures,
        unreadable_answers=lack.unreadable,
        note=run.job.note,
        budget=run.job.budget,
        held_back=counts.held_back,
        items=counts.ended_items,
        open=counts.waiting + counts.in_flight,
        to_come=to_come,
        preparing=prepared,
        calls=counts.calls,
        tokens=counts.tokens,
        **_money(run, counts.money, counts.done + counts.unreadable),
    )


@dataclass(frozen=True, slots=True)
class StepRow:
    """Progress of one model at one step, in items; `seconds_left` is None where nothing can be said, and `cost` in US
    dollars as that of a run."""

    model: str
    step: str
    total: int
    done: int
    unreadable: int
    failed: int
    cancelled: int
    in_flight: int
    waiting: int
    held: int
    reused: int
    answers_a_minute: float
    seconds_left: float | None
    tokens: Tokens
    cost: float | None
    known_cost: float
    unpriced_calls: int


def progress_rows(run: Run, *, now: datetime) -> list[StepRow]:
    """Return how each model stands at each step, models in the order of the run."""
    return [_progress(run, row) for row in step_progress(run, now=now)]


def _money(run: Run, money: Money, answers: int) -> Json:
    """Return what the answers cost; of answers that were made elsewhere nobody knows, which is not nothing."""
    return (Money(unpriced=answers) if run.imported else money).as_json


def _progress(run: Run, row: StepProgress) -> StepRow:
    return StepRow(
        model=row.name,
        step=row.step,
        total=row.total,
        done=row.done,
        unreadable=row.unreadable,
        failed=row.failed,
        cancelled=row.cancelled,
        in_flight=row.in_flight,
        waiting=row.waiting,
        held=row.held_back,
        reused=row.reused,
        answers_a_minute=row.rate,
        seconds_left=row.seconds_left,
        tokens=Tokens(row.input_tokens, row.output_tokens),
        **_money(run, row.money, row.done + row.unreadable),
    )


@dataclass(frozen=True, slots=True)
class MissingRow:
    """The number of items of a model and step that ended so for one reason, without an answer that can be used."""

    model: str
    step: str
    state: str
    reason: str
    items: int


_MISSING = ("unreadable", "failed", "cancelled")


def missing_rows(run: Run, closed: Set[int] = frozenset()) -> list[MissingRow]:
    """Return why items have no answer that can be used, the commonest reason of each model and step first.

    Items of samples in `closed` are not among them.
    """
    items = RunItem.objects.filter(entrant__run=run).without(closed).order_by("entrant__position", "step")
    rows = []
    for state in _MISSING:
        reasons = items.filter(STATES[state]).values_list(
            "entrant__position", "entrant__name", "step", "unreadable", "item__problem"
        )
        for *_, name, step, unreadable, problem, count in reasons.annotate(Count("pk")):
            rows.append(MissingRow(name, step, state, unreadable or problem or "", count))
    places = {name: at for at, name in enumerate(run.entrants.values_list("name", flat=True))}
    order = [step.key for step in suite_named(run.suite).steps]
    return sorted(rows, key=lambda row: (places[row.model], order.index(row.step), -row.items, row.reason))
