"""Problems found by an import, line by line, in bounded memory."""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import attrgetter
from tempfile import SpooledTemporaryFile
from typing import IO

from annotation.domain.columns import Echo, defused, display_name
from core.incoming.sheets import Sheets
from core.language import gettext, ngettext
from core.plain import Json

MOST_NAMES = 100


@dataclass(slots=True)
class LeftOut:
    """`names` are columns and fields in the order in which they were met, at most MOST_NAMES; `sheets` are the sheets
    of each workbook with several."""

    names: list[str] = field(default_factory=list)
    sheets: list[Sheets] = field(default_factory=list)

    def add(self, names: Iterable[str]) -> None:
        """Add columns or fields that are not used."""
        for name in map(display_name, names):
            if name not in self.names and len(self.names) < MOST_NAMES:
                self.names.append(name)

    def add_sheets(self, sheets: Sheets) -> None:
        """Add the sheets of a workbook, if others than the one that was read have values."""
        if sheets.left and sheets not in self.sheets:
            self.sheets.append(sheets)

    def as_json(self) -> Json:
        """Return the names and, for each workbook with several sheets, the sheet that was read and the others."""
        sheets = [{"read": sheets.read, "not_read": list(sheets.left)} for sheets in self.sheets]
        return {"not_used": list(self.names)} | ({"sheets": sheets} if sheets else {})


MAX_LISTED_PROBLEMS = 1_000
MAX_GROUPS = 200
_IN_MEMORY = 256 * 1024
_VALUE = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\d+")
"""Parts that differ between messages that say the same of two lines: quoted values and numbers."""
COLUMNS = ("file", "line", "problem")
_line = csv.writer(Echo()).writerow


@lru_cache(256)  # very many lines of a file have one message
def _kind(message: str) -> str:
    return _VALUE.sub("…", message)


@dataclass(frozen=True, slots=True)
class Problem:
    file: str
    line: int
    message: str


@dataclass(slots=True)
class Alike:
    """Problems that say the same of several lines of a file, but for the values that they name: the first of them, and
    how many others there are."""

    first: Problem
    others: int = 0

    @property
    def lines(self) -> str:
        """The lines in words: "line 3", "line 3 and 412 others"; in the language of the reader."""
        line = self.first.line
        if not self.others:
            return gettext("line {line}").format(line=line)
        text = ngettext("line {line} and {others} other", "line {line} and {others} others", self.others)
        return text.format(line=line, others=f"{self.others:,}")

    @property
    def sentence(self) -> str:
        """One sentence with the file and the lines."""
        return f"{self.first.file}, {self.lines}: {self.first.message}"


class Problems(list[Problem]):
    """The first problems of an import, and all of them in a temporary file. A file of another kind has one a line:
    beyond MAX_LISTED_PROBLEMS they are only counted here."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0
        self.of_other_kinds = 0
        self._alike: dict[tuple[str, str], Alike] = {}
        self._all: IO[bytes] | None = None

    def add(self, problem: Problem) -> None:
        self.total += 1
        if self._all is None:
            self._all = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - it ends with the problems
        line = _line((defused(problem.file), problem.line, defused(problem.message)))
        self._all.write(line.encode("utf-8", "surrogatepass"))
        if len(self) < MAX_LISTED_PROBLEMS:
            self.append(problem)
        kind = (problem.file, _kind(problem.message))
        if (alike := self._alike.get(kind)) is not None:
            alike.others += 1
            alike.first = min(alike.first, problem, key=attrgetter("line"))
        elif len(self._alike) < MAX_GROUPS:
            self._alike[kind] = Alike(problem)
        else:
            self.of_other_kinds += 1

    def grouped(self) -> list[Alike]:
        """Return equal problems together, in order of file and line."""
        return sorted(self._alike.values(), key=lambda alike: (alike.first.file, alike.first.line))

    def sentences(self) -> list[str]:
        """Return a sentence for each group, and one for what is in none."""
        more = [f"{self.of_other_kinds:,} more problems of other kinds."] if self.of_other_kinds else []
        return [alike.sentence for alike in self.grouped()] + more

    def csv_lines(self) -> Iterator[bytes]:
        """Yield a CSV file of all problems, in the order in which they were found."""
        yield (",".join(COLUMNS) + "\r\n").encode()
        if self._all is not None:
            self._all.seek(0)
            yield from self._all
            self._all.seek(0, io.SEEK_END)

    def listed(self) -> list[Problem]:
        """Return the listed problems; the last entry counts those that are not listed."""
        if not (more := self.total - len(self)):
            return list(self)
        return [*self, replace(self[-1], message=f"{more} more problem{' is' if more == 1 else 's are'} not listed.")]
