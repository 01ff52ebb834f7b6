"""Geometry of the pictures that pages draw themselves, so that they follow the theme and open what is behind a mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor
from typing import Any

ROW = 26
WIDTH, LEFT, RIGHT = 620, 170, 140
OUT = 54
"""The column of what is missing."""
TOP, BOTTOM = 26, 34
LONGEST = 22
NOISE = 1e-9
"""What sums of fractions are off by."""


def dot_chart(title: str, rows: Sequence[Mapping[str, Any]], *, unit: str, zero: bool = False) -> dict[str, Any]:
    """Lay out a chart of dots. Rows are {"label", "first", "second", "bounds", "out", "aside", "href"}: figures {value, interval[, reason]} as fractions, `second` as a hollow
    mark, `bounds` [low, high] as a band, `out` the share that is missing.

    With `zero` the scale holds nought and a line stands there: differences.
    """
    edges = [edge for row in rows for name in ("first", "second") for edge in _edges(row.get(name))]
    edges += [float(end) for row in rows for end in row.get("bounds") or ()]
    low, high = _span([*edges, 0.0] if zero else edges)
    outs = any(row.get("out") is not None for row in rows)
    right = RIGHT + (OUT if outs else 0)

    def x(value: float) -> float:
        return round(LEFT + (float(value) - low) / (high - low) * (WIDTH - LEFT - right), 1)

    bottom = TOP + ROW * len(rows)
    seconds = any(row.get("second") for row in rows)
    marks = [_mark(row, TOP + ROW * (at + 0.5), x) for at, row in enumerate(rows)]
    for mark in marks:
        mark["told"] = _mark_text(mark, seconds=seconds, outs=outs, zero=zero)
    return {
        "title": title,
        "unit": unit,
        "width": WIDTH,
        "height": bottom + BOTTOM,
        "left": LEFT,
        "right": WIDTH - right,
        "middle": (LEFT + WIDTH - right) / 2,
        "top": TOP,
        "bottom": bottom,
        "tick_y": bottom + 15,
        "unit_y": bottom + 30,
        "first_x": WIDTH - right + 50,
        "second_x": WIDTH - right + 96,
        "out_x": WIDTH - right + (150 if seconds else 106),
        "aside_x": WIDTH - right + (104 if seconds else 62) + (OUT if outs else 0),
        "ticks": [{"x": x(tick), "label": f"{100 * tick:.0f}".replace("-", "−")} for tick in _ticks(low, high)],
        "zero": x(0) if zero else None,
        "marks": marks,
        "seconds": seconds,
        "outs": outs,
        "bands": any(row.get("bounds") for row in rows),
        "asides": any(row.get("aside") for row in rows),
        "no_lines": _no_lines(rows),
    }


def _no_lines(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say why marks have no line, where some have none."""
    figures = [row.get(name) or {} for row in rows for name in ("first", "second")]
    lacking = [figure["reason"] for figure in figures if figure.get("reason") and figure["value"] is not None]
    return f"No line: {'; or '.join(dict.fromkeys(lacking))}." if lacking else ""


def _edges(figure: Mapping[str, Any] | None) -> list[float]:
    if not figure or figure["value"] is None:
        return []
    return [float(figure["value"]), *(figure.get("interval") or ())]


def _span(edges: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the scale, on whole twentieths, at least ten points wide, and within 0 and 1 (a difference: −1 and 1) as every score is."""
    least = -1.0 if min(edges, default=0.0) < -NOISE else 0.0
    low = max(least, floor(min(edges, default=0.0) * 20 + NOISE) / 20)
    high = min(1.0, ceil(max(edges, default=1.0) * 20 - NOISE) / 20)
    if high - low < 0.1 - NOISE:
        low = max(least, min(low - 0.05, 0.9))
        high = max(high, round(low + 0.1, 2))
    return low, high


def _ticks(low: float, high: float) -> list[float]:
    step = next((width for width in (0.05, 0.1, 0.2, 0.25, 0.5) if (high - low) / width <= 8), 1.0)
    first = -int(-low / step + 1e-9) if low > 0 else int(low / step - 1e-9)
    ticks = [round(step * at, 10) for at in range(first, first + 12)]
    return [tick for tick in ticks if low - 1e-9 <= tick <= high + 1e-9]


def _mark(row: Mapping[str, Any], y: float, x) -> dict[str, Any]:
    label = row["label"]
    short = label if len(label) <= LONGEST else f"{label[: LONGEST // 2]}…{label[-LONGEST // 2 + 1 :]}"
    mark = {"label": label, "short": short, "y": y, "aside": row.get("aside") or "", "href": row.get("href") or ""}
    mark["out"] = "–" if row.get("out") is None else f"{100 * row['out']:.0f} %"
    if ends := row.get("bounds"):
        bounds_text = "{:.1f} to {:.1f}".format(*(100 * end for end in ends))
        mark["band"] = {"x": x(ends[0]), "width": round(x(ends[1]) - x(ends[0]), 1), "y": y - 7, "said": bounds_text}
    for name, shift in (("first", -3 if row.get("second") else 0), ("second", 4)):
        figure = row.get(name)
        if figure and figure["value"] is not None:
            ends = figure.get("interval")
            mark[name] = {
                "x": x(figure["value"]),
                "y": y + shift,
                "low": x(ends[0]) if ends else None,
                "high": x(ends[1]) if ends else None,
                "shown": f"{100 * float(figure['value']):.1f}".replace("-", "−"),
                "said": _figure_text(figure),
            }
    return mark


def _mark_text(mark: Mapping[str, Any], *, seconds: bool, outs: bool, zero: bool) -> str:
    """Put a row of the picture into words, for screen readers."""
    first = mark["first"]["said"] if "first" in mark else ""
    parts = [("repaired " if seconds else "") + first if first else "without a score"]
    if "second" in mark:
        parts.append(f"official {mark['second']['said']}")
    if outs:
        parts.append(f"left out {mark['out']}")
    if "band" in mark:
        parts.append(f"worst to best case {mark['band']['said']}")
    if mark["aside"]:
        parts.append(("" if zero else "group ") + mark["aside"])
    return f"{mark['label']}: {', '.join(parts)}"


def _figure_text(figure: Mapping[str, Any]) -> str:
    ends = figure.get("interval")
    aside = f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f}" if ends else figure.get("reason")
    return f"{100 * float(figure['value']):.1f}" + (f" ({aside})" if aside else "")
