"""What runs came to as tables. Rows also have, under names with an underscore, what a page links them to.

`_entrant` and `_stage` say whose items a row rests on, `_where` which of them by the key of a column, as filters of the items page (see
`items.places_of`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmark.domain.omnitom.labels import COLUMNS, DIMENSIONS
from benchmark.domain.tables import Column, Table
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
LEFT_OUT = "Stories left out when repaired"
READING_NOTE = (
    "The official reading counts what cannot be read as 0; the repaired one leaves it out, and calls that failed and judgements that are "
    "lacking too; its bounds say what the score would be if every story left out were worth 0, or 1. Brackets: 95 % intervals over stories."
)
PEOPLE_NOTE = (
    "People are scored like models, on the cells that they labelled. Gold rests on annotators' votes too, and an expert's decision is the "
    "gold label unless another expert overruled it, so these rows flatter people, are no upper bound and are never marked as best."
)


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
        Column(key="unusable", header="Left out", kind="share", unit="%", group=LEFT_OUT, digits=1),
        Column(key="low", header=f"{score} if 0", kind="share", unit="%", group=LEFT_OUT),
        Column(key="high", header=f"{score} if 1", kind="share", unit="%", group=LEFT_OUT),
        Column(key="stories", header="Stories", kind="count"),
    ]
    rows, below = _ranked([(one, _stage_row(one, stage)) for one in entries])
    for row in (*rows, *below):
        row["_where"] = {f"{reading}_{name}": measured(name, reading) for reading in READINGS for name in measures}
        row["_where"] |= {key: {"problem": "missing"} for key in ("unusable", "low", "high")}
    notes = _notes(entries, stage)
    return with_settings(Table(title=TITLES[stage], columns=columns, rows=rows, totals=below, notes=notes))


def with_settings(table: Table) -> Table:
    """With a column of the settings that not all rows share, where there are any."""
    if not any(row.get("_own") for row in table.rows):
        return table
    rows, totals = (
        [dict(row) | {"settings": row.get("_own") or None} for row in held] for held in (table.rows, table.totals)
    )
    columns = [*table.columns, Column(key="settings", header="Settings")]
    return replace(table, columns=columns, rows=rows, totals=totals)


def judged_by(entries: Sequence[Entry]) -> list[str]:
    """Which models each judge judged, where there are several: their figures are no longer of one instrument."""
    held: dict[str, list[str]] = {}
    for one in entries:
        if "judge" in one["settings"]:
            held.setdefault(one["settings"]["judge"], []).append(one["model"])
    told = "; ".join(f"{judge}: {', '.join(models)}" for judge, models in held.items())
    return [f"Judges differ, and differences between models may be theirs. Judged by {told}."] if len(held) > 1 else []


def _ranked(rows: Sequence[tuple[Entry, dict[str, Any]]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows to sort and to mark the best of, and those that stand below: experts, whose decisions are gold."""
    below = [row for one, row in rows if one.get("role") == "expert"]
    ranked = [row for one, row in rows if one.get("role") != "expert"]
    return (ranked, below) if ranked else (below, [])


_DIMENSION_OF = {f"acc_{column}": dimension for dimension, column in COLUMNS.items()}


def measured(name: str, reading: str) -> dict[str, str]:
    """The items behind a measure: of one dimension, with its cells."""
    if name in _DIMENSION_OF:
        return {"dimension": _DIMENSION_OF[name], "reading": reading}
    return {"problem": "used"} if reading == "repaired" else {}


def _readings(entries: Iterable[Entry]) -> list[str]:
    """Both, or only the repaired one where nobody has an official one: structured output."""
    return [name for name in READINGS if name == "repaired" or any(one["readings"][name] for one in entries)]


def identity(entry: Entry, stage: str) -> dict[str, Any]:
    return {
        "model": entry["model"],
        "_key": entry["key"],
        "_kind": entry["kind"],
        "_unranked": entry["kind"] == "person",
        "_run": entry["run"],
        "_run_title": entry["run_title"],
        "_entrant": entry["entrant"],
        "_own": entry["own"],
        "_others": entry.get("others", 0),
        "_stage": stage,
    }


def _stage_row(entry: Entry, stage: str) -> dict[str, Any]:
    row = identity(entry, stage)
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
    notes += [*judged_by(entries), *_out_of_reach(entries)]
    notes += _unofficial(entries)
    if any(one["kind"] == "person" for one in entries):
        notes += [PEOPLE_NOTE, *_labelled(entries)]
    return notes


def _out_of_reach(entries: Sequence[Entry]) -> list[str]:
    held = next((one["out_of_reach"] for one in entries if one.get("out_of_reach")), {})
    return [
        f"{reading.capitalize()} reading: so few stories can show no difference in {tests:,} tests at once, however large it is, and all share "
        "a letter. Compare two models alone, or on more stories."
        for reading, tests in held.items()
        if tests
    ]


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
    held = {one["key"]: {name: by_category(one, name) for name in READINGS} for one in entries}
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
                n=f"{reading} {category} n",
                best="high",
            )
            for reading in _readings(entries)
        ]
    rows = []
    for one in entries:
        row = identity(one, stage) | {"_where": {}}
        for reading in READINGS:
            for category, figures in held[one["key"]][reading].items():
                key = f"{reading} {category}"
                row |= {key: figures[SCORE[stage]], f"{key} interval": (figures["interval"] or {}).get(SCORE[stage])}
                row[f"{key} n"] = int(figures["stories"])
                row["_where"][key] = {"category": category} | measured(SCORE[stage], reading)
        rows.append((one, row))
    names = [f"{ABBREVIATIONS[name]} {name}" for name in categories if name in ABBREVIATIONS]
    notes = ["; ".join(names) + "."] if names else []
    ranked, below = _ranked(rows)
    title, notes = f"{SCORES[stage]} by story category (%)", [*notes, "n: stories.", *judged_by(entries)]
    return with_settings(Table(title=title, columns=columns, rows=ranked, totals=below, notes=notes))


def by_category(entry: Entry, reading: str) -> dict[str, Mapping[str, Any]]:
    return {row["story_category"]: row for row in (entry["readings"][reading] or {}).get("by_category", ())}
