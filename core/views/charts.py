"""Geometry of the charts that pages draw themselves, so that they follow theme and language, and open what is behind a
mark.

Places are per cent of the plot's width and height; pages lay out rows, labels and numbers
(`components/dot_chart.html`, `components/control_chart.html`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import TypeGuard

from core.estimated import Estimated
from core.messages import Sentence, alternatives, gettext_noop, noted, worded
from core.plain import Json

LONGEST = 28
"""Letters of a label; a longer one is shortened in its middle, where names of one family differ least."""
NOISE = 1e-9
"""Rounding of sums of fractions."""
MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class Notation:
    """The notation of a chart's numbers: so many times the value, with so many decimals and a sign before or a
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
        """Return an axis with ends on whole twentieths, at least ten points apart, and within 0 and 1 (a difference: −1
        and 1) as every score is."""
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

    def place_down(self, value: float) -> float:
        """The place of a value from the top, in per cent of the height, where the axis stands."""
        return round(100 - self.place(value), 2)

    def ticks(self, most: int = MOST_TICKS) -> list[float]:
        """Round values from end to end, `most` and two at most."""
        width = self.high - self.low
        step = next((step for step in (0.05, 0.1, 0.2, 0.25, 0.5) if width / step <= most + NOISE), 1.0)
        first = ceil(self.low / step - NOISE)
        return [round(step * at, 10) for at in range(first, floor(self.high / step + NOISE) + 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a chart of dots. `first`, `second` and `third` are estimates as fractions, the second a hollow mark,
    the third a square; `bounds` (low, high) is a band where its ends differ, `out` the share that is missing, `n` says
    in words what the row rests on. `aside` stands in the last column."""

    label: str
    first: Estimated | None = None
    second: Estimated | None = None
    third: Estimated | None = None
    bounds: Sequence[float] | None = None
    out: float | None = None
    aside: str | None = None
    href: str = ""
    n: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A row as it is drawn, and in words for those who do not see it. Dots are {x, y[, low, high]}, `y` in pixels below
    the middle; a band is {x, width}."""

    label: str
    short: str
    href: str
    n: str
    first: Json | None
    second: Json | None
    third: Json | None
    band: Json | None
    texts: Sequence[str]
    descriptions: Sequence[tuple[str, str]]
    """(what, its figure) of all that the row shows; the first may be empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DotChart:
    """The chart that `components/dot_chart.html` draws.

    `heads` are over the columns of text by their names, `ticks` {x, label}, `zero` is the place of a line at 0,
    `lacking` has the reasons for missing intervals, and `lead` are sentences above the chart.
    """

    title: str
    unit: str
    noun: str
    heads: Mapping[str, str]
    ticks: Sequence[Json]
    zero: float | None
    marks: Sequence[Mark]
    lacking: str
    lead: Sequence[str]

    @property
    def seconds(self) -> bool:
        return any(mark.second for mark in self.marks)

    @property
    def thirds(self) -> bool:
        return any(mark.third for mark in self.marks)

    @property
    def lines(self) -> bool:
        """True where any mark has the line of its interval."""
        dots = [dot for mark in self.marks for dot in (mark.first, mark.second, mark.third) if dot]
        return any("low" in dot for dot in dots)

    @property
    def bands(self) -> bool:
        return any(mark.band for mark in self.marks)


def dot_chart(
    title: str,
    rows: Sequence[Row],
    *,
    unit: str = "",
    holds: Sequence[float] = (),
    zero: bool = False,
    notation: Notation = POINTS,
    heads: Sequence[str] = ("Value",),
    noun: str = "",
    aside: str = "",
    lead: Sequence[str] = (),
) -> DotChart:
    """Lay out a chart of dots.

    The scale holds all that is drawn and `holds`; with `zero` nought, where a line stands: differences. `heads` are
    over the numbers, `noun` is what they are of, `aside` stands over the last column, `lead` above everything.
    """
    edges = [edge for row in rows for estimate in _estimates(row) for edge in _edges(estimate)]
    edges += [float(end) for row in rows for end in row.bounds or ()]
    axis = Axis.of([*edges, *holds, *([0.0] if zero else [])])
    columns = _columns(rows, heads, aside)
    return DotChart(
        title=title,
        unit=unit,
        noun=noun,
        heads=columns,
        ticks=[{"x": axis.place(tick), "label": notation.tick(tick)} for tick in axis.ticks()],
        zero=axis.place(0) if zero else None,
        marks=[_mark(row, axis, notation, columns) for row in rows],
        lacking=_lacking(estimate for row in rows for estimate in _estimates(row) if estimate),
        lead=lead,
    )


def no_intervals(estimates: Iterable[Estimated]) -> str:
    """Return why some of these estimates have no interval, as a sentence; empty where all have one."""
    return Sentence("No interval: {why}.", why=why) if (why := _lacking(estimates)) else ""


def _lacking(estimates: Iterable[Estimated]) -> str:
    reasons = dict.fromkeys(
        estimate.reason
        for estimate in estimates
        if estimate.value is not None and not estimate.interval and estimate.reason
    )
    return alternatives(*reasons)


def _columns(rows: Sequence[Row], heads: Sequence[str], aside: str) -> dict[str, str]:
    """The columns of text beside the plot that any row has something for, and their heads."""
    first, *others = zip(ESTIMATES, heads, strict=False)
    others += [("out", "Left out"), ("aside", aside)]
    columns = [(name, head) for name, head in others if any(getattr(row, name) is not None for row in rows)]
    return dict([first, *columns])


ESTIMATES = ("first", "second", "third")


def _estimates(row: Row) -> tuple[Estimated | None, ...]:
    return row.first, row.second, row.third


def _edges(estimate: Estimated | None) -> list[float]:
    if estimate is None or estimate.value is None:
        return []
    return [float(estimate.value), *(estimate.interval or ())]


def _mark(row: Row, axis: Axis, notation: Notation, columns: Mapping[str, str]) -> Mark:
    label = row.label
    texts = {name: _text(row, name, notation) for name in columns}
    return Mark(
        label=label,
        short=label if len(label) <= LONGEST else f"{label[: LONGEST // 2]}…{label[-LONGEST // 2 + 1 :]}",
        href=row.href,
        n=row.n,
        first=_dot(row.first, axis, y=(-7 if row.third else -4) if row.second else 0),
        second=_dot(row.second, axis, y=0 if row.third else 4),
        third=_dot(row.third, axis, y=7),
        band=_band(row.bounds, axis),
        texts=list(texts.values()),
        descriptions=_words(row, texts, columns, notation),
    )


def _dot(estimate: Estimated | None, axis: Axis, *, y: int) -> Json | None:
    if estimate is None or estimate.value is None:
        return None
    ends = dict(zip(("low", "high"), map(axis.place, estimate.interval or ()), strict=False))
    return {"x": axis.place(estimate.value), "y": y, **ends}


def _band(bounds: Sequence[float] | None, axis: Axis) -> Json | None:
    if not _apart(bounds):
        return None
    low, high = map(axis.place, bounds)
    return {"x": low, "width": round(high - low, 2)}


def _apart(bounds: Sequence[float] | None) -> TypeGuard[Sequence[float]]:
    """Return whether anything is missing: the ends of bounds are the same otherwise."""
    return bounds is not None and bounds[1] - bounds[0] > NOISE


def _text(row: Row, name: str, notation: Notation) -> str:
    if name == "aside":
        return row.aside or ""
    if name == "out":
        return "–" if row.out is None else f"{100 * row.out:.0f} %"
    estimate = dict(zip(ESTIMATES, _estimates(row), strict=True))[name]
    return "–" if estimate is None or estimate.value is None else notation.text(estimate.value)


LACKING = gettext_noop("{head} without a value")


def _words(row: Row, texts: Mapping[str, str], columns: Mapping[str, str], notation: Notation) -> list[tuple[str, str]]:
    """Put a row of the picture into words, for screen readers."""
    named = "second" in columns
    parts = [
        (columns[name] if named else "", _estimate_words(estimate, notation))
        for name, estimate in zip(ESTIMATES, _estimates(row), strict=True)
        if name == "first" or estimate
    ]
    if "out" in texts:
        parts.append(("", Sentence("left out {texts}", texts=texts["out"])))
    if _apart(row.bounds):
        low, high = (f"{100 * end:z.1f}" for end in row.bounds)
        parts.append(("", Sentence("worst to best case {low} to {high}", low=low, high=high)))
    if texts.get("aside"):
        parts.append(("", worded(columns["aside"], texts["aside"]) if columns["aside"] else texts["aside"]))
    return [*parts, *([("", row.n)] if row.n else [])]


def _estimate_words(estimate: Estimated | None, notation: Notation) -> str:
    if estimate is None or estimate.value is None:
        return gettext_noop("without a value")
    ends = estimate.interval
    value = notation.text(estimate.value)
    if ends:
        low, high = map(notation.text, ends)
        return Sentence("{value} ({low} to {high})", value=value, low=low, high=high)
    return noted(value, why) if (why := estimate.reason) else value


# --- control charts

MOST_LABELS = 14
"""Labels below the points, so that none touches the next on a narrow screen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """A repeat's value, and the limits that an unchanged one keeps; `out` is beyond them."""

    label: str
    value: float
    limits: tuple[float, float] | None = None
    alarms: bool = False
    out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlChart:
    """The chart that `components/control_chart.html` draws: a line through its `points` {x, y, label, limits, alarms,
    out}, `ticks` {y, label}, and the `line` that all are compared with, whose label names a limit."""

    key: str
    title: str
    caption: str
    points: Sequence[Json]
    ticks: Sequence[Json]
    line: Json

    @property
    def path(self) -> str:
        return " ".join(f"{point['x']},{point['y']}" for point in self.points)


def control_chart(
    key: str,
    repeats: Sequence[Repeat],
    axis: Axis,
    *,
    title: str,
    caption: str,
    line: tuple[float, str],
    ticks: Sequence[tuple[float, str]] = (),
) -> ControlChart:
    """Lay out repeats across in their order, their values up; `line` and `ticks` are values on the axis with their
    labels. Too many repeats have labels only now and then."""
    across, every = Axis(0, len(repeats)), ceil(len(repeats) / MOST_LABELS)
    points = [
        {
            "x": across.place(at + 0.5),
            "y": axis.place_down(repeat.value),
            "label": "" if (len(repeats) - 1 - at) % every else repeat.label,
            "limits": repeat.limits and tuple(map(axis.place_down, repeat.limits)),
            "alarms": repeat.alarms,
            "out": repeat.out,
        }
        for at, repeat in enumerate(repeats)
    ]
    levels = [{"y": axis.place_down(value), "label": label} for value, label in (*ticks, line)]
    return ControlChart(key=key, title=title, caption=caption, points=points, ticks=levels[:-1], line=levels[-1])
