"""People scored as a model at labelling, on the cells that they labelled: other cells and stories are in none of their
denominators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from annotation.domain.leave_one_out import By
from benchmark.suites.omnitom.data import STAGE2, Record
from benchmark.suites.omnitom.labels import scheme_of
from benchmark.suites.omnitom.measure import Results, measured, no_official_parse, own_metrics, records_of
from benchmark.suites.omnitom.official import STRUCTURED as NO_OFFICIAL_PARSE
from benchmark.suites.omnitom.parses import stage2_of
from benchmark.suites.omnitom.results import Stage2Result
from benchmark.suites.omnitom.steps import STRUCTURED
from benchmark.suites.people import Labelled, Labels, Person, PersonMeasured, Settled
from benchmark.suites.reports import LabelledCounts
from core.messages import gettext_noop

GAPS = gettext_noop("Official scoring needs a label in every cell of every story.")
UNSETTLED = gettext_noop(
    "Official scoring needs every cell of every story, and not all are settled without this person."
)
OPEN_STORY = "no cell is settled without this person"


@dataclass(slots=True)
class PersonResults:
    """The parses of a person's labels: `results` are against gold without the person, `own_official` and
    `own_repaired` against gold with the person's own votes and decisions."""

    results: Results
    own_official: list[Stage2Result] = field(default_factory=list)
    own_repaired: list[Stage2Result] = field(default_factory=list)


def people_measured(person: Person) -> PersonMeasured | None:
    """Score a person; None for who labelled no cell of what models were asked about."""
    records, scheme = records_of(person.resources), scheme_of(person.resources.schema)
    results = PersonResults(Results(person.name, "person", scheme))
    for labelled in person.labelled:
        _take_labels(results, labelled, records[labelled.sample.key])
    if not results.own_repaired:
        return None
    unreadable = no_official_parse(scheme) or (NO_OFFICIAL_PARSE if person.settings.answer_format == STRUCTURED else "")
    _lack(results, len(person.samples), unreadable)
    seed = person.settings.seed
    metrics = own_metrics(results.own_official, results.own_repaired, seed)
    return PersonMeasured(measured(results.results, seed), metrics, _counts(person, results, records, len(scheme.keys)))


def _lack(of_person: PersonResults, samples_asked: int, unreadable: str) -> None:
    """Official scoring needs all of the `asked` stories, and has none where `unreadable` says why."""
    results = of_person.results
    if unreadable or len(of_person.own_official) < samples_asked:
        results.lacking = {STAGE2: unreadable or GAPS}
        of_person.own_official = []
    elif len(results.official2) < samples_asked:
        results.lacking = {STAGE2: UNSETTLED}
    if unreadable:
        results.official2 = []


def _counts(person: Person, results: PersonResults, records: Mapping[str, Record], dimensions: int) -> LabelledCounts:
    settled = Counter(
        by
        for labelled in person.labelled
        for row, labels in zip(labelled.settled, labelled.labels, strict=True)
        for (_, by), label in zip(row, labels, strict=True)
        if label
    )
    return LabelledCounts(
        stories=len(results.own_repaired),
        of_stories=len(person.samples),
        cells=settled.total(),
        of_cells=sum(len(records[sample.key].shown_rows) for sample in person.samples) * dimensions,
        votes=settled[By.VOTES],
        expert=settled[By.EXPERT],
        record=settled[By.RECORD],
        open=settled[By.NOTHING],
    )


def _take_labels(results: PersonResults, labelled: Labelled, record: Record) -> None:
    """Add the story, against gold with the person and without. A cell that has no label or is not settled has no gold,
    so that it counts nowhere."""
    labels, settled = labelled.labels, labelled.settled
    published = [[belief["labels"][key] for key in record.scheme.keys] for belief in labelled.sample.gold["beliefs"]]
    if all(map(all, labels)):
        complete = stage2_of(record, labels, mended=False)
        results.own_official.append(complete)
        without = replace(complete, gold=_replaced(complete.gold, published, settled))
        if all(map(all, without.gold)):
            results.results.official2.append(without)
    offered = [at for at, row in enumerate(record.rows) if row.is_shown]
    predicted = [labels[at] for at in offered]
    complete = stage2_of(record, predicted, mended=True)
    own_part = _labelled_part(complete, complete.gold)
    if own_part.gold:
        gold = _replaced(complete.gold, [published[at] for at in offered], [settled[at] for at in offered])
        without = _labelled_part(complete, gold)
        results.own_repaired.append(own_part)
        results.results.repaired2.append(replace(without, unreadable="" if any(map(any, without.gold)) else OPEN_STORY))


def _replaced(gold: Labels, published: Labels, settled: Settled) -> tuple[tuple[str, ...], ...]:
    """`gold`, a parse of the `published` labels, with the labels that are settled without the person where they
    differ."""
    return tuple(
        tuple(read if label == before else label for read, before, (label, _) in zip(*cells, strict=True))
        for cells in zip(gold, published, settled, strict=True)
    )


def _labelled_part(complete: Stage2Result, gold: Labels) -> Stage2Result:
    """The propositions with a label, a cell's gold label only where the person gave one."""
    labelled = [(at, row_labels) for at, row_labels in enumerate(complete.predicted) if row_labels and any(row_labels)]
    judged = tuple(
        tuple(value if label else "" for value, label in zip(gold[at], labels, strict=True)) for at, labels in labelled
    )
    roles = tuple(complete.roles[at] for at, _ in labelled) if complete.roles else ()
    return replace(complete, gold=judged, predicted=tuple(row_labels for _, row_labels in labelled), roles=roles)
