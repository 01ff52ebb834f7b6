"""The tables by name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmark.suites.omnitom.labels import ORDER, Scheme
from benchmark.suites.omnitom.report.dimensions import dimension_table
from benchmark.suites.omnitom.report.kinds import kind_dimension_table, kind_table
from benchmark.suites.omnitom.report.labels import confusion_table, distribution_table, slug_of
from benchmark.suites.omnitom.report.main import main_table
from benchmark.suites.omnitom.report.outputs import match_count_table, unreadable_table, volume_table
from benchmark.suites.omnitom.step_keys import STAGE1, STAGE2
from benchmark.suites.results import ParseResults, ShownTable

BY_KIND = {"order": "orders", "role": "roles"}
"""The names of what is shown by each of KINDS."""


def tables(scheme: Scheme, results: ParseResults) -> dict[str, ShownTable]:
    """Return the tables of what has figures, and of what has analyses, in the parse."""
    return dict(_tables(scheme, results))


def names_by_kind(scheme: Scheme) -> dict[str, str]:
    """Return `BY_KIND`, without orders by a scheme that has none."""
    return {by: name for by, name in BY_KIND.items() if by != ORDER or scheme.ordered}


def _tables(scheme: Scheme, results: ParseResults) -> Iterator[tuple[str, ShownTable]]:
    parse, first, second = results.parse, results.analysed[STAGE1], results.analysed[STAGE2]
    if any(results.read.values()):
        main = partial(main_table, results.entrants, parse, scheme)
        yield "main", ShownTable(main, (STAGE1, STAGE2), keeps_unreadable=True)
    if labelled := results.read[STAGE2]:
        yield "dimensions", ShownTable(partial(dimension_table, labelled, parse, scheme), (STAGE2,))
    for by, name in names_by_kind(scheme).items():
        if first:
            yield name, ShownTable(partial(kind_table, first, by, parse), (STAGE1,))
        if second:
            table = partial(kind_dimension_table, second, by, parse, scheme)
            yield f"{name}-dimensions", ShownTable(table, (STAGE2,))
    if first:
        yield "match-counts", ShownTable(partial(match_count_table, first, parse), (STAGE1,))
        yield "volume", ShownTable(partial(volume_table, first, parse), (STAGE1,))
    if first or second:
        yield "unreadable", ShownTable(partial(unreadable_table, results.analysed, parse))
    if second:
        yield from _of_labels(scheme, results)


def _of_labels(scheme: Scheme, results: ParseResults) -> Iterator[tuple[str, ShownTable]]:
    parse, labelled = results.parse, results.analysed[STAGE2]
    for dimension in scheme.keys:
        slug = slug_of(dimension)
        yield f"labels-{slug}", ShownTable(partial(distribution_table, labelled, dimension, parse, scheme))
        for at, entrant in enumerate(labelled, 1):
            yield f"confusion-{at}-{slug}", ShownTable(partial(confusion_table, entrant, dimension, parse, scheme))
