"""The paper's further tables over runs, one reading each, with n and intervals: what `suites.omnitom.analyses` found, ready for pages and files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmark.domain.tables import Column, Table
from benchmark.domain.tables.estimates import estimate, estimated, figure_of
from benchmark.suites.omnitom.analyses import BUCKETS
from benchmark.suites.omnitom.cells import ILLEGAL
from benchmark.suites.omnitom.cells import MISSING as NO_LABEL
from benchmark.suites.omnitom.kinds import KINDS
from benchmark.suites.omnitom.labels import COLUMNS, DIMENSIONS, SCHEMA
from benchmark.suites.omnitom.tables import (
    HEADERS,
    by_dimension_and_category,
    match_count_distribution,
    unusable_outputs,
)
from benchmark.suites.showing.entries import Entry, by_category, identity
from benchmark.suites.showing.missing import LEFT_OUT, complete, unlike_missing, unmarked

POOLED = "Rows are pooled over stories; brackets: 95 % intervals over stories; n: rows."
KIND_NAMES = {**{one: f"Order {one}" for one in KINDS["order"]}, "world": "World", "actors": "Actors"}
KIND_HEADS = {"order": "order", "role": "actor role"}
KIND_NOTES = {
    "order": "Precision is over predicted rows by the order that the model gave them, recall over gold rows by theirs, F1 is of the two.",
    "role": "World holds what the narrator states as fact; actors are all characters and groups. Precision is over predicted rows, recall over "
    "gold rows, F1 is of the two.",
}
BOUNDS_NOTE = (
    "Rows not judged are in no figure; brackets, and the worst and best case in CSV and JSON, take them as unmatched and as matched, or as of another "
    "match count and as of this one."
)
CASES_NOTE = (
    "Worst and best case, in CSV and JSON: with missing answers and rows not judged at their worst and at their best."
)
CELLS_NOTE = "By the {head} of the gold row; overall is over the cells of all dimensions."
DISTRIBUTION_NOTE = "Brackets: 95 % intervals over stories of the share of the row's total (%). Gold's are those of all stories, models' of usable ones."
CONFUSION_NOTE = "Brackets: 95 % intervals over stories of the share of the gold label's rows (%)."
UNUSABLE_NOTES = {
    "official": "Unusable: answers in which official parsing finds no row, of labelling no row of a gold proposition. Official scoring counts them 0.",
    "repaired": "Unusable: answers of the model itself that nobody could read. Calls that failed, judgements that cannot be used and rows that "
    "the judge left out are no answer of the model and are counted apart.",
}


def dimension_table(entries: Sequence[Entry], reading: str) -> Table:
    """The paper's table 10."""
    held = {one["model"]: _accuracies(one, reading) for one in entries}
    table = by_dimension_and_category(held, reading=reading)
    by_model = {one["model"]: one for one in entries}
    rows = [
        dict(row) | identity(by_model[row["model"]], "stage2") | {"_where": _where(row, reading)} for row in table.rows
    ]
    return replace(table, rows=rows, lead=unlike_missing({"stage2": entries}))


def _accuracies(entry: Entry, reading: str) -> dict[str, dict[str, dict[str, Any]]]:
    """{dimension: {category: {value, interval, n}}}; official figures are texts, their number of stories too."""
    found: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in DIMENSIONS}
    for category, row in by_category(entry, reading).items():
        for name in DIMENSIONS:
            share = f"acc_{COLUMNS[name]}"
            worst = ((row.get("bounds") or {}).get(share) or (None,))[0]
            found[name][category] = figure_of(row, share) | {"n": int(row["stories"]), "worst": worst}
    return found


def _where(row: Mapping[str, Any], reading: str) -> dict[str, dict[str, str]]:
    cells = {"dimension": row["_dimension"], "reading": reading}
    return {key: cells | {"category": key.removeprefix("in ")} for key in row if key.startswith("in ")}


def kind_table(entries: Sequence[Entry], by: str, reading: str) -> Table:
    """Precision, recall and F1 of extraction by order (paper, figure 5 a) or actor role; `by` is a key of KINDS."""
    measures = {"f1": "F1", "precision": "Precision", "recall": "Recall"}
    columns, best = [Column(key="model", header="Model")], "high" if complete(entries, reading) else ""
    for kind in KINDS[by]:
        columns += [
            estimated(f"{kind} {name}", head, group=KIND_NAMES[kind], digits=1, best=best)
            for name, head in measures.items()
        ]
    rows = []
    for one in entries:
        row = identity(one, "stage1") | {"_where": {}}
        for kind in KINDS[by]:
            held = _analyses(one, reading)["kinds"][kind]
            for name in measures:
                row |= estimate(f"{kind} {name}", held[name])
                row["_where"][f"{kind} {name}"] = {by: kind, "reading": reading}
        rows.append(row)
    title = f"Extraction by {KIND_HEADS[by]}, {reading} reading (%)"
    notes = [POOLED, KIND_NOTES[by], *_of_bounds(rows), *unmarked(entries, reading)]
    return Table(title=title, columns=columns, rows=rows, lead=_pooled_lead("stage1", entries), notes=notes)


def _pooled_lead(stage: str, entries: Sequence[Entry]) -> list[str]:
    return unlike_missing({stage: entries}, counted=LEFT_OUT)


def _of_bounds(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What brackets and bounds make of rows that judges left out, where there are any."""
    bounds = (value for row in rows for key, value in row.items() if key.endswith(" bounds"))
    return [BOUNDS_NOTE] if any(bounds) else []


def kind_dimension_table(entries: Sequence[Entry], by: str, reading: str) -> Table:
    """Accuracy of labelling by dimension and order (paper, figure 5 b) or actor role."""
    heads = {"overall": "Overall", **{one: HEADERS[one] for one in DIMENSIONS}}
    best = "high" if complete(entries, reading) else ""
    columns = [Column(key="model", header="Model")]
    columns += [estimated(name, head, digits=1, best=best) for name, head in heads.items()]
    rows = []
    for kind in KINDS[by]:
        for one in entries:
            row = identity(one, "stage2") | {"kind": KIND_NAMES[kind], "_where": {}}
            for name, found in _analyses(one, reading)["kinds"][kind].items():
                row |= estimate(name, found)
                cells = {} if name == "overall" else {"dimension": name}
                row["_where"][name] = {by: kind, "reading": reading} | cells
            rows.append(row)
    title = f"Labelling accuracy by {KIND_HEADS[by]} and dimension, {reading} reading (%)"
    notes = [POOLED.replace("n: rows", "n: cells"), CELLS_NOTE.format(head=KIND_HEADS[by])]
    notes += unmarked(entries, reading)
    lead = _pooled_lead("stage2", entries)
    return Table(title=title, columns=columns, rows=rows, lead=lead, notes=notes, section="kind", mark_within="kind")


def _analyses(entry: Entry, reading: str) -> Mapping[str, Any]:
    return entry["figures"]["analyses"][reading]


def match_count_table(entries: Sequence[Entry], reading: str) -> Table:
    """The paper's table 11."""
    held = {one["model"]: _analyses(one, reading)["match_counts"] for one in entries}
    counts = {model: {name: one["rows"][name] for name in (*BUCKETS, "total")} for model, one in held.items()}
    table = match_count_distribution(
        counts, reading=reading, shares={model: one["shares"] for model, one in held.items()}
    )
    where = {name: {"match_count": name, "reading": reading} for name in BUCKETS}
    where |= {f"{name} share": found for name, found in where.items()}
    rows = [
        dict(row) | identity(one, "stage1") | {"_where": where} for row, one in zip(table.rows, entries, strict=True)
    ]
    left = "; ".join(f"{model} {one['unjudged']:,}" for model, one in held.items() if one.get("unjudged"))
    notes = [*table.notes, "Shares of the model's predicted rows; brackets: 95 % intervals over stories."]
    notes += [f"Not among them, as the judge left them out: {left}."] if left else []
    notes += _of_bounds(rows)
    return replace(table, rows=rows, lead=_pooled_lead("stage1", entries), notes=notes)


def unusable_table(stages: Mapping[str, Sequence[Entry]], reading: str) -> Table:
    """The paper's table 12, with the reasons below."""
    shares: dict[str, dict[str, Any]] = {}
    by_model: dict[str, Entry] = {}
    for stage, entries in stages.items():
        for one in entries:
            if one["kind"] != "person" and one["figures"]["analyses"][reading]:
                by_model.setdefault(one["model"], one)
                shares.setdefault(one["model"], {"stage1": None, "stage2": None})[stage] = _analyses(one, reading)[
                    "outputs"
                ]
    table = unusable_outputs(shares, reading=reading)
    rows = [
        dict(row) | identity(by_model[row["model"]], "stage1") | {"_where": _outputs_where(reading)}
        for row in table.rows
    ]
    told = [f"{model}: {said}" for model, held in shares.items() if (said := _reasons(held))]
    return replace(table, rows=rows, notes=[*table.notes, UNUSABLE_NOTES[reading], *told])


def _outputs_where(reading: str) -> dict[str, dict[str, str]]:
    """Official parsing keeps no row of an extraction itself: its counts stand with the judgement."""
    first = "judge" if reading == "official" else "extract"
    found = {}
    for key, stage in (("stage1", first), ("stage2", "label")):
        unusable = {"stage": stage, "problem": "unusable"} | ({"reading": reading} if reading == "official" else {})
        found |= {key: unusable, f"{key}_unusable": unusable}
    asked = {"stage1": "extract", "stage2": "label"}
    found |= {f"{key}_answers": {"stage": stage, "problem": "answered"} for key, stage in asked.items()}
    found |= {f"{key}_calls": {"stage": stage, "problem": "unanswered"} for key, stage in asked.items()}
    gaps = {"stage1_judgements": "unjudged", "stage1_rows": "gaps"}
    return found | {key: {"stage": "judge", "problem": problem} for key, problem in gaps.items()}


def _reasons(stages: Mapping[str, Mapping[str, Any] | None]) -> str:
    """Why outputs cannot be used and what else is missing, with counts, over both stages."""
    found: Counter[str] = Counter()
    for held in filter(None, stages.values()):
        for part in (held["reasons"], *held["without"].values()):
            found.update(part)
    return ", ".join(f"{why} {count:,}" for why, count in sorted(found.items()))


def volume_table(entries: Sequence[Entry], reading: str) -> Table:
    """How much a model says against how much of it is right (paper, figure 8)."""
    number = {"kind": "number", "digits": 1, "unit": "", "best": ""}
    share = {"unit": "%", "best": "", "n": ""}
    columns = [
        Column(key="model", header="Model"),
        Column(key="predicted", header="Predicted rows", kind="count"),
        Column(key="gold", header="Gold rows", kind="count"),
        estimated("predicted_per_story", "Predicted a story", **number, n=""),
        estimated("gold_per_story", "Gold a story", **number, n=""),
        *(
            estimated(name, head, **share)
            for name, head in (("precision", "Precision"), ("recall", "Recall"), ("f1", "F1"))
        ),
        Column(key="stories", header="Stories", kind="count"),
    ]
    rows = []
    for one in entries:
        held = volume_of(one, reading)
        row = {name: held[name] for name in ("predicted", "gold", "stories")}
        for name in ("predicted_per_story", "gold_per_story", "precision", "recall", "f1"):
            row |= estimate(name, held[name])
        rows.append(identity(one, "stage1") | row)
    notes = ["Brackets: 95 % intervals over stories."]
    notes += [CASES_NOTE] if any(row["f1 bounds"] for row in rows) else []
    title, lead = f"Volume against precision and recall, {reading} reading", _pooled_lead("stage1", entries)
    return Table(title=title, columns=columns, rows=rows, lead=lead, notes=notes)


def volume_of(entry: Entry, reading: str) -> dict[str, Any]:
    """Rows, stories, and {value, interval} of rows a story, precision, recall and F1."""
    overall = entry["readings"][reading]["overall"]
    shares = {name: figure_of(overall, name) for name in ("precision", "recall", "f1")}
    return dict(_analyses(entry, reading)["volume"]) | shares


def distribution_table(entries: Sequence[Entry], dimension: str, reading: str) -> Table:
    """How often each label stands in gold and was predicted (paper, figure 4)."""
    held = {one["key"]: _analyses(one, reading)["labels"][dimension] for one in entries}
    labels = next(iter(held.values()))["labels"]
    columns = [Column(key="model", header="Model")]
    for one in labels:
        columns += [
            Column(key=one, header=one, kind="count"),
            estimated(f"{one} share", f"{one}, share", unit="%", best="", n="", digits=1),
        ]
    columns.append(Column(key="total", header="Rows", kind="count"))
    rows = []
    for one in entries:
        found = held[one["key"]]
        row = identity(one, "stage2") | _distributed(labels, found["predicted"], found["ends"], found.get("reasons"))
        where = {label: {"dimension": dimension, "said": label, "reading": reading} for label in labels}
        rows.append(row | {"_where": where | {f"{label} share": cells for label, cells in where.items()}})
    most = max(held.values(), key=lambda one: sum(one["gold"]))  # people cover fewer stories than the run
    gold = {"model": "Gold of all stories"} | _distributed(
        labels, most["gold"], most["gold_ends"], most.get("gold_reasons")
    )
    gold |= {f"{label} share": None for label in (NO_LABEL, ILLEGAL)}  # which gold cannot have
    title = f"{SCHEMA[dimension].name}: labels as predicted, {reading} reading"
    lead = _pooled_lead("stage2", entries)
    return Table(title=title, columns=columns, rows=rows, totals=[gold], lead=lead, notes=[DISTRIBUTION_NOTE])


def _distributed(
    labels: Sequence[str], counts: Sequence[int], ends: Sequence[Any], reasons: Sequence[str] | None
) -> dict[str, Any]:
    """Reports that were frozen before have no `reasons` for the ends that are None."""
    total = sum(counts)
    row: dict[str, Any] = {"total": total}
    for label, count, interval, why in zip(labels, counts, ends, reasons or [""] * len(labels), strict=True):
        share = {"value": count / total if total else None, "interval": interval, "reason": why}
        row |= {label: count} | estimate(f"{label} share", share)
    return row


def confusion_table(entry: Entry, dimension: str, reading: str) -> Table:
    """Gold labels in rows, predicted labels in columns."""
    held = _analyses(entry, reading)["confusion"][dimension]
    columns = [Column(key="gold", header="Gold")]
    for one in held["said"]:
        columns += [
            Column(key=one, header=one, kind="count"),
            estimated(f"{one} share", f"{one}, share", unit="%", best="", n="", digits=1),
        ]
    columns.append(Column(key="total", header="Rows", kind="count"))
    rows = []
    reasons = held.get("reasons") or [None] * len(held["gold"])
    for gold, counts, ends, why in zip(held["gold"], held["rows"], held["ends"], reasons, strict=True):
        cells = {one: {"dimension": dimension, "gold": gold, "said": one, "reading": reading} for one in held["said"]}
        where = cells | {f"{one} share": found for one, found in cells.items()}
        where["total"] = {"dimension": dimension, "gold": gold, "reading": reading}
        rows.append(
            identity(entry, "stage2") | {"gold": gold, "_where": where} | _distributed(held["said"], counts, ends, why)
        )
    title = f"{SCHEMA[dimension].name}: gold labels and those of {entry['model']}, {reading} reading"
    return Table(title=title, columns=columns, rows=rows, notes=[CONFUSION_NOTE])
