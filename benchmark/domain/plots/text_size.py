"""Width of text in points, and line breaks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from threading import local

from benchmark.domain.plots.theme import SMALL, TEXT, families

_measuring = local()


def text_width(texts: Sequence[str], size: float = TEXT, weight: str = "normal") -> float:
    """Return the width of the longest text in points."""
    return max((_width(text, size, weight) for text in texts), default=0.0)


@lru_cache(maxsize=8192)
def _width(text: str, size: float, weight: str) -> float:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

    if not hasattr(_measuring, "renderer"):
        _measuring.renderer = FigureCanvasAgg(Figure(figsize=(1, 1), dpi=72)).get_renderer()
    font = FontProperties(family=families(), size=size, weight=weight)
    width: float = _measuring.renderer.get_text_width_height_descent(text, font, ismath=False)[0]
    return width


HINTING = 1.05
"""Letters are fitted to the dots of a picture or a screen, so that a line is up to so much wider at another resolution,
and in a browser."""


def wrapped(text: str, room: float, size: float = SMALL) -> list[str]:
    """The text in lines that are no wider than `room` points at any resolution, broken at spaces."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and HINTING * text_width([longer], size) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
