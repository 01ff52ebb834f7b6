"""Text with placeholders: which ones it holds, and putting values in their places."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

ANSWER_FORMATS = ("text", "structured")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")
_GAP = re.compile(r"(\n(?:[ \t]*\n)+)")


@dataclass(frozen=True, slots=True)
class Template:
    """The two messages of a request, with placeholders; an empty system part is not a message."""

    system: str
    user: str

    @property
    def placeholders(self) -> frozenset[str]:
        return placeholders(self.system) | placeholders(self.user)

    def filled(self, values: Mapping[str, str | None]) -> Template:
        return Template(fill(self.system, values), fill(self.user, values))


def placeholders(text: str) -> frozenset[str]:
    """The names between braces: `{story}` holds one, `{"rows": []}` and `{ story }` hold none."""
    return frozenset(_PLACEHOLDER.findall(text))


def include(text: str, pieces: Mapping[str, str]) -> str:
    """`text` with every placeholder that names a piece replaced by that piece, once; other placeholders stay."""
    return _PLACEHOLDER.sub(lambda match: pieces.get(match[1], match[0]), text)


def fill(template: str, values: Mapping[str, str | None]) -> str:
    """The template with its values, in one pass: what a value holds is never taken for a placeholder.

    None means that there is nothing to show. A paragraph whose placeholders all have None is left out, with the blank
    lines before it; elsewhere None leaves no text. Raises KeyError for a placeholder without a value.
    """
    parts = _GAP.split(template)
    filled: list[str] = []
    for at in range(0, len(parts), 2):
        if not _is_absent(parts[at], values):
            gap = parts[at - 1] if filled else ""
            filled += [gap, parts[at]]
    return _PLACEHOLDER.sub(lambda match: values[match[1]] or "", "".join(filled))


def _is_absent(paragraph: str, values: Mapping[str, str | None]) -> bool:
    names = placeholders(paragraph) - {"fence"}
    return bool(names) and all(values[name] is None for name in names)
