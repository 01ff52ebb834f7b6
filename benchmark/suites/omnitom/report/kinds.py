"""Extraction and labelling by order and by actor role."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.domain.tables import Column, Items, Table
from benchmark.domain.tables.estimates import estimate, estimated
from benchmark.domain.tables.table import Cells
from benchmark.suites.omnitom.analyses import Stage1Analyses, Stage2Analyses
from benchmark.suites.omnitom.kinds import KIND_HEADS, KINDS
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, Scheme
from benchmark.suites.omnitom.report.pooled import POOLED, POOLED_CELLS, of_bounds, pooled_lead
from benchmark.suites.omnitom.step_keys import STAGE1, STAGE2
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import findings_of, row_of
from benchmark.suites.showing.missing import complete, unmarked
from core.messages import Sentence, gettext_noop, word

KIND_NAMES = {
    **{order: Sentence("Order {order}", order=order) for order in KINDS["order"]},
    "world": gettext_noop("World"),
    "actors": gettext_noop("Actors"),
}
KIND_NOTES = {
    "order": (
        gettext_noop(
            "Precision is over predicted rows by the order that the model gave them, recall over gold rows by "
            "theirs, F1 is of the two."
        )
    ),
    "role": gettext_noop(
        "World holds what the narrator states as fact; actors are all characters and groups. Precision is over "
        "predicted rows, recall over "
        "gold rows, F1 is of the two."
    ),
}
CELLS_NOTE = gettext_noop("By the {head} of the gold row; overall is over the cells of all dimensions.")


def kind_table(entrants: Sequence[EntrantResults], by: str, parse: str) -> Table:
    """Precision, recall and F1 of extraction by order (paper, figure 5 a) or actor role; `by` is a key of KINDS."""
    measures = {"f1": "F1", "precision": "Precision", "recall": "Recall"}
    columns, best = [Column(key="model", header="Model")], "high" if complete(entrants, parse) else ""
    for kind in KINDS[by]:
        columns += [
            estimated(f"{kind} {name}", head, group=KIND_NAMES[kind], digits=1, best=best)
            for name, head in measures.items()
        ]
    rows = []
    for entrant, analyses in findings_of(entrants, parse, Stage1Analyses):
        cells: Cells = {}
        where: dict[str, Items] = {}
        for kind in KINDS[by]:
            for name in measures:
                cells |= estimate(f"{kind} {name}", analyses.kinds[kind][name])
                where[f"{kind} {name}"] = Items({by: kind, "parse": parse})
        rows.append(row_of(entrant, STAGE1, cells, where))
    title = Sentence("Extraction by {kind_heads}, {parse} parse (%)", kind_heads=KIND_HEADS[by], parse=word(parse))
    notes = [POOLED, KIND_NOTES[by], *of_bounds(rows), *unmarked(entrants, parse)]
    return Table(title=title, columns=columns, rows=rows, lead=pooled_lead(STAGE1, entrants), notes=notes)


def kind_dimension_table(
    entrants: Sequence[EntrantResults], by: str, parse: str, scheme: Scheme = OMNITOM_SCHEME
) -> Table:
    """Accuracy of labelling by dimension and order (paper, figure 5 b) or actor role."""
    heads = {"overall": "Overall", **scheme.shorts}
    best = "high" if complete(entrants, parse) else ""
    columns = [Column(key="model", header="Model")]
    columns += [estimated(name, head, digits=1, best=best) for name, head in heads.items()]
    rows = []
    for kind in KINDS[by]:
        for entrant, analyses in findings_of(entrants, parse, Stage2Analyses):
            cells: Cells = {"kind": KIND_NAMES[kind]}
            where = {}
            for name, metric in analyses.kinds[kind].items():
                cells |= estimate(name, metric)
                dimension = {} if name == "overall" else {"dimension": name}
                where[name] = Items({by: kind, "parse": parse} | dimension)
            rows.append(row_of(entrant, STAGE2, cells, where))
    title = Sentence(
        "Labelling accuracy by {kind_heads} and dimension, {parse} parse (%)",
        kind_heads=KIND_HEADS[by],
        parse=word(parse),
    )
    notes = [POOLED_CELLS, CELLS_NOTE.format(head=KIND_HEADS[by])]
    notes += unmarked(entrants, parse)
    lead = pooled_lead(STAGE2, entrants)
    return Table(title=title, columns=columns, rows=rows, lead=lead, notes=notes, section="kind", mark_within="kind")
