"""People scored as a model at labelling, on the cells that they labelled: other cells and stories are in none of their denominators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from annotation.domain.leave_one_out import By
from benchmark.suites.omnitom.item_parses import stage2_of
from benchmark.suites.omnitom.labels import DIMENSIONS
from benchmark.suites.omnitom.measure import Results, measured, own_figures, records_by_key
from benchmark.suites.omnitom.official import STRUCTURED as NOT_READ
from benchmark.suites.omnitom.records import Record
from benchmark.suites.omnitom.results import Stage2Result
from benchmark.suites.omnitom.steps import STRUCTURED
from benchmark.suites.people import Labelled, Labels, Person, PersonMeasured, Settled

GAPS = "Official scoring needs a label in every cell of every story."
UNSETTLED = "Official scoring needs every cell of every story, and not all are settled without this person."
OPEN_STORY = "no cell is settled without this person"


@dataclass(slots=True)
class PersonResults:
    """The readings of a person's labels: `results` are against gold without the person, `own_official` and `own_repaired` against gold with the
    person's own votes and decisions."""

    results: Results
    own_official: list[Stage2Result] = field(default_factory=list)
    own_repaired: list[Stage2Result] = field(default_factory=list)


def people_measured(person: Person) -> PersonMeasured | None:
    """None for who labelled no cell of what models were asked about."""
    records = person.resources.derived("records", records_by_key)
    found = PersonResults(Results(person.name, "person"))
    for one in person.labelled:
        _take_labels(found, one, records[one.sample.key])
    if not found.own_repaired:
        return None
    _lack(found, len(person.samples), structured=person.settings["form"] == STRUCTURED)
    seed = int(person.settings.get("seed", 1))
    own = own_figures(found.own_official, found.own_repaired, seed)
    return PersonMeasured(measured(found.results, seed), own, _told(person, found, records))


def _lack(found: PersonResults, asked: int, *, structured: bool) -> None:
    """Official scoring needs all of the `asked` stories."""
    results = found.results
    if structured or len(found.own_official) < asked:
        results.lacking = {"stage2": NOT_READ if structured else GAPS}
        found.own_official = []
    elif len(results.official2) < asked:
        results.lacking = {"stage2": UNSETTLED}
    if structured:
        results.official2 = []


def _told(person: Person, found: PersonResults, records: Mapping[str, Record]) -> dict[str, int]:
    settled = Counter(
        by
        for one in person.labelled
        for row, said in zip(one.settled, one.labels, strict=True)
        for (_, by), label in zip(row, said, strict=True)
        if label
    )
    return {
        "stories": len(found.own_repaired),
        "of_stories": len(person.samples),
        "cells": settled.total(),
        "of_cells": sum(len(records[one.key].shown) for one in person.samples) * len(DIMENSIONS),
        **{by.value or "open": settled[by] for by in By},
    }


def _take_labels(found: PersonResults, labelled: Labelled, record: Record) -> None:
    """Adds the story, against gold with the person and without. A cell that has no label or is not settled has no gold, so that it counts
    nowhere."""
    labels, settled = labelled.labels, labelled.settled
    frozen = [[belief["labels"][key] for key in DIMENSIONS] for belief in labelled.sample.gold["beliefs"]]
    if all(map(all, labels)):
        whole = stage2_of(record, {"predicted": labels}, mended=False)
        found.own_official.append(whole)
        without = replace(whole, gold=_replaced(whole.gold, frozen, settled))
        if all(map(all, without.gold)):
            found.results.official2.append(without)
    shown = [at for at, row in enumerate(record.rows) if row.shown]
    said = [labels[at] for at in shown]
    whole = stage2_of(record, {"predicted": said}, mended=True)
    own = _labelled_part(whole, whole.gold)
    if own.gold:
        gold = _replaced(whole.gold, [frozen[at] for at in shown], [settled[at] for at in shown])
        without = _labelled_part(whole, gold)
        found.own_repaired.append(own)
        found.results.repaired2.append(replace(without, unusable="" if any(map(any, without.gold)) else OPEN_STORY))


def _replaced(gold: Labels, frozen: Labels, settled: Settled) -> tuple[tuple[str, ...], ...]:
    """`gold`, a reading of the `frozen` labels, with the labels that are settled without the person where they differ."""
    return tuple(
        tuple(read if label == before else label for read, before, (label, _) in zip(*cells, strict=True))
        for cells in zip(gold, frozen, settled, strict=True)
    )


def _labelled_part(whole: Stage2Result, gold: Labels) -> Stage2Result:
    """The propositions with a label, a cell's gold label only where the person gave one."""
    kept = [(at, said) for at, said in enumerate(whole.predicted) if said and any(said)]
    judged = tuple(
        tuple(one if label else "" for one, label in zip(gold[at], labels, strict=True)) for at, labels in kept
    )
    roles = tuple(whole.roles[at] for at, _ in kept) if whole.roles else ()
    return replace(whole, gold=judged, predicted=tuple(said for _, said in kept), roles=roles)
