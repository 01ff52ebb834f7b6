"""Plots: a drawing with its title and its data in words, in the format, theme and width that it is asked
for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple

from benchmark.domain.plots.canvas import EDGE, LINE, WIDTHS, Canvas, Format, Width
from benchmark.domain.plots.names import ROOM, labels
from benchmark.domain.plots.text_size import wrapped
from benchmark.domain.plots.values import ended, sentences


@dataclass(frozen=True, slots=True)
class Look:
    """The theme and the width that a plot is asked for; a KeyError where one is drawn in others. `over` is what its
    intervals are over, `note` the end of its caption: whom it lacks, what has no bounds."""

    theme: str
    width: Width
    over: str = "stories"
    note: str = ""

    @property
    def points(self) -> float:
        return WIDTHS[self.width]

    @property
    def narrow(self) -> bool:
        return self.width == "column"

    def labels(self, models: Iterable[str]) -> list[str]:
        """Names of models in the room that they have."""
        return labels(models, ROOM[self.width])

    def noted(self, caption: str, *before: str) -> str:
        """A caption with what stands `before` the note, and the note."""
        return f"{caption}{ended('; '.join(filter(None, [*before, self.note])))}"

    def canvas(self, height: float) -> Canvas:
        return Canvas(self.points, height, self.theme)

    def captioned(
        self, height: float, text: str, *, middle: float | None = None, drop: float = 0.0, below: float = 0.0
    ) -> Canvas:
        """A canvas of `height` points for what is drawn, with its caption `drop` points further down around `middle`,
        and `below` that more room."""
        lines = wrapped(text, self.points - 2 * EDGE)
        canvas = self.canvas(height + LINE * len(lines) + below)
        canvas.caption(self.points / 2 if middle is None else middle, height + drop, lines)
        return canvas


class Drawing(NamedTuple):
    """The drawing, or a sentence that says why nothing is, and the data in words: whole, or line by line."""

    title: str
    drawn: Canvas | str
    description: str | Sequence[str] = ""


def plot(draw: Callable[..., Drawing]) -> Callable[..., bytes]:
    """A plot, as pages and files ask for one (`benchmark.domain.plots`), of a function that draws it in the `look` it
    is given."""

    @wraps(draw)
    def drawn(
        *data: Any,
        format: Format = "svg",
        theme: str = "light",
        width: Width = "page",
        over: str = "stories",
        note: str = "",
        **named: Any,
    ) -> bytes:
        look = Look(theme, width, over, note)
        title, canvas, text = draw(*data, look=look, **named)
        if isinstance(canvas, str):
            return _saying(canvas, theme).bytes(format, title, canvas)
        return canvas.bytes(format, title, text if isinstance(text, str) else sentences(text))

    return drawn


def _saying(text: str, theme: str) -> Canvas:
    canvas = Look(theme, "column").canvas(40)
    canvas.text(canvas.width / 2, 20, text, colour=canvas.theme.soft, ha="center")
    return canvas
