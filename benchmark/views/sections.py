"""The parts of a report page: pictures, then the tables behind them, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmark.domain.tables import Table
from benchmark.services.documents import (
    MAIN,
    Document,
    dimension_of,
    figures_of,
    readings_of,
    slug_of,
    tables_of,
)
from benchmark.suites.omnitom.labels import DIMENSIONS, SCHEMA
from benchmark.suites.registry import group_named, ordered_keys
from benchmark.views.shown import Href, no_link, shown

Address = Callable[[str, str, str], str]
"""(kind "table" or "figure", name, suffix) → the address of the file."""

PARTS = (
    ("F1 by story category", ("f1-by-category",), ("categories-stage1",)),
    ("Extraction by order", ("orders",), ("orders",)),
    ("Labelling by order and dimension", ("orders-dimensions",), ("orders-dimensions",)),
    ("Extraction by actor role", ("roles",), ("roles",)),
    ("Labelling by actor role and dimension", ("roles-dimensions",), ("roles-dimensions",)),
    ("Volume against precision and recall", ("volume",), ("volume",)),
    ("MatchCount distribution", ("match-counts",), ("match-counts",)),
    ("Accuracy by dimension", ("dimensions",), ()),
    ("Accuracy by story category", (), ("categories-stage2",)),
    ("Dimension × story category", (), ("dimensions",)),
    ("Unusable outputs", (), ("unusable",)),
    ("Self-test of judges", (), ("judge-tests",)),
    ("The paper's table 3", (), ("main-official", "main-repaired")),
)
"""Title, figures and tables of each; of a name that has one reading, that of the chosen one."""


def sections_of(
    document: Document, address: Address, chosen: Mapping[str, str], href: Href = no_link
) -> dict[str, Any]:
    """{"heads": {stage: table}, "parts": [{title, figures, tables}], "reading", "readings"}."""
    tables, figures = tables_of(document), figures_of(document)
    heads = {
        stage: _table(stage, tables[stage](), address, href)
        for stage in ordered_keys(document["stages"])
        if stage in tables
    }
    readings = readings_in(document)
    reading = chosen_reading(chosen, readings)
    parts = []
    for title, pictures, names in [*parts_of(document), *PARTS, *repetitions_of(document)]:
        shown_figures = [one for name in pictures if (one := _named(name, reading, figures))]
        shown_tables = [one for name in names if (one := _named(name, reading, tables))]
        held = {
            "title": title,
            "figures": [
                _figure(name, figures[name].title, address) | {"alone": len(shown_figures) == 1}
                for name in shown_figures
            ],
            "tables": [_table(name, tables[name](), address, href) for name in shown_tables],
        }
        if held["figures"] or held["tables"]:
            parts.append(held)
    return {"heads": heads, "parts": parts, "reading": reading, "readings": readings}


def parts_of(document: Document) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """The parts that groups of any suite have, in the form of `PARTS`."""
    keys = ordered_keys(document["stages"])
    found: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [
        ("Differences between all pairs", tuple(f"pairs-{key}" for key in keys), ())
    ]
    for key in keys:
        group = group_named(key)
        if key not in MAIN:
            found.append((f"{group.score_title} by category", (f"categories-{key}",), (f"categories-{key}",)))
        found += [
            (f"{group.score_title} by {title.lower()}", (f"facet-{name}-{key}",), (f"facet-{name}-{key}",))
            for name, title in group.facets.items()
        ]
    return found


def repetitions_of(document: Document) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """The part of a run that asked everything several times, in the form of `PARTS`."""
    return [("Single repetitions", (), tuple(f"repetitions-{key}" for key in ordered_keys(document["stages"])))]


def _named(name: str, reading: str, held: Mapping[str, Any]) -> str:
    """The name itself or with the reading, whichever there is."""
    return next((one for one in (f"{name}-{reading}", name) if one in held), "")


def readings_in(document: Document) -> list[str]:
    """The repaired reading, and the official one where anybody has it."""
    entries = [one for held in document["stages"].values() for one in held]
    return [name for name in ("repaired", "official") if any(one["readings"][name] for one in entries)]


def chosen_reading(chosen: Mapping[str, str], readings: Sequence[str]) -> str:
    wanted = chosen.get("reading", "")
    return wanted if wanted in readings else next(iter(readings), "repaired")


def labels_of(
    document: Document, address: Address, chosen: Mapping[str, str], href: Href = no_link
) -> dict[str, Any] | None:
    """Label distribution and confusion matrix of the model, dimension and reading that `chosen` names; None without labelling and
    where they are withheld."""
    if document.get("withheld"):
        return None
    held = {name: readings_of(document, name).get("stage2", []) for name in readings_in(document)}
    readings = [name for name, entries in held.items() if entries]
    if not readings:
        return None
    reading = chosen_reading(chosen, readings)
    entries = held[reading]
    wanted = chosen.get("confusion_model", "")
    at = int(wanted) if wanted.isascii() and wanted.isdecimal() and 0 < int(wanted[:6]) <= len(entries) else 1
    dimension = dimension_of(chosen.get("dimension", ""))
    name = slug_of(dimension)
    tables, figures = tables_of(document), figures_of(document)
    matrix, labels, counts = f"confusion-{at}-{name}-{reading}", f"labels-{at}-{reading}", f"labels-{name}-{reading}"
    return {
        "models": [{"value": str(n), "label": one["model"]} for n, one in enumerate(entries, 1)],
        "model": str(at),
        "dimensions": [{"value": slug_of(one), "label": SCHEMA[one].name} for one in DIMENSIONS],
        "dimension": name,
        "reading": reading,
        "readings": readings,
        "distribution": _figure(labels, figures[labels].title, address),
        "counts": _table(counts, tables[counts](), address, href),
        "matrix": _matrix(tables[matrix](), href),
        "matrix_table": files_of("table", matrix, address),
        "matrix_figure": files_of("figure", matrix, address),
        "title": figures[matrix].title,
    }


def _matrix(table: Table, href: Href) -> dict[str, Any]:
    """Rows of cells with their shade, 0 to 10, by the share of the gold label's rows, and with that share's interval."""
    columns = {one.key: one for one in table.columns}
    said = [key for key in columns if key not in ("gold", "total") and not key.endswith(" share")]
    rows = []
    for row in table.rows:
        cells = [
            {
                "count": row[one],
                "shade": round(10 * (row[f"{one} share"] or 0)),
                "same": one == row["gold"],
                "interval": columns[f"{one} share"].interval_text(row) if row[one] else "",
                "why": columns[f"{one} share"].no_interval(row),
                "href": href(row, columns[one]) if row[one] else "",
            }
            for one in said
        ]
        total = {"count": row["total"], "href": href(row, columns["total"]) if row["total"] else ""}
        rows.append({"gold": row["gold"], "cells": cells, "total": total})
    return {"labels": said, "rows": rows, "notes": [*table.dashes, *table.notes]}


def _table(name: str, table: Any, address: Address, href: Href) -> dict[str, Any]:
    return shown(name, table, href=href) | {"files": files_of("table", name, address)}


def _figure(name: str, title: str, address: Address) -> dict[str, Any]:
    return {
        "name": name,
        "title": title,
        "files": files_of("figure", name, address),
        "svg": address("figure", name, "svg"),
    }


SUFFIXES = {"table": ("csv", "json", "tex"), "figure": ("svg", "pdf", "png")}
NAMES = {"csv": "CSV", "json": "JSON", "tex": "LaTeX", "svg": "SVG", "pdf": "PDF", "png": "PNG"}


def files_of(kind: str, name: str, address: Address) -> list[dict[str, str]]:
    return [{"href": address(kind, name, suffix), "label": NAMES[suffix]} for suffix in SUFFIXES[kind]]
