"""Tables of a suite's own findings: a row for each model, a column for each figure."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.tables import Cell, Column, Table
from benchmark.suites.reports import Finding
from benchmark.suites.results import EntrantResults, ParseResults, ShownTable
from benchmark.suites.showing.entrants import findings_of, row_of
from benchmark.suites.showing.missing import AT_THEIR_WORST, METRICS_WITHOUT, unlike_missing
from core.messages import Sentence, clauses, gettext_noop, listed
from core.statistics import Estimate

Analysed = Sequence[tuple[EntrantResults, Any]]
"""Models with what the suite found in their answers."""
MODEL = Column(key="model", header=gettext_noop("Model"))
Figure = tuple[Column, Callable[[Any], Any]]
"""A column, and its value in the findings of a model."""


def at(name: str, *keys: str) -> Callable[[Any], Any]:
    """Return the function from a finding to what its field of that name has at these keys, None where it has nothing
    there."""

    def value(finding: Any) -> Any:
        found = getattr(finding, name)
        for key in keys:
            found = found.get(key) if isinstance(found, Mapping) else getattr(found, key, None)
        return found

    return value


def figure(key: str, header: str, value: Callable[[Any], Any], **more: Any) -> Figure:
    """Return the column of a share with one decimal, the highest marked; `more` are other fields of the column."""
    return Column(key=key, header=header, **{"kind": "share", "best": "high", "digits": 1, **more}), value


def count(key: str, header: str, value: Callable[[Any], int | None], group: str) -> Figure:
    """Return the column of a count."""
    return Column(key=key, header=header, group=group, kind="count"), value


def table_of(
    analysed: Analysed, group: str, title: str, figures: Sequence[Figure], *notes: str, lead: Sequence[str] = ()
) -> Table:
    """Return a table of figures, in which models have their place in the metric group `group`."""
    rows = []
    for entrant, finding in analysed:
        values = {column.key: value(finding) for column, value in figures}
        cells = {key: Cell.of(value) if isinstance(value, Estimate) else value for key, value in values.items()}
        rows.append(row_of(entrant, group, cells))
    columns = [MODEL, *(column for column, _ in figures)]
    counted = AT_THEIR_WORST if any(column.best for column in columns) else METRICS_WITHOUT
    missing = unlike_missing({group: [entrant for entrant, _ in analysed]}, counted=counted)
    return Table(title=title, columns=columns, rows=rows, lead=[*missing, *lead], notes=[*notes])


def tables_of(
    results: ParseResults, group: str, kind: type[Finding], makers: Mapping[str, Callable[[Any, str], Table]]
) -> dict[str, ShownTable]:
    """Return the tables that `makers` make of findings of a kind, none without such findings."""
    analysed = analysed_of(results, group, kind)
    if not analysed:
        return {}
    return {name: ShownTable(partial(make, analysed, results.parse), (group,)) for name, make in makers.items()}


def analysed_of(results: ParseResults, group: str, kind: type[Finding]) -> Analysed:
    """Return the models of a metric group with their findings of a kind."""
    return findings_of(results.analysed.get(group, ()), results.parse, kind)


def incomplete_sentences(
    entrants: Sequence[EntrantResults], metrics: Sequence[Mapping[str, BoundedEstimate]], headers: Mapping[str, str]
) -> list[str]:
    """Return how many sets each figure of an entrant leaves out because not all their questions were asked; `headers`
    names the figures of sets. Entrants with the same counts share a sentence."""
    models: dict[str, list[str]] = {}
    for entrant, estimates in zip(entrants, metrics, strict=True):
        counts: dict[int, list[str]] = {}
        for name, header in headers.items():
            if name in estimates and (lacking := estimates[name].incomplete):
                counts.setdefault(lacking, []).append(header)
        numbers = clauses(*(f"{listed(named)}: {count:,}" for count, named in counts.items()))
        models.setdefault(numbers, []).append(entrant.model)
    return [
        Sentence(
            "Sets of which not all questions were asked are in no figure of sets ({numbers}), of {names}.",
            numbers=numbers,
            names=listed(names),
        )
        for numbers, names in models.items()
        if numbers
    ]
