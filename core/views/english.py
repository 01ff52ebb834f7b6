"""Views whose answers programs read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

View = TypeVar("View", bound=Callable[..., object])


def in_english(view: View) -> View:
    """Have a view answer in English whatever the language of its reader: it sends a file of data."""
    view.in_english = True  # type: ignore[attr-defined]
    return view
