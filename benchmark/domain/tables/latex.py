"""A table as LaTeX: `article`, `booktabs` and `graphicx` are all it needs.

pdfLaTeX knows few characters beyond Western letters. Each other one is written as `\\credenceglyph{字}{5B57}`, which is
the character itself in XeLaTeX and LuaLaTeX and `U+5B57` in pdfLaTeX, so that either compiles.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby

from benchmark.domain.tables.table import Column, Row, Table

Marks = Mapping[tuple[int, str], str]
_GLYPH = r"\providecommand{\credenceglyph}[2]{\ifdefined\Umathcode#1\else\texttt{U+#2}\fi}"
_FIT = (
    r"\providecommand{\credencefit}[1]{\sbox0{#1}"
    r"\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi}"
)
"""The shrinking of what is wider than the line."""
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
    """UTF-8: a `table` environment that fits a column, or as many `table*` as fit the text of a page, with `booktabs`
    rules, the title as caption and the notes below the last.

    A table that is too wide is parted by its columns, its first column in each part; one that is too long goes on in
    further environments, each captioned as continued. `mark` sets the best value of a column bold and the second
    underlined; `intervals` prints them in smaller type. `label` is for \\ref: letters, digits and `:-` only, ValueError
    otherwise.
    """
    if not all(character.isalnum() or character in ":-" for character in label):
        raise ValueError(f"{label!r} is not a label.")
    # a table that fits a column of a two-column page in small type has its intervals beside their values
    widths = [column_width(table, column, intervals=intervals, beside=True) for column in table.columns]
    wide = SMALL * sum(widths) + 12 * (len(widths) - 1) > COLUMN_WIDTH / SHRUNK
    name = "table*" if wide else "table"
    title = escaped(table.title)
    lines = [r"% Needs \usepackage{booktabs} and \usepackage{graphicx}.", _GLYPH, _FIT]
    for at, parts in enumerate(_pages(table, wide, mark, intervals)):
        caption = rf"\caption{{{title}}}" + (rf"\label{{{label}}}" if label else "")
        lines += [
            rf"\begin{{{name}}}[tp]",
            r"\centering",
            r"\scriptsize\setlength{\tabcolsep}{2.5pt}" if wide else r"\small",
            rf"\addtocounter{{table}}{{-1}}\caption[]{{{title} (continued)}}" if at else caption,
            "\n\\par\\medskip\n".join(parts),
            rf"\end{{{name}}}",
        ]
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


WIDE_ROW, NARROW_ROW = 8.2, 12.0
HEAD = 50.0
"""Height of the caption, the head and the rules of a tabular."""


def _pages(table: Table, wide: bool, mark: bool, intervals: bool) -> list[list[str]]:
    """Return what stands in each environment: as many tabulars as its height holds, and the notes with the last or
    after it."""
    marks = table.marks() if mark else {}
    two_lines = intervals and any(column.aside(row) for row in table.all_rows for column in table.columns)
    row_height = (WIDE_ROW * (2 if two_lines else 1)) if wide else NARROW_ROW
    sections = len({row.get(table.section) for row in table.rows}) if table.section else 0
    breaks = 13.0 * (min(sections, 12) + len(table.totals) + len(table.entered))
    parts = []
    for columns in blocks(table, intervals=intervals) if wide else [table.columns]:
        for places in chunks(len(table.rows), row_height, TEXT_HEIGHT - HEAD - breaks):
            text = "\n".join(_tabular(table, columns, places, marks, wide, intervals))
            parts.append((text, HEAD + row_height * len(places) + breaks))
    notes = [
        *table.lead,
        *table.missing_rows,
        *(table.dashes if intervals else ()),
        *table.entered_texts,
        *(f"{row.cells[table.columns[0].key]}: {row.source}" for row in table.entered),
        *table.notes,
        *(table.legend if mark else ()),
    ]
    if notes:
        paragraphs = "\n".join(rf"\par\smallskip{{\scriptsize\raggedright {escaped(note)}\par}}" for note in notes)
        parts.append((paragraphs, notes_height(notes, wide=wide)))
    pages: list[list[str]] = [[]]
    left = TEXT_HEIGHT
    for text, height in parts:
        if pages[-1] and height > left:
            pages.append([])
            left = TEXT_HEIGHT
        pages[-1].append(text)
        left -= height
    return pages


def _tabular(
    table: Table, columns: Sequence[Column], places: range, marks: Marks, wide: bool, intervals: bool
) -> Iterator[str]:
    """Yield the rows at these places, with the totals and the entered rows if they are the last."""
    yield r"\credencefit{%"
    yield rf"\begin{{tabular}}{{{''.join('l' if column.is_text else 'r' for column in columns)}}}"
    yield r"\toprule"
    yield from _head(columns)
    yield r"\midrule"
    section = None
    for at in places:
        row = table.rows[at]
        if table.section and row.get(table.section) != section:
            section = row.get(table.section)
            if at != places.start:
                yield r"\midrule"
            yield rf"\multicolumn{{{len(columns)}}}{{l}}{{\textbf{{{escaped(str(section))}}}}} \\"
        marked = {column.key: marks.get((at, column.key), "") for column in columns}
        yield from _lines(columns, row, wide, intervals, marked)
    last = places.stop == len(table.rows)
    if table.totals and last:
        yield r"\midrule"
        for row in table.totals:
            yield from _lines(columns, row, wide, intervals, dict.fromkeys((c.key for c in columns), "best"))
    if table.entered and last:  # in italics, with that word after the name
        yield r"\midrule"
        for entered in table.entered:
            values = [_cell(column, entered.cells, "") for column in columns]
            values[0] += f" ({entered.kind}, entered)"
            yield " & ".join(rf"\textit{{{value}}}" for value in values) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}}"


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
    titles = [(escaped(column.title), column.is_text) for column in columns]
    yield " & ".join(text if is_text else rf"\multicolumn{{1}}{{c}}{{{text}}}" for text, is_text in titles) + r" \\"


def _lines(
    columns: Sequence[Column], row: Row, wide: bool, intervals: bool, marked: Mapping[str, str]
) -> Iterator[str]:
    """The row; intervals follow their values, or stand below them if the table is wide."""
    values = [_cell(column, row, marked[column.key]) for column in columns]
    small = [_printed(column, column.aside(row)) if intervals else "" for column in columns]
    if not wide:
        values = [
            rf"{value} {{\scriptsize {interval}}}" if interval else value
            for value, interval in zip(values, small, strict=True)
        ]
    yield " & ".join(values) + r" \\"
    if wide and any(small):
        yield " & ".join(rf"{{\tiny {interval}}}" if interval else "" for interval in small) + r" \\"


def _cell(column: Column, row: Row, mark: str) -> str:
    text = _printed(column, column.text(row))
    return rf"\textbf{{{text}}}" if mark == "best" else rf"\underline{{{text}}}" if mark == "second" else text


def _printed(column: Column, text: str) -> str:
    return escaped(text if column.is_text else text.replace("-", "−"))


# --- the room that a table takes on a printed page, in points of LaTeX's fonts in ten points
COLUMN_WIDTH, TEXT_WIDTH = 3.0 * 72.27, 6.3 * 72.27
TEXT_HEIGHT = 520.0
"""The greatest height of a float with its caption; papers have 9 inches or more."""
SHRUNK = 0.85
"""The smallest share of the type's size before a table is parted: seven points to six."""
SMALL, TINY = 1.3, 0.85
"""Sizes of type against that of wide tables: of narrow ones, and of the intervals below their values."""
_NARROW, _BROAD = frozenset("iljtfr.,:;!|'()[] "), frozenset("mwMW%")


@lru_cache(maxsize=4096)
def text_width(text: str) -> float:
    """Return the width of a text in type of seven points."""
    return sum(
        2.7 if character in _NARROW else 6.3 if character in _BROAD else 5.0 if character.isupper() else 4.0
        for character in text
    )


def column_width(table: Table, column: Column, *, intervals: bool, beside: bool) -> float:
    """Return the width of a column without its margins; `beside` if intervals follow their values on one line."""
    widths = [text_width(column.title)]
    # many rows print the same: each text is measured once
    for value, interval in {(column.text(row), column.aside(row) if intervals else "") for row in table.all_rows}:
        width, small = text_width(value), TINY * text_width(interval)
        widths.append(width + small + (2.7 if small else 0.0) if beside else max(width, small))
    return max(widths)


def blocks(table: Table, *, intervals: bool) -> list[list[Column]]:
    """Return the columns in blocks that fit the width of the text one below the other, groups whole where they can be;
    each begins with the first column, which says what a row is of."""
    first, *others = table.columns
    widths = {
        column.key: column_width(table, column, intervals=intervals, beside=False) + 5 for column in table.columns
    }
    room, parts, used = TEXT_WIDTH / SHRUNK - widths[first.key], [[first]], 0.0
    for _, members in groupby(others, key=lambda column: column.group):
        group = list(members)
        whole = sum(widths[column.key] for column in group)
        if used and used + whole > room:
            parts.append([first])
            used = 0.0
        for column in group:
            if used and used + widths[column.key] > room:
                parts.append([first])
                used = 0.0
            parts[-1].append(column)
            used += widths[column.key]
    return parts


def chunks(count: int, line: float, room: float) -> list[range]:
    """Return the places of `count` rows of that height in pieces of even length that `room` holds."""
    most = max(1, int(room // line))
    pieces = max(1, -(-count // most))
    size = -(-count // pieces) if count else 0
    return [range(at, min(at + size, count)) for at in range(0, count, size)] if count else [range(0)]


def notes_height(notes: Sequence[str], *, wide: bool) -> float:
    """Return the height of the notes below a table, a paragraph each in type of seven points."""
    room = 0.92 * (TEXT_WIDTH if wide else COLUMN_WIDTH)  # lines end at words
    return sum(8.2 * -(-text_width(note) // room) + 4 for note in notes)
