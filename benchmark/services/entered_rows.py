"""Rows that users enter from papers: human figures and published ones, checked, kept, and put into tables below what
was computed.

They stand in tables, files and pictures, marked as entered: no ranking, mark or statistic knows them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction

from annotation.models import Project, User
from annotation.services import audit
from benchmark.domain.drawn import PaperRow, Reference
from benchmark.domain.tables import Column, Entered, Table
from benchmark.models import Dataset, EnteredKind, EnteredRow
from benchmark.suites.contract import Suite
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import suite_named, suites, suites_of
from benchmark.suites.reports import Published
from core.messages import Refusal, Sentence, gettext_noop, labelled, listed

PER_CENT = re.compile(r"\d{1,3}(\.\d{1,6})?", re.ASCII)
POINTS = re.compile(rf"[+-]?{PER_CENT.pattern}", re.ASCII)


class EntryRefused(Refusal):
    """A row that is not kept. Its `field` is what to change: name, kind, source, the key of a figure, or empty for
    figures."""


def problems_of(suite: Suite, entry: PaperRow) -> Iterator[EntryRefused]:
    """Yield what is wrong with an entry, one for each field."""
    for field in ("name", "source"):
        text = _text(getattr(entry, field))
        longest: Any = EnteredRow._meta.get_field(field).max_length  # type: ignore[union-attr]  # no relation
        if not text:
            example = (
                gettext_noop("such as Human") if field == "name" else gettext_noop("such as Kim et al. 2023, table 9")
            )
            why = Sentence("The {field} is empty; expected one, {example}.", field=field, example=example)
            yield EntryRefused(why, field)
        if len(text) > longest:
            counts = {"count": f"{len(text):,}", "longest": longest}
            why = Sentence("The {field} has {count} characters; expected {longest} at most.", field=field, **counts)
            yield EntryRefused(why, field)
    if entry.kind not in EnteredKind.values:
        kinds = " or ".join(EnteredKind.values)
        why = Sentence("{kind} is not a kind of row; expected {values}.", kind=repr(entry.kind), values=kinds)
        yield EntryRefused(why, "kind")
    enterable = {metric.key: metric for metric in suite.enterable}
    metrics = _metrics(entry)
    for key, text in metrics.items():
        if key not in enterable:
            there = {"suite": suite.title, "key": repr(key), "enterable": listed(enterable)}
            yield EntryRefused(Sentence("{suite} has no figure {key}; there are: {enterable}.", **there), "")
        elif problem := _metric_problem(enterable[key], text):
            yield EntryRefused(problem, key)
    if not metrics:
        yield EntryRefused(gettext_noop("No figure is given; expected at least one."), "")


def _metric_problem(metric: Published, text: str) -> str:
    """Return why a text is not the metric. Returns "" if it is."""
    pattern = POINTS if metric.difference else PER_CENT
    if pattern.fullmatch(text) and abs(Decimal(text)) <= 100:
        return ""
    title, text = labelled(metric.heading, metric.title), repr(text)
    if metric.difference:
        return Sentence(
            "{title} is {text}; expected percentage points, from -100 to 100, such as -3.5.", title=title, text=text
        )
    return Sentence("{title} is {text}; expected per cent, from 0 to 100, such as 87.5.", title=title, text=text)


def checked(suite: Suite, entry: PaperRow) -> PaperRow:
    """Return the entry as it is kept. Raises EntryRefused."""
    for problem in problems_of(suite, entry):
        raise problem
    return PaperRow(_text(entry.name), entry.kind, _text(entry.source), _metrics(entry))


def _text(text: str) -> str:
    return " ".join(text.replace("\x00", "").split())


def _metrics(entry: PaperRow) -> dict[str, str]:
    """Texts as they were typed, a minus of print as a hyphen."""
    return {key: text.strip().replace("−", "-") for key, text in entry.metrics.items() if text.strip()}


def add_row(*, by: User | None, project: Project, suite: Suite, entry: PaperRow) -> EnteredRow:
    """Keep a row. Raises EntryRefused."""
    return _written(by, EnteredRow(project=project, suite=suite.name, created_by=by), suite, entry, "results.entered")


def edit_row(*, by: User | None, row: EnteredRow, entry: PaperRow) -> EnteredRow:
    """Let a row say something else. Raises EntryRefused."""
    return _written(by, row, suite_named(row.suite), entry, "results.entry_changed")


def _written(by: User | None, row: EnteredRow, suite: Suite, entry: PaperRow, action: str) -> EnteredRow:
    kept = checked(suite, entry)
    row.name, row.kind, row.source, row.metrics = kept.name, kept.kind, kept.source, dict(kept.metrics)
    try:
        with transaction.atomic():
            row.save()
            audit.record(by=by, project=row.project, action=action, target=row.uid, suite=suite.name, name=row.name)
    except IntegrityError:
        text = gettext_noop("{suite} has a row {kept} already; edit that one, or choose another name.")
        raise EntryRefused(Sentence(text, suite=suite.title, kept=repr(kept.name)), "name") from None
    return row


@transaction.atomic
def remove_row(*, by: User | None, row: EnteredRow) -> None:
    """Take a row away; snapshots keep theirs."""
    audit.record(
        by=by, project=row.project, action="results.entry_removed", target=row.uid, suite=row.suite, name=row.name
    )
    row.delete()


def rows_of(project: Project, suite: str) -> list[PaperRow]:
    """Return the rows of a suite as documents keep them, people first."""
    rows = EnteredRow.objects.filter(project=project, suite=suite)
    return [
        PaperRow(name=row.name, kind=row.kind, source=row.source, metrics=row.metrics)
        for row in sorted(rows, key=lambda row: (row.kind, row.name))
    ]


def enterable_suites(project: Project) -> dict[str, Suite]:
    """Return the suites of which rows can be entered, by name: those that there are, and those about gold that the
    project has in a label schema of its own."""
    versions = Dataset.objects.filter(project=project, suite="")
    schemas = dict.fromkeys([project.schema, *(version.schema for version in versions.defer("methods"))])
    own = [suite for schema in schemas for suite in suites_of("", schema)]
    every = {**suites(), **{suite.name: suite for suite in own}}
    return {name: suite for name, suite in every.items() if suite.enterable}


# --- in pictures and tables
# ----------------------------------------------------------------------------------------------------------------
def references_of(rows: Sequence[PaperRow], suite: Suite, place: str) -> list[Reference]:
    """Return the rows that have a figure in the table named `place` without its parse."""
    return _references(rows, {m.key: column for m in suite.enterable if (column := m.places.get(place))})


def references_in(rows: Sequence[PaperRow], suite: Suite, parts: Mapping[tuple[str, str], str]) -> list[Reference]:
    """Return the rows that have a figure in a picture, by the names of its `parts` (`ShownPicture.parts`)."""
    return _references(
        rows, {m.key: parts[place] for m in suite.enterable for place in m.places.items() if place in parts}
    )


def _references(rows: Sequence[PaperRow], columns: Mapping[str, str]) -> list[Reference]:
    values = [
        {columns[key]: float(_share(text)) for key, text in row.metrics.items() if key in columns} for row in rows
    ]
    return [Reference(row.name, row.source, own) for row, own in zip(rows, values, strict=True) if own]


def with_entered(table: Table, name: str, rows: Sequence[PaperRow], suite: Suite) -> Table:
    """Return the table, named `name` without its parse, with those rows below that have a figure in it. A figure that
    compares with none of its columns has one at the end of its group."""
    used = [
        (metric, place)
        for metric in suite.enterable
        if (place := metric.places.get(name)) and any(metric.key in row.metrics for row in rows)
    ]
    if not used:
        return table
    columns = list(table.columns)
    for metric, key in used:
        if metric.header and all(column.key != key for column in columns):
            ends = [at for at, column in enumerate(columns) if column.group == metric.group]
            column = Column(key=key, header=metric.header, kind="share", group=metric.group, digits=1)
            columns.insert(ends[-1] + 1 if ends else len(columns), column)
    # a ranking and its categories have a column for each parse; what is published is of neither
    groups, present = {group.key for group in suite.groups}, {column.key for column in columns}
    joint = "_" if name in groups else " " if name.removeprefix("categories-") in groups else ""
    keys = {}
    for metric, place in used:
        own = [f"{parse}{joint}{place}" for parse in PARSES] if joint else [place]
        keys[metric.key] = [key for key in own if key in present]
    entered = []
    for row in rows:
        cells = {key: _share(text) for metric, text in row.metrics.items() for key in keys.get(metric, ())}
        if cells:
            first = {table.columns[0].key: row.name}
            published = row.kind == EnteredKind.PUBLISHED
            entered.append(Entered(first | cells, row.kind, row.source, asked_otherwise=published))
    return replace(table, columns=columns, entered=entered) if entered else table


def _share(per_cent: str) -> str:
    return str(Decimal(per_cent).scaleb(-2))
