"""How runs stand: by model and stage, with the judgements that are still to come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Count, Q, Sum

from benchmark.models import Entrant, Run, RunItem, Stage
from benchmark.services.items import LOST
from workers.models import ItemState, JobState
from workers.services.jobs import RECENT

_IN_FLIGHT = (ItemState.CLAIMED, ItemState.BATCHED)
_OVER = (JobState.FINISHED, JobState.CANCELLED)
_TAKEN_OVER = Q(item=None, call__isnull=False)


@dataclass(slots=True)
class Standing:
    """Places of one model and stage, or of a whole run. `waiting` includes judgements that are still to come; `reused` are answers
    that the ledger had; `rate` in answers a minute, `cost` in US dollars; `seconds_left` is None where nothing can be said."""

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
    recent: int = 0
    span: float = 30.0
    running: bool = False

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
    "total", "done", "unusable", "failed", "cancelled", "in_flight", "made", "input_tokens", "output_tokens", "cost", "recent",
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


def total_of(rows: Sequence[Standing]) -> Standing:
    total = Standing(span=rows[0].span if rows else 30.0, running=any(row.running for row in rows))
    for row in rows:
        for name in _SUMMED:
            setattr(total, name, getattr(total, name) + getattr(row, name))
    return total


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
