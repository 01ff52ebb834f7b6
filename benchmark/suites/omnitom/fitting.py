"""Requirements on gold's labels, so that it can be asked about and counted."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.domain.schema import Schema
from benchmark.suites.omnitom.cells import ILLEGAL, MISSING
from benchmark.suites.omnitom.labels import bare
from benchmark.suites.questions import Resources

TAKEN_KEYS = ("id", "count")
"""Names of other fields and columns of answers."""
TAKEN_LABELS = (MISSING, ILLEGAL, "gold", "model", "total")
"""Names of other columns and rows of tables beside labels."""


def unfit(schema: Schema, resources: Resources) -> str:
    """Return what is wrong with gold that a suite for this schema is to ask about, as the end of a sentence about it;
    empty where it can."""
    theirs = resources.schema
    if theirs != schema:
        return (
            f"is labelled by {theirs.reference}; expected gold labelled by {schema.reference}, whose dimensions "
            f"a run measures."
        )
    odd = next(_odd(schema), "")
    return odd and f"is labelled by {schema.reference}, {odd}"


def _odd(schema: Schema) -> Iterator[str]:
    names = [bare(key) for key in schema.keys]
    for key, name in zip(schema.keys, names, strict=True):
        if key in TAKEN_KEYS:
            yield f"whose dimension {key} has the name of another column of answers; expected another key."
        if names.count(name) > 1:
            yield (
                f"whose dimension {key} differs from another one in digits and low lines alone, which answers "
                f"leave out; expected keys of other letters."
            )
        for value in schema[key].values:
            if value in TAKEN_LABELS:
                yield (
                    f"whose dimension {key} has the label {value!r}, the name of another column of tables; "
                    f"expected another label."
                )
            if "|" in value:
                yield (
                    f"whose dimension {key} has the label {value!r}, which no cell of a table with pipes can "
                    f"hold; expected one without."
                )
