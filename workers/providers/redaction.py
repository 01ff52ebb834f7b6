"""Redaction of keys from foreign text: a server may send back the key that it was asked with.

A key is found as it is and in base64 or hexadecimal digits, also where characters of it are written as JSON, URL or
HTML escapes, and where parts are masked as long as half of it is left.
"""

from __future__ import annotations

import base64
import html
import os
import re
from collections.abc import Iterable
from functools import lru_cache

from workers.providers.keys import variable_problem

REDACTED = "[key]"
SHORTEST = 6
"""Characters of the shortest key that is looked for: a shorter one cannot be told from words."""
FRAGMENT = 8
"""Characters that a part of a masked key has at least, to count towards the half; twice as many in base64 or
hexadecimal digits."""
_WORD = re.compile(r"[A-Za-z0-9]")
_ESCAPED = re.compile(
    r"\\+u00([0-9A-Fa-f]{2})|\\+x([0-9A-Fa-f]{2})|\\+(/)|%(?:25)*([0-9A-Fa-f]{2})|&(?:amp;)*#(?:x([0-9A-Fa-f]{2})|([0-9]{2,3}));"
    r"|(&(?:sol|plus|equals|lowbar|period|colon|hyphen|dash);)"
)
_MASKS = "*•●█…"
_MASKED = rf"[\w\-+/=.:{_MASKS}]"


class Redactor:
    """`Redactor(["sk-…"])(text)` is the text without the keys; a text without any is returned as it is."""

    def __init__(self, keys: Iterable[str]) -> None:
        stripped = {key.strip() for key in keys}
        self._key_forms = [form for key in stripped if len(key) >= SHORTEST for form in _forms(key)]

    def __call__(self, text: str) -> str:
        if not self._key_forms or not text:
            return text
        plain, starts = _unescaped(text)
        spans = sorted(span for form in self._key_forms for span in form.find(plain))
        parts: list[str] = []
        end = 0
        for first, last in spans:
            first, last = (first, last) if starts is None else (starts[first], starts[last])
            if last <= end:
                continue
            if first > end or not parts:
                parts += [text[end:first], REDACTED]
            end = last
        return "".join(parts) + text[end:]

    def in_bytes(self, content: bytes) -> bytes:
        """Return bytes of any encoding without the keys, which are ASCII."""
        text = content.decode("latin-1")
        clean = self(text)
        return content if clean is text or clean == text else clean.encode("latin-1")


class _Form:
    """One way of writing a key. A short one is found whole, and where it is not encoded as a word of its own; a long
    one in parts, too."""

    def __init__(self, text: str, *, encoded: bool) -> None:
        self.text, self.encoded = text, encoded
        self.fragment = fragment = 2 * FRAGMENT if encoded else FRAGMENT
        self.gram = fragment // 2
        self.in_parts = len(text) >= 2 * fragment
        # Any part of `fragment` characters holds one of these whole, wherever it begins.
        step = fragment - self.gram + 1
        self.grams = {text[at : at + self.gram] for at in range(0, len(text) - self.gram + 1, step)}
        self.words = re.compile(f"{_MASKED}{{{len(text)},}}")

    def find(self, plain: str) -> list[tuple[int, int]]:
        if not self.in_parts:
            return self._whole(plain)
        spans = self._parts(plain) if any(gram in plain for gram in self.grams) else []
        if self.encoded or not any(mask in plain for mask in _MASKS):
            return spans
        return spans + self._starred(plain)

    def _whole(self, plain: str) -> list[tuple[int, int]]:
        spans, at = [], plain.find(self.text)
        while at >= 0:
            end = at + len(self.text)
            if self.encoded or not (_is_word(plain, at - 1) or _is_word(plain, end)):
                spans.append((at, end))
            at = plain.find(self.text, end)
        return spans

    def _parts(self, plain: str) -> list[tuple[int, int]]:
        """Return the spans of parts that stand near each other and together are half of the key."""
        spans: list[tuple[int, int]] = []
        group: list[tuple[int, int]] = []
        covered: set[int] = set()
        for first, last, at in self._runs(plain):
            if group and first - group[-1][1] > len(self.text):
                group, covered = [], set()
            group.append((first, last))
            covered.update(range(at, at + last - first))
            if 2 * len(covered) >= len(self.text):
                spans += group
                group = group[-1:]
        return spans

    def _runs(self, plain: str) -> list[tuple[int, int, int]]:
        """Return (first, last, place in the key) for the longest parts of the key, in the order of the text."""
        runs: dict[tuple[int, int], int] = {}
        for gram in self.grams:
            at = plain.find(gram)
            while at >= 0:
                for place in _places(self.text, gram):
                    first, last, begin = self._grown(plain, at, place)
                    if last - first >= self.fragment:
                        runs[first, last] = begin
                at = plain.find(gram, at + 1)
        return sorted((first, last, begin) for (first, last), begin in runs.items())

    def _grown(self, plain: str, at: int, place: int) -> tuple[int, int, int]:
        first, begin, last, end = at, place, at + self.gram, place + self.gram
        while first and begin and plain[first - 1] == self.text[begin - 1]:
            first, begin = first - 1, begin - 1
        while last < len(plain) and end < len(self.text) and plain[last] == self.text[end]:
            last, end = last + 1, end + 1
        return first, last, begin

    def _starred(self, plain: str) -> list[tuple[int, int]]:
        """Return the spans of keys in which characters are masked: as long as the key, with half of it in place."""
        size, spans = len(self.text), []
        for word in self.words.finditer(plain):
            for at in range(word.start(), min(word.end() - size, word.start() + 4 * size) + 1):
                same = sum(left == right for left, right in zip(plain[at : at + size], self.text, strict=True))
                if 2 * same >= size:
                    spans.append((at, at + size))
        return spans


def _forms(key: str) -> list[_Form]:
    raw = key.encode()
    texts = [raw.hex(), raw.hex().upper()]
    for offset in range(3):
        # The characters that only this key decides, when it stands `offset` bytes after a whole group of three.
        first, last = -(-8 * offset // 6), 8 * (offset + len(raw)) // 6
        texts += [encode(b"\0" * offset + raw).decode()[first:last] for encode in _BASE64]
    return [_Form(key, encoded=False), *(_Form(text, encoded=True) for text in dict.fromkeys(texts))]


_BASE64 = (base64.b64encode, base64.urlsafe_b64encode)


def _places(text: str, gram: str) -> list[int]:
    return [at for at in range(len(text)) if text.startswith(gram, at)]


def _is_word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and bool(_WORD.match(text[at]))


def _unescaped(text: str) -> tuple[str, list[int] | None]:
    """Return the text with its escapes resolved and the origins of its characters; None if nothing changed."""
    if not any(mark in text for mark in ("\\u00", "\\x", "\\/", "%", "&")):
        return text, None
    parts: list[str] = []
    starts: list[int] = []
    end = 0
    for escape in _ESCAPED.finditer(text):
        parts += [text[end : escape.start()], _character(escape)]
        starts += range(end, escape.start())
        starts.append(escape.start())
        end = escape.end()
    if not parts:
        return text, None
    starts += range(end, len(text) + 1)
    return "".join(parts) + text[end:], starts


def _character(escape: re.Match[str]) -> str:
    unicode, byte, slash, percent, hexadecimal, decimal, name = escape.groups()
    if digits := unicode or byte or percent or hexadecimal:
        return chr(int(digits, 16))
    return slash or (chr(int(decimal)) if decimal else html.unescape(name)[:1])


def redact(text: str) -> str:
    """Return `text` without the keys of models that this process's environment holds."""
    keys = tuple(sorted(value for name, value in os.environ.items() if not variable_problem(name) and name and value))
    return _redactor(keys)(text)


@lru_cache(8)
def _redactor(keys: tuple[str, ...]) -> Redactor:
    return Redactor(keys)
