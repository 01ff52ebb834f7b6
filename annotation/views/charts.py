"""Geometry of the small charts that pages draw as SVG: numbers in, coordinates out; templates hold the marks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil, floor
from typing import Any

ROW = 30
LEFT, RIGHT, WIDTH = 150, 60, 620
TOP, BOTTOM = 14, 34


def interval_chart(title: str, points: list[dict], *, percent: bool, difference: bool = False) -> dict:
    """Lay out a dot with its interval for each of `points` ({"label", "value", "interval", "n"[, "reason": why one of the two is lacking]}), on a shared
    scale.

    The scale ends at 1 and starts at the largest tenth below every value and interval, at most 0.9; that of a `difference` runs from tenth to
    tenth around 0, which has a line of its own, and is written in points where the values are shares (`percent`).
    """
    edges = [edge for point in points for edge in ([point["value"], *(point["interval"] or [])]) if edge is not None]
    low, high = _around_zero(edges) if difference else (_tenth_below(edges), 1.0)
    span = high - low

    def x(value: float) -> float:
        return round(LEFT + (value - low) / span * (WIDTH - LEFT - RIGHT), 1)

    ticks = _tick_values(high, span)
    marks = [
        {
            **point,
            "y": TOP + ROW * at + ROW / 2,
            "x": x(point["value"]) if point["value"] is not None else None,
            "low": x(point["interval"][0]) if point["interval"] else None,
            "high": x(point["interval"][1]) if point["interval"] else None,
            "shown": _value_text(point["value"], percent, difference) if point["value"] is not None else "undefined",
        }
        for at, point in enumerate(points)
    ]
    bottom = TOP + ROW * len(points)
    return {
        "title": title,
        "width": WIDTH,
        "height": bottom + BOTTOM,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "value_x": WIDTH - 4,
        "top": TOP,
        "bottom": bottom,
        "tick_y": bottom + 18,
        "zero": x(0) if difference else None,
        "ticks": [{"x": x(tick), "label": _tick_text(tick, percent, difference)} for tick in ticks][::-1],
        "marks": marks,
        "lacking": no_intervals(points),
    }


def no_intervals(estimates: Iterable[Mapping[str, Any]]) -> str:
    """Return why some of these estimates have no interval, as a sentence; empty where all have one."""
    reasons = dict.fromkeys(
        estimate["reason"]
        for estimate in estimates
        if estimate["value"] is not None and not estimate["interval"] and estimate.get("reason")
    )
    return f"No interval: {'; or '.join(reasons)}." if reasons else ""


def _value_text(value: float, percent: bool, difference: bool) -> str:
    if percent and difference:
        return f"{100 * value:+.1f}".replace("-", "\N{MINUS SIGN}")
    return f"{value:.1%}" if percent else f"{value:.2f}"


def _tick_text(tick: float, percent: bool, difference: bool) -> str:
    if percent and difference:
        return f"{100 * tick:.0f}".replace("-", "\N{MINUS SIGN}").replace("\N{MINUS SIGN}0", "0")
    return f"{tick:.0%}" if percent else f"{tick:.2g}"


def _tick_values(high: float, span: float) -> list[float]:
    """List the ticks of a scale from its upper end down, fourteen at most."""
    step = 0.2 if span > 1.2 else 0.1 if span > 0.25 else 0.02
    return [high - step * at for at in range(int(span / step + 1e-9) + 1)]


def _tenth_below(edges: list[float]) -> float:
    return max(-1.0, min([0.9, *(int(edge * 10 - (edge < 0)) / 10 for edge in edges)]))


def _around_zero(edges: list[float]) -> tuple[float, float]:
    return floor(min([-0.1, *edges]) * 10) / 10, ceil(max([0.1, *edges]) * 10) / 10
