"""Counts of the labels that were given, and of those that they stand for."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.domain.tables import Column, Items, Table
from benchmark.domain.tables.estimates import estimate, estimated
from benchmark.domain.tables.table import Cells
from benchmark.suites.omnitom.analyses import NO_CONFUSION, Ends, Stage2Analyses
from benchmark.suites.omnitom.cells import ILLEGAL
from benchmark.suites.omnitom.cells import MISSING as NO_LABEL
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, Scheme
from benchmark.suites.omnitom.report.pooled import pooled_lead
from benchmark.suites.omnitom.step_keys import STAGE2
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import finding_of, findings_of, row_of
from core.messages import Sentence, gettext_noop, listed, word
from core.statistics import Estimate

DISTRIBUTION_NOTE = gettext_noop(
    "Brackets: 95 % intervals over stories of the share of the row's total (%). Gold's are those of all stories, "
    "models' of usable ones."
)
CONFUSION_NOTE = gettext_noop("Brackets: 95 % intervals over stories of the share of the gold label's rows (%).")


def distribution_table(
    entrants: Sequence[EntrantResults], dimension: str, parse: str, scheme: Scheme = OMNITOM_SCHEME
) -> Table:
    """Tabulate how often each label stands in gold and was predicted (paper, figure 4)."""
    counted = [
        (entrant, analyses.labels[dimension]) for entrant, analyses in findings_of(entrants, parse, Stage2Analyses)
    ]
    labels = counted[0][1].labels
    columns = [Column(key="model", header="Model")]
    for name in labels:
        columns += [
            Column(key=name, header=name, kind="count"),
            estimated(f"{name} share", listed([word(name), gettext_noop("share")]), unit="%", best="", n="", digits=1),
        ]
    columns.append(Column(key="total", header="Rows", kind="count"))
    rows = []
    for entrant, counts in counted:
        predicted = counts.in_answers
        cells = _distributed(labels, predicted.predicted, predicted.ends, predicted.reasons)
        where = {label: Items({"dimension": dimension, "said": label, "parse": parse}) for label in labels}
        where |= {f"{label} share": items for label, items in where.items()}
        rows.append(row_of(entrant, STAGE2, cells, where))
    # people cover fewer stories than the run
    most = max((counts.in_gold for _, counts in counted), key=lambda in_gold: sum(in_gold.gold))
    gold: Cells = {"model": gettext_noop("Gold of all stories")}
    gold |= _distributed(labels, most.gold, most.gold_ends, most.gold_reasons)
    gold |= {f"{label} share": None for label in (NO_LABEL, ILLEGAL)}  # which gold cannot have
    title = Sentence(
        "{titles}: labels as predicted, {parse} parse", titles=word(scheme.titles[dimension]), parse=word(parse)
    )
    lead = pooled_lead(STAGE2, entrants)
    return Table(title=title, columns=columns, rows=rows, totals=[gold], lead=lead, notes=[DISTRIBUTION_NOTE])


def _distributed(labels: Sequence[str], counts: Sequence[int], ends: Ends, reasons: Sequence[str]) -> Cells:
    total = sum(counts)
    row: Cells = {"total": total}
    for label, count, interval, why in zip(labels, counts, ends, reasons, strict=True):
        share = Estimate(count / total if total else None, total, interval, reason=why)
        row |= {label: count} | estimate(f"{label} share", share)
    return row


def confusion_table(entrant: EntrantResults, dimension: str, parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Table:
    """Gold labels in rows, predicted labels in columns."""
    analyses = finding_of(entrant, parse, Stage2Analyses)
    confusion = analyses.confusion[dimension] if analyses else NO_CONFUSION
    columns = [Column(key="gold", header="Gold")]
    for label in confusion.said:
        columns += [
            Column(key=label, header=label, kind="count"),
            estimated(
                f"{label} share", listed([word(label), gettext_noop("share")]), unit="%", best="", n="", digits=1
            ),
        ]
    columns.append(Column(key="total", header="Rows", kind="count"))
    rows = []
    by_gold = zip(confusion.gold, confusion.rows, confusion.ends, confusion.reasons, strict=True)
    for gold, counts, ends, why in by_gold:
        of_gold = {"dimension": dimension, "gold": gold, "parse": parse}
        where = {label: Items(of_gold | {"said": label}) for label in confusion.said}
        where |= {f"{label} share": items for label, items in where.items()}
        where["total"] = Items(of_gold)
        cells = {"gold": gold} | _distributed(confusion.said, counts, ends, why)
        rows.append(row_of(entrant, STAGE2, cells, where))
    title = Sentence(
        "{titles}: gold labels and those of {model}, {parse} parse",
        titles=word(scheme.titles[dimension]),
        model=entrant.model,
        parse=word(parse),
    )
    return Table(title=title, columns=columns, rows=rows, notes=[CONFUSION_NOTE])


def slug_of(dimension: str) -> str:
    """Return the dimension as names and addresses have it."""
    return dimension.replace("_", "-")
