"""SHA-256 of texts and of what JSON can hold, as 64 hexadecimal digits."""

import hashlib
import json
from collections.abc import Callable
from typing import Any


def text_digest(text: str) -> str:
    """Return the digest of a text, which may hold halves of surrogate pairs."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def json_digest(
    value: object, *, sort_keys: bool = False, ensure_ascii: bool = True, default: Callable[[Any], object] | None = None
) -> str:
    """Return the digest of a value written as JSON, with these arguments of `json.dumps`. Digests that are kept are
    made with the same ones for ever."""
    return text_digest(json.dumps(value, sort_keys=sort_keys, ensure_ascii=ensure_ascii, default=default))
