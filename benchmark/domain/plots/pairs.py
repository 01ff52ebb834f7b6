"""Every two models of a ranking against each other, as a triangle of cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmark.domain.drawn import Lead
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.heat import FAINTEST, STRONGEST
from benchmark.domain.plots.text_size import text_width
from benchmark.domain.plots.theme import EDGE, GAP, SMALL, Style
from benchmark.domain.plots.values import sentences
from core.messages import Sentence, as_sentence, word

if TYPE_CHECKING:  # matplotlib takes a second to load
    from benchmark.domain.plots.canvas import Canvas

NOT_RANKED = "No model is ranked."

Cell = Lead | None
_ROW, _HEAD, _WIDEST = 15.0, 14.0, 40.0


@plot
def pair_matrix(
    look: Look, models: Sequence[str], cells: Sequence[Sequence[Cell]], *, score: str, parse: str
) -> Drawing:
    """Plot how far each model is ahead of each below it, in points; coloured and bold where that is shown.

    `models` are best first, `cells` the rows of a square: differences right of the
    diagonal, None elsewhere and where the two were not compared.
    """
    title = Sentence("{score}: differences between all pairs, {parse} parse", score=word(score), parse=word(parse))
    if not models:
        return Drawing(title, NOT_RANKED)
    lines = [
        (
            f"{first} minus {models[at]}: {100 * cell.value:z.1f} points, "
            f"{'shown' if cell.significant else 'not shown'} to differ"
        )
        for first, row in zip(models, cells, strict=True)
        for at, cell in enumerate(row)
        if cell
    ]
    return Drawing(
        title,
        _drawn(models, cells, Sentence("{score}, {parse} parse", score=word(score), parse=word(parse)), look),
        sentences(lines, most=400),
    )


def _drawn(models: Sequence[str], cells: Sequence[Sequence[Cell]], score_text: str, look: Look) -> Canvas:
    names, numbers = look.labels(models), [str(at) for at in range(1, len(models) + 1)]
    beside = text_width(numbers, SMALL) + GAP
    left = EDGE + text_width(names) + beside + GAP
    each = min(_WIDEST, (look.points - left - EDGE) / len(models))
    text = (
        f"{score_text}: row minus column in points; coloured and bold: shown to differ. Columns have the rows' numbers."
    )
    caption = f"{text} {as_sentence(look.frame.note)}" if look.frame.note else text
    canvas = look.captioned(EDGE + _HEAD + _ROW * len(models) + 8, caption, drop=2)
    labelled = _texts(cells, each)
    most = max((cell.value for row in cells for cell in row if cell), default=0.0) or 1.0
    step = next(candidate for candidate in (1, 2, 5, 10, 100) if candidate * each > text_width(numbers, SMALL) + 1)
    for line, (name, number) in enumerate(zip(names, numbers, strict=True)):
        middle = EDGE + _HEAD + (line + 0.5) * _ROW
        canvas.text(left - GAP - beside, middle, name, ha="right")
        canvas.text(left - GAP, middle, number, ha="right", size=SMALL, colour=canvas.theme.soft)
        if not int(number) % step:
            across = left + (line + 0.5) * each
            canvas.text(across, EDGE + _HEAD / 2, number, ha="center", size=SMALL, colour=canvas.theme.soft)
        for at, cell in enumerate(cells[line]):
            if cell:
                _cell(canvas, cell, labelled[line][at], (left + at * each, middle - _ROW / 2, each), most)
    return canvas


def _cell(canvas: Canvas, cell: Lead, text: str, place: tuple[float, float, float], most: float) -> None:
    left, top, each = place
    tint = canvas.theme.tint(FAINTEST + (STRONGEST - FAINTEST) * max(0.0, cell.value) / most)
    colour = tint if cell.significant else canvas.theme.surface
    canvas.box(left + 0.6, top + 0.6, each - 1.2, _ROW - 1.2, colour, edgecolor=canvas.theme.line, linewidth=0.5)
    how: Style = {"colour": canvas.theme.ink, "weight": "bold"} if cell.significant else {"colour": canvas.theme.soft}
    canvas.text(left + each / 2, top + _ROW / 2, text, ha="center", size=SMALL, **how)


def _texts(cells: Sequence[Sequence[Cell]], each: float) -> list[list[str]]:
    """Return the text of each cell: with a decimal, without one, or empty, as the cells have room."""
    for places in (1, 0):
        texts = [[f"{100 * cell.value:z.{places}f}".replace("-", "−") if cell else "" for cell in row] for row in cells]
        if text_width([text for row in texts for text in row], SMALL, "bold") <= each - 2.5:
            return texts
    return [["" for _ in row] for row in cells]
