"""Figures of counts: label distribution, MatchCount distribution, confusion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from benchmark.domain.drawn import Metric, ModelRow, Plot, drawn
from benchmark.domain.matched_rows import METRICS
from benchmark.domain.plots.bars import Bar, bars_by_part, stacked_bars
from benchmark.domain.plots.dots import Panel, Series, dot_plot
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.heat import heat_table
from benchmark.domain.plots.names import labels, printable, shortened
from benchmark.domain.plots.parts import scores_by_part
from benchmark.domain.plots.ranked import NO_MODEL
from benchmark.domain.plots.scatter import Point, numbered_scatter
from benchmark.domain.plots.values import BANDS, Percent, barred, bounds_of, percent, value_line, worst_to_best
from benchmark.domain.tables.categories import in_order
from benchmark.domain.tables.estimates import metric_of
from benchmark.suites.omnitom.analyses import (
    BUCKETS,
    ILLEGAL,
    MISSING,
    NO_CONFUSION,
    CountedLabels,
    Stage1Analyses,
    Stage2Analyses,
)
from benchmark.suites.omnitom.data import STAGE1, STAGE2
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, Scheme
from benchmark.suites.omnitom.results import KIND_HEADS, KINDS
from benchmark.suites.omnitom.tables import names_by_kind, slug_of
from benchmark.suites.results import EntrantResults, ParseResults, ShownPicture
from benchmark.suites.showing.entrants import finding_of, findings_of
from benchmark.suites.showing.missing import complete, missing_text, unjudged_text
from benchmark.suites.tombench_tasks import TASKS
from core.messages import Sentence, clauses, gettext_noop, listed, word

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


def f1_by_category(rows: Sequence[ModelRow], *, parse: str) -> Plot:
    """Extraction F1 in one panel a story category; a row has figures by category."""
    order = in_order((name for row in rows for name in row.values), TASKS)
    ordered = [replace(row, values={name: row.values.get(name) for name in order}) for row in rows]
    return scores_by_part(
        ordered,
        parse=parse,
        score="Extraction F1",
        part=gettext_noop("story category"),
        short=TASKS,
    )


MARKS = (("o", "chart", True), ("s", "second", True), ("^", "ink", False))


@plot
def by_kind(look: Look, panels: Mapping[str, Sequence[ModelRow]], *, by: str, score: str, parse: str) -> Drawing:
    """Plot what becomes of beliefs of each order or actor role (`by`, a key of KINDS), in one panel a figure: the
    paper's figure 5.

    `panels` is {title: rows}, a row has figures by kind; a model that a panel lacks is empty there.
    `score` names the figures.
    """
    about = {"score": word(score), "kind_heads": KIND_HEADS[by], "parse": word(parse)}
    title = Sentence("{score} by {kind_heads}, {parse} parse", **about)
    models = list(dict.fromkeys(row.model for rows in panels.values() for row in rows))
    if not models:
        return Drawing(title, NO_MODEL)
    values_by_panel = {name: {row.model: row.values for row in rows} for name, rows in panels.items()}
    metrics = {
        name: [{kind: percent(values_by_model.get(model, {}).get(kind)) for kind in KINDS[by]} for model in models]
        for name, values_by_model in values_by_panel.items()
    }
    heads = {kind: Sentence("Order {kind}", kind=kind) if by == "order" else kind.capitalize() for kind in KINDS[by]}
    series = [
        Series(key=kind, label=head, marker=marker, colour=colour, filled=filled)
        for (kind, head), (marker, colour, filled) in zip(heads.items(), MARKS, strict=False)
    ]
    unit, drawn = f"{score} (%), rows pooled over stories, {parse} parse", [Panel(*panel) for panel in metrics.items()]
    canvas = dot_plot(models, drawn, series, unit=unit, look=look)
    lines = [
        value_line(f"{name}, {model}", (heads[kind].lower() for kind in row), row.values())
        for name, rows in metrics.items()
        for model, row in zip(models, rows, strict=True)
    ]
    return Drawing(title, canvas, lines)


HEADS = OMNITOM_SCHEME.shorts


@plot
def accuracy_by_dimension(
    look: Look, rows: Sequence[ModelRow], *, parse: str, heads: Mapping[str, str] = HEADS, bold_best: bool = True
) -> Drawing:
    """Labelling accuracy of models × dimensions, in the order of their `heads`, as a table of coloured cells; with
    `bold_best` the best of a column is bold.

    A row has figures by dimension, and over all or None.
    """
    title = f"Labelling accuracy by dimension, {parse} parse"
    if not rows:
        return Drawing(title, NO_MODEL)
    columns = list(heads.values())
    cells = [[percent(row.values.get(name)) for name in heads] for row in rows]
    if any(row.overall is not None for row in rows):
        columns.append(gettext_noop("Overall"))
        cells = [[*line, percent(row.overall)] for line, row in zip(cells, rows, strict=True)]
    values = [[None if metric is None else metric.value for metric in line] for line in cells]
    canvas = heat_table(
        look.labels(row.model for row in rows),
        columns,
        values,
        [["–" if value is None else f"{value:.1f}" for value in line] for line in values],
        legend=look.noted(f"Accuracy (%), {parse} parse"),
        look=look,
        bold_best=bold_best and len(rows) > 1,
    )
    lines = [value_line(row.model, columns, line) for row, line in zip(rows, cells, strict=True)]
    return Drawing(title, canvas, lines)


NO_VOLUME = "No model has predicted a row."
UNBOUNDED = " (rows a story have none: an answer that nobody can read may hold any number)"
PANELS = {"precision": (gettext_noop("Precision"), "^"), "recall": (gettext_noop("Recall"), "s"), "f1": ("F1", "o")}


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeRow:
    """How many rows a story a model predicted, and what share of them, and of the gold rows, is right."""

    model: str
    predicted_per_story: Metric
    precision: Metric = None
    recall: Metric = None
    f1: Metric = None

    @property
    def shares(self) -> dict[str, Metric]:
        """The figures by panel."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


@plot
def volume(look: Look, rows: Sequence[VolumeRow], *, parse: str) -> Drawing:
    """Predicted rows a story (logarithmic) against precision, recall and F1: the paper's figure 8.

    Models are numbered, with a key below. One without a predicted row is left out. A share's bounds are drawn as a band
    where they differ; rows a story have none: an answer that nobody can read may hold any number of them.
    """
    title = f"Predicted rows a story against precision, recall and F1, {parse} parse"
    points = [_drawn(row, across) for row in rows if (across := _rows_a_story(row.predicted_per_story))]
    none = [row.model for row in rows if not _rows_a_story(row.predicted_per_story)]
    if not points:
        return Drawing(title, NO_VOLUME)
    metrics = [metric for point in points for metric in (point.across, *point.shares.values())]
    banded = any(ends for point in points for ends in point.bounds.values())
    unit = (
        f"Predicted rows a story (logarithmic axis), {parse} "
        f"reading{barred(metrics)}{(BANDS + UNBOUNDED) if banded else ''}"
    )
    without = f"without a predicted row: {', '.join(none)}" if none else ""
    canvas = numbered_scatter(points, PANELS, unit=look.noted(unit, without), look=look)
    lines = [
        f"{at}. {point.model}: {point.across.text()} rows a story"
        + "".join(
            ", " + listed([f"{name.lower()} {metric.text()}", worst_to_best(point.bounds[key])])
            for key, (name, _) in PANELS.items()
            if (metric := point.shares[key])
        )
        for at, point in enumerate(points, 1)
    ]
    return Drawing(title, canvas, lines)


def _drawn(row: VolumeRow, across: Percent) -> Point:
    shares = {name: percent(share) for name, share in row.shares.items()}
    return Point(row.model, across, shares, {name: bounds_of(share) for name, share in row.shares.items()})


def _rows_a_story(metric: Metric) -> Percent | None:
    """A number of rows, which is not a share; None for nought, which a logarithmic axis does not have."""
    estimate = drawn(metric)
    if estimate is None or not estimate.value:
        return None
    ends = estimate.interval
    return Percent(estimate.value, (ends[0], ends[1]) if ends else None, estimate.reason or "")


def without_bounds(entrants: Sequence[EntrantResults], group: str, parse: str) -> str:
    """Return what a picture of the rows that were read leaves out, where models left out unlike much; official figures
    count it as 0."""
    note = missing_text(entrants, group) if parse == "repaired" else ""
    return f"{note}; left out here, without bounds, as nobody knows what these answers hold" if note else ""


LINES_TAKE_THEM = "marks leave them out, lines take them as unmatched and as matched"


def _without_rows(entrants: Sequence[EntrantResults], group: str, parse: str, becomes: str) -> str:
    """Return what `without_bounds` says, and what becomes of rows that judges left out where they are unlike many."""
    note = unjudged_text(entrants) if parse == "repaired" and group == STAGE1 else ""
    return clauses(without_bounds(entrants, group, parse), note and clauses(note, becomes))


def category_plot(entrants: Sequence[EntrantResults], parse: str) -> Plot:
    rows = [
        ModelRow(
            entrant.model,
            {category: metric_of(row, "f1") for category, row in entrant.parses.by_category(parse).items()},
        )
        for entrant in entrants
    ]
    return f1_by_category(rows, parse=parse)


def dimension_plot(entrants: Sequence[EntrantResults], parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Plot:
    rows = []
    for entrant in entrants:
        overall = entrant.parses.overall(parse)
        values = {name: overall.value_of(scheme.share_of(name)) for name in scheme.keys}
        rows.append(ModelRow(entrant.model, values, overall.value_of("overall_accuracy")))
    drawn = accuracy_by_dimension(rows, parse=parse, bold_best=complete(entrants, parse), heads=scheme.shorts)
    return drawn.about(note=without_bounds(entrants, STAGE2, parse))


def extraction_by_kind(entrants: Sequence[EntrantResults], by: str, parse: str) -> Plot:
    return _by_kind(
        findings_of(entrants, parse, Stage1Analyses),
        by,
        parse,
        {"F1": "f1", "Precision": "precision", "Recall": "recall"},
        gettext_noop("Extraction"),
    )


def labelling_by_kind(entrants: Sequence[EntrantResults], by: str, parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Plot:
    heads = {"Overall": "overall", **{head: name for name, head in scheme.shorts.items()}}
    analysed = findings_of(entrants, parse, Stage2Analyses)
    return _by_kind(analysed, by, parse, heads, gettext_noop("Labelling accuracy"))


def _by_kind(
    analysed: Sequence[tuple[EntrantResults, Stage1Analyses | Stage2Analyses]],
    by: str,
    parse: str,
    panels: dict[str, str],
    score: str,
) -> Plot:
    panel_rows = {
        title: [
            ModelRow(entrant.model, {kind: analyses.kinds[kind][name] for kind in KINDS[by]})
            for entrant, analyses in analysed
        ]
        for title, name in panels.items()
    }
    group = STAGE1 if score == "Extraction" else STAGE2
    note = _without_rows([entrant for entrant, _ in analysed], group, parse, LINES_TAKE_THEM)
    return by_kind(panel_rows, by=by, score=score, parse=parse).about(note=note)


def volume_against_shares(entrants: Sequence[EntrantResults], parse: str) -> Plot:
    rows = []
    for entrant, analyses in findings_of(entrants, parse, Stage1Analyses):
        overall, a_story = entrant.parses.overall(parse), analyses.volume.predicted_per_story
        shares = {name: metric_of(overall, name) for name in METRICS}
        rows.append(VolumeRow(model=entrant.model, predicted_per_story=a_story, **shares))
    return volume(rows, parse=parse)


def counts_of_matches(entrants: Sequence[EntrantResults], parse: str) -> Plot:
    rows = {
        entrant.model: {name: analyses.match_counts.rows[name] for name in BUCKETS}
        for entrant, analyses in findings_of(entrants, parse, Stage1Analyses)
    }
    return match_counts(rows, parse=parse).about(note=_without_rows(entrants, STAGE1, parse, "left out here"))


def label_plot(entrant: EntrantResults, parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Plot:
    analyses = finding_of(entrant, parse, Stage2Analyses)
    tables = {name: _label_counts(analyses.labels[name]) for name in scheme.keys} if analyses else {}
    return label_distribution(tables, model=entrant.model, parse=parse, titles=scheme.titles)


def _label_counts(counts: CountedLabels) -> dict[str, LabelCounts]:
    in_gold, predicted = counts.in_gold, counts.in_answers
    reasons = _reasons(counts)
    return {
        label: LabelCounts(
            gold=in_gold.gold[at],
            predicted=predicted.predicted[at],
            gold_interval=in_gold.gold_ends[at],
            interval=predicted.ends[at],
            reason=reasons[at],
        )
        for at, label in enumerate(counts.labels)
    }


def _reasons(counts: CountedLabels) -> list[str]:
    """Return why a predicted or a gold share has no interval."""
    sides = counts.in_answers.reasons, counts.in_gold.gold_reasons
    return [why or other for why, other in zip(*sides, strict=True)]


def confusion_of(entrant: EntrantResults, dimension: str, parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Plot:
    analyses = finding_of(entrant, parse, Stage2Analyses)
    counts = analyses.confusion[dimension] if analyses else NO_CONFUSION
    table = {
        gold: dict(zip(counts.said, rows, strict=True)) for gold, rows in zip(counts.gold, counts.rows, strict=True)
    }
    return confusion(table, dimension=dimension, model=entrant.model, parse=parse, titles=scheme.titles)


def pictures(scheme: Scheme, results: ParseResults) -> dict[str, ShownPicture]:
    """Return the pictures of what has figures, and of what has analyses, in the parse."""
    return dict([*_of_metrics(scheme, results), *_of_analyses(scheme, results), *_of_labels(scheme, results)])


def _of_metrics(scheme: Scheme, results: ParseResults) -> Iterator[tuple[str, ShownPicture]]:
    parse = results.parse
    if extracted := results.read[STAGE1]:
        plot = partial(category_plot, extracted, parse)
        yield (
            "f1-by-category",
            ShownPicture(gettext_noop("F1 by story category"), plot, (STAGE1,)),
        )
    if labelled := results.read[STAGE2]:
        plot = partial(dimension_plot, labelled, parse, scheme)
        title, groups = gettext_noop("Accuracy by dimension"), (STAGE2,)
        yield (
            "dimensions",
            ShownPicture(title, plot, groups, whole=True),
        )


def _of_analyses(scheme: Scheme, results: ParseResults) -> Iterator[tuple[str, ShownPicture]]:
    parse, first, second = results.parse, results.analysed[STAGE1], results.analysed[STAGE2]
    for by, name in names_by_kind(scheme).items():
        head = KIND_HEADS[by]
        if first:
            plot = partial(extraction_by_kind, first, by, parse)
            yield (
                name,
                ShownPicture(Sentence("Extraction by {head}", head=head), plot, (STAGE1,)),
            )
        if second:
            plot = partial(labelling_by_kind, second, by, parse, scheme)
            title = Sentence("Labelling accuracy by {head} and dimension", head=head)
            yield f"{name}-dimensions", ShownPicture(title, plot, (STAGE2,))
    if first:
        plot = partial(volume_against_shares, first, parse)
        yield "volume", ShownPicture(gettext_noop("Volume against precision and recall"), plot, (STAGE1,))
        plot = partial(counts_of_matches, first, parse)
        yield (
            "match-counts",
            ShownPicture(gettext_noop("MatchCount distribution"), plot, (STAGE1,)),
        )


def _of_labels(scheme: Scheme, results: ParseResults) -> Iterator[tuple[str, ShownPicture]]:
    parse = results.parse
    for at, entrant in enumerate(results.analysed[STAGE2], 1):
        plot = partial(label_plot, entrant, parse, scheme)
        title = Sentence("Labels in gold and by {model}", model=entrant.model)
        yield f"labels-{at}", ShownPicture(title, plot)
        for dimension, name in scheme.titles.items():
            plot = partial(confusion_of, entrant, dimension, parse, scheme)
            title = Sentence("{name}: gold labels and those of {model}", name=word(name), model=entrant.model)
            yield f"confusion-{at}-{slug_of(dimension)}", ShownPicture(title, plot)
