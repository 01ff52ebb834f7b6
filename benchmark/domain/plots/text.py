"""Colours, type and measures of plots: those of the design system, in light and dark.

Series also differ by the shape of their mark, fills by lightness, so that a grey print tells them apart.
"""

import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from threading import local
from typing import Any

from core.messages import noted

WIDTHS = {"column": 3.0 * 72, "page": 6.3 * 72}
"""Widths of a column and of the text of a two-column paper in points."""
GAP, EDGE = 8.0, 6.0
LINE = 9.0
"""Height of a line of small type."""
Style = dict[str, Any]
"""Options of matplotlib by name."""
TEXT, SMALL = 7.5, 7.0
"""Sizes of type in points."""
STACK = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif'
"""The fonts of an SVG's text in a browser; matplotlib lays it out in DejaVu Sans, which is wider."""
_EASTERN = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Noto Sans CJK JP",
    "WenQuanYi Micro Hei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
)


@lru_cache(maxsize=1)
def families() -> tuple[str, ...]:
    """The font that matplotlib carries, then an East Asian one where the machine has any."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return ("DejaVu Sans", *[name for name in _EASTERN if name in installed][:1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    surface: str
    sunken: str
    ink: str
    soft: str
    line: str
    line_strong: str
    chart: str
    second: str

    def tint(self, share: float) -> str:
        """The chart colour over the surface, as opaque as `share` says."""
        from matplotlib.colors import to_hex, to_rgb

        over, under = to_rgb(self.chart), to_rgb(self.surface)
        red, green, blue = (share * a + (1 - share) * b for a, b in zip(over, under, strict=True))
        return to_hex((red, green, blue))


THEMES = {
    "light": Theme(
        surface="#ffffff",
        sunken="#eff1f6",
        ink="#181b27",
        soft="#535a6e",
        line="#dfe2ea",
        line_strong="#81879c",
        chart="#4350c6",
        second="#b57a10",
    ),
    "dark": Theme(
        surface="#171a22",
        sunken="#212530",
        ink="#e7e9f0",
        soft="#a5acc0",
        line="#2d3240",
        line_strong="#7a8299",
        chart="#8f9bff",
        second="#efc16a",
    ),
}


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


ROOM = {"column": 84.0, "page": 140.0}
"""Points that a label may take in a figure of that width."""
LONGEST, SHORTEST = 30, 8
"""In widths of a Western letter; an East Asian one takes two."""
UNNAMED = "(no name)"
_BOX = "□"


def labels(names: Iterable[str], room: float = ROOM["page"]) -> list[str]:
    """Each name shortened in its middle, where names of one family differ least; what still coincides is numbered.

    `room` is in points; the number of a second and third comes on top.
    """
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        label = fitted(printable(name) or UNNAMED, room)
        seen[label] += 1
        unique.append(noted(label, seen[label]) if seen[label] > 1 else label)
    return unique


def fitted(text: str, room: float, weight: str = "normal") -> str:
    """A printable text, shortened in its middle to `room` points; never below `SHORTEST` letters."""
    sizes = (shortened(text, longest) for longest in range(LONGEST, SHORTEST, -1))
    return next(
        (candidate for candidate in sizes if text_width([candidate], weight=weight) <= room), shortened(text, SHORTEST)
    )


def printable(text: str) -> str:
    """Return the text without control and direction characters or towers of accents; a box stands for what no font at
    hand can draw."""
    characters: list[str] = []
    accents = 0
    for character in unicodedata.normalize("NFC", " ".join(text.split())):
        category = unicodedata.category(character)
        accents = accents + 1 if category in {"Mn", "Me"} else 0
        if category not in {"Cc", "Cf", "Cs"} and accents <= 2:
            characters.append(_BOX if _font(character) is None else character)
    return "".join(characters).strip()


@lru_cache(maxsize=4096)
def _font(character: str) -> int | None:
    """Return the index of the family that draws the character, None where none does."""
    if character.isascii():
        return 0
    from matplotlib.font_manager import FontProperties, fontManager, get_font

    fonts = (get_font(fontManager.findfont(FontProperties(family=family))) for family in families())
    return next((at for at, font in enumerate(fonts) if font.get_char_index(ord(character))), None)


def is_eastern(text: str) -> bool:
    """Return whether a character of a printable text is drawn by another than the first font."""
    return any(_font(character) for character in text)


def width(text: str) -> int:
    return sum(map(_character_width, text))


@lru_cache(maxsize=4096)
def _character_width(character: str) -> int:
    return 0 if unicodedata.combining(character) else 1 + (unicodedata.east_asian_width(character) in "WF")


def shortened(text: str, longest: int) -> str:
    if width(text) <= longest:
        return text
    return f"{_beginning(text, longest // 2)}…{_beginning(text[::-1], longest - 1 - longest // 2)[::-1]}"


def _beginning(text: str, longest: int) -> str:
    return text[: bisect_right(list(accumulate(map(_character_width, text))), longest)]
