"""Colours, type and measures of plots: those of the design system, in light and dark.

Series also differ by the shape of their mark, fills by lightness, so that a grey print tells them apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

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
