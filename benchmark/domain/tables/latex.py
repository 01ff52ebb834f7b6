"""A table as LaTeX: `article` and `booktabs` are all it needs.

pdfLaTeX knows few characters beyond Western letters. Each other one is written as `\\credenceglyph{字}{5B57}`, which is
the character itself in XeLaTeX and LuaLaTeX and `U+5B57` in pdfLaTeX, so that either compiles.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby

from benchmark.domain.tables.table import Column, Row, Table

WIDE = 9
"""Tables with more columns span both columns of a page, in small type."""

_GLYPH = r"\providecommand{\credenceglyph}[2]{\ifdefined\Umathcode#1\else\texttt{U+#2}\fi}"
_SPECIAL = {
    **{character: "\\" + character for character in "&%$#_{}"},
    **{character: "{" + character + "}" for character in "[]*`'-"},  # no optional argument, no ligature
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "–": "--",
    "—": "---",
    "−": "$-$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "·": r"$\cdot$",
    "…": r"\ldots{}",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "\xa0": "~",
}
_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327")
_LETTERS = frozenset("ßæøåœÆØÅŒłŁı")


def escaped(text: str) -> str:
    """Text that LaTeX prints as it stands, on one line; control and direction characters are left out."""
    return "".join(map(_character, " ".join(text.split())))


@lru_cache(maxsize=4096)
def _character(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if unicodedata.category(character) in {"Cc", "Cf", "Cs"}:
        return ""
    parts = unicodedata.normalize("NFD", character)
    base, accents = parts[0], parts[1:]
    if character in _LETTERS or (base.isascii() and len(accents) < 2 and _ACCENTS.issuperset(accents)):
        return character
    return f"\\credenceglyph{{{character}}}{{{ord(character):04X}}}"


def to_latex(table: Table, *, label: str = "", mark: bool = True, intervals: bool = True) -> bytes:
    """A `table` (or `table*`) environment, UTF-8, with `booktabs` rules, the title as caption and the notes below.

    `mark` sets the best value of a column bold and the second underlined; `intervals` prints them in smaller type. `label` is for \\ref: letters, digits and `:-` only, ValueError otherwise.
    """
    if not all(character.isalnum() or character in ":-" for character in label):
        raise ValueError(f"{label!r} is not a label.")
    wide = len(table.columns) > WIDE
    notes = (
        *table.lead,
        *table.missing_rows,
        *(table.dashes if intervals else ()),
        *table.notes,
        *(table.legend if mark else ()),
    )
    name = "table*" if wide else "table"
    lines = [
        r"% Needs \usepackage{booktabs}.",
        _GLYPH,
        rf"\begin{{{name}}}[t]",
        r"\centering",
        r"\scriptsize\setlength{\tabcolsep}{2.5pt}" if wide else r"\small",
        rf"\caption{{{escaped(table.title)}}}" + (rf"\label{{{label}}}" if label else ""),
        *([r"\makebox[\linewidth][c]{%"] if wide else []),
        rf"\begin{{tabular}}{{{''.join('l' if column.is_text else 'r' for column in table.columns)}}}",
        r"\toprule",
        *_head(table.columns),
        r"\midrule",
        *_body(table, mark=mark, intervals=intervals),
        r"\bottomrule",
        r"\end{tabular}" + ("}" if wide else ""),
        *(rf"\par\smallskip{{\footnotesize\raggedright {escaped(note)}\par}}" for note in notes),
        rf"\end{{{name}}}",
    ]
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _head(columns: Sequence[Column]) -> Iterator[str]:
    if any(column.group for column in columns):
        cells, rules, at = [], [], 1
        for group, members in groupby(columns, key=lambda column: column.group):
            width = len(list(members))
            cells.append(rf"\multicolumn{{{width}}}{{c}}{{{escaped(group)}}}" if group else " & " * (width - 1))
            rules.append(rf"\cmidrule(lr){{{at}-{at + width - 1}}}" if group else "")
            at += width
        yield " & ".join(cells) + r" \\"
        yield "".join(rules)
    yield " & ".join(map(_heading, columns)) + r" \\"


def _heading(column: Column) -> str:
    text = escaped(f"{column.header} ({column.unit})" if column.unit else column.header)
    return text if column.is_text else rf"\multicolumn{{1}}{{c}}{{{text}}}"


def _body(table: Table, *, mark: bool, intervals: bool) -> Iterator[str]:
    marks = table.marks() if mark else {}
    section = None
    for at, row in enumerate(table.rows):
        if table.section and row.get(table.section) != section:
            section = row.get(table.section)
            if at:
                yield r"\midrule"
            yield rf"\multicolumn{{{len(table.columns)}}}{{l}}{{\textbf{{{escaped(str(section))}}}}} \\"
        yield from _lines(
            table, row, intervals, {column.key: marks.get((at, column.key), "") for column in table.columns}
        )
    if table.totals:
        yield r"\midrule"
        for row in table.totals:
            yield from _lines(table, row, intervals, {column.key: "best" for column in table.columns})


def _lines(table: Table, row: Row, intervals: bool, marked: dict[str, str]) -> Iterator[str]:
    """The row; intervals follow their values, or stand below them where the table is wide."""
    values = [_cell(column, row, marked[column.key]) for column in table.columns]
    small = [_interval(column, row) if intervals else "" for column in table.columns]
    if len(table.columns) <= WIDE:
        values = [
            rf"{value} {{\scriptsize {interval}}}" if interval else value
            for value, interval in zip(values, small, strict=True)
        ]
    yield " & ".join(values) + r" \\"
    if len(table.columns) > WIDE and any(small):
        yield " & ".join(rf"{{\tiny {interval}}}" if interval else "" for interval in small) + r" \\"


def _cell(column: Column, row: Row, mark: str) -> str:
    text = _printed(column, column.text(row.get(column.key)))
    return rf"\textbf{{{text}}}" if mark == "best" else rf"\underline{{{text}}}" if mark == "second" else text


def _interval(column: Column, row: Row) -> str:
    return _printed(column, column.interval_text(row))


def _printed(column: Column, text: str) -> str:
    return escaped(text if column.is_text else text.replace("-", "−"))
