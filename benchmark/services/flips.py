"""Questions to which a model gave answers of another score under a control, or in another repetition, than as
published: the stories to read."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from benchmark.controls.chosen import CONTROLS
from benchmark.models import Entrant, Run, RunItem
from benchmark.suites.registry import group_named, keys_of

REPETITIONS = "repetitions"
"""What is chosen instead of a control to hold repetitions of the run against its first one."""
SHOWN = 400
"""Characters of an answer that a row shows."""


@dataclass(frozen=True, slots=True)
class Flip:
    """Two answers to one question, by the ids of their items, whose scores in the repaired reading differ."""

    first: int
    second: int
    apart: float


def ways_of(run: Run) -> list[tuple[str, str]]:
    """Return (value, label) of what the run's answers can be held against: its controls, and its repetitions."""
    ways = [
        (control, CONTROLS[control].title) for control in run.controls.order_by("pk").values_list("control", flat=True)
    ]
    return ways + ([(REPETITIONS, "repetitions")] if run.params.get("repetitions", 1) > 1 else [])


def flips_of(run: Run, entrant: Entrant, way: str, closed: Set[int]) -> list[Flip]:
    """Return the flips of one model, those furthest apart first, then by sample; nothing of samples in `closed`."""
    published = _scores(entrant, closed)
    if way == REPETITIONS:
        first = {(stage, sample): held for (stage, sample, turn), held in published.items() if turn == 0}
        pairs = [(first.get(key[:2]), held) for key, held in published.items() if key[2] > 0]
    else:
        other = Entrant.objects.filter(
            run__original=run, run__control=way, run__deleted_at=None, endpoint=entrant.endpoint_id
        ).first()
        controlled = _scores(other, closed) if other else {}
        pairs = [(published.get(key), held) for key, held in controlled.items()]
    flips = [Flip(one[0], two[0], abs(one[1] - two[1])) for one, two in pairs if one and one[1] != two[1]]
    return sorted(flips, key=lambda flip: -flip.apart)  # which keeps the order of the samples


def _scores(entrant: Entrant, closed: Set[int]) -> dict[tuple[str, int, int], tuple[int, float]]:
    """Return (item id, score) of a model's scored answers by step, sample and repetition, in the order of the
    samples."""
    steps = {group_named(key).scored for key in keys_of(entrant.run.suite)}
    items = RunItem.objects.filter(entrant=entrant, stage__in=steps, repaired_score__isnull=False).without(closed)
    rows = items.order_by("sample__position", "repetition").values_list(
        "stage", "sample_id", "repetition", "pk", "repaired_score"
    )
    return {(stage, sample, turn): (pk, score) for stage, sample, turn, pk, score in rows}


def read(flips: Sequence[Flip]) -> list[tuple[RunItem, RunItem]]:
    """Return the items of these flips in their order, each with `answer`, the beginning of what was answered."""
    ids = [pk for flip in flips for pk in (flip.first, flip.second)]
    items = RunItem.objects.filter(pk__in=ids).select_related("sample", "call", "entrant__run__project")
    by_id = {item.pk: item for item in items.defer("sample__votes", "sample__methods", "sample__adjudications")}
    for item in by_id.values():
        text = item.call.answer if item.call else ""
        item.answer = {"text": text[:SHOWN], "left": max(0, len(text) - SHOWN)}
    return [(by_id[flip.first], by_id[flip.second]) for flip in flips]
