"""Text from outside, in the encodings that programs save it in."""

import codecs
import io
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from tempfile import SpooledTemporaryFile
from typing import IO, Protocol

from core.messages import Sentence, gettext_noop

WINDOWS = "windows-1252"
CHINESE = "gb18030"
ENCODINGS = {
    "": gettext_noop("UTF-8 or UTF-16"),
    CHINESE: gettext_noop("GB 18030 (Chinese, also GBK)"),
    WINDOWS: gettext_noop("Windows-1252 (Western European)"),
}
"""What somebody may say of a file; empty is what can be told from its bytes."""
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_OTHERS = {
    b"%PDF-": gettext_noop("a PDF document"),
    b"\x89PNG\r\n": gettext_noop("a picture (PNG)"),
    b"\xff\xd8\xff": gettext_noop("a picture (JPEG)"),
    b"GIF8": gettext_noop("a picture (GIF)"),
    b"{\\rtf": gettext_noop("an RTF document"),
    b"\x1f\x8b": gettext_noop("a compressed file (gzip)"),
    b"PK\x03\x04": gettext_noop("a zip file, as .docx and .ods are"),
    b"\xd0\xcf\x11\xe0": gettext_noop("a workbook of an old format (.xls) or a document of one (.doc)"),
}
"""Files that begin with bytes that no text begins with."""
_SAMPLE = 4096
_UNMARKED = ("utf-16-le", "utf-16-be")
_EAST_ASIA = ("gb2312", "big5", "shift_jis", "euc_kr")
_SENSE = 0.8
"""The least share of common characters: pieces of a Chinese corpus have 0.99 of them, bytes swapped 0.58 at most."""
_USUAL = frozenset((0xA1, 0xA3, *range(0xB0, 0xD8)))
"""The first bytes that GB 2312 has for punctuation and for the 3,755 usual ideographs."""
_PAIR = re.compile(rb"[\xa1-\xfe]{2}")
_PIECE = 1024 * 1024
_IN_MEMORY = 4 * 1024 * 1024


class BadText(ValueError):
    """Bytes that are not text, or not in an encoding that can be told; one sentence that names the file."""


def encoding_of(start: bytes) -> str:
    """Return the encoding that the first bytes of a text say, by their mark or by the one order of bytes of UTF-16 in
    which they make sense; UTF-8 where they say nothing."""
    for mark, name in _MARKS.items():
        if start.startswith(mark):
            return name
    fitting = _readings(start)
    return fitting[0] if len(fitting) == 1 else "utf-8-sig"


def _readings(start: bytes) -> list[str]:
    """Return the encodings in which a text without a mark makes sense; UTF-8 where it has no zeros, as no line, comma
    or brace is without one in UTF-16."""
    sample = start[:_SAMPLE]
    if b"\0" not in sample:
        return ["utf-8-sig"]
    return [name for name in ("utf-8-sig", *_UNMARKED) if _sense(sample, name) >= _SENSE]


def _sense(sample: bytes, encoding: str) -> float:
    """Return the share of characters that texts are made of: those of alphabets, and of ideographs and signs the ones
    that are in use in one of the countries that write them."""
    text = codecs.getincrementaldecoder(encoding)("replace").decode(sample)
    plain = sum(char < "\u2000" and (char.isprintable() or char in "\t\r\n") for char in text)
    rest = "".join(char for char in text if char >= "\u2000")
    encodable = max(len(rest.encode(charset, "ignore").decode(charset)) for charset in _EAST_ASIA)
    return (plain + encodable) / max(len(text), 1)


def seekable(handle: IO[bytes]) -> IO[bytes]:
    """Return the handle, or a copy of what comes out of a pipe."""
    if handle.seekable():
        return handle
    copy: IO[bytes] = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - the caller's reading ends with it
    shutil.copyfileobj(handle, copy)
    copy.seek(0)
    return copy


def text_of(handle: IO[bytes], file: str, *, encoding: str = "") -> io.TextIOWrapper:
    """Return the text of a handle at its start, line ends as they are, in the named encoding or the one that its first
    bytes say.

    All of it is read once before. Raises BadText, which says what it is where it is not text, asks for an
    encoding where it is not UTF-8, and to leave out the named one where that would read other letters than are there.
    """
    start = _start(handle, file)
    if encoding:
        _check_named(handle, file, encoding, start)
        handle.seek(0)
    name = encoding or encoding_of(start)
    if b"\0" in start and not name.startswith(("utf-16", "utf-32")):
        if tuple(_readings(start)) == _UNMARKED:
            raise BadText(
                Sentence("{file} can be read as UTF-16 in either order of bytes; save it as UTF-8.", file=file)
            )
        raise BadText(Sentence("{file} holds NUL bytes, so it is neither text nor a spreadsheet (.xlsx).", file=file))
    decoder = codecs.getincrementaldecoder(name)()
    line = 1
    for piece in _pieces(handle):
        try:
            line += decoder.decode(piece, final=not piece).count("\n")
        except UnicodeDecodeError as error:
            line += error.object[: error.start].count(b"\n")
            raise BadText(_fault(file, line, name, error)) from error
    handle.seek(0)
    return io.TextIOWrapper(handle, encoding=name, newline="")


def _start(handle: IO[bytes], file: str) -> bytes:
    start = handle.read(_SAMPLE)
    handle.seek(0)
    for first, kind in _OTHERS.items():
        if start.startswith(first):
            raise BadText(
                Sentence("{file} is {kind}; expected text (.csv, .jsonl) or a workbook (.xlsx).", file=file, kind=kind)
            )
    return start


class Lines(Protocol):
    """Source from which lines of bytes are read."""

    def readline(self, size: int, /) -> bytes: ...


class _Recoded:
    """Lines of a text as UTF-8; a line of so many characters may have more bytes."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text

    def __del__(self) -> None:
        with suppress(ValueError):  # somebody closed the handle already
            self._text.detach()  # a text that goes closes its handle, which is the caller's to read again

    def readline(self, size: int, /) -> bytes:
        return self._text.readline(size).encode("utf-8", "surrogatepass")


def utf8_lines(handle: IO[bytes], file: str, *, encoding: str = "") -> Lines:
    """Return UTF-8 lines of a handle, which are not checked, whatever encoding it has. The handle stays open. Raises
    BadText."""
    source = seekable(handle)
    name = encoding or encoding_of(_start(source, file))
    return source if name == "utf-8-sig" else _Recoded(text_of(source, file, encoding=encoding))


def _check_named(handle: IO[bytes], file: str, named: str, start: bytes) -> None:
    own = encoding_of(start)
    if own == "utf-8-sig":
        # Hardly a text in an encoding of single bytes is UTF-8 to its end and no ASCII.
        decoder, is_ascii = codecs.getincrementaldecoder("utf-8")(), True
        try:
            for piece in _pieces(handle):
                is_ascii &= decoder.decode(piece, final=not piece).isascii()
        except UnicodeDecodeError:
            return
        if is_ascii:
            return
    own, named = own.removesuffix("-sig")[:6].upper(), _title(named)
    raise BadText(
        Sentence("{file} is {own}, not {named}; choose the encoding UTF-8 or UTF-16.", file=file, own=own, named=named)
    )


def _fault(file: str, line: int, name: str, error: UnicodeDecodeError) -> str:
    if not name.startswith("utf-8"):
        sentence = gettext_noop("{file} is not {name}: {reason} near line {line}.")
        return sentence.format(file=file, name=_title(name), reason=error.reason, line=line)
    begin = error.object.rfind(b"\n", 0, error.start) + 1
    proposed = CHINESE if _is_chinese(error.object[begin:]) else WINDOWS
    text = error.object[begin:].partition(b"\n")[0].decode(proposed, "replace")
    middle = len(error.object[begin : error.start].decode(proposed, "ignore"))
    near = " ".join(text[max(0, middle - 20) : middle + 20].split())
    sentence = gettext_noop(
        "{file} is not UTF-8. If line {line} reads “{near}”, choose the encoding {encoding}; else save it as UTF-8."
    )
    return sentence.format(file=file, line=line, near=near, encoding=_title(proposed))


def _title(name: str) -> str:
    return ENCODINGS.get(name, name.upper()).partition(" (")[0]


def _is_chinese(raw: bytes) -> bool:
    """Return whether bytes can be read as GB 18030, and more than half of what is not ASCII then is usual in Chinese.
    Of a piece of a Chinese corpus 0.85 is; of Western European letters, which often can be read as well, nothing is."""
    try:
        text = codecs.getincrementaldecoder(CHINESE)().decode(raw)
    except UnicodeDecodeError:
        return False
    usual = sum(pair[0] in _USUAL for pair in _PAIR.findall(text.encode("gb2312", "ignore")))
    return usual * 2 > sum(not char.isascii() for char in text)


def _pieces(handle: IO[bytes]) -> Iterator[bytes]:
    """Yield the rest of the handle bit by bit, and nothing at the end, once."""
    while piece := handle.read(_PIECE):
        yield piece
    yield b""
