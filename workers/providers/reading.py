"""Reading what a provider says where it may say anything: the type that is expected, or what stands for nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from workers.providers.errors import Unreadable

MOST = 2**31 - 1


def read_json(content: bytes) -> dict[str, Any]:
    """Raises Unreadable for everything but a JSON object."""
    try:
        payload = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Unreadable(f"The answer is not UTF-8 (byte {error.start} of {len(content)}).") from error
    except (ValueError, RecursionError) as error:
        page = "a web page, " if content.lstrip()[:1] == b"<" else ""
        told = f"The answer is {page}not JSON: {str(error)[:120]}; it has {len(content)} bytes."
        raise Unreadable(told) from error
    if isinstance(payload, list) and len(payload) == 1 and isinstance(payload[0], dict) and payload[0].get("error"):
        return payload[0]  # Gemini's way to say an error
    if not isinstance(payload, dict):
        raise Unreadable(f"The answer is a JSON {type(payload).__name__}, expected an object.")
    return payload


def count_of(value: Any) -> int:
    """A number of tokens; 0 for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST else 0


def text_or_nothing(value: Any) -> str:
    return value if isinstance(value, str) else ""


def object_of(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def said_in(content: Any) -> str:
    """The text of a message's content: a text, or parts of which some are texts. Raises Unreadable for anything else."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise Unreadable(f"The answer's content is a JSON {type(content).__name__}, expected a text.")
    parts = [one for one in content if isinstance(one, Mapping) and one.get("type", "text") in ("text", "output_text")]
    return "".join(text_or_nothing(one.get("text")) for one in parts)


def is_told(read: int, said: int, text: str) -> bool:
    """Whether these numbers of tokens are a usage: of an answer with a text both are there, else one."""
    return bool(read and said) if text else bool(read or said)
