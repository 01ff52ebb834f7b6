"""Tables of a benchmark report: a plain type, and CSV, JSON and LaTeX as files."""

from benchmark.domain.tables.latex import to_latex
from benchmark.domain.tables.sourced import Items, Source, SourcedRow, Where, source_of, with_cell
from benchmark.domain.tables.table import Absent, Cells, Column, Entered, Row, Table, absent_text
from benchmark.domain.tables.writing import to_csv, to_json

__all__ = [
    "Absent",
    "Cells",
    "Column",
    "Entered",
    "Items",
    "Row",
    "Source",
    "SourcedRow",
    "Table",
    "Where",
    "absent_text",
    "source_of",
    "to_csv",
    "to_json",
    "to_latex",
    "with_cell",
]
