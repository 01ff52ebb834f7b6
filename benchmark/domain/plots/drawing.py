"""Plots: a drawing with its title and its data in words, in the format, theme and width that it is asked
for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, NamedTuple, ParamSpec

from benchmark.domain.drawn import Frame, Plot
from benchmark.domain.plots.text import EDGE, LINE, ROOM, WIDTHS, labels, wrapped
from benchmark.domain.plots.values import ended, sentences

if TYPE_CHECKING:
    from benchmark.domain.plots.canvas import Canvas

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Look:
    """The frame that a plot is drawn in, with what it measures and writes."""

    frame: Frame

    @property
    def points(self) -> float:
        return WIDTHS[self.frame.width]

    @property
    def narrow(self) -> bool:
        return self.frame.width == "column"

    def labels(self, models: Iterable[str]) -> list[str]:
        """Names of models in the room that they have."""
        return labels(models, ROOM[self.frame.width])

    def noted(self, caption: str, *before: str) -> str:
        """A caption with what stands `before` the note, and the note."""
        return f"{caption}{ended('; '.join(filter(None, [*before, self.frame.note])))}"

    def canvas(self, height: float) -> Canvas:
        from benchmark.domain.plots.canvas import Canvas  # matplotlib takes a second to load

        return Canvas(self.points, height, self.frame.theme)

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


def plot(draw: Callable[Concatenate[Look, P], Drawing]) -> Callable[P, Plot]:
    """A plot, as pages and files ask for one (`benchmark.domain.plots`), of a function that draws its data in the look
    it is given: called with the data alone, it is drawn later."""

    name = f"{draw.__module__}.{draw.__qualname__}"

    @wraps(draw)
    def undrawn(*data: P.args, **named: P.kwargs) -> Plot:
        return Plot(name, (data, named), lambda frame: _bytes(draw(Look(frame), *data, **named), frame))

    return undrawn


def _bytes(drawing: Drawing, frame: Frame) -> bytes:
    title, canvas, text = drawing
    if isinstance(canvas, str):
        saying = Look(Frame(theme=frame.theme, width="column")).canvas(40)
        saying.text(saying.width / 2, 20, canvas, colour=saying.theme.soft, ha="center")
        return saying.bytes(frame.format, title, canvas)
    return canvas.bytes(frame.format, title, text if isinstance(text, str) else sentences(text))
