"""Values that bodies of several subjects have."""

from __future__ import annotations

from typing import Annotated, Any

from annotation.domain.drafts import LONGEST
from annotation.models import ErrorTag, Role
from core.incoming.shapes import SPACE, Among, Like

MAX_REASON = 2000
Label = Annotated[str, Like(r"^[^\u0000]{1,40}$", "a label")]
Reason = Annotated[
    str, Like(r"^[^\u0000]*$", f"a text of at most {MAX_REASON} characters, without NUL", max_length=MAX_REASON)
]
TAGS = ("", *ErrorTag.values)
Tag = Annotated[str, Among(TAGS)]
ROLES = tuple(Role.values)


def words_of_row(name: str, least: str = "+") -> Like:
    most = LONGEST[name]
    return Like(rf"^[^\u0000]{least}$", f"a text of at most {most} characters, without NUL", max_length=most)


def words(most: int) -> Like:
    expected = f"a text of at most {most} characters that says something, without NUL"
    return Like(rf"^[^\u0000]*[^{SPACE}\u0000][^\u0000]*$", expected, max_length=most)


def whole(described: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON Schema with the shapes that it names inside it."""
    inner = described.pop("$defs", {})

    def put(part: Any) -> Any:
        if isinstance(part, list):
            return [put(one) for one in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return put(inner[part["$ref"].rpartition("/")[2]])
        return {name: put(one) for name, one in part.items()}

    inlined: dict[str, Any] = put(described)
    return inlined
