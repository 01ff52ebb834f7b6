"""Answers of two models to one sample: the prompts, both answers, and what both parses have of each line.

A line is {about, part, gold, cells, differs}, with a cell for each side: {official, repaired, right, officially_right,
note, apart}. `apart` says that the official parse has something else or another verdict.
"""

from collections.abc import Sequence, Set

from benchmark.models import RunItem
from benchmark.services.item_detail import asked_of, lines_on_page, sample_of, shortened, texts_of
from benchmark.services.items import state_of
from benchmark.suites.contract import Suite
from benchmark.suites.groups import MetricGroup
from benchmark.suites.items import ReadLine
from benchmark.suites.results import EntrantResults
from core.plain import Json

Item = RunItem | None


def items_of(pair: Sequence[EntrantResults], number: int, suite: Suite) -> dict[str, list[Item]]:
    """Return the items of both sides about a story by step, in the first repetition. Steps without an item are left
    out."""
    rows = RunItem.objects.filter(
        entrant__in=[entrant.entrant for entrant in pair if entrant.entrant], sample__number=number, repetition=0
    ).select_related("sample", "call", "item", "entrant__endpoint", "entrant__run__dataset", "entrant__run__project")
    items = {(item.step, item.entrant_id): item for item in rows}
    sides = {step.key: [items.get((step.key, entrant.entrant or 0)) for entrant in pair] for step in suite.steps}
    return {step: of_step for step, of_step in sides.items() if any(of_step)}


def side_by_side(items: Sequence[Item], closed: Set[int], *, only: bool) -> Json:
    """Return two items of one step: the `prompts`, one if both were asked alike, the `sides` with their answers, and
    the `lines` of both parses, with `only` those that differ."""
    sides: list[Json] = []
    for item in items:
        if item is None:
            sides.append({"item": None, "asked": (), "lines": (), "failed": ""})
            continue
        call = item.call or (item.item.call if item.item else None)
        own_lines, failed = lines_on_page(item)
        asked = asked_of(call, texts_of(item.entrant.run.dataset, closed))
        answer = shortened(call.answer) if call and call.answer else None
        side = {"item": item, "state": state_of(item), "asked": asked, "answer": answer}
        sides.append(side | {"lines": own_lines, "failed": failed})
    prompts = [side["asked"] for side in sides if side["asked"]]
    same = all(prompt == prompts[0] for prompt in prompts)
    lines = paired([side["lines"] for side in sides])
    shown = [line for line in lines if line["differs"] or not only]
    for line, above in zip(shown[1:], shown, strict=False):
        line["again"] = line["about"] == above["about"]
    return {
        "prompts": prompts[:1] if same else prompts,
        "same_prompt": same,
        "sides": sides,
        "lines": shown,
        "count": len(lines),
        "differing": sum(line["differs"] for line in lines),
        "failed": list(dict.fromkeys(side["failed"] for side in sides if side["failed"])),
    }


def paired(sides: Sequence[Sequence[ReadLine]]) -> list[Json]:
    """Return each line of either side, in the order of the first."""
    by_place = [{(line.about, line.part): line for line in reversed(lines)} for lines in sides]
    rows = []
    for about, part in dict.fromkeys((line.about, line.part) for lines in sides for line in lines):
        lines = [of_side.get((about, part), ReadLine("")) for of_side in by_place]
        gold = next((line.gold for line in lines if line.gold is not None), None)
        verdicts = {(line.official, line.repaired, line.right, line.officially_right) for line in lines}
        cells = []
        for line in lines:
            apart = (line.official, line.officially_right) != (line.repaired, line.right)
            names = ("official", "repaired", "right", "officially_right", "note")
            cell = {name: getattr(line, name) for name in names}
            cells.append(cell | {"apart": line.official is not None and apart})
        rows.append({"about": about, "part": part, "gold": gold, "cells": cells, "differs": len(verdicts) > 1})
    return rows


def set_beside(
    pair: Sequence[EntrantResults], items: Sequence[Item], group: MetricGroup, closed: Set[int]
) -> list[Json]:
    """Return a line for each question of the item's set, with its `number`, whether it is shown `here` and whether it
    `counts`. Returns nothing if the metric group counts no sets or an answer has several lines."""
    here = next(item for item in items if item)
    if group.unit is None or not here.sample.group:
        return []
    ids = [entrant.entrant for entrant in pair if entrant.entrant]
    rows = RunItem.objects.filter(
        entrant__in=ids, step=here.step, repetition=0,
        sample__group=here.sample.group, sample__dataset=here.sample.dataset_id,
    ).exclude(sample__number__in=closed)  # fmt: skip
    by_number: dict[int, dict[int, RunItem]] = {}
    for item in rows.select_related("sample", "call", "entrant__run__dataset").order_by("sample__number"):
        by_number.setdefault(item.sample.number, {})[item.entrant_id] = item
    questions = []
    for number, by_entrant in by_number.items():
        sides = [lines_on_page(by_entrant[pk])[0] if pk in by_entrant else [] for pk in ids]
        if not any(sides) or any(len(lines) > 1 for lines in sides):
            return []
        [line] = paired(sides)
        sample = sample_of(next(iter(by_entrant.values())))
        counts = group.counts is None or group.counts(sample)
        questions.append(line | {"number": number, "here": number == here.sample.number, "counts": counts})
    return questions if len(questions) > 1 else []


def numbers_around(pair: Sequence[EntrantResults], number: int, closed: Set[int]) -> tuple[int | None, int | None]:
    """Return the numbers of the open stories before and after this one that both were asked about."""
    both = frozenset.intersection(*(frozenset(entrant.numbers) for entrant in pair)) - closed
    before = max((other for other in both if other < number), default=None)
    return before, min((other for other in both if other > number), default=None)
