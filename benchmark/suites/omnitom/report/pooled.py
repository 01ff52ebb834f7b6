"""Notes on missing rows for tables of rows pooled over stories."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.domain.tables import Row
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.missing import LEFT_OUT, unlike_missing
from core.messages import gettext_noop

POOLED = gettext_noop("Rows are pooled over stories; brackets: 95 % intervals over stories; n: rows.")
POOLED_CELLS = gettext_noop("Rows are pooled over stories; brackets: 95 % intervals over stories; n: cells.")
BOUNDS_NOTE = (
    "Rows not judged are in no figure; brackets, and the worst and best case in CSV and JSON, take them as unmatched "
    "and as matched, or as of another match count and as of this one."
)
CASES_NOTE = (
    "Worst and best case, in CSV and JSON: with missing answers and rows not judged at their worst and at their best."
)


def pooled_lead(group: str, entrants: Sequence[EntrantResults]) -> list[str]:
    return unlike_missing({group: entrants}, counted=LEFT_OUT)


def of_bounds(rows: Sequence[Row]) -> list[str]:
    """Return what brackets and bounds make of rows that judges left out, where there are any."""
    bounds = (value for row in rows for key, value in row.items() if key.endswith(" bounds"))
    return [BOUNDS_NOTE] if any(bounds) else []
