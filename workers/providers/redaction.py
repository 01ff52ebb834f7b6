"""Redaction of keys from foreign text: a server may send back the key that it was asked with.

A key is found as it is, escaped in JSON or a URL, and in base64 or hexadecimal digits.
"""

import base64
import os
import re
from collections.abc import Iterable
from functools import lru_cache

from workers.providers.keys import variable_problem

REDACTED = "[key]"
SHORTEST = 6
"""Characters of the shortest key that is looked for: a shorter one cannot be told from words."""
LONG = 16
"""Characters of the shortest key that cannot be part of another word by chance."""


class Redactor:
    """`Redactor(["sk-…"])(text)` is the text without the keys; a text without any is returned as it is."""

    def __init__(self, keys: Iterable[str]) -> None:
        stripped = {key.strip() for key in keys}
        forms = {form for key in stripped if len(key) >= SHORTEST for form in _forms(key)}
        longest_first = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(longest_first)) if forms else None

    def __call__(self, text: str) -> str:
        return self._pattern.sub(REDACTED, text) if self._pattern else text

    def in_bytes(self, content: bytes) -> bytes:
        """Return bytes of any encoding without the keys, which are ASCII."""
        text = content.decode("latin-1")
        clean = self(text)
        return content if clean == text else clean.encode("latin-1")


def _forms(key: str) -> list[str]:
    """Return patterns for the ways in which a key may be written. A short key must be a separate word."""
    raw, plain = key.encode(), "".join(map(_escaped, key))
    written = {raw.hex(), raw.hex().upper()}
    for offset in range(3):
        # The characters that only this key decides, when it stands `offset` bytes after a whole group of three.
        first, last = -(-8 * offset // 6), 8 * (offset + len(raw)) // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            written.add(encode(b"\0" * offset + raw).decode()[first:last])
    return [plain if len(key) >= LONG else rf"(?<![A-Za-z0-9]){plain}(?![A-Za-z0-9])", *map(re.escape, written)]


def _escaped(character: str) -> str:
    """Return a pattern for a character as it is, or escaped in JSON or a URL any number of times."""
    if character.isalnum() or character in "-_":
        return character
    return rf"(?:\\*{re.escape(character)}|%(?:25)*(?i:{ord(character):02x}))"


_redactor = lru_cache(8)(Redactor)


def redact(text: str) -> str:
    """Return `text` without the keys of models that this process's environment holds."""
    keys = tuple(sorted(value for name, value in os.environ.items() if not variable_problem(name) and name and value))
    return _redactor(keys)(text)
