"""How runs stand: by model and stage, with the judgements that are still to come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Count, Q, Sum
from django.utils import timezone

from benchmark.models import Entrant, Form, Run, RunItem, Stage
from benchmark.services.items import LOST, PROBLEMS
from workers.domain.pricing import Money
from workers.models import ItemState, JobState
from workers.services.failures import Shortfall, shortfall_of
from workers.services.jobs import RECENT

_IN_FLIGHT = (ItemState.CLAIMED, ItemState.BATCHED)
_OVER = (JobState.FINISHED, JobState.CANCELLED)
_TAKEN_OVER = Q(item=None, call__isnull=False)


@dataclass(slots=True)
class Standing:
    """Places of one model and stage, or of a whole run. `waiting` includes judgements that are still to come; `reused` are answers
    that the ledger had; `rate` in answers a minute, `cost` in US dollars, without `unpriced` calls; `seconds_left` is None where nothing can be said."""

    name: str = ""
    stage: str = ""
    entrant: int = 0
    total: int = 0
    done: int = 0
    unusable: int = 0
    failed: int = 0
    cancelled: int = 0
    in_flight: int = 0
    made: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal = Decimal(0)
    unpriced: int = 0
    recent: int = 0
    span: float = 30.0
    running: bool = False

    @property
    def money(self) -> Money:
        return Money(self.cost, self.unpriced)

    @property
    def ended(self) -> int:
        return self.done + self.unusable + self.failed + self.cancelled

    @property
    def waiting(self) -> int:
        return self.total - self.ended - self.in_flight

    @property
    def reused(self) -> int:
        return max(0, self.done + self.unusable - self.made)

    @property
    def rate(self) -> float:
        return 60 * self.recent / self.span

    @property
    def seconds_left(self) -> float | None:
        left = self.total - self.ended
        return 60 * left / self.rate if self.running and left and self.recent else None

    @property
    def stage_name(self) -> str:
        return Stage(self.stage).label if self.stage else ""


_SUMMED = (
    "total", "done", "unusable", "failed", "cancelled", "in_flight", "made", "input_tokens", "output_tokens", "cost", "unpriced", "recent",
)  # fmt: skip


def standings(run: Run, *, now: datetime) -> list[Standing]:
    """A row for each model and stage, models in the run's order. Two queries, whatever the size."""
    held = {(row["entrant"], row["stage"]): row for row in _counted(run, now)}
    span = min(RECENT.total_seconds(), max(1.0, (now - run.job.created_at).total_seconds()))
    found = []
    for entrant in Entrant.objects.filter(run=run).order_by("position"):
        rows = {stage: held[entrant.pk, stage] for stage in Stage.values if (entrant.pk, stage) in held}
        if coming := _to_come(run, rows):
            rows.setdefault(Stage.JUDGE, dict.fromkeys(_SUMMED, 0))["total"] += coming
        for stage in Stage.values:
            if stage in rows:
                counts = {name: rows[stage][name] or 0 for name in _SUMMED}
                running = run.job.state == JobState.RUNNING
                found.append(Standing(entrant.name, stage, entrant.pk, **counts, span=span, running=running))
    return found


def _counted(run: Run, now: datetime) -> Iterable[dict]:
    def count(**wanted) -> Count:
        return Count("pk", filter=Q(**wanted))

    asked = Q(item__made=True)
    return (
        RunItem.objects.filter(entrant__run=run)
        .order_by()
        .values("entrant", "stage")
        .annotate(
            total=Count("pk"),
            done=Count("pk", filter=Q(item__state=ItemState.DONE) | _TAKEN_OVER),
            failed=Count("pk", filter=Q(item__state=ItemState.FAILED) | LOST),
            unusable=count(item__state=ItemState.UNUSABLE),  # from here on the name is no longer the field's
            cancelled=count(item__state=ItemState.CANCELLED),
            in_flight=count(item__state__in=_IN_FLIGHT),
            made=count(item__made=True),
            recent=count(item__finished_at__gte=now - RECENT),
            cost=Sum("item__cost"),
            unpriced=Sum("item__unpriced"),
            input_tokens=Sum("call__input_tokens", filter=asked),
            output_tokens=Sum("call__output_tokens", filter=asked),
        )
    )


def _to_come(run: Run, rows: dict[str, dict]) -> int:
    """Judgements that have no place yet, as their extraction is awaited."""
    extract = rows.get(Stage.EXTRACT)
    if extract is None or Stage.JUDGE not in run.stages or run.source_id or run.job.state in _OVER:
        return 0
    judged = rows.get(Stage.JUDGE, {"total": 0})
    return max(0, extract["total"] - extract["failed"] - extract["cancelled"] - judged["total"])


@dataclass(frozen=True, slots=True)
class SchemaBreaker:
    """An endpoint that does not hold the schema: `broken` of its `answers` at a stage are something else.

    `entrant` is the model that was asked, None where it is the judge.
    """

    endpoint: str
    stage: str
    broken: int
    answers: int
    entrant: int | None

    @property
    def stage_name(self) -> str:
        return Stage(self.stage).label


def schema_breakers(run: Run) -> list[SchemaBreaker]:
    """One for each endpoint and stage of a structured run with answers that are not structured."""
    if run.form != Form.STRUCTURED:
        return []
    answers = RunItem.objects.filter(entrant__run=run, call__isnull=False).order_by("entrant__position", "stage")
    counts = answers.values_list("entrant", "entrant__endpoint__name", "stage").annotate(
        broken=Count("pk", filter=PROBLEMS["unstructured"]), answers=Count("pk")
    )
    found: dict[tuple[str, str], SchemaBreaker] = {}
    for entrant, name, stage, broken, whole in counts:
        judged = stage == Stage.JUDGE and run.judge is not None
        key = (run.judge.name if judged else name, stage)
        before = found.get(key)
        sums = (broken + (before.broken if before else 0), whole + (before.answers if before else 0))
        found[key] = SchemaBreaker(*key, *sums, None if judged else entrant)
    return [one for one in found.values() if one.broken]


def total_of(rows: Sequence[Standing]) -> Standing:
    total = Standing(span=rows[0].span if rows else 30.0, running=any(row.running for row in rows))
    for row in rows:
        for name in _SUMMED:
            setattr(total, name, getattr(total, name) + getattr(row, name))
    return total


def shortfall_of_run(run: Run, rows: Sequence[Standing] | None = None) -> Shortfall:
    """What failed of a run and what is unusable, extractions that were lost in its source among it; `rows` are its standings where they are known."""
    rows = standings(run, now=timezone.now()) if rows is None else rows
    lost = RunItem.objects.filter(LOST, entrant__run=run).count()
    more = [(LOST_BEFORE, lost)] if lost else []
    return shortfall_of(run.job, total=sum(row.total for row in rows), more=more)


LOST_BEFORE = "The extraction was lost in the run that it was taken over from."


def to_come_of(runs: Sequence[Run]) -> dict[int, int]:
    """Judgements still to come by run id: what the items of a job do not count yet. One query."""
    moving = [run for run in runs if run.job.state not in _OVER and Stage.JUDGE in run.stages and not run.source_id]
    lost = Q(stage=Stage.EXTRACT, item__state__in=[ItemState.FAILED, ItemState.CANCELLED])
    rows = RunItem.objects.filter(entrant__run__in=moving).order_by().values("entrant__run")
    counts = rows.annotate(
        extracted=Count("pk", filter=Q(stage=Stage.EXTRACT)),
        judged=Count("pk", filter=Q(stage=Stage.JUDGE)),
        lost=Count("pk", filter=lost),
    )
    return {row["entrant__run"]: max(0, row["extracted"] - row["lost"] - row["judged"]) for row in counts}
