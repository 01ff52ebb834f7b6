"""The parts of a report page: pictures, then the tables behind them, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from benchmark.domain.tables import Table
from benchmark.services.control_tables import control_sections
from benchmark.services.documents import Document, results_of, suites_of, tables_of
from benchmark.services.method_tables import method_sections
from benchmark.services.plot_data import plots_of
from benchmark.suites.contract import Suite
from benchmark.suites.guarding import SuiteFailed
from benchmark.suites.registry import ordered_keys
from benchmark.suites.shown import Choice, Explored, Explorer, Section
from benchmark.views.tables import Href, no_link, table_context

Address = Callable[[str, str, str], str]
"""(kind "table" or "plot", name, suffix) → the address of the file."""


def sections_of(
    document: Document, address: Address, chosen: Mapping[str, str], href: Href = no_link
) -> dict[str, Any]:
    """Return {"heads": {stage: table}, "paper" and "parts": [{title, plots, tables, failed}], "parse", "parses",
    "failed"}: those of the benchmark's paper apart from the others in the report of a run, as a leaderboard begins with
    its rankings; `failed` are sentences on what a suite could not show."""
    failed: list[str] = []
    tables, plots = tables_of(document, failed), plots_of(document, failed)
    heads = {
        stage: _table(stage, tables[stage](), address, href)
        for stage in ordered_keys(document.stages)
        if stage in tables
    }
    parses = parses_in(document)
    parse = chosen_parse(chosen, parses)
    paper, parts = [], []
    for section in sections_in(document):
        shown_plots = [plot for name in section.pictures if (plot := _named(name, parse, plots))]
        shown_tables = [table for name in section.tables if (table := _named(name, parse, tables))]
        unmade: list[str] = []
        part = {
            "title": section.title,
            "plots": [
                _plot(name, plots[name].title, address) | {"alone": len(shown_plots) == 1} for name in shown_plots
            ],
            "tables": [
                _table(name, table, address, href)
                for name in shown_tables
                if (table := _made(tables[name], unmade)) is not None
            ],
            "failed": unmade,
        }
        if part["plots"] or shown_tables:
            (paper if section.paper and document.kind == "run" else parts).append(part)
    return {"heads": heads, "paper": paper, "parts": parts, "parse": parse, "parses": parses, "failed": failed}


def _made(make: Callable[[], Table], failed: list[str]) -> Table | None:
    """The table; None where its suite could not make it, and `failed` gets the sentence."""
    try:
        return make()
    except SuiteFailed as error:
        failed.append(str(error))
        return None


def sections_in(document: Document) -> list[Section]:
    """List the parts of a page: what the papers of its suites print, what groups of any suite have, what their suite
    arranges itself, single repetitions."""
    keys = ordered_keys(document.stages)
    pairs = Section("Differences between all pairs", tuple(f"pairs-{key}" for key in keys))
    repeated = [f"{name}-{key}" for key in keys for name in ("repetitions", "prompts")]
    repetitions = Section("Single repetitions", (), tuple(repeated))
    papers = [section for suite in suites_of(document) for section in suite.sections if section.paper]
    sections = [*papers, pairs, *(method_sections(keys) if document.by_method else ())]
    sections += control_sections(keys) if document.controls else ()
    for suite in suites_of(document):
        sections += [*_of_groups(suite), *(section for section in suite.sections if not section.paper)]
        if not suite.arranges("judge-tests"):
            sections.append(Section("Self-test of judges", (), ("judge-tests",)))
    return [*sections, repetitions]


def _of_groups(suite: Suite) -> Iterator[Section]:
    """Yield the sections by category, unless the suite arranges that itself, and by facet."""
    for group in suite.groups:
        name = f"categories-{group.key}"
        if group.by_category and not suite.arranges(name):
            yield Section(f"{group.score_title} by category", (name,), (name,))
        for facet, title in group.facets.items():
            name = f"facet-{facet}-{group.key}"
            yield Section(f"{group.score_title} by {title.lower()}", (name,), (name,))


def _named(name: str, parse: str, parts: Mapping[str, Any]) -> str:
    """Return the name with the parse or by itself, whichever there is; empty where neither is."""
    return next((candidate for candidate in (f"{name}-{parse}", name) if candidate in parts), "")


def parses_in(document: Document) -> list[str]:
    """List the repaired parse, and the official one where anybody has it."""
    entrants = [entrant for stage_entrants in document.stages.values() for entrant in stage_entrants]
    return [name for name in ("repaired", "official") if any(entrant.parses[name] for entrant in entrants)]


def chosen_parse(chosen: Mapping[str, str], parses: Sequence[str]) -> str:
    parse = chosen.get("reading", "")
    return parse if parse in parses else next(iter(parses), "repaired")


def explorer_of(
    document: Document, address: Address, chosen: Mapping[str, str], href: Href = no_link
) -> dict[str, Any] | None:
    """Return what the explorer of the document's suite shows of what `chosen` names; None without one, where it has
    nothing to show, and where that is withheld. {"key", "title", "failed"}, a sentence, where the suite could not show
    it."""
    suite = next((candidate for candidate in suites_of(document) if candidate.explorer), None)
    if document.withheld or suite is None or suite.explorer is None:
        return None
    try:
        return _explorer(document, suite, suite.explorer, address, chosen, href)
    except SuiteFailed as error:
        return {"key": suite.explorer.key, "title": suite.explorer.title, "failed": str(error)}


def _explorer(
    document: Document, suite: Suite, explorer: Explorer, address: Address, chosen: Mapping[str, str], href: Href
) -> dict[str, Any] | None:
    choices_by_parse = {name: explorer.choices(results_of(document, suite, name)) for name in parses_in(document)}
    parses = [name for name, choices in choices_by_parse.items() if choices]
    if not parses:
        return None
    parse = chosen_parse(chosen, parses)
    values = {choice.field: _chosen_value(choice, chosen) for choice in choices_by_parse[parse]}
    shows = explorer.shows(values)
    return {
        "key": explorer.key,
        "title": explorer.title,
        "choices": [_choice(choice, values[choice.field]) for choice in choices_by_parse[parse]],
        "parse": parse,
        "parses": parses,
    } | _explored(document, shows, parse, address, href)


def _chosen_value(choice: Choice, chosen: Mapping[str, str]) -> str:
    values = [value for value, _ in choice.options]
    selected = chosen.get(choice.field, "")
    return selected if selected in values else values[0]


def _choice(choice: Choice, value: str) -> dict[str, Any]:
    return {"field": choice.field, "label": choice.label, "options": choice.options, "value": value}


def _explored(document: Document, shows: Explored, parse: str, address: Address, href: Href) -> dict[str, Any]:
    tables, plots = tables_of(document), plots_of(document)
    matrix, picture, table = (f"{name}-{parse}" for name in (shows.matrix, shows.picture, shows.table))
    return {
        "matrix": _matrix(tables[matrix](), href)
        | {
            "title": plots[matrix].title,
            "table_files": files_of("table", matrix, address),
            "plot_files": files_of("plot", matrix, address),
        },
        "picture": _plot(picture, plots[picture].title, address),
        "table": _table(table, tables[table](), address, href),
    }


def _matrix(table: Table, href: Href) -> dict[str, Any]:
    """Return rows of cells with their shade, 0 to 10, by the share of the gold label's rows, and with that share's
    interval."""
    columns = {column.key: column for column in table.columns}
    labels = [key for key in columns if key not in ("gold", "total") and not key.endswith(" share")]
    rows = []
    for row in table.rows:
        cells = [
            {
                "count": row[label],
                "shade": round(10 * (row[f"{label} share"] or 0)),
                "same": label == row["gold"],
                "interval": columns[f"{label} share"].interval_text(row) if row[label] else "",
                "why": columns[f"{label} share"].no_interval(row),
                "href": href(row, columns[label]) if row[label] else "",
            }
            for label in labels
        ]
        total = {"count": row["total"], "href": href(row, columns["total"]) if row["total"] else ""}
        rows.append({"gold": row["gold"], "cells": cells, "total": total})
    return {"labels": labels, "rows": rows, "notes": [*table.dashes, *table.notes]}


def _table(name: str, table: Any, address: Address, href: Href) -> dict[str, Any]:
    return table_context(name, table, href=href) | {"files": files_of("table", name, address)}


def _plot(name: str, title: str, address: Address) -> dict[str, Any]:
    return {
        "name": name,
        "title": title,
        "files": files_of("plot", name, address),
        "svg": address("plot", name, "svg"),
    }


SUFFIXES = {"table": ("csv", "json", "tex"), "plot": ("svg", "pdf", "png")}
NAMES = {"csv": "CSV", "json": "JSON", "tex": "LaTeX", "svg": "SVG", "pdf": "PDF", "png": "PNG"}


def files_of(kind: str, name: str, address: Address) -> list[dict[str, str]]:
    """Return {href, label[, column]} of each format; `column` is the address of a figure as wide as a column of a
    paper."""
    return [_file(kind, address(kind, name, suffix), suffix) for suffix in SUFFIXES[kind]]


def _file(kind: str, href: str, suffix: str) -> dict[str, str]:
    file = {"href": href, "label": NAMES[suffix]}
    return file | {"column": f"{href}{'&' if '?' in href else '?'}width=column"} if kind == "plot" else file
