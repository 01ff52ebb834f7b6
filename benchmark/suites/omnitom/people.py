"""People scored as a model at labelling, on the cells that they labelled: other cells and stories are in none of their
denominators."""

from collections import Counter
from dataclasses import replace

from annotation.domain.resolution import By
from benchmark.suites.omnitom.data import STAGE2, Record, records_of
from benchmark.suites.omnitom.labels import scheme_of
from benchmark.suites.omnitom.measure import Results, figures_of, measured
from benchmark.suites.omnitom.official import STRUCTURED as NO_OFFICIAL_PARSE
from benchmark.suites.omnitom.official import no_official_parse
from benchmark.suites.omnitom.results import Stage2Result, stage2_of
from benchmark.suites.omnitom.steps import STRUCTURED
from benchmark.suites.people import Labelled, Labels, Person, PersonMeasured, Settled
from benchmark.suites.reports import LabelledCounts
from core.messages import gettext_noop

GAPS = gettext_noop("Official scoring needs a label in every cell of every story.")
UNSETTLED = gettext_noop(
    "Official scoring needs every cell of every story, and not all are settled without this person."
)
OPEN_STORY = "no cell is settled without this person"


def people_measured(person: Person) -> PersonMeasured | None:
    """Return the figures of a person against gold without the person, and `own` figures against gold with the person's
    votes and decisions. Returns None for a person who labelled no cell of what models were asked about."""
    scheme, records = scheme_of(person.resources.schema), records_of(person.resources)
    results, own = Results(scheme), Results(scheme)
    for labelled in person.labelled:
        _take_labels(results, own, labelled, records[labelled.sample.key])
    if not own.repaired[STAGE2]:
        return None
    unreadable = no_official_parse(scheme) or (NO_OFFICIAL_PARSE if person.settings.answer_format == STRUCTURED else "")
    asked = len(person.samples)
    if unreadable or len(own.official[STAGE2]) < asked:
        results.lacking, own.official[STAGE2] = {STAGE2: unreadable or GAPS}, []
    elif len(results.official[STAGE2]) < asked:
        results.lacking = {STAGE2: UNSETTLED}
    if unreadable:
        results.official[STAGE2] = []
    seed = person.settings.seed
    figures = figures_of(own.official[STAGE2], own.repaired[STAGE2], scheme, STAGE2, seed)
    cells = sum(len(records[sample.key].shown_rows) for sample in person.samples) * len(scheme.keys)
    settled = Counter(
        by
        for labelled in person.labelled
        for row, labels in zip(labelled.settled, labelled.labels, strict=True)
        for (_, by), label in zip(row, labels, strict=True)
        if label
    )
    counts = LabelledCounts(
        stories=len(own.repaired[STAGE2]),
        of_stories=asked,
        cells=settled.total(),
        of_cells=cells,
        votes=settled[By.VOTES],
        expert=settled[By.EXPERT],
        record=settled[By.RECORD],
        open=settled[By.NOTHING],
    )
    by_group = {scheme.group(group): result for group, result in measured(results, seed).items()}
    return PersonMeasured(by_group, figures, counts)


def _take_labels(results: Results, own: Results, labelled: Labelled, record: Record) -> None:
    """Add a story, against gold without the person and with. A cell without a label or not settled has no gold, so that
    it counts nowhere."""
    labels, settled = labelled.labels, labelled.settled
    published = [[belief["labels"][key] for key in record.scheme.keys] for belief in labelled.sample.gold["beliefs"]]
    if all(map(all, labels)):
        complete = stage2_of(record, labels)
        own.official[STAGE2].append(complete)
        without = replace(complete, gold=_replaced(complete.gold, published, settled))
        if all(map(all, without.gold)):
            results.official[STAGE2].append(without)
    offered = [at for at, row in enumerate(record.rows) if row.is_shown]
    complete = stage2_of(record, [labels[at] for at in offered], mended=True)
    own_part = _labelled_part(complete, complete.gold)
    if own_part.gold:
        gold = _replaced(complete.gold, [published[at] for at in offered], [settled[at] for at in offered])
        without = _labelled_part(complete, gold)
        own.repaired[STAGE2].append(own_part)
        unreadable = "" if any(map(any, without.gold)) else OPEN_STORY
        results.repaired[STAGE2].append(replace(without, unreadable=unreadable))


def _replaced(gold: Labels, published: Labels, settled: Settled) -> tuple[tuple[str, ...], ...]:
    """Return `gold`, a parse of the `published` labels, with the labels that are settled without the person if they
    differ."""
    return tuple(
        tuple(read if label == before else label for read, before, (label, _) in zip(*cells, strict=True))
        for cells in zip(gold, published, settled, strict=True)
    )


def _labelled_part(complete: Stage2Result, gold: Labels) -> Stage2Result:
    """Return the propositions with a label; a cell has its gold label only if the person gave one."""
    labelled = [(at, row_labels) for at, row_labels in enumerate(complete.predicted) if row_labels and any(row_labels)]
    judged = tuple(
        tuple(value if label else "" for value, label in zip(gold[at], labels, strict=True)) for at, labels in labelled
    )
    roles = tuple(complete.roles[at] for at, _ in labelled) if complete.roles else ()
    return replace(complete, gold=judged, predicted=tuple(row_labels for _, row_labels in labelled), roles=roles)
