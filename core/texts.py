"""JSON and text in the one form that is hashed and stored."""

import json
from collections.abc import Mapping
from typing import Any


def canonical(body: Mapping[str, Any]) -> str:
    """The body as text: sorted keys, no spaces, characters as they are. Equal bodies give equal texts."""
    text = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if text.isascii() or not _has_lone_surrogate(text):
        return text
    return json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)


def storable(text: str) -> str:
    """`text` as every database holds it: NUL becomes its picture (U+2400), half a surrogate pair the replacement
    character."""
    if "\x00" in text:
        text = text.replace("\x00", "\u2400")
    return text.encode("utf-8", "replace").decode() if _has_lone_surrogate(text) else text


def _has_lone_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
