"""The parts of a report page: pictures, then the tables behind them, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from annotation.domain.schema import SCHEMA
from benchmark.domain.omnitom.labels import DIMENSIONS
from benchmark.services.documents import Document, dimension_of, figures_of, tables_of
from benchmark.views.shown import Href, no_link, shown

Address = Callable[[str, str, str], str]
"""(kind "table" or "figure", name, suffix) → the address of the file."""

PARTS = (
    ("F1 by story category", ("f1-by-category",), ("categories-stage1",)),
    ("Recall by order", ("orders",), ("orders",)),
    ("Volume against precision and recall", ("volume",), ("volume",)),
    ("MatchCount distribution", ("match-counts",), ("match-counts",)),
    ("Accuracy by dimension", ("dimensions",), ()),
    ("Accuracy by story category", (), ("categories-stage2",)),
    ("Dimension × story category", (), ("dimensions",)),
    ("Unusable outputs", (), ("unusable",)),
    ("The paper's table 3", (), ("main-official", "main-repaired")),
)
HEADS = ("stage1", "stage2")


def sections_of(document: Document, address: Address, href: Href = no_link) -> dict[str, Any]:
    """{"heads": {stage: table}, "parts": [{title, figures, tables}]}."""
    tables, figures = tables_of(document), figures_of(document)
    heads = {stage: _table(stage, tables[stage](), address, href) for stage in HEADS if stage in tables}
    parts = []
    for title, pictures, names in PARTS:
        held = {
            "title": title,
            "figures": [_figure(name, figures[name].title, address) for name in pictures if name in figures],
            "tables": [_table(name, tables[name](), address, href) for name in names if name in tables],
        }
        if held["figures"] or held["tables"]:
            parts.append(held)
    return {"heads": heads, "parts": parts}


def labels_of(document: Document, address: Address, chosen: dict[str, str], slug: str = "") -> dict[str, Any] | None:
    """Label distribution and confusion matrix of the model and dimension that `chosen` names; None without labelling."""
    entries = document["stages"].get("stage2") or []
    if not entries:
        return None
    wanted = chosen.get("confusion_model", "")
    at = int(wanted) if wanted.isascii() and wanted.isdecimal() and 0 < int(wanted[:6]) <= len(entries) else 1
    dimension = dimension_of(chosen.get("dimension", ""))
    name = dimension.replace("_", "-")
    tables, figures = tables_of(document), figures_of(document)
    matrix = f"confusion-{at}-{name}"
    return {
        "models": [{"value": str(n), "label": one["model"]} for n, one in enumerate(entries, 1)],
        "model": str(at),
        "dimensions": [{"value": one.replace("_", "-"), "label": SCHEMA[one].name} for one in DIMENSIONS],
        "dimension": name,
        "distribution": _figure(f"labels-{at}", figures[f"labels-{at}"].title, address),
        "counts": _table(f"labels-{name}", tables[f"labels-{name}"](), address, no_link),
        "matrix": _matrix(entries[at - 1], dimension),
        "matrix_table": files_of("table", matrix, address),
        "matrix_figure": files_of("figure", matrix, address),
        "title": figures[matrix].title,
    }


def _matrix(entry: dict[str, Any], dimension: str) -> dict[str, Any]:
    """Rows of cells with their shade, 0 to 10, by the share of the gold label's rows."""
    held = entry["figures"]["analyses"]["confusion"][dimension]
    said = list(next(iter(held.values()), {}))
    rows = []
    for gold, counts in held.items():
        total = sum(counts.values())
        cells = [
            {"count": counts[one], "shade": round(10 * counts[one] / total) if total else 0, "same": one == gold}
            for one in said
        ]
        rows.append({"gold": gold, "cells": cells, "total": total})
    return {"labels": said, "rows": rows}


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
