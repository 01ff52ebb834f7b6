"""Belief tables as prompts contain them and as the official mock model answers (specification, sections 7 and 8)."""

from __future__ import annotations

from collections.abc import Iterable

from benchmark.suites.omnitom.judge_tables import PROPOSITION_COLUMNS
from benchmark.suites.omnitom.labels import ORDER, Scheme
from benchmark.suites.omnitom.records import Record


def extraction_header(scheme: Scheme) -> tuple[str, ...]:
    """Return the heads of a table of propositions."""
    return (*PROPOSITION_COLUMNS, scheme.names[ORDER]) if scheme.ordered else PROPOSITION_COLUMNS


def label_header(scheme: Scheme) -> tuple[str, ...]:
    """Return the heads of a table of labelled propositions."""
    return (*PROPOSITION_COLUMNS, *scheme.names.values())


def _piped(rows: Iterable[Iterable[str]]) -> str:
    """Lines of cells joined by ` | `; a pipe inside a cell is not escaped, as in the released code."""
    return "\n".join(" | ".join(row) for row in rows)


def belief_table(record: Record) -> str:
    """The gold propositions that a model is to label: actor and belief, without rows that lack either."""
    return _piped([PROPOSITION_COLUMNS, *(row.as_told for row in record.shown_rows)])


def gold_extraction_table(record: Record) -> str:
    """Return what a perfect extraction looks like: the official mock model's answer, of every gold row."""
    header = extraction_header(record.scheme)
    return _piped([header, *((row.actor, row.belief, row.order)[: len(header)] for row in record.rows)])


def gold_label_table(record: Record) -> str:
    """Return what a perfect labelling looks like: the official mock model's answer, of every gold row."""
    return _piped([label_header(record.scheme), *((row.actor, row.belief, *row.labels) for row in record.rows)])
