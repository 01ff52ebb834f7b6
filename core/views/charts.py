"""Geometry of the charts that pages draw themselves, so that they follow theme and language, and open what is behind a
mark.

Places are per cent of the plot's width and height; pages lay out rows, labels and numbers
(`components/dot_chart.html`, `components/control_chart.html`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor

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
class DotChart:
    """The chart that `components/dot_chart.html` draws."""

    title: str
    unit: str
    noun: str
    heads: Mapping[str, str]
    """The heads of the columns of text by name."""
    ticks: Sequence[Json]
    """{x, label}"""
    zero: float | None
    """The place of a line at 0."""
    marks: Sequence[Json]
    """{label, short, href, n, first, second, third, band, texts, descriptions}: a row as it is drawn, and in words for
    those who do not see it. A dot is {x, y[, low, high]}, `y` in pixels below the middle, a band {x, width};
    `descriptions` are (what, its figure), and the first may be ""."""
    lacking: str
    """The reasons for missing intervals."""
    lead: Sequence[str]
    """Sentences above the chart."""

    @property
    def seconds(self) -> bool:
        return any(mark["second"] for mark in self.marks)

    @property
    def thirds(self) -> bool:
        return any(mark["third"] for mark in self.marks)

    @property
    def lines(self) -> bool:
        """True if any mark has the line of its interval."""
        return any("low" in dot for mark in self.marks for name in ESTIMATES if (dot := mark[name]))

    @property
    def bands(self) -> bool:
        return any(mark["band"] for mark in self.marks)


ESTIMATES = ("first", "second", "third")


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
    estimates = [estimate for row in rows for estimate in (row.first, row.second, row.third) if estimate]
    edges = [
        float(edge)
        for estimate in estimates
        if (value := estimate.value) is not None
        for edge in (value, *(estimate.interval or ()))
    ]
    edges += [float(end) for row in rows for end in row.bounds or ()]
    axis = Axis.of([*edges, *holds, *([0.0] if zero else [])])
    first, *others = zip(ESTIMATES, heads, strict=False)
    others += [("out", "Left out"), ("aside", aside)]
    columns = dict([first, *((n, head) for n, head in others if any(getattr(row, n) is not None for row in rows))])
    return DotChart(
        title=title,
        unit=unit,
        noun=noun,
        heads=columns,
        ticks=[{"x": axis.place(tick), "label": notation.tick(tick)} for tick in axis.ticks()],
        zero=axis.place(0) if zero else None,
        marks=[_mark(row, axis, notation, columns) for row in rows],
        lacking=_lacking(estimates),
        lead=lead,
    )


def no_intervals(estimates: Iterable[Estimated]) -> str:
    """Return why some of these estimates have no interval, as a sentence. Returns "" if all have one."""
    return Sentence("No interval: {why}.", why=why) if (why := _lacking(estimates)) else ""


def _lacking(estimates: Iterable[Estimated]) -> str:
    lacking = (estimate for estimate in estimates if estimate.value is not None and not estimate.interval)
    return alternatives(*dict.fromkeys(estimate.reason for estimate in lacking if estimate.reason))


def _mark(row: Row, axis: Axis, notation: Notation, columns: Mapping[str, str]) -> Json:
    label, named, bounds = row.label, "second" in columns, row.bounds
    places = {"first": (-7 if row.third else -4) if row.second else 0, "second": 0 if row.third else 4, "third": 7}
    dots, texts, descriptions = {}, {}, []
    for name in ESTIMATES:
        estimate: Estimated | None = getattr(row, name)
        dots[name] = _dot(estimate, axis, y=places[name])
        texts[name] = "–" if estimate is None or estimate.value is None else notation.text(estimate.value)
        if name == "first" or estimate:
            descriptions.append((columns[name] if named else "", _estimate_words(estimate, notation)))
    texts["out"] = "–" if row.out is None else f"{100 * row.out:.0f} %"
    texts["aside"] = row.aside or ""
    if "out" in columns:
        descriptions.append(("", Sentence("left out {texts}", texts=texts["out"])))
    band = None
    if bounds is not None and bounds[1] - bounds[0] > NOISE:  # something is missing
        low, high = map(axis.place, bounds)
        band = {"x": low, "width": round(high - low, 2)}
        worst, best = (f"{100 * end:z.1f}" for end in bounds)
        descriptions.append(("", Sentence("worst to best case {low} to {high}", low=worst, high=best)))
    if "aside" in columns and row.aside:
        descriptions.append(("", worded(columns["aside"], row.aside) if columns["aside"] else row.aside))
    return dots | {
        "label": label,
        "short": label if len(label) <= LONGEST else f"{label[: LONGEST // 2]}…{label[-LONGEST // 2 + 1 :]}",
        "href": row.href,
        "n": row.n,
        "band": band,
        "texts": [texts[name] for name in columns],
        "descriptions": [*descriptions, *([("", row.n)] if row.n else [])],
    }


def _dot(estimate: Estimated | None, axis: Axis, *, y: int) -> Json | None:
    if estimate is None or estimate.value is None:
        return None
    ends = dict(zip(("low", "high"), map(axis.place, estimate.interval or ()), strict=False))
    return {"x": axis.place(estimate.value), "y": y, **ends}


def _estimate_words(estimate: Estimated | None, notation: Notation) -> str:
    if estimate is None or estimate.value is None:
        return gettext_noop("without a value")
    value = notation.text(estimate.value)
    if ends := estimate.interval:
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


ControlChart = Json
"""The chart that `components/control_chart.html` draws: {key, title, caption, points, path, ticks, line}. `points` are
{x, y, label, limits, alarms, out}, `path` the line through them, `ticks` {y, label}, and `line` the one that all are
compared with, whose label names a limit."""


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
    path = " ".join(f"{point['x']},{point['y']}" for point in points)
    return {
        "key": key,
        "title": title,
        "caption": caption,
        "points": points,
        "path": path,
        "ticks": levels[:-1],
        "line": levels[-1],
    }
