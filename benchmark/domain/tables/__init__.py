"""Tables of a benchmark report: a plain type, and CSV, JSON and LaTeX as files."""

from benchmark.domain.tables.latex import to_latex
from benchmark.domain.tables.table import Absent, Column, Table, absent_told
from benchmark.domain.tables.writing import to_csv, to_json

__all__ = ["Absent", "Column", "Table", "absent_told", "to_csv", "to_json", "to_latex"]
