"""Names in plain text, such as a tab's title, where no <bdi> can stand."""

from __future__ import annotations

from django import template

register = template.Library()
FIRST_STRONG_ISOLATE, POP_DIRECTIONAL_ISOLATE = "\u2068", "\u2069"
_CONTROLS = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
"""Embeddings, overrides and isolates, which reach beyond the name that holds them (Unicode Annex 9, table of formatting
characters)."""


@register.filter(is_safe=True)
def isolate(name: str) -> str:
    """Keep the writing direction of a name to itself: without its own controls, and isolated where it is not plain
    ASCII."""
    text = name.translate(_CONTROLS)
    return text if text.isascii() else f"{FIRST_STRONG_ISOLATE}{text}{POP_DIRECTIONAL_ISOLATE}"
