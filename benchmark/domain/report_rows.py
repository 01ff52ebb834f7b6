"""The figures of a report, in rows: over all samples, and over those of each category."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean

from benchmark.domain.tables.table import NOTHING, Cell, Ends
from core.plain import Json, plain
from judge.domain.text import normalise_space


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
    """The figures of some samples by name. Their bounds are [worst, best] also if nothing is missing."""

    cells: Mapping[str, Cell] = field(default_factory=dict)
    stories: int | None = None
    """The number of samples with a figure."""
    unreadable: int | None = None
    """The number of samples without one, and the same by reason."""
    unreadable_reasons: Mapping[str, int] = field(default_factory=dict)
    undefined: int = 0
    """The number of samples without a figure by definition."""
    unjudged: Unjudged | None = None
    n: int | None = None
    """The number of samples that intervals of printed figures rest on."""
    category: str = ""
    printed: bool = False
    """True for official figures, which are texts of six decimals."""

    @property
    def samples(self) -> int:
        """The number of samples that the figures and their intervals are of."""
        return self.n if self.n is not None else self.stories or 0

    @property
    def asked(self) -> int:
        """The number of samples that count, with a figure or without."""
        return (self.stories or 0) + (self.unreadable or 0)

    @property
    def reasons(self) -> dict[str, str]:
        """The reasons why figures have no interval, by name."""
        return {name: cell.reason for name, cell in self.cells.items() if cell.reason}

    def cell(self, name: str) -> Cell:
        """Return a figure. It has bounds only if something is missing."""
        cell = self.cells.get(name, NOTHING)
        return replace(cell, bounds=None) if cell.bounds and cell.bounds[0] == cell.bounds[1] else cell

    def value_of(self, name: str) -> float | str | None:
        value: float | str | None = self.cells.get(name, NOTHING).value
        return value

    def number_of(self, name: str) -> float | None:
        """Return a figure as a number, also if it is printed."""
        value = self.value_of(name)
        return None if value is None else float(value)

    def interval_of(self, name: str) -> Ends | None:
        return self.cells.get(name, NOTHING).interval or None

    def bounds_of(self, name: str) -> Ends | None:
        """Return [worst, best] of a figure. Returns None without a sample that has one."""
        return self.cells.get(name, NOTHING).bounds

    @property
    def told(self) -> Json:
        """{[story_category,] stories, METRIC…, interval: {METRIC: [low, high] or None}, bounds, unreadable
        [, unreadable_reasons][, undefined][, unjudged][, reasons, reason: the first of them][, n]}, as commands print
        it."""
        beside = {
            "interval": {name: cell.interval for name, cell in self.cells.items()},
            "reasons": self.reasons or None,
            "bounds": {name: cell.bounds for name, cell in self.cells.items()},
            "unreadable": self.unreadable,
            "unreadable_reasons": None if self.printed else self.unreadable_reasons or None,
            "undefined": self.undefined or None,
            "unjudged": plain(self.unjudged),
            "reason": None if self.printed else next(iter(self.reasons.values()), None),
            "n": self.n,
        }
        return {
            **({"story_category": self.category} if self.category else {}),
            "stories": str(self.stories) if self.printed else self.stories,
            **{name: cell.value for name, cell in self.cells.items()},
            **{name: value for name, value in beside.items() if value is not None},
        }


NO_FIGURES = ReportRow()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseRows:
    """The figures of one parse over all samples, and over those of each category. `method` says how intervals are made;
    official figures have those of the repaired parse and do not say it."""

    overall: ReportRow
    by_category: Sequence[ReportRow] = ()
    method: str | None = None
    seed: int | None = None
    resamples: int | None = None

    def told(self, stories: Sequence[Json] | None = None) -> Json:
        """Return {overall, by_category[, stories][, method, seed, resamples]}, as commands print it."""
        made = {"method": self.method, "seed": self.seed, "resamples": self.resamples}
        return {
            "overall": self.overall.told,
            "by_category": [row.told for row in self.by_category],
            **({} if stories is None else {"stories": list(stories)}),
            **{name: value for name, value in made.items() if value is not None},
        }


@dataclass(frozen=True, slots=True)
class BothParses:
    """The figures of both parses, None for one without figures."""

    official: ParseRows | None = None
    repaired: ParseRows | None = None

    @property
    def told(self) -> Json:
        """{official, repaired}, as commands print it."""
        return {
            parse: rows and rows.told() for parse, rows in (("official", self.official), ("repaired", self.repaired))
        }

    def of(self, parse: str) -> ParseRows | None:
        return self.official if parse == "official" else self.repaired

    def overall(self, parse: str) -> ReportRow:
        """Return the row over all samples. It has no figures if the parse has none."""
        rows = self.of(parse)
        return rows.overall if rows else NO_FIGURES

    def by_category(self, parse: str) -> Mapping[str, ReportRow]:
        """Return the row of each category. Returns none if the parse has no figures."""
        rows = self.of(parse)
        return {row.category: row for row in rows.by_category} if rows else {}


# --- means as the released scorers of benchmarks print them: texts of six decimals


def six(value: float) -> str:
    return f"{value:.6f}"


def averages(
    rows: Sequence[tuple[str, Mapping[str, str | float | None]]], shares: Sequence[str], mean_of: str = ""
) -> Json:
    """Return {overall, by_category} from the verbatim category and the figures, texts or numbers, of each story.

    `overall` also has the mean of the categories' means of the share `mean_of`, as `<share>_category_mean`. Categories
    are in the order of their verbatim names, of which two can read alike; stories without one are in no row of one.
    `stories` counts those that have a figure, as official scoring leaves out others.
    """
    groups: dict[str, list[Mapping[str, str | float | None]]] = defaultdict(list)
    for category, row in rows:
        groups[category].append(row)
    overall = _means([row for _, row in rows], shares)
    by_category = [_means(groups[category], shares, normalise_space(category)) for category in sorted(groups)]
    if mean_of:
        overall[f"{mean_of}_category_mean"] = _mean([row[mean_of] for row in by_category])
    return {"overall": overall, "by_category": [row for row in by_category if "story_category" in row]}


def _means(rows: Sequence[Mapping[str, str | float | None]], shares: Sequence[str], category: str = "") -> Json:
    counted = [row for row in rows if any(row[name] is not None for name in shares)]
    means = {name: _mean([row[name] for row in rows]) for name in shares}
    return {**({"story_category": category} if category else {}), "stories": str(len(counted)), **means}


def _mean(printed: Sequence[str | float | None]) -> str | None:
    """The exact mean of printed figures, printed, without those that official scoring leaves out; None where it leaves
    out all."""
    counted = [float(metric) for metric in printed if metric is not None]
    return six(mean(counted)) if counted else None if printed else six(0)
