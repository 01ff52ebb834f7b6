"""Answers of two models to one sample: the prompt once, both answers, and what both parses have of each line, with
what differs."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass, replace

from benchmark.models import RunItem
from benchmark.services import item_detail
from benchmark.services import items as items_service
from benchmark.services.item_detail import Shortened, ShownMessage
from benchmark.suites.groups import MetricGroup
from benchmark.suites.items import ReadLine
from benchmark.suites.questions import Step
from benchmark.suites.registry import suite_named
from benchmark.suites.results import EntrantResults

Item = RunItem | None


def steps_of(pair: Sequence[EntrantResults], number: int) -> dict[str, tuple[Item, Item]]:
    """Return the items of a story by step, in the order of the suite: those of the first and of the second entrant, in
    the first repetition."""
    ids = [int(entrant.entrant) for entrant in pair if entrant.entrant]
    items = RunItem.objects.filter(entrant__in=ids, sample__number=number, repetition=0).select_related(
        "sample", "call", "item", "entrant__endpoint", "entrant__run__dataset", "entrant__run__project"
    )
    by_place = {(item.entrant_id, item.step): item for item in items}
    if not by_place:
        return {}
    suite = suite_named(next(iter(by_place.values())).entrant.run.suite)
    sides = {step.key: [by_place.get((entrant.entrant, step.key)) for entrant in pair] for step in suite.steps}
    return {step: (first, second) for step, (first, second) in sides.items() if first or second}


@dataclass(frozen=True, slots=True)
class Side:
    """Side of one model: its item, in which state it is, what was asked, the answer, its lines, and a sentence where
    its suite could not set the answer out. One that was not asked has nothing."""

    item: Item = None
    state: str = ""
    asked: Sequence[ShownMessage] = ()
    answer: Shortened | None = None
    lines: Sequence[ReadLine] = ()
    failed: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """Cell of a line: what both parses of one side have of it, with their verdicts; `apart` where the official parse
    has something else or another verdict."""

    official: str | None
    repaired: str | None
    right: bool | None
    officially_right: bool | None
    note: str
    apart: bool

    @property
    def compared(self) -> tuple[str | bool | None, ...]:
        return self.official, self.repaired, self.right, self.officially_right


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedLine:
    """A line of either side, with the cell of each; `differs` where a parse or its verdict does, `again` where the line
    above is about the same."""

    about: str
    part: str
    gold: str | None
    cells: Sequence[Cell]
    differs: bool
    again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SetLine(PairedLine):
    """The question of that `number` in a set: whether it is the one that is shown `here`, and whether it `counts` for
    the set."""

    number: int
    here: bool
    counts: bool


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Two items of one step. `prompts` is one where both were asked alike, else one of each side; of `count` lines
    `differing` differ, and `lines` are those that are shown; `failed` are sentences of a suite that could not set out
    an answer."""

    prompts: Sequence[Sequence[ShownMessage]]
    same_prompt: bool
    sides: Sequence[Side]
    lines: Sequence[PairedLine]
    count: int
    differing: int
    failed: Sequence[str]


def side_by_side(items: Sequence[Item], closed: Set[int], *, only: bool) -> SideBySide:
    """Set two items of one step beside each other, with the lines that differ where `only` these are asked for."""
    sides = [_side(item, closed) for item in items]
    prompts = [side.asked for side in sides if side.asked]
    same = len(prompts) < 2 or prompts[0] == prompts[1]
    lines = paired([side.lines for side in sides])
    return SideBySide(
        prompts=prompts[:1] if same else prompts,
        same_prompt=same,
        sides=sides,
        lines=_begun([line for line in lines if line.differs or not only]),
        count=len(lines),
        differing=sum(line.differs for line in lines),
        failed=list(dict.fromkeys(side.failed for side in sides if side.failed)),
    )


def _begun(lines: Sequence[PairedLine]) -> list[PairedLine]:
    """Return the lines with whether they are about the same as the one above."""
    above = [None, *(line.about for line in lines)]
    return [replace(line, again=line.about == before) for line, before in zip(lines, above, strict=False)]


def _side(item: Item, closed: Set[int]) -> Side:
    if item is None:
        return Side()
    call = item.call or (item.item.call if item.item else None)
    lines, failed = item_detail.lines_on_page(item)
    return Side(
        item=item,
        state=items_service.state_of(item),
        asked=item_detail.asked_of(call, item_detail.texts_of(item.entrant.run.dataset, closed)),
        answer=item_detail.shortened(call.answer) if call and call.answer else None,
        lines=lines,
        failed=failed,
    )


def paired(sides: Sequence[Sequence[ReadLine]]) -> list[PairedLine]:
    """Return each line of either side, in the order of the first."""
    by_place = [{(line.about, line.part): line for line in reversed(lines)} for lines in sides]
    places = dict.fromkeys((line.about, line.part) for lines in sides for line in lines)
    return [_paired(about, part, [lines.get((about, part)) for lines in by_place]) for about, part in places]


def _paired(about: str, part: str, lines: Sequence[ReadLine | None]) -> PairedLine:
    gold = next((line.gold for line in lines if line and line.gold is not None), None)
    cells = [_cell(line or ReadLine("")) for line in lines]
    differs = any(cell.compared != cells[0].compared for cell in cells)
    return PairedLine(about=about, part=part, gold=gold, cells=cells, differs=differs)


def _cell(line: ReadLine) -> Cell:
    apart = line.official is not None and (line.official, line.officially_right) != (line.repaired, line.right)
    return Cell(line.official, line.repaired, line.right, line.officially_right, line.note, apart)


def set_beside(
    pair: Sequence[EntrantResults], items: Sequence[Item], group: MetricGroup, closed: Set[int]
) -> list[SetLine]:
    """Return the questions of the set that an item is of, where the metric group counts sets. Nothing where the suite
    has more than one line of an answer."""
    here = next((item for item in items if item), None)
    if group.unit is None or here is None or not here.sample.group:
        return []
    ids = [int(entrant.entrant) for entrant in pair if entrant.entrant]
    beside = RunItem.objects.filter(
        entrant__in=ids,
        step=here.step,
        repetition=0,
        sample__group=here.sample.group,
        sample__dataset=here.sample.dataset_id,
    ).exclude(sample__number__in=closed)
    by_number: dict[int, dict[int, RunItem]] = {}
    for item in beside.select_related("sample", "call", "entrant__run__dataset").order_by("sample__number"):
        by_number.setdefault(item.sample.number, {})[item.entrant_id] = item
    rows = [
        _of_set(number, [by_entrant.get(pk) for pk in ids], here.sample.number, group)
        for number, by_entrant in by_number.items()
    ]
    lines = [row for row in rows if row]
    return lines if len(lines) == len(rows) > 1 else []


def _of_set(number: int, items: Sequence[Item], here: int, group: MetricGroup) -> SetLine | None:
    sides = [item_detail.lines_on_page(item)[0] if item else [] for item in items]
    if not any(sides) or any(len(lines) > 1 for lines in sides):
        return None
    sample = item_detail.sample_of(next(item for item in items if item))
    counts = group.counts is None or group.counts(sample)
    [line] = paired(sides)
    return SetLine(
        about=line.about,
        part=line.part,
        gold=line.gold,
        cells=line.cells,
        differs=line.differs,
        number=number,
        here=number == here,
        counts=counts,
    )


def step_on_page(asked: str, steps: Collection[str], scored: str) -> str:
    """Return the step that an address asks for where there is one, else the one that the ranking scores."""
    return asked if asked in steps else scored if scored in steps else next(iter(steps))


@dataclass(frozen=True, slots=True)
class Tab:
    """A step of which there are items; `here` where it is the one that is shown."""

    key: str
    label: str
    here: bool


def tabs(steps: Collection[str], suite_steps: Sequence[Step], here: str) -> list[Tab]:
    return [Tab(step.key, step.label, step.key == here) for step in suite_steps if step.key in steps]


@dataclass(frozen=True, slots=True)
class Around:
    """The numbers of the stories before and after one."""

    before: int | None
    after: int | None


def numbers_around(pair: Sequence[EntrantResults], number: int, closed: Set[int]) -> Around:
    """Return the stories next to this one that both were asked about, passing over those in
    `closed`."""
    both = frozenset.intersection(*(frozenset(entrant.numbers) for entrant in pair)) - closed
    before = max((other for other in both if other < number), default=None)
    return Around(before, min((other for other in both if other > number), default=None))
