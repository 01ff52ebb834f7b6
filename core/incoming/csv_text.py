"""Records of a CSV text as RFC 4180 has them. Quotes are checked: a text with a quote out of order is refused with the
line of the quote, and nothing of it is cut or joined."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import NamedTuple

from core.language import gettext_noop

MOST_COLUMNS = 200
LONGEST_LINE = 8 * 1024 * 1024
LONGEST_CELL = 1_000_000
DELIMITERS = {",": gettext_noop("a comma"), ";": gettext_noop("a semicolon"), "\t": gettext_noop("a tab")}
ONE_COLUMN = "\x1f"
"""The delimiter of a text whose header has none: a character that no text has."""
_QUOTED = re.compile(r'"(?:[^"]|"")*"?')
_WHOLE = re.compile(r"\s*\d+\s*")
_BLANK = " \r\n" + "".join(DELIMITERS)
_SHOWN = 30

Record = tuple[int, list[str], str]
"""(line on which it begins, cells, what is wrong with one of them)"""


class BadSheet(ValueError):
    """A file that cannot be read, as one sentence that names it; `line` is the line to blame."""

    def __init__(self, sentence: str, line: int = 1) -> None:
        super().__init__(sentence)
        self.line = line


def sign_of(delimiter: str) -> str:
    """Return a delimiter in words."""
    return DELIMITERS.get(delimiter) or gettext_noop(f"the sign {delimiter}")


class CsvText:
    """A text of records. Its first line that is not blank says what stands between cells, unless `delimiter` does.
    Raises BadSheet."""

    def __init__(self, handle: io.TextIOBase, file: str, *, delimiter: str = "") -> None:
        self._handle, self._file = handle, file
        self._line = 0
        self._record: list[str] = []
        head = self._head()
        if not delimiter and head[:4].lower() == "sep=":
            delimiter = head[4:5] or ","
            if delimiter in '\r\n"':
                raise self._bad(gettext_noop("sep= names no character that separates cells"), 1)
            head = self._head()
        self.delimiter = delimiter or self._likely(head)
        self._first = head

    def _bad(self, sentence: str, line: int) -> BadSheet:
        return BadSheet(gettext_noop(f"{self._file}, line {line}: {sentence}."), line)

    def _head(self) -> str:
        """Return the next line with more than blanks and delimiters; empty at the end."""
        return next((line for line in self._lines() if line.strip(_BLANK)), "")

    def _lines(self) -> Iterator[str]:
        while text := self._handle.readline(LONGEST_LINE + 1):
            self._line += 1
            if len(text) > LONGEST_LINE:
                most = LONGEST_LINE // 1024 // 1024
                raise self._bad(gettext_noop(f"the line is longer than {most} million characters"), self._line)
            if "\0" in text:
                raise self._bad(gettext_noop("the line holds a NUL character; expected text"), self._line)
            self._record.append(text)
            yield text

    def _likely(self, head: str) -> str:
        """Return the delimiter of a header: the one of DELIMITERS that stands most often outside quotes."""
        bare = _QUOTED.sub("", head)
        most = max(map(bare.count, DELIMITERS))
        likely = [mark for mark in DELIMITERS if bare.count(mark) == most]
        if not most:
            return ONE_COLUMN
        if len(likely) > 1:
            signs = gettext_noop(" and ").join(map(sign_of, likely))
            raise self._bad(
                gettext_noop(
                    f"{signs} stand equally often between the names of columns; expected one of them, "
                    f"and names that hold the other in quotes"
                ),
                self._line,
            )
        return likely[0]

    def records(self) -> Iterator[Record]:
        """Yield the records, blank ones too."""
        csv.field_size_limit(LONGEST_CELL)
        if not self._first:
            return
        before, line, record = self._line - 1, self._line, self._record
        del record[:-1]  # what is blank above the header
        reader = csv.reader(self._all_lines(), delimiter=self.delimiter, strict=True)
        blank_before_quote = f'{self.delimiter} "'
        try:
            for cells in reader:
                text = record[0]
                if len(record) > 1:
                    self._check_swallowed(cells, line)
                    text = "".join(record)
                problem = _of_blanks(cells) if blank_before_quote in text else ""
                record.clear()
                yield line, cells, problem
                line = before + reader.line_num + 1
        except csv.Error as error:
            raise self._fault("".join(record), line, str(error)) from error

    def _all_lines(self) -> Iterator[str]:
        yield self._first
        yield from self._lines()

    def _check_swallowed(self, cells: list[str], line: int) -> None:
        """Raise BadSheet where a cell in quotes holds a line that is a row of its own: as many cells, and as the row
        itself it begins with a number. Somebody forgot to close the quote. A list of numbers within a text has blanks
        after its commas."""
        if len(cells) < 2 or not _WHOLE.fullmatch(cells[0]):
            return
        for at, text in enumerate(self._record[1:], line + 1):
            inside = text.rstrip("\r\n").split(self.delimiter)
            is_row = len(inside) == len(cells) and _WHOLE.fullmatch(inside[0])
            if is_row and not any(cell.startswith(" ") for cell in inside[1:]):
                raise self._bad(
                    gettext_noop(
                        f"a cell in quotes that opens here holds line {at}, which looks like a row of its own; "
                        f"expected the quote to close before it"
                    ),
                    line,
                )

    def _fault(self, text: str, line: int, error: str) -> BadSheet:
        """Return what is wrong with the quotes of a record that begins on that line."""
        quote = _faulty_quote(text, self.delimiter)
        opened = line + _line_breaks(text[: quote.opens])
        shown = _excerpt(text[quote.opens + 1 :])
        if error.startswith("field larger"):
            return self._bad(
                gettext_noop(
                    f"the cell that begins with {shown!r} is longer than {LONGEST_CELL:,} characters; "
                    f"expected its quote to close before"
                ),
                opened,
            )
        if not quote.closes:
            return self._bad(
                gettext_noop(
                    f"the quote before {shown!r} is never closed; expected a second quote at the end of the cell"
                ),
                opened,
            )
        closed, after = line + _line_breaks(text[: quote.closes]), _excerpt(text[quote.closes + 1 :])
        end = gettext_noop("the end of the line")
        if self.delimiter != ONE_COLUMN:
            end = gettext_noop(f"{sign_of(self.delimiter)} or the end of the line")
        expected = gettext_noop(f"{end} after it, and quotes within a cell twice")
        return self._bad(
            gettext_noop(f"the quote before {shown!r} closes in line {closed} before {after!r}; expected {expected}"),
            opened,
        )


class _Quote(NamedTuple):
    """Places in a text; `closes` is 0 where the quote does not."""

    opens: int
    closes: int = 0


def _faulty_quote(text: str, delimiter: str) -> _Quote:
    """Return the first quote of a record that is not closed, or not followed by the end of its cell; the last one where
    all are in order."""
    at, quote = 0, _Quote(-1)
    while at < len(text):
        if text[at] != '"':
            ends = min(
                end if end >= 0 else len(text) for end in (text.find(mark, at) for mark in (delimiter, "\n", "\r"))
            )
            at = ends + 1
            continue
        quote, closes = _Quote(at), text.find('"', at + 1)
        while closes >= 0 and text[closes + 1 : closes + 2] == '"':
            closes = text.find('"', closes + 2)
        if closes < 0:
            return quote
        quote = _Quote(at, closes)
        if text[closes + 1 : closes + 2] not in ("", delimiter, "\n", "\r"):
            return quote
        at = closes + 2
    return quote


def _of_blanks(cells: list[str]) -> str:
    """Return what is wrong with a record in which a blank stands before the quote of a cell; empty where none does."""
    for number, cell in enumerate(cells, 1):
        if cell[:1] == " " and cell.lstrip(" ")[:1] == '"':
            return gettext_noop(
                f"a blank stands before the quote of cell {number}; expected the quote to begin the cell."
            )
    return ""


def _line_breaks(text: str) -> int:
    return len(re.findall(r"\r\n?|\n", text))


def _excerpt(text: str) -> str:
    """Return how a text begins, on one line."""
    return " ".join(text[: 2 * _SHOWN].split())[:_SHOWN]
