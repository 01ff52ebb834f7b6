"""Answers of two models to one sample: the prompt once, both answers, and what both parses have of each line, with
what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from benchmark.models import RunItem
from benchmark.services import item_detail
from benchmark.services import items as items_service
from benchmark.suites.contract import MetricGroup, Step
from benchmark.suites.registry import suite_named
from benchmark.suites.shown import NamedEntrant
from benchmark.suites.side_by_side import ReadLine

Item = RunItem | None
VERDICTS = ("right", "officially_right")


def steps_of(pair: Sequence[NamedEntrant], number: int) -> dict[str, tuple[Item, Item]]:
    """Return the items of a story by step, in the order of the suite: those of the first and of the second entrant, in
    the first repetition."""
    ids = [int(entrant.entrant) for entrant in pair if entrant.entrant]
    items = RunItem.objects.filter(entrant__in=ids, sample__number=number, repetition=0).select_related(
        "sample", "call", "item", "entrant__endpoint", "entrant__run__dataset", "entrant__run__project"
    )
    by_place = {(item.entrant_id, item.stage): item for item in items}
    if not by_place:
        return {}
    suite = suite_named(next(iter(by_place.values())).entrant.run.suite)
    sides = {step.key: [by_place.get((entrant.entrant, step.key)) for entrant in pair] for step in suite.steps}
    return {step: (first, second) for step, (first, second) in sides.items() if first or second}


def side_by_side(items: Sequence[Item], closed: Set[int], *, only: bool) -> dict[str, Any]:
    """Return {"prompts", "same_prompt", "sides", "lines", "count", "differing", "failed"} of two items of one step.
    `prompts` is one where both were asked alike, else one of each side; `lines` are those that differ where `only`
    these are asked for; `failed` are sentences of a suite that could not set out an answer."""
    sides = [_side(item, closed) for item in items]
    prompts = [side["asked"] for side in sides if side["asked"]]
    same = len(prompts) < 2 or prompts[0] == prompts[1]
    lines = paired([side["lines"] for side in sides])
    return {
        "prompts": prompts[:1] if same else prompts,
        "same_prompt": same,
        "sides": sides,
        "lines": _begun([line for line in lines if line["differs"] or not only]),
        "count": len(lines),
        "differing": sum(line["differs"] for line in lines),
        "failed": list(dict.fromkeys(filter(None, (side["failed"] for side in sides)))),
    }


def _begun(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Say of each line whether it is about the same `again` as the one above it."""
    above = [None, *(line["about"] for line in lines)]
    return [line | {"again": line["about"] == before} for line, before in zip(lines, above, strict=False)]


def _side(item: Item, closed: Set[int]) -> dict[str, Any]:
    """Return what is shown of one model; of one that was not asked nothing."""
    if item is None:
        return {"item": None, "asked": [], "answer": None, "lines": [], "failed": "", "state": ""}
    call = item.call or (item.item.call if item.item else None)
    lines, failed = item_detail.lines_shown(item)
    return {
        "item": item,
        "state": items_service.state_of(item),
        "asked": item_detail.asked_of(call, item_detail.texts_of(item.entrant.run, closed)),
        "answer": item_detail.shortened(call.answer) if call and call.answer else None,
        "lines": lines,
        "failed": failed,
    }


def paired(sides: Sequence[Sequence[ReadLine]]) -> list[dict[str, Any]]:
    """Return {"about", "part", "gold", "cells", "differs"} of each line of either side, in the order of the first;
    `cells` are {"official", "repaired", "right", "officially_right", "note", "apart"} of each side, as its line has
    them, `apart` where the official parse has something else or another verdict. Lines differ where a parse or its
    verdict does."""
    by_place = [{(line.about, line.part): line for line in reversed(lines)} for lines in sides]
    places = dict.fromkeys((line.about, line.part) for lines in sides for line in lines)
    rows: list[dict[str, Any]] = []
    for place in places:
        pair = [lines.get(place) for lines in by_place]
        gold = next((line.gold for line in pair if line and line.gold is not None), None)
        cells = [_cell(line) for line in pair]
        read = [tuple(cell[name] for name in ("official", "repaired", *VERDICTS)) for cell in cells]
        rows.append(
            {
                "about": place[0],
                "part": place[1],
                "gold": gold,
                "cells": cells,
                "differs": any(one != read[0] for one in read),
            }
        )
    return rows


def _cell(line: ReadLine | None) -> Mapping[str, Any]:
    line = line or ReadLine("")
    official = (line.official, line.officially_right)
    return {
        "official": line.official,
        "repaired": line.repaired,
        "right": line.right,
        "officially_right": line.officially_right,
        "note": line.note,
        "apart": line.official is not None and official != (line.repaired, line.right),
    }


def set_beside(
    pair: Sequence[NamedEntrant], items: Sequence[Item], group: MetricGroup, closed: Set[int]
) -> list[dict[str, Any]]:
    """Return the questions of the set that an item is of, where the metric group counts sets: {"number", "here",
    "counts" for the set, "line", what `paired` returns of their answers}. Nothing where the suite has more than one
    line of an answer."""
    here = next((item for item in items if item), None)
    if group.unit is None or here is None or not here.sample.group:
        return []
    ids = [int(entrant.entrant) for entrant in pair if entrant.entrant]
    beside = RunItem.objects.filter(
        entrant__in=ids,
        stage=here.stage,
        repetition=0,
        sample__group=here.sample.group,
        sample__dataset=here.sample.dataset_id,
    ).exclude(sample__number__in=closed)
    by_number: dict[int, dict[int, RunItem]] = {}
    for item in beside.select_related("sample", "call", "entrant__run__dataset").order_by("sample__number"):
        by_number.setdefault(item.sample.number, {})[item.entrant_id] = item
    rows = [_of_set(number, [of.get(pk) for pk in ids], here.sample.number, group) for number, of in by_number.items()]
    return [row for row in rows if row] if all(rows) and len(rows) > 1 else []


def _of_set(number: int, items: Sequence[Item], here: int, group: MetricGroup) -> dict[str, Any]:
    sides = [item_detail.lines_shown(item)[0] if item else [] for item in items]
    if not any(sides) or any(len(lines) > 1 for lines in sides):
        return {}
    sample = item_detail.sample_of(next(item for item in items if item))
    counts = group.counts is None or group.counts(sample)
    return {"number": number, "here": number == here, "counts": counts, **paired(sides)[0]}


def step_shown(asked: str, steps: Mapping[str, Any], scored: str) -> str:
    """Return the step that an address asks for where there is one, else the one that the ranking scores."""
    return asked if asked in steps else scored if scored in steps else next(iter(steps))


def tabs(steps: Mapping[str, Any], suite_steps: Sequence[Step], here: str) -> list[dict[str, Any]]:
    """Return {key, label, here} of the steps of which there are items."""
    return [
        {"key": step.key, "label": step.label, "here": step.key == here} for step in suite_steps if step.key in steps
    ]


def numbers_around(pair: Sequence[NamedEntrant], number: int, closed: Set[int]) -> dict[str, int | None]:
    """Return {"before", "after"}: the stories next to this one that both were asked about, passing over those in
    `closed`."""
    both = frozenset.intersection(*(frozenset(entrant.numbers) for entrant in pair)) - closed
    return {
        "before": max((other for other in both if other < number), default=None),
        "after": min((other for other in both if other > number), default=None),
    }
