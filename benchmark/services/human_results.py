"""Annotators and experts as rows beside models: scored on what they labelled, against gold that holds without them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from annotation.domain.leave_one_out import By, Cell, Rule, gold_without
from annotation.models import Method
from benchmark.models import Dataset, DatasetSample, Form, Run, RunItem, Stage
from benchmark.services.datasets import IMPORTED
from benchmark.suites.omnitom.item_readings import stage2_of
from benchmark.suites.omnitom.labels import DIMENSIONS
from benchmark.suites.omnitom.measure import Results
from benchmark.suites.omnitom.official import STRUCTURED
from benchmark.suites.omnitom.records import Record
from benchmark.suites.omnitom.results import Stage2Result

GAPS = "Official scoring needs a label in every cell of every story."
UNSETTLED = "Official scoring needs every cell of every story, and not all are settled without this person."
OPEN_STORY = "no cell is settled without this person"
Labels = Sequence[Sequence[str]]
"""[[label of each dimension, "" without one] of each proposition]"""


@dataclass(slots=True)
class HumanResults(Results):
    """Of a person, as `role` (annotator or expert), the `number`-th of the dataset by name. `official2` and `repaired2` are against gold
    without the person; `own_official2` and `own_repaired2` against gold with the person's own votes and decisions.

    `labelled` has {stories, of_stories, cells, of_cells}: how many of those that models were asked about; and of the cells {votes, expert,
    record, open}: by what their gold is settled without the person, and how many are not.
    """

    role: str = "annotator"
    number: int = 1
    own_official2: list[Stage2Result] = field(default_factory=list)
    own_repaired2: list[Stage2Result] = field(default_factory=list)
    labelled: dict[str, int] = field(default_factory=dict)


def human_results(run: Run, records: Mapping[int, Record]) -> list[Results]:
    """Everybody who voted in a story of the run, then everybody who adjudicated there, scored as a model at labelling on the
    cells that they labelled: other cells and stories are in none of their denominators."""
    asked = RunItem.objects.filter(entrant__run=run, stage=Stage.LABEL).values("sample")
    stories = {row.pk: row for row in DatasetSample.objects.filter(dataset=run.dataset).defer("content")}
    here = [
        stories[pk]
        for pk in DatasetSample.objects.filter(pk__in=asked).order_by("position").values_list("pk", flat=True)
    ]
    found = []
    for role in ("annotator", "expert"):
        names = sorted({name for story in stories.values() for name in labels_by(story, role)})
        for number, name in enumerate(names, 1):
            shown = name if role == "annotator" else f"{name} (expert)"
            person = HumanResults(shown, "person", role=role, number=number)
            found.append(_person(run, person, name, here, records))
    return [person for person in found if person.own_repaired2]


def labels_by(story: DatasetSample, role: str) -> Mapping[str, Labels]:
    return story.adjudications if role == "expert" else story.votes


def gold_without_person(story: DatasetSample, name: str, dataset: Dataset) -> list[list[tuple[str, By]]]:
    """(gold label, by what it is settled) without the person of each dimension of each proposition."""
    keys = dataset.schema.keys
    rules = [Rule(dataset.rule_version, dataset.votes_a_cell, key in dataset.unanimous) for key in keys]
    return [
        [
            gold_without(name, _cell(story, row, at, belief["labels"][key]), rule)
            for at, (key, rule) in enumerate(zip(keys, rules, strict=True))
        ]
        for row, belief in enumerate(story.beliefs)
    ]


def _cell(story: DatasetSample, row: int, at: int, gold: str) -> Cell:
    def said(held: Mapping[str, Labels]) -> dict[str, str]:
        return {name: labels[row][at] for name, labels in held.items() if labels[row][at]}

    method = story.methods[row][at] if story.methods else ""  # versions from before methods were kept have none
    return Cell(gold, said(story.votes), said(story.adjudications), method == IMPORTED, method == Method.ADJUDICATED)


def _person(
    run: Run, person: HumanResults, name: str, stories: Sequence[DatasetSample], records: Mapping[int, Record]
) -> HumanResults:
    """The person with what was labelled in the stories of the run."""
    settled: Counter[By] = Counter()
    for story in stories:
        labels = labels_by(story, person.role).get(name, [])
        if any(map(any, labels)):
            gold = gold_without_person(story, name, run.dataset)
            settled.update(_settled_by(gold, labels))
            _take_labels(person, story, records[story.pk], labels, gold)
    if run.form == Form.STRUCTURED:
        person.official2, person.own_official2, person.lacking = [], [], {"stage2": STRUCTURED}
    elif len(person.own_official2) < len(stories):
        person.lacking = {"stage2": GAPS}
    elif len(person.official2) < len(stories):
        person.lacking = {"stage2": UNSETTLED}
    person.labelled = {
        "stories": len(person.own_repaired2),
        "of_stories": len(stories),
        "cells": settled.total(),
        "of_cells": sum(len(records[story.pk].shown) for story in stories) * len(DIMENSIONS),
        **{by.value or "open": settled[by] for by in By},
    }
    return person


def _settled_by(gold: Sequence[Sequence[tuple[str, By]]], labels: Labels) -> Iterator[By]:
    """By what each cell with a label is settled."""
    for settled, said in zip(gold, labels, strict=True):
        yield from (by for (_, by), one in zip(settled, said, strict=True) if one)


def _take_labels(
    person: HumanResults,
    story: DatasetSample,
    record: Record,
    labels: Labels,
    settled: Sequence[Sequence[tuple[str, By]]],
) -> None:
    """Adds the story, against gold with the person and without. A cell that has no label or is not settled has no gold, so that it counts
    nowhere."""
    frozen = [[belief["labels"][key] for key in DIMENSIONS] for belief in story.beliefs]
    if all(map(all, labels)):
        whole = stage2_of(record, {"predicted": labels}, mended=False)
        person.own_official2.append(whole)
        without = replace(whole, gold=_replaced(whole.gold, frozen, settled))
        if all(map(all, without.gold)):
            person.official2.append(without)
    shown = [at for at, row in enumerate(record.rows) if row.shown]
    said = [labels[at] for at in shown]
    whole = stage2_of(record, {"predicted": said}, mended=True)
    own = _labelled_part(whole, whole.gold)
    if own.gold:
        gold = _replaced(whole.gold, [frozen[at] for at in shown], [settled[at] for at in shown])
        without = _labelled_part(whole, gold)
        person.own_repaired2.append(own)
        person.repaired2.append(replace(without, unusable="" if any(map(any, without.gold)) else OPEN_STORY))


def _replaced(gold: Labels, frozen: Labels, settled: Sequence[Sequence[tuple[str, By]]]) -> tuple[tuple[str, ...], ...]:
    """`gold`, a reading of the `frozen` labels, with the labels that are settled without the person where they differ."""
    return tuple(
        tuple(read if label == before else label for read, before, (label, _) in zip(*cells, strict=True))
        for cells in zip(gold, frozen, settled, strict=True)
    )


def _labelled_part(whole: Stage2Result, gold: Labels) -> Stage2Result:
    """The propositions with a label, a cell's gold label only where the person gave one."""
    kept = [at for at, said in enumerate(whole.predicted) if any(said)]
    said = tuple(whole.predicted[at] for at in kept)
    judged = tuple(
        tuple(one if label else "" for one, label in zip(gold[at], labels, strict=True))
        for at, labels in zip(kept, said, strict=True)
    )
    roles = tuple(whole.roles[at] for at in kept) if whole.roles else ()
    return replace(whole, gold=judged, predicted=said, roles=roles)
