"""Records of a JSON text: JSON Lines, a list of objects, an object around such a list, an object with a record by each
name, or objects one after the other, over as many lines as they like.

JSON Lines are read line by line, and a broken line is a fault of that line. Any other text is one document: a broken
place refuses it as a whole.
"""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from core.incoming.encodings import BadText, Lines
from core.incoming.json_lines import LONGEST_LINE, BadLine, lines_of, object_of_line
from core.incoming.misfit import kind_of
from core.incoming.text import NotJson, json_of, unstorable, value_at
from core.messages import Sentence, gettext_noop
from core.plain import Json

LONGEST_DOCUMENT = 64 * 1024 * 1024
_BLANKS = re.compile(r"[ \t\r\n]*")
_LIST_FIRST = re.compile(rb'\s*\{\s*"[^"\\]{1,100}"\s*:\s*\[')
_NO_TEXT = b"\xef\xbb\xbf\xff\xfe \t\r\n"
_LENIENT = json.JSONDecoder()

Item = tuple[int, Json | BadLine]
"""(line on which it begins, the object or what is wrong with it)"""
IsRecord = Callable[[Sequence[str]], bool]
"""Says of the names of an object whether it is a record."""


class BadJson(BadText):
    """A document that is no JSON, as one sentence that names the file."""


def is_json(start: bytes) -> bool:
    """Return whether a text that begins like this, in any of the encodings, is JSON."""
    return start.replace(b"\0", b"").lstrip(_NO_TEXT)[:1] in (b"{", b"[")


class JsonText:
    """The records of a text from its start. Once they are read, `around` are the fields of an object around them that
    hold none. Raises BadJson."""

    def __init__(self, handle: Lines, file: str, is_record: IsRecord) -> None:
        self.around: list[str] = []
        self._file, self._is_record = file, is_record
        self._lines = _Ahead(handle)
        self.is_document = self._begins_document(self._lines.first, self._lines.second)

    def _begins_document(self, first: bytes, second: bytes) -> bool:
        """Return whether the first two lines with text begin a document: the first alone is no value, or it is the only
        line and no record."""
        is_list = first[:1] == b"["
        if len(first) > LONGEST_LINE:
            return is_list or bool(_LIST_FIRST.match(first))
        try:
            value = json_of(first, nan=True)
        except NotJson:
            goes_on = first[-1:] in (b"[", b":") or (first[-1:] in (b"{", b",") and second[:1] in (b'"', b"}"))
            return is_list or goes_on
        return not second and (is_list or (isinstance(value, dict) and not self._is_record(list(value))))

    def lines(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield numbers and lines of JSON Lines, as `lines_of` does."""
        return lines_of(self._lines)

    def objects(self) -> Iterator[Item]:
        """Yield the records in order, with a BadLine in place of each that cannot be kept."""
        if self.is_document:
            document = _Document(self._document(), self._file, self._is_record)
            self.around = document.around
            yield from document.objects()
            return
        for number, raw in self.lines():
            try:
                value = object_of_line(raw, nan=True)
            except BadLine as error:
                yield number, error
            else:
                if value is not None:
                    yield number, value

    def _document(self) -> str:
        raw = bytearray()
        while part := self._lines.readline(LONGEST_LINE):
            raw += part
            if len(raw) > LONGEST_DOCUMENT:
                sentence = gettext_noop(
                    "{file} is one JSON document of more than {most} MB; save it as JSON Lines, one object a line."
                )
                raise BadJson(sentence.format(file=self._file, most=LONGEST_DOCUMENT // 1024 // 1024))
        try:
            return raw.decode().removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            line = raw[: error.start].count(b"\n") + 1
            sentence = gettext_noop("{file}, line {line}: byte {start} is not UTF-8; expected JSON in UTF-8.")
            raise BadJson(sentence.format(file=self._file, line=line, start=error.start)) from error


class _Ahead:
    """Lines of a handle, read ahead to the second one with text. `first` and `second` are these two without blanks
    around them; empty if there is none."""

    def __init__(self, handle: Lines) -> None:
        self._handle = handle
        self._ahead: list[bytes] = []
        self.first = self._next_with_text()
        self.second = self._next_with_text() if len(self.first) <= LONGEST_LINE else b""
        self._ahead.reverse()

    def _next_with_text(self) -> bytes:
        while chunk := self._handle.readline(LONGEST_LINE + 1):
            self._ahead.append(chunk)
            if text := chunk.removeprefix(BOM_UTF8).strip():
                return text
        return b""

    def readline(self, size: int, /) -> bytes:
        if not self._ahead:
            return self._handle.readline(size)
        line = self._ahead.pop()
        if len(line) > size:
            self._ahead.append(line[size:])
        return line[:size]


class _Entry(NamedTuple):
    """A field of an object; `place` is that of its value."""

    name: str
    place: int
    is_list: bool
    is_record: bool


class _Document:
    """Walks over a document value by value: no more than one record is in memory in addition to the text."""

    def __init__(self, text: str, file: str, is_record: IsRecord) -> None:
        self.around: list[str] = []
        self._text, self._file, self._is_record = text, file, is_record
        self._at = self._counted = 0
        self._line = 1

    def objects(self) -> Iterator[Item]:
        self._skip()
        while self._at < len(self._text):
            if self._sign() == "[":
                yield from self._items()
            elif self._sign() == "{":
                yield from self._object()
            else:
                raise self._bad(gettext_noop("an object or a list of objects"))
            self._skip()

    def _object(self) -> Iterator[Item]:
        """Yield the records of an object: itself, those of the one list in it, or those by its names."""
        start, entries = self._at, self._entries()
        end, names = self._at, [entry.name for entry in entries]
        lists = [entry for entry in entries if entry.is_list]
        if self._is_record(names) or not (lists or (entries and all(entry.is_record for entry in entries))):
            self._at = start
            yield self._element()
        elif lists:
            if len(lists) > 1:
                keys = ", ".join(entry.name[:40] for entry in lists[:5])
                sentence = gettext_noop("{file} has several lists of objects ({keys}); expected one of them.")
                raise BadJson(sentence.format(file=self._file, keys=keys))
            self._at = lists[0].place
            yield from self._items()
            self.around += [entry.name for entry in entries if entry is not lists[0]]
        else:
            for entry in entries:
                self._at = entry.place
                yield self._element()
            self.around.append(gettext_noop("the names of the objects"))
        self._at = end

    def _entries(self) -> list[_Entry]:
        entries: list[_Entry] = []
        self._step("{")
        while self._sign() != "}":
            if entries:
                self._step(",")
            if self._sign() != '"':
                raise self._bad(gettext_noop("the name of a field"))
            name = self._value()
            self._skip()
            self._step(":")
            place = self._at
            if self._sign() == "[":
                kinds = [isinstance(item, dict) for _, item in self._items()]
                entries.append(_Entry(str(name), place, any(kinds), is_record=False))
            else:
                value = self._value()
                is_record = isinstance(value, dict) and self._is_record(list(value))
                entries.append(_Entry(str(name), place, is_list=False, is_record=is_record))
            self._skip()
        self._at += 1
        return entries

    def _items(self) -> Iterator[Item]:
        """Yield the records of the list that begins here."""
        self._step("[")
        is_first = True
        while self._sign() != "]":
            if not is_first:
                self._step(",")
            is_first = False
            yield self._element()
            self._skip()
        self._at += 1

    def _element(self) -> Item:
        line, start = self._line_here(), self._at
        value = self._value()
        if isinstance(value, BadLine):
            return line, value
        if not isinstance(value, dict):
            return line, BadLine(Sentence("The list holds {value}; expected an object.", value=kind_of(value)))
        if "\\u" in self._text[start : self._at] and (what := unstorable(value)):
            return line, BadLine(Sentence("The object cannot be kept: {what}; remove it.", what=what))
        return line, value

    def _value(self) -> Any:
        """Return the value that begins here, or a BadLine where it is JSON and cannot be taken. Raises BadJson."""
        try:
            value, self._at = value_at(self._text, self._at, nan=True)
        except NotJson as error:
            if error.line:
                raise BadJson(error.message_for(self._file)) from error
            try:
                _, self._at = _LENIENT.raw_decode(self._text, self._at)
            except (ValueError, RecursionError):
                raise BadJson(error.message_for(self._file)) from error
            return BadLine(str(error))
        return value

    def _sign(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self) -> None:
        blanks = _BLANKS.match(self._text, self._at)
        self._at = blanks.end() if blanks else self._at

    def _step(self, sign: str) -> None:
        """Go behind a sign and the blanks after it."""
        if self._sign() != sign:
            raise self._bad(f"“{sign}”")
        self._at += 1
        self._skip()

    def _bad(self, expected: str) -> BadJson:
        line, column = self._line_here(), self._at - self._text.rfind("\n", 0, self._at)
        actual = kind_of(self._text[self._at : self._at + 20]) if self._sign() else gettext_noop("the end of the file")
        place = {"file": self._file, "line": line, "column": column}
        sentence = gettext_noop("{file}, line {line}, column {column}: it holds {actual}; expected {expected}.")
        return BadJson(sentence.format(**place, actual=actual, expected=expected))

    def _line_here(self) -> int:
        if self._at < self._counted:
            self._counted, self._line = 0, 1
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line
