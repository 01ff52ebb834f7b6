"""The figures of a report, in rows: what somebody came to over all samples, and over those of each category.

Rows are made where figures are computed, and where stored ones are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.plain import WHERE_THERE_IS_ONE, Json, plain, read_as

Ends = Sequence[float]
"""[low, high]"""

_BESIDE = ("interval", "bounds", "unreadable", "unreadable_reasons", "undefined", "unjudged", "reasons", "reason")
_BESIDE_PRINTED = ("interval", "reasons", "unreadable", "bounds", "n")
"""The order in which JSON has what a row has beside its figures."""
_NO_METRICS = {"story_category", "stories", *_BESIDE, *_BESIDE_PRINTED}


@dataclass(frozen=True, slots=True)
class Unjudged:
    """The number of stories of which a judge left out rows, and of these rows."""

    stories: int = 0
    predicted: int = 0
    gold: int = 0

    @property
    def rows(self) -> int:
        return self.predicted + self.gold


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRow:
    """The figures of some samples by name, numbers or, where they are `printed` as official scoring has them, texts of
    six decimals; with the interval of each, or why it has none, and its bounds: [worst, best] of what is missing.

    `stories` counts the samples that they are of, `unreadable` those without a figure and `unreadable_reasons` these by
    reason, `undefined` those without one by definition. Intervals of printed figures rest on `n` samples. `category` is
    empty over all.
    """

    stories: int | None = None
    values: Mapping[str, float | str | None] = field(default_factory=dict)
    intervals: Mapping[str, Ends | None] | None = None
    bounds: Mapping[str, Ends | None] | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)
    unreadable: int | None = None
    unreadable_reasons: Mapping[str, int] = field(default_factory=dict)
    undefined: int = 0
    unjudged: Unjudged | None = None
    n: int | None = None
    category: str = ""
    printed: bool = False

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> ReportRow:
        """Return the row that `as_json` made."""
        stories, unjudged = kept.get("stories"), kept.get("unjudged")
        return cls(
            stories=None if stories is None else int(stories),
            values={name: value for name, value in kept.items() if name not in _NO_METRICS},
            intervals=kept.get("interval"),
            bounds=kept.get("bounds"),
            reasons=kept.get("reasons") or {},
            unreadable=kept.get("unreadable"),
            unreadable_reasons=kept.get("unreadable_reasons") or {},
            undefined=kept.get("undefined") or 0,
            unjudged=read_as(Unjudged, unjudged) if unjudged else None,
            n=kept.get("n"),
            category=kept.get("story_category") or "",
            printed=isinstance(stories, str),
        )

    def as_json(self) -> Json:
        """{[story_category,] stories, METRIC…, interval: {METRIC: [low, high] or None}, bounds, unreadable (how many
        stories)[, unreadable_reasons][, undefined][, unjudged: {stories, predicted, gold}][, reasons: {METRIC: why it
        has no interval}, reason: the first of them]}; of printed figures {[story_category,] stories, METRIC…,
        interval[, reasons], unreadable, bounds, n}."""
        beside = {
            "interval": self.intervals,
            "bounds": self.bounds,
            "unreadable": self.unreadable,
            "unreadable_reasons": self.unreadable_reasons or None,
            "undefined": self.undefined or None,
            "unjudged": plain(self.unjudged),
            "reasons": self.reasons or None,
            "reason": next(iter(self.reasons.values()), None),
            "n": self.n,
        }
        order = _BESIDE_PRINTED if self.printed else _BESIDE
        return {
            **({"story_category": self.category} if self.category else {}),
            **({} if self.stories is None else {"stories": str(self.stories) if self.printed else self.stories}),
            **self.values,
            **{name: beside[name] for name in order if beside[name] is not None},
        }

    @property
    def samples(self) -> int:
        """The number of samples that the figures and their intervals are of."""
        return self.n if self.n is not None else self.stories or 0

    @property
    def asked(self) -> int:
        """The number of samples that count, with a figure or without."""
        return (self.stories or 0) + (self.unreadable or 0)

    def value_of(self, name: str) -> float | str | None:
        return self.values.get(name)

    def number_of(self, name: str) -> float | None:
        """Return a figure as a number, also where it is printed."""
        value = self.values.get(name)
        return None if value is None else float(value)

    def interval_of(self, name: str) -> Ends | None:
        return (self.intervals or {}).get(name)

    def reason_of(self, name: str) -> str | None:
        """Return why a figure without an interval has none."""
        return self.reasons.get(name)

    def bounds_of(self, name: str) -> Ends | None:
        """Return [worst, best] of a figure; None without a sample that has one."""
        return (self.bounds or {}).get(name)

    def worst_of(self, name: str) -> float | None:
        """Return a figure with what is missing at its worst; None where nothing is said of that."""
        bounds = self.bounds_of(name)
        return bounds[0] if bounds else None


@dataclass(frozen=True, slots=True)
class RowMetric:
    """A figure of a row, printed ones a text, with its interval, or the `reason` why there is none, and where it can be
    where anything is missing. `n` is how many samples it is of and `unreadable` how many have none."""

    value: float | str | None = None
    interval: Ends | None = None
    reason: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    bounds: Ends | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    n: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    unreadable: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


NO_FIGURES = ReportRow()
"""The row of who has no figures in a parse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseRows:
    """The figures of one parse over all samples, and over those of each category. `method` says in words how intervals
    are made, from so many `resamples` after a `seed`; official figures, which have those of the careful parse, do not
    say it."""

    overall: ReportRow
    by_category: Sequence[ReportRow] = ()
    method: str | None = None
    seed: int | None = None
    resamples: int | None = None

    @classmethod
    def from_json(cls, kept: Mapping[str, Any] | None) -> ParseRows | None:
        """Return the rows that `as_json` made; None where there are none."""
        if not kept:
            return None
        return cls(
            overall=ReportRow.from_json(kept["overall"]),
            by_category=[ReportRow.from_json(row) for row in kept["by_category"]],
            method=kept.get("method"),
            seed=kept.get("seed"),
            resamples=kept.get("resamples"),
        )

    @property
    def estimates(self) -> Json:
        """{overall, by_category: [{story_category, …}]}."""
        return {"overall": self.overall.as_json(), "by_category": [row.as_json() for row in self.by_category]}

    @property
    def made(self) -> Json:
        """{method, seed, resamples}, where they are known."""
        made = {"method": self.method, "seed": self.seed, "resamples": self.resamples}
        return {name: value for name, value in made.items() if value is not None}

    def as_json(self) -> Json:
        return {**self.estimates, **self.made}


@dataclass(frozen=True, slots=True)
class BothParses:
    """The figures of both parses, None of one that has none."""

    official: ParseRows | None = None
    repaired: ParseRows | None = None

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> BothParses:
        return cls(ParseRows.from_json(kept["official"]), ParseRows.from_json(kept["repaired"]))

    def as_json(self) -> Json:
        """{official, repaired}, None of one without figures."""
        return {"official": plain(self.official), "repaired": plain(self.repaired)}

    def of(self, parse: str) -> ParseRows | None:
        return self.official if parse == "official" else self.repaired

    def overall(self, parse: str) -> ReportRow:
        """Return the row over all samples; one without figures where the parse has none."""
        rows = self.of(parse)
        return rows.overall if rows else NO_FIGURES

    def by_category(self, parse: str) -> Mapping[str, ReportRow]:
        """Return the row of each category; none where the parse has no figures."""
        rows = self.of(parse)
        return {row.category: row for row in rows.by_category} if rows else {}
