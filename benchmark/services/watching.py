"""Progress of runs: by model and step, with the judgements that are still to come."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, Sum
from django.utils import timezone

from benchmark.models import AnswerFormat, Entrant, Run, RunItem
from benchmark.services.items import LOST, STATES, problem_of
from benchmark.services.run_items import judged_answers
from benchmark.suites.registry import suite_named
from core.messages import Sentence
from core.plain import Json
from workers.domain.pricing import Money
from workers.models import WITHOUT_ANSWER, ItemState, JobState
from workers.services.progress import RECENT, Shortfall, shortfall_of


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgress:
    """Items of one model at one step, or of a whole run, by what became of them.

    `held_back` are those that wait for a person, `made` those that were asked for here and `recent` those that ended
    lately. `waiting` includes judgements that are still to come, and `held_back`; `reused` are answers that the ledger
    had; `rate` is in answers a minute; `seconds_left` is None where nothing can be said.
    """

    total: int = 0
    done: int = 0
    unreadable: int = 0
    failed: int = 0
    cancelled: int = 0
    in_flight: int = 0
    held_back: int = 0
    made: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | int = 0
    """In US dollars, without `unpriced` calls."""
    unpriced: int = 0
    recent: int = 0
    name: str = ""
    step: str = ""
    entrant: int = 0
    span: float = 30.0
    running: bool = False
    suite: str = ""

    @property
    def money(self) -> Money:
        return Money(Decimal(self.cost), self.unpriced)

    @property
    def ended(self) -> int:
        return self.done + self.unreadable + self.failed + self.cancelled

    @property
    def waiting(self) -> int:
        return self.total - self.ended - self.in_flight

    @property
    def reused(self) -> int:
        return max(0, self.done + self.unreadable - self.made)

    @property
    def rate(self) -> float:
        return 60 * self.recent / self.span

    @property
    def seconds_left(self) -> float | None:
        left = self.total - self.ended
        return 60 * left / self.rate if self.running and left and self.recent else None

    @property
    def step_name(self) -> str:
        return suite_named(self.suite).step(self.step).label if self.step else ""


def step_progress(run: Run, *, now: datetime) -> list[StepProgress]:
    """Return a row for each model and step, models in the run's order. Two queries, whatever the size."""
    counts_by_cell, running = _counted(run, now), run.job.state == JobState.RUNNING
    span = min(RECENT.total_seconds(), max(1.0, (now - run.job.created_at).total_seconds()))
    rows_of_run = []
    order = [step.key for step in suite_named(run.suite).steps]
    for entrant in Entrant.objects.filter(run=run).order_by("position"):
        rows = {step: counts_by_cell[entrant.pk, step] for step in order if (entrant.pk, step) in counts_by_cell}
        for step, count in _to_come(run, rows).items():
            before = rows.get(step, StepProgress())
            rows[step] = replace(before, total=before.total + count)
        about: dict[str, Any] = {"name": entrant.name, "entrant": entrant.pk, "suite": run.suite}
        rows_of_run += [
            replace(rows[step], step=step, span=span, running=running, **about) for step in order if step in rows
        ]
    return rows_of_run


def _counted(run: Run, now: datetime) -> dict[tuple[int, str], StepProgress]:
    """Return the counts by entrant and step."""

    def count(condition: Q) -> Count:
        return Count("pk", filter=condition)

    was_sent = Q(item__made=True)
    rows: Any = (
        RunItem.objects.filter(entrant__run=run)
        .order_by()
        .values("entrant", "step")
        .annotate(
            total=Count("pk"),
            done=count(STATES["done"]),
            failed=count(STATES["failed"]),
            unreadable=count(STATES["unreadable"]),  # from here on the name is no longer the field's
            cancelled=count(STATES["cancelled"]),
            in_flight=count(STATES["flight"]),
            held_back=count(Q(item__state=ItemState.HELD)),
            made=count(was_sent),
            recent=count(Q(item__finished_at__gte=now - RECENT)),
            cost=Sum("item__cost"),
            unpriced=Sum("item__unpriced"),
            input_tokens=Sum("call__input_tokens", filter=was_sent),
            output_tokens=Sum("call__output_tokens", filter=was_sent),
        )
    )
    counts_by_cell = {}
    for row in rows:
        cell = row.pop("entrant"), row.pop("step")
        counts: dict[str, Any] = {name: count or 0 for name, count in row.items()}
        counts_by_cell[cell] = StepProgress(**counts)
    return counts_by_cell


def _to_come(run: Run, rows: Mapping[str, StepProgress]) -> dict[str, int]:
    """Return, by step, how many questions have no item yet because the answer that they need is still to come."""
    expected_by_step: dict[str, int] = {}
    if run.source_id or run.job.has_ended:
        return expected_by_step
    for step, before in _awaiting(run):
        if needed := rows.get(before):
            expected = needed.total + expected_by_step.get(before, 0) - needed.failed - needed.cancelled
            if more := expected - rows.get(step, StepProgress()).total:
                expected_by_step[step] = max(0, more)
    return expected_by_step


def _awaiting(run: Run) -> list[tuple[str, str]]:
    """Return (step, the last of the steps that it needs) of each that a run was launched with and that needs
    another."""
    suite = suite_named(run.suite)
    chosen = [step.key for step in suite.launched if step.key in run.steps]
    return [(key, needed[-1]) for key in chosen if (needed := suite.needed(key, run.steps))]


def schema_breakers(run: Run) -> list[Json]:
    """Return {endpoint, step, step_name, broken, answers, entrant} of each endpoint and step of a structured run with
    answers that do not hold the schema. `entrant` is the model that was asked, None for the judge."""
    if run.answer_format != AnswerFormat.STRUCTURED:
        return []
    answers = RunItem.objects.filter(entrant__run=run, call__isnull=False).order_by("entrant__position", "step")
    counts = answers.values_list("entrant", "entrant__endpoint__name", "step").annotate(
        broken=Count("pk", filter=problem_of("unstructured", suite_named(run.suite))), answers=Count("pk")
    )
    breakers: dict[tuple[str, str], Json] = {}
    for entrant, name, key, broken, answer_count in counts:
        step = suite_named(run.suite).step(key)
        judge = run.judge if step.judged else None
        endpoint = judge.name if judge else name
        breaker = {"endpoint": endpoint, "step": key, "step_name": step.label, "broken": 0, "answers": 0}
        breaker = breakers.setdefault((endpoint, key), breaker)
        breaker["broken"] += broken
        breaker["answers"] += answer_count
        breaker["entrant"] = None if judge else entrant
    return [breaker for breaker in breakers.values() if breaker["broken"]]


_COUNTS = (
    "total", "done", "unreadable", "failed", "cancelled", "in_flight", "held_back", "made", "input_tokens",
    "output_tokens", "cost", "unpriced", "recent",
)  # fmt: skip


def total_of(rows: Sequence[StepProgress]) -> StepProgress:
    span = rows[0].span if rows else 30.0
    counts = {name: sum(getattr(row, name) for row in rows) for name in _COUNTS}
    return StepProgress(span=span, running=any(row.running for row in rows), **counts)


def shortfall_of_run(run: Run, rows: Sequence[StepProgress] | None = None) -> Shortfall:
    """Return what failed of a run and what is unreadable, answers lost in its source included. `rows` are its
    step_progress, where the caller has them."""
    rows = step_progress(run, now=timezone.now()) if rows is None else rows
    lost = RunItem.objects.filter(LOST, entrant__run=run).count()
    answer, _ = judged_answers(suite_named(run.suite))
    text = Sentence("The {answer} was lost in the run that it was taken over from.", answer=answer)
    return shortfall_of(run.job, total=sum(row.total for row in rows), more=[(text, lost)] if lost else [])


def to_come_of(runs: Sequence[Run]) -> dict[int, int]:
    """Questions still to come by run id: what the items of a job do not count yet. One query."""
    moving = [run for run in runs if not run.job.has_ended and _awaiting(run) and not run.source_id]
    lost = Q(item__state__in=WITHOUT_ANSWER)
    counted = RunItem.objects.filter(entrant__run__in=moving).order_by().values_list("entrant__run", "step")
    counts_by_run: dict[int, dict[str, StepProgress]] = {}
    for run, step, total, failed in counted.annotate(asked=Count("pk"), without=Count("pk", filter=lost)):
        counts_by_run.setdefault(run, {})[step] = StepProgress(total=total, failed=failed)
    return {run.pk: sum(_to_come(run, counts_by_run.get(run.pk, {})).values()) for run in moving}
