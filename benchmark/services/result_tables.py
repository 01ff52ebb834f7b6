"""What runs came to as tables. Rows also have, under names with an underscore, what a page links them to.

`_entrant` and `_stage` say whose items a row rests on, `_where` which of them by the key of a column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.domain.schema import SCHEMA
from benchmark.domain.omnitom.labels import COLUMNS, DIMENSIONS
from benchmark.domain.tables import Column, Table, by_dimension_and_category, match_count_distribution, unusable_outputs
from benchmark.domain.tables.omnitom import ABBREVIATIONS, HEADERS, in_order
from benchmark.services.leaderboards import Entry
from benchmark.services.story_scores import READINGS, SCORE

MEASURES = {
    "stage1": {
        "precision": "Precision",
        "recall": "Recall",
        "f1": "F1",
        "f1_category_mean": "F1, categories",
    },
    "stage2": {"overall_accuracy": "Overall", **{f"acc_{COLUMNS[one]}": HEADERS[one] for one in DIMENSIONS}},
}
TITLES = {"stage1": "Stage 1: extraction", "stage2": "Stage 2: labelling"}
SCORES = {"stage1": "F1 of extraction", "stage2": "Accuracy of labelling"}
GROUPS = {"official": "Official reading (%)", "repaired": "Repaired reading (%)"}
GROUP_NOTE = (
    "Models that share a letter are not shown to differ: paired sign-flip test over the stories that both have, Holm's correction over "
    "all pairs, over all stories and in each category. People are not tested."
)
READING_NOTE = (
    "The official reading counts what cannot be read as 0; the repaired one leaves it out, and its bounds say what the score "
    "would be if every unusable story were worth 0, or 1. Brackets: 95 % intervals over stories."
)
PEOPLE_NOTE = (
    "People are scored like models, on the cells that they labelled. Gold rests on annotators' votes too, and an expert's decision is the "
    "gold label unless another expert overruled it, so these rows flatter people and are no upper bound."
)
POOLED = "Rows are pooled over stories, so there is no interval."


def stage_table(entries: Sequence[Entry], stage: str) -> Table:
    """Every figure of a stage, official beside repaired."""
    measures = MEASURES[stage]
    columns = [Column(key="model", header="Model")]
    for reading in _readings(entries):
        columns += [
            Column(
                key=f"{reading}_{name}",
                header=header,
                kind="share",
                group=GROUPS[reading],
                interval=f"{reading}_{name}_interval",
                best="high",
            )
            for name, header in measures.items()
        ]
        columns.append(Column(key=f"{reading}_group", header="Group", group=GROUPS[reading]))
    score = measures[SCORE[stage]]
    columns += [
        Column(key="unusable", header="Unusable", kind="share", unit="%", group="Unusable stories", digits=1),
        Column(key="low", header=f"{score} if 0", kind="share", unit="%", group="Unusable stories"),
        Column(key="high", header=f"{score} if 1", kind="share", unit="%", group="Unusable stories"),
        Column(key="stories", header="Stories", kind="count"),
    ]
    rows, below = _ranked([(one, _stage_row(one, stage)) for one in entries])
    return Table(title=TITLES[stage], columns=columns, rows=rows, totals=below, notes=_notes(entries, stage))


def _ranked(rows: Sequence[tuple[Entry, dict[str, Any]]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows to sort and to mark the best of, and those that stand below: experts, whose decisions are gold."""
    below = [row for one, row in rows if one.get("role") == "expert"]
    ranked = [row for one, row in rows if one.get("role") != "expert"]
    return (ranked, below) if ranked else (below, [])


def _readings(entries: Iterable[Entry]) -> list[str]:
    """Both, or only the repaired one where nobody has an official one: structured output."""
    return [name for name in READINGS if name == "repaired" or any(one["readings"][name] for one in entries)]


def _identity(entry: Entry, stage: str) -> dict[str, Any]:
    return {
        "model": entry["model"],
        "_key": entry["key"],
        "_kind": entry["kind"],
        "_run": entry["run"],
        "_run_title": entry["run_title"],
        "_entrant": entry["entrant"],
        "_own": entry["own"],
        "_others": entry.get("others", 0),
        "_stage": stage,
    }


def _stage_row(entry: Entry, stage: str) -> dict[str, Any]:
    row = _identity(entry, stage)
    for reading in READINGS:
        overall = (entry["readings"][reading] or {}).get("overall", {})
        for name in MEASURES[stage]:
            row[f"{reading}_{name}"] = overall.get(name)
            row[f"{reading}_{name}_interval"] = (overall.get("interval") or {}).get(name)
        row[f"{reading}_group"] = entry["group"][reading]
    overall = entry["readings"]["repaired"]["overall"]
    low, high = overall["bounds"][SCORE[stage]] or (None, None)
    asked = overall["stories"] + overall["unusable"]
    return row | {
        "unusable": overall["unusable"] / asked if asked else None,
        "low": low,
        "high": high,
        "stories": asked,
    }


def _notes(entries: Sequence[Entry], stage: str) -> list[str]:
    notes = [READING_NOTE, GROUP_NOTE]
    if stage == "stage1":
        notes.append(
            "F1 is the mean over stories; F1, categories is the mean of the categories' means, which the paper's table prints as overall."
        )
    notes += _unofficial(entries)
    if any(one["kind"] == "person" for one in entries):
        notes += [PEOPLE_NOTE, *_labelled(entries)]
    return notes


def _labelled(entries: Sequence[Entry]) -> list[str]:
    """How much of what models were asked for each person labelled; reports that were frozen before do not say it."""
    held = [(one["model"], one["figures"]["labelled"]) for one in entries if one["figures"].get("labelled")]
    told = [
        f"{name}: {one['cells']:,} of {one['of_cells']:,} cells in {one['stories']:,} of {one['of_stories']:,} stories"
        for name, one in held
    ]
    return [f"Labelled by {'; '.join(told)}."] if told else []


def _unofficial(entries: Sequence[Entry]) -> list[str]:
    """Why there is no official figure, a note for each reason."""
    models: dict[str, list[str]] = {}
    for one in entries:
        if not one["readings"]["official"]:
            models.setdefault(one["readings"].get("reason", ""), []).append(one["model"])
    return [
        why if len(names) == len(entries) else f"No official figure of {', '.join(names)}: {why}"
        for why, names in models.items()
        if why
    ]


def category_table(entries: Sequence[Entry], stage: str) -> Table:
    """The score of a stage by story category, official beside repaired."""
    held = {one["key"]: {name: _by_category(one, name) for name in READINGS} for one in entries}
    categories = in_order(name for readings in held.values() for rows in readings.values() for name in rows)
    columns = [Column(key="model", header="Model")]
    heads = {"official": "Official", "repaired": "Repaired"}
    for category in categories:
        columns += [
            Column(
                key=f"{reading} {category}",
                header=heads[reading],
                kind="share",
                group=ABBREVIATIONS.get(category, category),
                interval=f"{reading} {category} interval",
                best="high",
            )
            for reading in _readings(entries)
        ]
    rows = []
    for one in entries:
        row = _identity(one, stage) | {"_where": {}}
        for reading in READINGS:
            for category, figures in held[one["key"]][reading].items():
                key = f"{reading} {category}"
                row |= {key: figures[SCORE[stage]], f"{key} interval": (figures["interval"] or {}).get(SCORE[stage])}
                row["_where"][key] = {"category": category}
        rows.append((one, row))
    names = [f"{ABBREVIATIONS[name]} {name}" for name in categories if name in ABBREVIATIONS]
    notes = ["; ".join(names) + "."] if names else []
    ranked, below = _ranked(rows)
    return Table(
        title=f"{SCORES[stage]} by story category (%)", columns=columns, rows=ranked, totals=below, notes=notes
    )


def _by_category(entry: Entry, reading: str) -> dict[str, Mapping[str, Any]]:
    return {row["story_category"]: row for row in (entry["readings"][reading] or {}).get("by_category", ())}


def dimension_table(entries: Sequence[Entry]) -> Table:
    held = {one["model"]: one["figures"]["analyses"]["by_category"] for one in entries}
    table = by_dimension_and_category(held, reading="repaired")
    by_model = {one["model"]: one for one in entries}
    rows = [dict(row) | _identity(by_model[row["model"]], "stage2") | {"_where": _where(row)} for row in table.rows]
    return _with_rows(table, rows)


def _where(row: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    return {key: {"category": key.removeprefix("in ")} for key in row if key.startswith("in ")}


def order_table(entries: Sequence[Entry]) -> Table:
    """Recall of gold propositions by their order (paper, figure 5)."""
    columns = [Column(key="model", header="Model")]
    for bucket in ("0", "1", "2+"):
        group = f"Order {bucket}"
        columns += [
            Column(key=f"{bucket} recall", header="Recall", unit="%", kind="share", group=group, best="high"),
            Column(key=f"{bucket} gold", header="Gold rows", kind="count", group=group),
        ]
    rows = []
    for one in entries:
        orders = one["figures"]["analyses"]["orders"]
        figures = {f"{name} {key}": held[key] for name, held in orders.items() for key in ("recall", "gold")}
        rows.append(_identity(one, "stage1") | figures)
    return Table(title="Recall by order, repaired reading", columns=columns, rows=rows, notes=[POOLED])


def match_count_table(entries: Sequence[Entry]) -> Table:
    counts = {one["model"]: one["figures"]["analyses"]["match_counts"] for one in entries}
    return _identified(match_count_distribution(counts, reading="repaired"), entries, "stage1")


def unusable_table(stages: Mapping[str, Sequence[Entry]]) -> Table:
    shares: dict[str, dict[str, Any]] = {}
    for stage, entries in stages.items():
        for one in entries:
            if one["kind"] != "person":
                held = shares.setdefault(one["model"], {"stage1": None, "stage2": None})
                held[stage] = one["figures"]["analyses"]["unusable"]
    reasons: dict[str, dict[str, int]] = {}
    for model, held in shares.items():
        for found in filter(None, held.values()):
            for why, count in found["reasons"].items():
                reasons.setdefault(model, {})[why] = reasons.get(model, {}).get(why, 0) + count
    told = [f"{model}: " + ", ".join(f"{why} {n}" for why, n in held.items()) for model, held in reasons.items()]
    return _with_rows(table := unusable_outputs(shares), table.rows, notes=told)


def volume_table(entries: Sequence[Entry]) -> Table:
    """How much a model says against how much of it is right (paper, figure 8)."""
    columns = [
        Column(key="model", header="Model"),
        Column(key="predicted", header="Predicted rows", kind="count"),
        Column(key="gold", header="Gold rows", kind="count"),
        Column(key="predicted_per_story", header="Predicted a story", kind="number", digits=1),
        Column(key="gold_per_story", header="Gold a story", kind="number", digits=1),
        Column(key="precision", header="Precision", kind="share", unit="%"),
        Column(key="recall", header="Recall", kind="share", unit="%"),
        Column(key="f1", header="F1", kind="share", unit="%"),
    ]
    rows = [_identity(one, "stage1") | volume_of(one) for one in entries]
    return Table(title="Volume against precision and recall, repaired reading", columns=columns, rows=rows)


def volume_of(entry: Entry) -> dict[str, Any]:
    overall = entry["figures"]["repaired"]["overall"]
    return dict(entry["figures"]["analyses"]["volume"]) | {
        name: overall[name] for name in ("precision", "recall", "f1")
    }


def distribution_table(entries: Sequence[Entry], dimension: str) -> Table:
    """How often each label stands in gold and was predicted (paper, figure 4)."""
    held = {one["model"]: one["figures"]["analyses"]["distribution"][dimension] for one in entries}
    labels = list(next(iter(held.values()), {}))
    columns = [Column(key="model", header="Model"), *(Column(key=one, header=one, kind="count") for one in labels)]
    rows = [
        _identity(one, "stage2") | {label: count["predicted"] for label, count in held[one["model"]].items()}
        for one in entries
    ]
    gold: dict[str, Any] = {"model": "Gold, of the first model's usable stories"}
    gold |= {
        label: count["gold"]
        for label, count in next(iter(held.values()), {}).items()
        if SCHEMA.is_legal(dimension, label)
    }
    title = f"{SCHEMA[dimension].name}: labels as predicted, repaired reading"
    return Table(title=title, columns=columns, rows=rows, totals=[gold] if held else [])


def confusion_table(entry: Entry, dimension: str) -> Table:
    """Gold labels in rows, predicted labels in columns."""
    held = entry["figures"]["analyses"]["confusion"][dimension]
    said = list(next(iter(held.values()), {}))
    columns = [Column(key="gold", header="Gold"), *(Column(key=one, header=one, kind="count") for one in said)]
    rows = [{"gold": label, **counts} for label, counts in held.items()]
    title = f"{SCHEMA[dimension].name}: gold labels and those of {entry['model']}, repaired reading"
    return Table(title=title, columns=columns, rows=rows)


def _identified(table: Table, entries: Sequence[Entry], stage: str) -> Table:
    by_model = {one["model"]: one for one in entries}
    return _with_rows(table, [dict(row) | _identity(by_model[row["model"]], stage) for row in table.rows])


def _with_rows(table: Table, rows: Sequence[Mapping[str, Any]], notes: Sequence[str] = ()) -> Table:
    return Table(
        title=table.title,
        columns=table.columns,
        rows=rows,
        totals=table.totals,
        notes=[*table.notes, *notes],
        section=table.section,
        mark_within=table.mark_within,
    )
