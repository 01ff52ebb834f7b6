"""Records of a CSV text as RFC 4180 has them. Quotes are checked: a text with a quote out of order is refused with the
line of the quote, and nothing of it is cut or joined."""

import csv
import io
import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from core.messages import Sentence, gettext_noop

MOST_COLUMNS = 200
LONGEST_LINE = 8 * 1024 * 1024
LONGEST_CELL = 1_000_000
DELIMITERS = {",": gettext_noop("a comma"), ";": gettext_noop("a semicolon"), "\t": gettext_noop("a tab")}
ONE_COLUMN = "\x1f"
"""The delimiter of a text whose header has none: a character that no text has."""
_QUOTED = re.compile(r'"(?:[^"]|"")*"?')
_WHOLE = re.compile(r"\s*\d{1,20}\s*")
_OPENS = re.compile(r'"\S')
_BLANK = " \r\n" + "".join(DELIMITERS)
_LONGEST_EXCERPT = 30
_MOST_LISTED = 3

Record = tuple[int, list[str], str]
"""(line on which it begins, cells, what is wrong with one of them)"""


class BadSheet(ValueError):
    """A file that cannot be read, as one sentence that names it; `line` is the line to blame."""

    def __init__(self, sentence: str, line: int = 1) -> None:
        super().__init__(sentence)
        self.line = line


def sign_of(delimiter: str) -> str:
    """Return a delimiter in words."""
    return DELIMITERS.get(delimiter) or Sentence("the sign {delimiter}", delimiter=delimiter)


class CsvText:
    """A text of records. Its first line that is not blank shows what stands between cells, unless `delimiter` is given.
    Raises BadSheet."""

    def __init__(self, handle: io.TextIOBase, file: str, *, delimiter: str = "") -> None:
        self._handle, self._file = handle, file
        self._line = 0
        self._record: list[str] = []
        head = self._head()
        if not delimiter and head[:4].lower() == "sep=":
            delimiter = head[4:5] or ","
            if delimiter in '\r\n"':
                raise BadSheet(Sentence("{file}, line 1: sep= names no character that separates cells.", file=file))
            head = self._head()
        self._first = head
        bare = _QUOTED.sub("", head)
        most = max(map(bare.count, DELIMITERS))  # the likely delimiter occurs most often outside quotes
        likely = [mark for mark in DELIMITERS if bare.count(mark) == most]
        if not delimiter and most and len(likely) > 1:
            sentence = gettext_noop(
                "{file}, line {line}: {first} and {second} occur equally often between the names of columns; "
                "expected one of them, and names that hold the other in quotes."
            )
            raise self._bad(sentence, first=sign_of(likely[0]), second=sign_of(likely[1]))
        self.delimiter = delimiter or (likely[0] if most else ONE_COLUMN)

    def _bad(self, sentence: str, line: int = 0, **values: object) -> BadSheet:
        """Return the refusal of the file for a line, by default the one that was read last."""
        line = line or self._line
        return BadSheet(sentence.format(file=self._file, line=line, **values), line)

    def _head(self) -> str:
        """Return the next line with more than blanks and delimiters, "" at the end."""
        return next((line for line in self._lines() if line.strip(_BLANK)), "")

    def _lines(self) -> Iterator[str]:
        while text := self._handle.readline(LONGEST_LINE + 1):
            self._line += 1
            if len(text) > LONGEST_LINE:
                sentence = gettext_noop("{file}, line {line}: the line is longer than {most} million characters.")
                raise self._bad(sentence, most=LONGEST_LINE // 1024 // 1024)
            if "\0" in text:
                raise self._bad(gettext_noop("{file}, line {line}: the line holds a NUL character; expected text."))
            self._record.append(text)
            yield text

    def records(self) -> Iterator[Record]:
        """Yield the records, blank ones too."""
        csv.field_size_limit(LONGEST_CELL)
        if not self._first:
            return
        before, line, record = self._line - 1, self._line, self._record
        del record[:-1]  # what is blank above the header
        reader = csv.reader(chain([self._first], self._lines()), delimiter=self.delimiter, strict=True)
        blank_before_quote = f'{self.delimiter} "'
        try:
            for cells in reader:
                text = record[0]
                if len(record) > 1:
                    self._check_swallowed(cells, line)
                    text = "".join(record)
                is_odd = '"' in text and (blank_before_quote in text or any(cell.count('"') % 2 for cell in cells))
                problem = _of_quotes(cells, text, self.delimiter) if is_odd else ""
                record.clear()
                yield line, cells, problem
                line = before + reader.line_num + 1
        except csv.Error as error:
            raise self._fault("".join(record), line, str(error)) from error

    def _check_swallowed(self, cells: list[str], line: int) -> None:
        """Raise BadSheet if a cell in quotes holds a line that is a row of its own: as many cells, and as the row
        itself it begins with a number. Somebody forgot to close the quote. A numbered list within a text has blanks
        after its commas, or few cells and a number that is not above the row's, or ends before other cells."""
        if len(cells) < 2 or not _WHOLE.fullmatch(cells[0]):
            return
        for at, text in enumerate(self._record[1:], line + 1):
            bare = text.rstrip("\r\n")
            inside = bare.split(self.delimiter)
            if '"' in bare[:-1] or len(inside) != len(cells) or not _WHOLE.fullmatch(inside[0]):
                continue
            if len(cells) <= _MOST_LISTED and int(inside[0]) <= int(cells[0]):
                return
            if not any(cell.startswith(" ") for cell in inside[1:]):
                sentence = gettext_noop(
                    "{file}, line {line}: a cell in quotes that opens here holds line {at}, which looks like a row of "
                    "its own; expected the quote to close before it."
                )
                raise self._bad(sentence, line, at=at)

    def _fault(self, text: str, line: int, error: str) -> BadSheet:
        """Return what is wrong with the quotes of a record that begins on that line."""
        cell = [*_cells(text, self.delimiter)][-1]
        opened = line + _line_breaks(text[: cell.begins])
        place = {"opened": opened, "excerpt": repr(_excerpt(text[cell.begins + cell.is_quoted :]))}
        if error.startswith("field larger"):
            sentence = gettext_noop(
                "{file}, line {opened}: the cell that begins with {excerpt} is longer than {longest_cell} "
                "characters; expected its quote to close before."
            )
            return self._bad(sentence, opened, **place, longest_cell=f"{LONGEST_CELL:,}")
        if not cell.closes:
            sentence = gettext_noop(
                "{file}, line {opened}: the quote before {excerpt} is never closed; expected a second quote "
                "at the end of the cell."
            )
            return self._bad(sentence, opened, **place)
        sentence = gettext_noop(
            "{file}, line {opened}: the quote before {excerpt} closes in line {closed} before {after}; "
            "expected the end of the cell after it, and quotes within a cell twice."
        )
        closed, after = line + _line_breaks(text[: cell.closes]), repr(_excerpt(text[cell.closes + 1 :]))
        return self._bad(sentence, opened, **place, closed=closed, after=after)


class _Cell(NamedTuple):
    """Places of a cell in the text of its record; `closes` is that of its closing quote, 0 where it has none."""

    begins: int
    ends: int
    is_quoted: bool
    closes: int = 0


def _cells(text: str, delimiter: str) -> Iterator[_Cell]:
    """Yield the cells of a record until one has a quote out of order, and that one."""
    at = 0
    while at < len(text):
        if text[at] != '"':
            ends = min(
                end for mark in (delimiter, "\n", "\r") if (end := text.find(mark, at)) >= 0 or (end := len(text))
            )
            yield _Cell(at, ends, is_quoted=False)
            at = ends + 1
            continue
        closes = text.find('"', at + 1)
        while closes >= 0 and text[closes + 1 : closes + 2] == '"':
            closes = text.find('"', closes + 2)
        yield _Cell(at, closes + 1 if closes >= 0 else len(text), is_quoted=True, closes=max(closes, 0))
        if closes < 0 or text[closes + 1 : closes + 2] not in ("", delimiter, "\n", "\r"):
            return
        at = closes + 2


def _of_quotes(cells: list[str], text: str, delimiter: str) -> str:
    """Return what is wrong with the quotes of a record that can be read; empty where they are in order. A single quote
    within a cell is text: 5" pipe."""
    for number, cell in enumerate(cells, 1):
        if cell[:1] == " " and cell.lstrip(" ")[:1] == '"':
            return Sentence(
                "a blank precedes the quote of cell {number}; expected the quote to begin the cell.", number=number
            )
    opened = 0
    for number, place in enumerate(_cells(text, delimiter), 1):
        cell = text[place.begins : place.ends]
        if place.is_quoted or cell.count('"') % 2 == 0:
            continue
        if opened and cell.rstrip().endswith('"'):
            return Sentence(
                "a quote opens within cell {opened} and closes in cell {number}; expected quotes around whole cells.",
                opened=opened,
                number=number,
            )
        opened = opened or (number if _OPENS.search(cell) else 0)
    return ""


def _line_breaks(text: str) -> int:
    return len(re.findall(r"\r\n?|\n", text))


def _excerpt(text: str) -> str:
    """Return how the first line of a text begins."""
    return text.lstrip()[:_LONGEST_EXCERPT].replace("\r", "\n").partition("\n")[0]
