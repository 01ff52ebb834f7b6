"""Geometry of the charts that pages draw themselves, so that they follow the theme and open what is behind a mark.

Places across are per cent of the plot's width, whatever that is; a page lays rows, labels and numbers out
(`components/dot_chart.html`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

LONGEST = 28
"""Letters of a label; a longer one is shortened in its middle, where names of one family differ least."""
NOISE = 1e-9
"""What sums of fractions are off by."""
MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class Notation:
    """How the numbers of a chart are written: so many times the value, with so many decimals and a sign before or a
    unit after it."""

    times: float = 100
    places: int = 1
    sign: str = ""
    unit: str = ""

    def text(self, value: float) -> str:
        return f"{self.times * float(value):{self.sign}z.{self.places}f}{self.unit}".replace("-", "−")

    def tick(self, value: float) -> str:
        return f"{round(self.times * value, 6) + 0.0:g}{self.unit}".replace("-", "−")


POINTS = Notation()
SIGNED_POINTS = Notation(sign="+")
PERCENT = Notation(unit="%")
PLAIN = Notation(times=1, places=2)


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from `low` to `high`."""

    low: float
    high: float

    @classmethod
    def of(cls, edges: Sequence[float]) -> Axis:
        """Ends on whole twentieths, at least ten points apart, and within 0 and 1 (a difference: −1 and 1) as every
        score is."""
        least = -1.0 if min(edges, default=0.0) < -NOISE else 0.0
        low = max(least, floor(min(edges, default=0.0) * 20 + NOISE) / 20)
        high = min(1.0, ceil(max(edges, default=1.0) * 20 - NOISE) / 20)
        if high - low < 0.1 - NOISE:
            low = max(least, min(low - 0.05, 0.9))
            high = max(high, round(low + 0.1, 2))
        return cls(low, high)

    def place(self, value: float) -> float:
        """The place of a value, in per cent of the width."""
        return round(100 * (float(value) - self.low) / (self.high - self.low), 2)

    def ticks(self, most: int = MOST_TICKS) -> list[float]:
        """Round values from end to end, `most` and two at most."""
        width = self.high - self.low
        step = next((step for step in (0.05, 0.1, 0.2, 0.25, 0.5) if width / step <= most + NOISE), 1.0)
        first = ceil(self.low / step - NOISE)
        return [round(step * at, 10) for at in range(first, floor(self.high / step + NOISE) + 1)]


def dot_chart(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    unit: str = "",
    holds: Sequence[float] = (),
    zero: bool = False,
    notation: Notation = POINTS,
    heads: Sequence[str] = ("Value",),
    noun: str = "reading",
    aside: str = "",
) -> dict[str, Any]:
    """Lay out a chart of dots.

    Rows are {"label", "first", "second", "bounds", "out", "aside", "href", "n"}: figures {value, interval[, reason]} as
    fractions, `second` as a hollow mark, `bounds` [low, high] as a band, `out` the share that is missing, `n` in words
    what the row rests on. The scale holds all that is drawn and `holds`; with `zero` nought, where a line stands:
    differences. `heads` are over the numbers, `noun` is what they are of, `aside` stands over the last column.
    """
    edges = [edge for row in rows for name in ("first", "second") for edge in _edges(row.get(name))]
    edges += [float(end) for row in rows for end in row.get("bounds") or ()]
    axis = Axis.of([*edges, *holds, *([0.0] if zero else [])])
    columns = _columns(rows, heads, aside)
    marks = [_mark(row, axis, notation, columns) for row in rows]
    return {
        "title": title,
        "unit": unit,
        "noun": noun,
        "heads": columns,
        "ticks": [{"x": axis.place(tick), "label": notation.tick(tick)} for tick in axis.ticks()],
        "zero": axis.place(0) if zero else None,
        "marks": marks,
        "seconds": any("second" in mark for mark in marks),
        "bands": any("band" in mark for mark in marks),
        "lacking": _lacking(row[name] for row in rows for name in ("first", "second") if row.get(name)),
    }


def no_intervals(estimates: Iterable[Mapping[str, Any]]) -> str:
    """Return why some of these estimates have no interval, as a sentence; empty where all have one."""
    return f"No interval: {why}." if (why := _lacking(estimates)) else ""


def _lacking(estimates: Iterable[Mapping[str, Any]]) -> str:
    reasons = dict.fromkeys(
        estimate["reason"]
        for estimate in estimates
        if estimate["value"] is not None and not estimate.get("interval") and estimate.get("reason")
    )
    return "; or ".join(reasons)


def _columns(rows: Sequence[Mapping[str, Any]], heads: Sequence[str], aside: str) -> dict[str, str]:
    """The columns of text beside the plot that any row has something for, and their heads."""
    shown = dict(zip(("first", "second"), heads, strict=False)) | {"out": "Left out", "aside": aside}
    return {
        name: head for name, head in shown.items() if name == "first" or any(row.get(name) is not None for row in rows)
    }


def _edges(metric: Mapping[str, Any] | None) -> list[float]:
    if not metric or metric["value"] is None:
        return []
    return [float(metric["value"]), *(metric.get("interval") or ())]


def _mark(row: Mapping[str, Any], axis: Axis, notation: Notation, columns: Mapping[str, str]) -> dict[str, Any]:
    label = row["label"]
    short = label if len(label) <= LONGEST else f"{label[: LONGEST // 2]}…{label[-LONGEST // 2 + 1 :]}"
    mark: dict[str, Any] = {"label": label, "short": short, "href": row.get("href") or "", "n": row.get("n") or ""}
    for name, shift in (("first", -4 if row.get("second") else 0), ("second", 4)):
        metric = row.get(name)
        if metric and metric["value"] is not None:
            mark[name] = {"x": axis.place(metric["value"]), "y": shift} | _ends(metric.get("interval"), axis)
    if ends := row.get("bounds"):
        places = _ends(ends, axis)
        mark["band"] = {"x": places["low"], "width": round(places["high"] - places["low"], 2)}
    texts = {name: _text(row, name, notation) for name in columns}
    return mark | {"texts": list(texts.values()), "told": _told(row, texts, columns, notation)}


def _ends(ends: Sequence[float] | None, axis: Axis) -> dict[str, float]:
    return {"low": axis.place(ends[0]), "high": axis.place(ends[1])} if ends else {}


def _text(row: Mapping[str, Any], name: str, notation: Notation) -> str:
    held = row.get(name)
    if name == "aside":
        return held or ""
    if name == "out":
        return "–" if held is None else f"{100 * held:.0f} %"
    return "–" if not held or held["value"] is None else notation.text(held["value"])


def _told(row: Mapping[str, Any], texts: Mapping[str, str], columns: Mapping[str, str], notation: Notation) -> str:
    """Put a row of the picture into words, for screen readers."""
    named = "second" in columns
    parts = [
        (f"{columns[name].lower()} " if named else "") + _metric_told(row.get(name), notation)
        for name in ("first", "second")
        if name == "first" or row.get(name)
    ]
    if "out" in texts:
        parts.append(f"left out {texts['out']}")
    if ends := row.get("bounds"):
        parts.append("worst to best case {:z.1f} to {:z.1f}".format(*(100 * end for end in ends)))
    if texts.get("aside"):
        parts.append(f"{columns['aside']} {texts['aside']}".strip())
    return f"{row['label']}: {', '.join([*parts, *filter(None, [row.get('n')])])}"


def _metric_told(metric: Mapping[str, Any] | None, notation: Notation) -> str:
    if not metric or metric["value"] is None:
        return "without a value"
    ends = metric.get("interval")
    why = " to ".join(map(notation.text, ends)) if ends else metric.get("reason")
    return notation.text(metric["value"]) + (f" ({why})" if why else "")
