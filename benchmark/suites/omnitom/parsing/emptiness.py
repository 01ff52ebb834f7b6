"""Answers that can be read and hold no row."""

from __future__ import annotations

from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, Scheme
from benchmark.suites.omnitom.parsing.cells import names_of
from benchmark.suites.omnitom.parsing.structured import table_in
from benchmark.suites.omnitom.parsing.tables import has_bare_header


def says_nothing(text: str, scheme: Scheme = OMNITOM_SCHEME) -> bool:
    """Return whether an answer is a table without rows: an empty list of `rows`, or a header with nothing but rules
    below it."""
    value = table_in(text)
    if value is not None:
        return bool(value["rows"] == [])
    return has_bare_header(text, names_of(scheme))
