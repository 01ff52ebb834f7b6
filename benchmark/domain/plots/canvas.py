"""A drawing surface in points from the top left corner, and its bytes as SVG, PDF or PNG.

Only matplotlib's object interface is used, so plots can be drawn in several threads. It takes a second to load, so that
only what draws imports this module, when it does: which plot it is, and of what, is known without it.
"""

import io
from collections.abc import Sequence
from threading import Lock
from typing import Any
from xml.etree import ElementTree

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from benchmark.domain.plots.text import (
    HINTING,
    LINE,
    SMALL,
    STACK,
    TEXT,
    THEMES,
    Style,
    families,
    is_eastern,
    printable,
    text_width,
)
from core.digests import text_digest

# Read while drawing, so they are set once, for the process: figures are drawn in threads. The kind of PDF fonts is the
# exception, behind a lock (`Canvas.bytes`).
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "credence", "text.parse_math": False})

PNG_DPI = 200
_POINT = 72
_PDF_FONTS = Lock()


class Canvas:
    """`width` and `height` in points; `theme` is light or dark, anything else a KeyError."""

    def __init__(self, width: float, height: float, theme: str) -> None:
        self.theme = THEMES[theme]
        self.width, self.height = width, height
        self.eastern = False
        self.figure = Figure(figsize=(width / _POINT, height / _POINT), dpi=_POINT, facecolor=self.theme.surface)
        FigureCanvasAgg(self.figure)

    def axes(self, left: float, top: float, width: float, height: float, *, frame: bool = True) -> Axes:
        """`frame` leaves the bottom line with its ticks; without it there is nothing around the drawing."""
        place = (left / self.width, 1 - (top + height) / self.height, width / self.width, height / self.height)
        axes = self.figure.add_axes(place, facecolor="none")
        for side in ("left", "right", "top"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set_color(self.theme.line_strong)
        axes.spines["bottom"].set_linewidth(0.7)
        axes.tick_params(
            colors=self.theme.soft, labelsize=SMALL, labelfontfamily=families(), length=2.5, width=0.6, pad=2
        )
        axes.tick_params(axis="y", left=False, labelleft=False)
        if not frame:
            axes.set_axis_off()
        return axes

    def text(self, left: float, top: float, text: str, *, size: float = TEXT, colour: str = "", **how: Any) -> None:
        """`top` is the middle of the line unless `va` says otherwise."""
        text = printable(text)
        self.eastern = self.eastern or is_eastern(text)
        how = {"va": "center", "ha": "left", "color": colour or self.theme.ink, "family": families()} | how
        self.figure.text(left / self.width, 1 - top / self.height, text, size=size, **how)

    def caption(self, middle: float, top: float, lines: Sequence[str]) -> None:
        """Small lines around `middle`, moved sideways where they would leave the canvas."""
        half = HINTING * text_width(lines, SMALL) / 2 + 3
        middle = min(max(middle, half), self.width - half)
        for at, line in enumerate(lines):
            self.text(middle, top + LINE * at, line, size=SMALL, colour=self.theme.soft, ha="center")

    def box(self, left: float, top: float, width: float, height: float, colour: str, **how: Any) -> None:
        corner = (left / self.width, 1 - (top + height) / self.height)
        patch: Style = {"facecolor": colour, "linewidth": 0} | how
        self.figure.add_artist(Rectangle(corner, width / self.width, height / self.height, **patch))

    def mark(self, left: float, top: float, **how: Any) -> None:
        at = [left / self.width], [1 - top / self.height]
        self.figure.add_artist(Line2D(*at, linestyle="none", **how))

    def bytes(self, form: str, title: str, description: str) -> bytes:
        """The file: the same bytes for the same drawing. `form` is a key of `MEDIA_TYPES`, else a KeyError."""
        out = io.BytesIO()
        title, description = _printable_lines(title), _printable_lines(description)
        metadata = {
            "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
            "pdf": {"CreationDate": None, "Creator": None, "Producer": None, "Title": title, "Subject": description},
            "png": {"Software": None, "Title": title, "Description": description},
        }[form]
        options: Style = {"format": form, "facecolor": self.theme.surface, "metadata": metadata}
        if form == "pdf":
            # Publishers refuse fonts of type 3; as type 42, matplotlib embeds East Asian ones (CFF) without their
            # glyphs.
            with _PDF_FONTS:
                matplotlib.rcParams["pdf.fonttype"] = 3 if self.eastern else 42
                self.figure.canvas.print_figure(out, dpi=_POINT, **options)
        else:
            self.figure.canvas.print_figure(out, dpi=PNG_DPI if form == "png" else _POINT, **options)
        return for_the_web(out.getvalue(), title, description) if form == "svg" else out.getvalue()


def _printable_lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.splitlines())


_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"

ElementTree.register_namespace("", _SVG)
ElementTree.register_namespace("xlink", _XLINK)


def for_the_web(data: bytes, title: str, description: str) -> bytes:
    """Return the same drawing with attributes in the place of style rules, a title, a description and the page's fonts,
    without references to anything outside the file."""
    root = ElementTree.fromstring(data)
    for parent in root.iter():
        for child in [element for element in parent if element.tag in {f"{{{_SVG}}}style", f"{{{_SVG}}}metadata"}]:
            parent.remove(child)
    for element in root.iter():
        for rule in filter(None, map(str.strip, element.attrib.pop("style", "").split(";"))):
            name, _, value = rule.partition(":")
            if name.strip() != "font-family":
                element.set(name.strip(), value.strip())
    _named(root, title, description)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def _named(root: ElementTree.Element, title: str, description: str) -> None:
    mark = text_digest(f"{title}\n{description}")[:12]
    root.attrib |= {"role": "img", "aria-labelledby": f"t{mark} d{mark}", "font-family": STACK}
    root.attrib |= {"stroke-linejoin": "round", "stroke-linecap": "butt"}
    for at, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ElementTree.Element(f"{{{_SVG}}}{tag}", {"id": f"{tag[0]}{mark}"})
        element.text = text
        root.insert(at, element)
