"""Volume of a model's outputs, matches of its rows, and outputs that cannot be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmark.domain.matched_rows import METRICS
from benchmark.domain.tables import Column, Items, Table
from benchmark.domain.tables.estimates import estimate, estimated, metric_of
from benchmark.domain.tables.table import Cells
from benchmark.suites.omnitom.analyses import BUCKETS, Outputs, Stage1Analyses, Stage2Analyses
from benchmark.suites.omnitom.report.pooled import CASES_NOTE, of_bounds, pooled_lead
from benchmark.suites.omnitom.step_keys import EXTRACT, JUDGE, LABEL, STAGE1, STAGE2
from benchmark.suites.omnitom.tables import match_count_distribution, unreadable_outputs
from benchmark.suites.results import EntrantResults, EntrantsByGroup
from benchmark.suites.showing.entrants import finding_of, findings_of, row_of
from core.messages import Sentence, clauses, gettext_noop, labelled, listed, word, worded

UNREADABLE_NOTES = {
    "official": (
        gettext_noop(
            "Unreadable: answers in which official parsing finds no row, of labelling no row of a gold proposition. "
            "Official scoring counts them 0."
        )
    ),
    "repaired": (
        gettext_noop(
            "Unreadable: answers of the model itself that nobody could read. Calls that failed, judgements that cannot "
            "be used and rows that the judge left out are no answer of the model and are counted apart."
        )
    ),
}


def match_count_table(entrants: Sequence[EntrantResults], parse: str) -> Table:
    """The paper's table 11."""
    matches_by_model = {
        entrant.model: analyses.match_counts for entrant, analyses in findings_of(entrants, parse, Stage1Analyses)
    }
    counts = {
        model: {name: matches.rows[name] for name in (*BUCKETS, "total")} for model, matches in matches_by_model.items()
    }
    table = match_count_distribution(
        counts, parse=parse, shares={model: matches.shares for model, matches in matches_by_model.items()}
    )
    where = {name: Items({"match_count": name, "parse": parse}) for name in BUCKETS}
    where |= {f"{name} share": items for name, items in where.items()}
    rows = [row_of(entrant, STAGE1, row, where) for row, entrant in zip(table.rows, entrants, strict=True)]
    left = clauses(
        *(
            Sentence("{name} {value}", name=model, value=f"{matches.unjudged:,}")
            for model, matches in matches_by_model.items()
            if matches.unjudged
        )
    )
    notes = [*table.notes, gettext_noop("Shares of the model's predicted rows; brackets: 95 % intervals over stories.")]
    notes += [Sentence("Not among them, as the judge left them out: {left}.", left=left)] if left else []
    notes += of_bounds(rows)
    return replace(table, rows=rows, lead=pooled_lead(STAGE1, entrants), notes=notes)


def unreadable_table(groups: EntrantsByGroup, parse: str) -> Table:
    """The paper's table 12, with the reasons below."""
    outputs: dict[str, dict[str, Outputs | None]] = {}
    by_model: dict[str, EntrantResults] = {}
    for group, entrants in groups.items():
        for entrant in entrants:
            of_group = _outputs_of(entrant, group, parse)
            if entrant.kind != "person" and of_group:
                by_model.setdefault(entrant.model, entrant)
                outputs.setdefault(entrant.model, {STAGE1: None, STAGE2: None})[group] = of_group
    table = unreadable_outputs(outputs, parse=parse)
    rows = [row_of(by_model[row["model"]], STAGE1, row, _outputs_where(parse)) for row in table.rows]
    notes = [labelled(model, reasons) for model, of_model in outputs.items() if (reasons := _reasons(of_model))]
    return replace(table, rows=rows, notes=[*table.notes, UNREADABLE_NOTES[parse], *notes])


def _outputs_of(entrant: EntrantResults, group: str, parse: str) -> Outputs | None:
    if group == STAGE1:
        extracted = finding_of(entrant, parse, Stage1Analyses)
        return extracted.outputs if extracted else None
    labelled = finding_of(entrant, parse, Stage2Analyses)
    return labelled.outputs if labelled else None


def _outputs_where(parse: str) -> dict[str, Items]:
    """Official parsing keeps no row of an extraction itself: its counts stand with the judgement."""
    first = JUDGE if parse == "official" else EXTRACT
    filters_by_column: dict[str, dict[str, str]] = {}
    for group, step in ((STAGE1, first), (STAGE2, LABEL)):
        unreadable = {"step": step, "problem": "unreadable"} | ({"parse": parse} if parse == "official" else {})
        filters_by_column |= {group: unreadable, f"{group}_unreadable": unreadable}
    steps = {STAGE1: EXTRACT, STAGE2: LABEL}
    filters_by_column |= {f"{group}_answers": {"step": step, "problem": "answered"} for group, step in steps.items()}
    filters_by_column |= {f"{group}_calls": {"step": step, "problem": "unanswered"} for group, step in steps.items()}
    gaps = {"stage1_judgements": "unjudged", "stage1_rows": "gaps"}
    filters_by_column |= {key: {"step": JUDGE, "problem": problem} for key, problem in gaps.items()}
    return {key: Items(filters) for key, filters in filters_by_column.items()}


def _reasons(groups: Mapping[str, Outputs | None]) -> str:
    """Return why outputs cannot be used and what else is missing, with counts, over both metric groups."""
    reasons: Counter[str] = Counter()
    for group in filter(None, groups.values()):
        for part in (group.reasons, *group.without.values()):
            reasons.update(part)
    return listed(worded(why, f"{count:,}") for why, count in sorted(reasons.items()))


def volume_table(entrants: Sequence[EntrantResults], parse: str) -> Table:
    """Tabulate how much a model says against how much of it is right (paper, figure 8)."""
    number = {"kind": "number", "digits": 1, "unit": "", "best": ""}
    share = {"unit": "%", "best": "", "n": ""}
    columns = [
        Column(key="model", header="Model"),
        Column(key="predicted", header=gettext_noop("Predicted rows"), kind="count"),
        Column(key="gold", header=gettext_noop("Gold rows"), kind="count"),
        estimated("predicted_per_story", gettext_noop("Predicted a story"), **number, n=""),
        estimated("gold_per_story", gettext_noop("Gold a story"), **number, n=""),
        *(estimated(name, head, **share) for name, head in zip(METRICS, ("Precision", "Recall", "F1"), strict=True)),
        Column(key="stories", header="Stories", kind="count"),
    ]
    rows = []
    for entrant, analyses in findings_of(entrants, parse, Stage1Analyses):
        volume, overall = analyses.volume, entrant.parses.overall(parse)
        row: Cells = {"predicted": volume.predicted, "gold": volume.gold, "stories": volume.stories}
        row |= estimate("predicted_per_story", volume.predicted_per_story)
        row |= estimate("gold_per_story", volume.gold_per_story)
        for name in METRICS:
            row |= estimate(name, metric_of(overall, name))
        rows.append(row_of(entrant, STAGE1, row))
    notes = [gettext_noop("Brackets: 95 % intervals over stories.")]
    notes += [CASES_NOTE] if any(row["f1 bounds"] for row in rows) else []
    title, lead = (
        Sentence("Volume against precision and recall, {parse} parse", parse=word(parse)),
        pooled_lead(STAGE1, entrants),
    )
    return Table(title=title, columns=columns, rows=rows, lead=lead, notes=notes)
