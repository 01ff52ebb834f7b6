"""The label that answers give each cell of a story's gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.domain.schema import Schema
from benchmark.suites.omnitom.records import record_of_sample
from benchmark.suites.questions import Sample


def cell_labels(
    sample: Sample, schema: Schema, parses: Sequence[Mapping[str, Any]]
) -> list[Mapping[int, Sequence[str]]]:
    """Return of each repaired parse of an answer {place of the gold proposition: label of each dimension, "" without
    one}; propositions that nobody is asked about are not in it."""
    record = record_of_sample(sample, schema)
    places = [at for at, row in enumerate(record.rows) if row.is_shown]
    nothing = record.scheme.nothing
    return [
        {at: labels or nothing for at, labels in zip(places, parsed["predicted"], strict=True)} for parsed in parses
    ]
