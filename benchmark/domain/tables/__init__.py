"""Tables of a benchmark report: a plain type, the paper's tables as builders, CSV, JSON and LaTeX as files."""

from benchmark.domain.tables.latex import to_latex
from benchmark.domain.tables.omnitom import (
    by_dimension_and_category,
    estimate,
    estimated,
    main_results,
    match_count_distribution,
    unusable_outputs,
)
from benchmark.domain.tables.table import Absent, Column, Table, absent_told
from benchmark.domain.tables.writing import to_csv, to_json

__all__ = [
    "Absent",
    "Column",
    "Table",
    "absent_told",
    "by_dimension_and_category",
    "estimate",
    "estimated",
    "main_results",
    "match_count_distribution",
    "to_csv",
    "to_json",
    "to_latex",
    "unusable_outputs",
]
