"""Models without a single answer: they have no figures, so no row among figures; they are named beside them, with the reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from benchmark.models import RunItem, Stage
from benchmark.services.leaderboards import Entry
from benchmark.services.results import WITHOUT_CALL
from workers.domain.outcomes import commonest
from workers.models import ItemState

_FAILED = WITHOUT_CALL[ItemState.FAILED]
NO_ANSWER = {_FAILED, f"judgement: {_FAILED}"}
"""Reasons of stories without an estimate that are failures of calls, and say nothing of the model."""
ASKED = {"stage1": (Stage.EXTRACT, Stage.JUDGE), "stage2": (Stage.LABEL,)}
"""The items that a stage's figures rest on."""


@dataclass(frozen=True, slots=True)
class Absence:
    """`failed` items of a model in a run failed, all that its figures of the stage needed; `problem` is the commonest reason."""

    stage: str
    model: str
    run: str
    run_title: str
    failed: int
    problem: str

    def as_json(self) -> dict[str, Any]:
        told = {"stage": self.stage, "model": self.model, "run": self.run, "failed": self.failed}
        return told | {"problem": self.problem}

    def __str__(self) -> str:
        why = f" The commonest reason: {self.problem}" if self.problem else ""
        return f"{self.model} has no figures ({self.run_title}): all {self.failed:,} calls failed.{why}"


def is_absent(entry: Entry) -> bool:
    """Whether every story of the entry lacks its figure because a call failed. A refusal is an answer, and keeps its row."""
    overall = (entry["figures"].get("repaired") or {}).get("overall") or {}
    reasons = set(overall.get("unusable_reasons", ()))
    return entry["kind"] != "person" and overall.get("stories") == 0 and bool(reasons) and reasons <= NO_ANSWER


def absences(stage: str, entries: Sequence[Entry]) -> list[Absence]:
    """Of entries that are absent, in their order. One query."""
    problems = _problems(stage, [one["entrant"] for one in entries])
    found = []
    for one in entries:
        held = problems.get(one["entrant"], [])
        told = {"model": one["name"], "run": one["run"], "run_title": one["run_title"]}
        found.append(Absence(stage, failed=sum(count for _, count in held), problem=commonest(held)[0], **told))
    return found


def _problems(stage: str, entrants: Sequence[int]) -> Mapping[int, list[tuple[str, int]]]:
    failed = RunItem.objects.filter(entrant__in=entrants, stage__in=ASKED[stage], item__state=ItemState.FAILED)
    found: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for entrant, problem, count in failed.order_by().values_list("entrant", "item__problem").annotate(Count("pk")):
        found[entrant].append((problem, count))
    return found
