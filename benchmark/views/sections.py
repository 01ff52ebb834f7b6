"""The parts of a report page: pictures, then the tables behind them, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.domain.tables import Column, Table
from benchmark.services.control_tables import control_sections
from benchmark.services.correction_tables import correction_sections
from benchmark.services.documents import Document, results_of, suites_of, tables_of
from benchmark.services.method_tables import method_sections
from benchmark.services.plot_data import Picture, plots_of
from benchmark.suites.contract import Suite
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.registry import ordered_keys
from benchmark.suites.results import Choice, Explorer, Section
from benchmark.views.files import Address, PageFile, PagePlot, files_of, plot_of
from benchmark.views.tables import Href, PageTable, no_link, page_table
from core.messages import Sentence, gettext_noop


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page: its plots, its tables, and sentences on what its suite could not make."""

    title: str
    plots: Sequence[PagePlot]
    tables: Sequence[PageTable]
    failed: Sequence[str]


@dataclass(frozen=True, slots=True)
class Sections:
    """Sections of a report in one of its `parses`: the rankings by metric group as `heads`, then its parts, those of
    the benchmark's `paper` apart from the others in the report of a run; `failed` are sentences on what a suite could
    not show."""

    heads: Mapping[str, PageTable]
    paper: Sequence[Part]
    parts: Sequence[Part]
    parse: str
    parses: Sequence[str]
    failed: Sequence[str]


def sections_of(document: Document, address: Address, chosen: Mapping[str, str], href: Href = no_link) -> Sections:
    failed: list[str] = []
    tables, plots = tables_of(document, failed), plots_of(document, failed)
    heads = {
        group: _table(group, tables[group](), address, href)
        for group in ordered_keys(document.groups)
        if group in tables
    }
    parses = parses_in(document)
    parse = chosen_parse(chosen, parses)
    paper: list[Part] = []
    parts: list[Part] = []
    for section in sections_in(document):
        if part := _part(section, parse, tables, plots, address, href):
            (paper if section.paper and document.kind == "run" else parts).append(part)
    return Sections(heads, paper, parts, parse, parses, failed)


def _part(
    section: Section,
    parse: str,
    tables: Mapping[str, Callable[[], Table]],
    plots: Mapping[str, Picture],
    address: Address,
    href: Href,
) -> Part | None:
    """Return a part of one parse; None where the document has nothing of it."""
    plot_names = [plot for name in section.pictures if (plot := _named(name, parse, plots))]
    table_names = [table for name in section.tables if (table := _named(name, parse, tables))]
    if not plot_names and not table_names:
        return None
    unmade: list[str] = []
    made = [(name, table) for name in table_names if (table := _made(tables[name], unmade)) is not None]
    return Part(
        title=section.title,
        plots=[plot_of(name, plots[name].title, address, alone=len(plot_names) == 1) for name in plot_names],
        tables=[_table(name, table, address, href) for name, table in made],
        failed=unmade,
    )


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
    keys = ordered_keys(document.groups)
    pairs = Section(gettext_noop("Differences between all pairs"), tuple(f"pairs-{key}" for key in keys))
    repeated = [f"{name}-{key}" for key in keys for name in ("repetitions", "repetition-stories", "prompts")]
    repetitions = Section(gettext_noop("Single repetitions"), (), tuple(repeated))
    papers = [section for suite in suites_of(document) for section in suite.results.sections if section.paper]
    sections = [*papers, pairs, *(method_sections(keys) if document.by_method else ())]
    sections += correction_sections() if document.corrections else ()
    sections += control_sections(keys) if document.controls else ()
    for suite in suites_of(document):
        sections += [*_of_groups(suite), *(section for section in suite.results.sections if not section.paper)]
        if not suite.arranges("judge-tests"):
            sections.append(Section(gettext_noop("Self-test of judges"), (), ("judge-tests",)))
    return [*sections, repetitions]


def _of_groups(suite: Suite) -> Iterator[Section]:
    """Yield the sections by category, unless the suite arranges that itself, and by facet."""
    for group in suite.groups:
        name = f"categories-{group.key}"
        if group.by_category and not suite.arranges(name):
            yield Section(Sentence("{score_title} by category", score_title=group.score_title), (name,), (name,))
        for facet, title in group.facets.items():
            name = f"facet-{facet}-{group.key}"
            yield Section(
                Sentence("{score_title} by {title}", score_title=group.score_title, title=title.lower()),
                (name,),
                (name,),
            )


def _named(name: str, parse: str, parts: Mapping[str, Any]) -> str:
    """Return the name with the parse or by itself, whichever there is; empty where neither is."""
    return next((candidate for candidate in (f"{name}-{parse}", name) if candidate in parts), "")


def parses_in(document: Document) -> list[str]:
    """List the repaired parse, and the official one where anybody has it."""
    entrants = [entrant for group_entrants in document.groups.values() for entrant in group_entrants]
    return [name for name in ("repaired", "official") if any(entrant.parses.of(name) for entrant in entrants)]


def chosen_parse(chosen: Mapping[str, str], parses: Sequence[str]) -> str:
    parse = chosen.get("parse", "")
    return parse if parse in parses else next(iter(parses), "repaired")


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A count with its `shade`, 0 to 10, by the share of the gold label's rows, and with that share's interval; `same`
    where gold and answer are."""

    count: int
    href: str
    shade: int = 0
    same: bool = False
    interval: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class MatrixRow:
    gold: str
    cells: Sequence[MatrixCell]
    total: MatrixCell


@dataclass(frozen=True, slots=True)
class Matrix:
    """A confusion matrix with its files."""

    title: str
    labels: Sequence[str]
    rows: Sequence[MatrixRow]
    notes: Sequence[str]
    table_files: Sequence[PageFile]
    plot_files: Sequence[PageFile]


@dataclass(frozen=True, slots=True)
class ChoiceField:
    """A choice of the explorer, with the `value` that was chosen."""

    field: str
    label: str
    options: Sequence[tuple[str, str]]
    value: str


@dataclass(frozen=True, slots=True)
class ExplorerPart:
    """Explorer of a suite as shown; where the suite could not show it, `failed` says so, and there is nothing else."""

    key: str
    title: str
    failed: str = ""
    choices: Sequence[ChoiceField] = ()
    parse: str = ""
    parses: Sequence[str] = ()
    matrix: Matrix | None = None
    picture: PagePlot | None = None
    table: PageTable | None = None


def explorer_of(
    document: Document, address: Address, chosen: Mapping[str, str], href: Href = no_link
) -> ExplorerPart | None:
    """Return what the explorer of the document's suite shows of what `chosen` names; None without one, where it has
    nothing to show, and where that is withheld."""
    suite = next((candidate for candidate in suites_of(document) if candidate.results.explorer), None)
    if document.withheld or suite is None or suite.results.explorer is None:
        return None
    try:
        return _explorer(document, suite, suite.results.explorer, address, chosen, href)
    except SuiteFailed as error:
        return ExplorerPart(suite.results.explorer.key, suite.results.explorer.title, str(error))


def _explorer(
    document: Document, suite: Suite, explorer: Explorer, address: Address, chosen: Mapping[str, str], href: Href
) -> ExplorerPart | None:
    choices_by_parse = {name: explorer.choices(results_of(document, suite, name)) for name in parses_in(document)}
    parses = [name for name, choices in choices_by_parse.items() if choices]
    if not parses:
        return None
    parse = chosen_parse(chosen, parses)
    choices = choices_by_parse[parse]
    values = {choice.field: _chosen_value(choice, chosen) for choice in choices}
    shows = explorer.shows(values)
    tables, plots = tables_of(document), plots_of(document)
    matrix, picture, table = (f"{name}-{parse}" for name in (shows.matrix, shows.picture, shows.table))
    return ExplorerPart(
        key=explorer.key,
        title=explorer.title,
        choices=[ChoiceField(choice.field, choice.label, choice.options, values[choice.field]) for choice in choices],
        parse=parse,
        parses=parses,
        matrix=_matrix(matrix, plots[matrix].title, tables[matrix](), address, href),
        picture=plot_of(picture, plots[picture].title, address),
        table=_table(table, tables[table](), address, href),
    )


def _chosen_value(choice: Choice, chosen: Mapping[str, str]) -> str:
    values = [value for value, _ in choice.options]
    selected = chosen.get(choice.field, "")
    return selected if selected in values else values[0]


def _matrix(name: str, title: str, table: Table, address: Address, href: Href) -> Matrix:
    columns = {column.key: column for column in table.columns}
    labels = [key for key in columns if key not in ("gold", "total") and not key.endswith(" share")]
    return Matrix(
        title=title,
        labels=labels,
        rows=[_matrix_row(row, labels, columns, href) for row in table.rows],
        notes=[*table.dashes, *table.notes],
        table_files=files_of("table", name, address),
        plot_files=files_of("plot", name, address),
    )


def _matrix_row(row: Mapping[str, Any], labels: Sequence[str], columns: Mapping[str, Column], href: Href) -> MatrixRow:
    cells = [
        MatrixCell(
            count=row[label],
            href=href(row, columns[label]) if row[label] else "",
            shade=round(10 * (row[f"{label} share"] or 0)),
            same=label == row["gold"],
            interval=columns[f"{label} share"].interval_text(row) if row[label] else "",
            why=columns[f"{label} share"].no_interval(row),
        )
        for label in labels
    ]
    total = MatrixCell(row["total"], href(row, columns["total"]) if row["total"] else "")
    return MatrixRow(row["gold"], cells, total)


def _table(name: str, table: Table, address: Address, href: Href) -> PageTable:
    return page_table(name, table, href=href, files=files_of("table", name, address))
