"""Tables of coloured cells with their numbers in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmark.domain.drawn import Lead
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.text import EDGE, GAP, LINE, SMALL, TEXT, Style, text_width, wrapped
from benchmark.domain.plots.values import sentences
from core.messages import Sentence, as_sentence, word

if TYPE_CHECKING:
    from benchmark.domain.plots.canvas import Canvas


FAINTEST, STRONGEST = 0.04, 0.52
"""Opacity of the chart colour in the lowest and the highest cell: the ink stays legible on both."""
_ROW = 15.0
_TWO_LINES = 20.0
_STEPS, _STEP = 8, 8.0

Cells = Sequence[Sequence[float | None]]


def opacity(share: float) -> float:
    """Return the opacity of the chart colour for a share from 0 to 1."""
    return FAINTEST + (STRONGEST - FAINTEST) * min(1.0, max(0.0, share))


def heat_table(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Cells,
    texts: Sequence[Sequence[str]],
    *,
    legend: str,
    look: Look,
    ends: tuple[float, float] | None = None,
    bold_best: bool = False,
    corner: tuple[str, str] = ("", ""),
) -> Canvas:
    """The drawn canvas. Colours run over `ends`, by default from the lowest to the highest value.

    `corner` says what rows and columns are. Column headings stand upright where they do not fit side by side.
    """
    width = look.points
    left = EDGE + text_width([*rows, corner[0]]) + GAP
    each = (width - left - EDGE) / len(columns)
    heads, upright, tall = _broken(columns, each)
    head = tall + (12.0 if corner[1] else 0.0)
    beside = width - EDGE - left - _STEPS * _STEP - 40 > text_width([legend], SMALL)
    bottom = EDGE + head + _ROW * len(rows)
    canvas = look.canvas(bottom + 22) if beside else look.captioned(bottom + 22, legend, drop=3)
    _headings(canvas, heads, corner, left=left, each=each, head=head, upright=upright)
    for line, name in enumerate(rows):
        canvas.text(left - GAP, EDGE + head + (line + 0.5) * _ROW, name, ha="right")
    numbers = [number for line in values for number in line if number is not None]
    ends = ends or (min(numbers, default=0.0), max(numbers, default=0.0))
    bold = _best(values) if bold_best else set()
    _cells(canvas, values, _fitting(texts, each - 4), ends, bold, left=left, top=EDGE + head, each=each)
    _legend(canvas, ends, legend if beside else "", left, bottom + 13)
    return canvas


def _broken(columns: Sequence[str], each: float) -> tuple[list[list[str]], bool, float]:
    """The lines of each heading, whether they stand upright, and how tall they are."""
    heads = [name.replace("/", "/\n").split("\n") for name in columns]
    longest = text_width([line for lines in heads for line in lines])
    if longest <= each - 3:
        return heads, False, 5 + LINE * max(map(len, heads))
    if each >= _TWO_LINES:
        return heads, True, longest + 6
    return [[name] for name in columns], True, text_width(columns) + 6


def _best(values: Cells) -> set[tuple[int, int]]:
    """Cells that print the highest value of their column."""
    columns = [
        [None if number is None else round(number, 1) for number in column] for column in zip(*values, strict=True)
    ]
    tops = [max((number for number in column if number is not None), default=None) for column in columns]
    return {
        (line, at)
        for at, (column, top) in enumerate(zip(columns, tops, strict=True))
        for line, number in enumerate(column)
        if number is not None and number == top
    }


def _cells(
    canvas: Canvas,
    values: Cells,
    texts: Sequence[Sequence[str]],
    ends: tuple[float, float],
    bold: set[tuple[int, int]],
    *,
    left: float,
    top: float,
    each: float,
) -> None:
    low, high = ends
    size = TEXT if text_width([text for line in texts for text in line]) <= each - 3 else SMALL
    for line, row in enumerate(values):
        for at, value in enumerate(row):
            colour = (
                canvas.theme.sunken
                if value is None
                else canvas.theme.tint(opacity((value - low) / (high - low) if high > low else 1.0))
            )
            canvas.box(left + at * each + 0.6, top + line * _ROW + 0.6, each - 1.2, _ROW - 1.2, colour)
            canvas.text(
                left + (at + 0.5) * each,
                top + (line + 0.5) * _ROW,
                texts[line][at],
                colour=canvas.theme.soft if value is None else canvas.theme.ink,
                ha="center",
                weight="bold" if (line, at) in bold else "normal",
                size=size,
            )


def _fitting(texts: Sequence[Sequence[str]], room: float) -> Sequence[Sequence[str]]:
    """Long counts lose their separators, then their last digits."""
    if text_width([text for line in texts for text in line]) <= room:
        return texts
    plain = [[text.replace(",", "") for text in line] for line in texts]
    if text_width([text for line in plain for text in line]) <= room + 2:
        return plain
    return [
        [f"{int(text) / 1000:.0f}k" if text.isdecimal() and len(text) > 3 else text for text in line] for line in plain
    ]


def _headings(
    canvas: Canvas,
    heads: Sequence[Sequence[str]],
    corner: tuple[str, str],
    *,
    left: float,
    each: float,
    head: float,
    upright: bool,
) -> None:
    """Each line is a text of its own, so that a browser's font keeps it in the middle."""
    bottom = EDGE + head - 3
    for at, lines in enumerate(heads):
        middle = left + (at + 0.5) * each
        for step, line in enumerate(lines):
            if upright:
                across = middle + LINE * (step - (len(lines) - 1) / 2)
                canvas.text(across, bottom, line, ha="center", va="bottom", rotation=90)
            else:
                canvas.text(middle, bottom - LINE * (len(lines) - 1 - step), line, ha="center", va="bottom")
    if corner[1]:
        heading, middle = wrapped(corner[1], canvas.width - 2 * EDGE, TEXT)[0], left + each * len(heads) / 2
        half = text_width([heading], weight="bold") / 2 + 3
        canvas.text(min(middle, canvas.width - half), EDGE + 4, heading, ha="center", weight="bold")
    if corner[0]:
        canvas.text(left - GAP, bottom - 4, corner[0], ha="right", weight="bold")


def _legend(canvas: Canvas, ends: tuple[float, float], text: str, left: float, top: float) -> None:
    low, high = (f"{end:.0f}" for end in ends)
    start = left + text_width([low], SMALL) + 4
    canvas.text(start - 4, top, low, size=SMALL, colour=canvas.theme.soft, ha="right")
    for step in range(_STEPS):
        colour = canvas.theme.tint(opacity(step / (_STEPS - 1)))
        canvas.box(start + _STEP * step, top - 3.5, _STEP, 7, colour)
    after = start + _STEPS * _STEP + 4
    canvas.text(after, top, high, size=SMALL, colour=canvas.theme.soft)
    canvas.text(after + text_width([high], SMALL) + GAP, top, text, size=SMALL, colour=canvas.theme.soft)


NOT_RANKED = "No model is ranked."

Cell = Lead | None
_PAIR_ROW, _HEAD, _WIDEST = 15.0, 14.0, 40.0


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
    canvas = look.captioned(EDGE + _HEAD + _PAIR_ROW * len(models) + 8, caption, drop=2)
    labelled, theme = _texts(cells, each), canvas.theme
    most = max((cell.value for row in cells for cell in row if cell), default=0.0) or 1.0
    step = next(candidate for candidate in (1, 2, 5, 10, 100) if candidate * each > text_width(numbers, SMALL) + 1)
    for line, (name, number) in enumerate(zip(names, numbers, strict=True)):
        middle = EDGE + _HEAD + (line + 0.5) * _PAIR_ROW
        canvas.text(left - GAP - beside, middle, name, ha="right")
        canvas.text(left - GAP, middle, number, ha="right", size=SMALL, colour=canvas.theme.soft)
        if not int(number) % step:
            across = left + (line + 0.5) * each
            canvas.text(across, EDGE + _HEAD / 2, number, ha="center", size=SMALL, colour=canvas.theme.soft)
        for at, cell in enumerate(cells[line]):
            if cell:
                place, ink = left + at * each, theme.ink if cell.significant else theme.soft
                colour = theme.tint(opacity(cell.value / most)) if cell.significant else theme.surface
                how: Style = {"edgecolor": theme.line, "linewidth": 0.5}
                canvas.box(place + 0.6, middle - _PAIR_ROW / 2 + 0.6, each - 1.2, _PAIR_ROW - 1.2, colour, **how)
                weight = "bold" if cell.significant else "normal"
                text = labelled[line][at]
                canvas.text(place + each / 2, middle, text, ha="center", size=SMALL, colour=ink, weight=weight)
    return canvas


def _texts(cells: Sequence[Sequence[Cell]], each: float) -> list[list[str]]:
    """Return the text of each cell: with a decimal, without one, or empty, as the cells have room."""
    for places in (1, 0):
        texts = [[f"{100 * cell.value:z.{places}f}".replace("-", "−") if cell else "" for cell in row] for row in cells]
        if text_width([text for row in texts for text in row], SMALL, "bold") <= each - 2.5:
            return texts
    return [["" for _ in row] for row in cells]
