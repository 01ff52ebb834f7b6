"""Figures of counts: label distribution, MatchCount distribution, confusion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmark.domain.plots.bars import Bar, bars_by_part, stacked_bars
from benchmark.domain.plots.dots import Series
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.heat import heat_table
from benchmark.domain.plots.names import labels, printable, shortened
from benchmark.domain.plots.values import Percent, barred
from benchmark.suites.omnitom.cells import ILLEGAL, MISSING
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME
from core.messages import Sentence, word

Counts = Mapping[str, int]
NO_LABEL = "No label was counted."
NO_ROW = "No predicted row was judged."


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCounts:
    """The counts of a label in the gold rows and among predictions; intervals are of its shares, and `reason` says why
    one is None."""

    gold: int
    predicted: int
    gold_interval: Sequence[float] | None = None
    interval: Sequence[float] | None = None
    reason: str = ""


Labels = Mapping[str, LabelCounts]
Titles = Mapping[str, str]
TITLES: Titles = OMNITOM_SCHEME.titles


@plot
def label_distribution(
    look: Look, dimensions: Mapping[str, Labels], *, model: str, parse: str, titles: Titles = TITLES
) -> Drawing:
    """Plot how often each label stands in the gold rows, and beside it how often `model` predicted it: the paper's
    figure 4.

    `dimensions` is {dimension: {label: its counts}}, `titles` what they are called. Bars are shares: of the gold rows
    of all stories, and of those in the usable ones; lines over them the intervals of the shares.
    """
    title = f"Labels in gold and as predicted by {model}, {parse} parse"
    used = {name: _used(table) for name, table in dimensions.items()}
    totals = {name: _total(table) for name, table in dimensions.items()}
    if not any(total.gold for total in totals.values()):
        return Drawing(title, NO_LABEL)
    with_gold = {name: table for name, table in used.items() if totals[name].gold}
    unit = f"Share of the dimension's rows (%): gold, predicted, {parse} parse{_lines(with_gold.values())}"
    canvas = bars_by_part(
        {titles[name]: _bars(table, totals[name]) for name, table in with_gold.items()},
        [
            Series(key="gold", label="Gold", marker="s", colour="line_strong"),
            Series(key="predicted", label=labels([model])[0], marker="s"),
        ],
        unit=unit,
        look=look,
    )
    return Drawing(title, canvas, [_in_words(titles[name], table, totals[name]) for name, table in used.items()])


def _in_words(title: str, table: Labels, total: LabelCounts) -> str:
    counted = [f"{label} gold {counts.gold}, predicted {counts.predicted}" for label, counts in table.items()]
    return f"{title} ({total.gold} gold rows, {total.predicted} in usable stories): {', '.join(counted)}"


def _total(table: Labels) -> LabelCounts:
    """Return the counts of all labels of a dimension."""
    return LabelCounts(
        gold=sum(counts.gold for counts in table.values()), predicted=sum(counts.predicted for counts in table.values())
    )


def _used(table: Labels) -> Labels:
    """Leave out what is not a label and was not predicted."""
    return {label: counts for label, counts in table.items() if label not in {MISSING, ILLEGAL} or counts.predicted}


def _lines(tables: Iterable[Labels]) -> str:
    drawn = [counts for table in tables for counts in table.values() if counts.gold or counts.predicted]
    ends = [(counts.interval, counts.reason) for counts in drawn]
    return barred(
        (Percent(0.0, (interval[0], interval[1]) if interval else None, why) for interval, why in ends), "line"
    )


def _bars(table: Labels, total: LabelCounts) -> dict[str, tuple[Bar, Bar]]:
    return {
        label: (
            Bar(counts.gold / (total.gold or 1), counts.gold_interval),
            Bar(counts.predicted / (total.predicted or 1), counts.interval),
        )
        for label, counts in table.items()
    }


@plot
def match_counts(look: Look, rows: Mapping[str, Counts], *, parse: str) -> Drawing:
    """Predicted rows by how many gold rows they match, as shares; `rows` is {model: `match_counts`}."""
    title = Sentence("MatchCount distribution, {parse} parse", parse=word(parse))
    counts_by_model = {
        model: {name: n for name, n in counts.items() if name != "total"} for model, counts in rows.items()
    }
    if not any(sum(counts.values()) for counts in counts_by_model.values()):
        return Drawing(title, NO_ROW)
    named = (
        {}
        if look.narrow
        else {
            name: f"{name} {'match' if name == '1' else 'matches'}"
            for counts in counts_by_model.values()
            for name in counts
        }
    )
    unit = look.noted(f"Predicted rows (%), {parse} parse")
    canvas = stacked_bars(counts_by_model, unit=unit, look=look, named=lambda name: named.get(name, name))
    lines = [
        f"{model}: " + ", ".join(f"{name} match {n}" for name, n in counts.items())
        for model, counts in counts_by_model.items()
    ]
    return Drawing(title, canvas, lines)


@plot
def confusion(
    look: Look, table: Mapping[str, Counts], *, dimension: str, model: str, parse: str, titles: Titles = TITLES
) -> Drawing:
    """Gold labels × predicted labels with counts, coloured by the share of the gold label's rows.

    `table` is {gold label: {predicted label: rows}}; what is not a label has a column only where it was predicted.
    """
    about = {"titles": word(titles[dimension]), "model": model, "parse": word(parse)}
    title = Sentence("{titles}: gold labels and those of {model}, {parse} parse", **about)
    columns = [name for name in next(iter(table.values()), {}) if _has_column(name, table)]
    if not any(sum(row.values()) for row in table.values()):
        return Drawing(title, NO_LABEL)
    totals = {gold: sum(row.values()) for gold, row in table.items()}
    shares = [
        [100 * row[name] / totals[gold] if totals[gold] else None for name in columns] for gold, row in table.items()
    ]
    canvas = heat_table(
        [printable(gold) for gold in table],
        columns,
        shares,
        [[f"{row[name]:,}" for name in columns] for row in table.values()],
        legend=f"Rows, {parse} parse; colour: share of the gold label's rows (%)",
        look=look, ends=(0.0, 100.0),
        corner=("Gold", shortened(f"Predicted by {printable(model)}", 44)),
    )  # fmt: skip
    lines = [
        f"{gold} ({totals[gold]} rows): " + ", ".join(f"{name} {row[name]}" for name in columns if row[name])
        for gold, row in table.items()
    ]
    return Drawing(title, canvas, lines)


def _has_column(name: str, table: Mapping[str, Counts]) -> bool:
    return name not in {MISSING, ILLEGAL} or any(row[name] for row in table.values())
