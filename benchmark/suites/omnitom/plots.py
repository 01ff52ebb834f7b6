"""OmniToM's pictures, drawn with `benchmark.domain.plots` from the entrants of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from benchmark.domain.drawn import ModelRow, Plot, drawn
from benchmark.domain.matched_rows import METRICS
from benchmark.domain.plots.bars import Bar, bars_by_part, stacked_bars
from benchmark.domain.plots.dots import Panel, Series, dot_plot
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.heat import heat_table
from benchmark.domain.plots.models import NO_MODEL, scores_by_part
from benchmark.domain.plots.scatter import Point, numbered_scatter
from benchmark.domain.plots.text import labels, printable, shortened
from benchmark.domain.plots.values import BANDS, Percent, barred, bounds_of, percent, value_line, worst_to_best
from benchmark.domain.tables import in_order
from benchmark.suites.omnitom.analyses import BUCKETS, ILLEGAL, MISSING
from benchmark.suites.omnitom.data import STAGE1, STAGE2
from benchmark.suites.omnitom.labels import ALL_DIMENSIONS, OMNITOM_SCHEME, Scheme
from benchmark.suites.omnitom.results import KIND_HEADS, KINDS
from benchmark.suites.omnitom.tables import confusion_in, found_in, names_by_kind, own_groups, slug_of
from benchmark.suites.results import EntrantResults, ParseResults, ShownPicture
from benchmark.suites.showing.missing import complete, missing_text, unjudged_text
from benchmark.suites.tombench_tasks import TASKS
from core.messages import Sentence, clauses, gettext_noop, listed, word

NO_LABEL = "No label was counted."
NO_ROW = "No predicted row was judged."
NO_VOLUME = "No model has predicted a row."
UNBOUNDED = " (rows a story have none: an answer that nobody can read may hold any number)"
LINES_TAKE_THEM = "marks leave them out, lines take them as unmatched and as matched"
VOLUME_PANELS = {
    "precision": (gettext_noop("Precision"), "^"),
    "recall": (gettext_noop("Recall"), "s"),
    "f1": ("F1", "o"),
}
MARKS = (("o", "chart", True), ("s", "second", True), ("^", "ink", False))
HEADS = OMNITOM_SCHEME.shorts
Entrants = Sequence[EntrantResults]
Counts = Mapping[str, int]


def _without(entrants: Entrants, group: str, parse: str, becomes: str = "") -> str:
    """Return the note of a picture of the rows that were read: missing answers if their shares differ between models,
    and with `becomes` rows that judges left out. Official figures count both as 0."""
    missing = missing_text(entrants, group) if parse == "repaired" else ""
    note = f"{missing}; left out here, without bounds, as nobody knows what these answers hold" if missing else ""
    rows = unjudged_text(entrants) if becomes and parse == "repaired" and group == STAGE1 else ""
    return clauses(note, rows and clauses(rows, becomes))


# --- a row per model


def f1_by_category(rows: Sequence[ModelRow], *, parse: str) -> Plot:
    """Draw extraction F1 in one panel per story category; a row has figures by category."""
    order = in_order((name for row in rows for name in row.values), TASKS)
    ordered = [ModelRow(row.model, {name: row.values.get(name) for name in order}) for row in rows]
    return scores_by_part(ordered, parse=parse, score="Extraction F1", part=gettext_noop("story category"), short=TASKS)


def _categories(entrants: Entrants, parse: str) -> Plot:
    by_category = {entrant.model: entrant.parses.by_category(parse) for entrant in entrants}
    rows = [ModelRow(name, {key: row.cell("f1") for key, row in rows.items()}) for name, rows in by_category.items()]
    return f1_by_category(rows, parse=parse)


@plot
def by_kind(look: Look, panels: Mapping[str, Sequence[ModelRow]], *, by: str, score: str, parse: str) -> Drawing:
    """Draw figures by order or actor role (`by`, a key of KINDS) in one panel per figure (paper, figure 5).

    `panels` is {title: rows}, a row has figures by kind; a model that a panel lacks is empty there. `score` names the
    figures.
    """
    named = {"score": word(score), "kind_heads": KIND_HEADS[by], "parse": word(parse)}
    title = Sentence("{score} by {kind_heads}, {parse} parse", **named)
    models = list(dict.fromkeys(row.model for rows in panels.values() for row in rows))
    if not models:
        return Drawing(title, NO_MODEL)
    metrics = {}
    for name, rows in panels.items():
        values = {row.model: row.values for row in rows}
        metrics[name] = [{kind: percent(values.get(model, {}).get(kind)) for kind in KINDS[by]} for model in models]
    heads = {kind: Sentence("Order {kind}", kind=kind) if by == "order" else kind.capitalize() for kind in KINDS[by]}
    series = [
        Series(key=kind, label=head, marker=marker, colour=colour, filled=filled)
        for (kind, head), (marker, colour, filled) in zip(heads.items(), MARKS, strict=False)
    ]
    unit = f"{score} (%), rows pooled over stories, {parse} parse"
    canvas = dot_plot(models, [Panel(*row) for row in metrics.items()], series, unit=unit, look=look)
    lines = [
        value_line(f"{name}, {model}", (heads[kind].lower() for kind in row), row.values())
        for name, rows_of_panel in metrics.items()
        for model, row in zip(models, rows_of_panel, strict=True)
    ]
    return Drawing(title, canvas, lines)


def _kinds(entrants: Entrants, group: str, by: str, parse: str, scheme: Scheme) -> Plot:
    panels = {"F1": "f1", "Precision": "precision", "Recall": "recall"}
    if group == STAGE2:
        panels = {"Overall": "overall", **{head: name for name, head in scheme.shorts.items()}}
    found = found_in(entrants, parse, "kinds")
    rows = {
        title: [ModelRow(entrant.model, {kind: kinds[kind][name] for kind in KINDS[by]}) for entrant, kinds in found]
        for title, name in panels.items()
    }
    score = gettext_noop("Extraction") if group == STAGE1 else gettext_noop("Labelling accuracy")
    note = _without([entrant for entrant, _ in found], group, parse, LINES_TAKE_THEM)
    return by_kind(rows, by=by, score=score, parse=parse).about(note=note)


@plot
def accuracy_by_dimension(
    look: Look, rows: Sequence[ModelRow], *, parse: str, heads: Mapping[str, str] = HEADS, bold_best: bool = True
) -> Drawing:
    """Draw labelling accuracy of models × dimensions, in the order of their `heads`, as a table of coloured cells; with
    `bold_best` the best of a column is bold. A row has figures by dimension, and over all or None."""
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


def _dimensions(entrants: Entrants, parse: str, scheme: Scheme) -> Plot:
    rows = []
    for entrant in entrants:
        value_of = entrant.parses.overall(parse).value_of
        values = {name: value_of(scheme.share_of(name)) for name in scheme.keys}
        rows.append(ModelRow(entrant.model, values, value_of(ALL_DIMENSIONS)))
    picture = accuracy_by_dimension(rows, parse=parse, bold_best=complete(entrants, parse), heads=scheme.shorts)
    return picture.about(note=_without(entrants, STAGE2, parse))


@plot
def volume(look: Look, rows: Sequence[ModelRow], *, parse: str) -> Drawing:
    """Draw predicted rows per story (logarithmic), the `overall` of a row, against its precision, recall and F1 (paper,
    figure 8).

    Models are numbered, with a key below; one without a predicted row is left out. Bounds of a share are drawn as a
    band if they differ.
    """
    title = f"Predicted rows a story against precision, recall and F1, {parse} parse"
    points, none = [], []
    for row in rows:
        per_story = drawn(row.overall)  # a number of rows, which is not a share
        if not per_story or not per_story.value:  # a logarithmic axis has no 0
            none.append(row.model)
            continue
        ends = per_story.interval
        across = Percent(per_story.value, (ends[0], ends[1]) if ends else None, per_story.reason or "")
        shares = {name: percent(row.values.get(name)) for name in VOLUME_PANELS}
        bounds = {name: bounds_of(row.values.get(name)) for name in VOLUME_PANELS}
        points.append(Point(row.model, across, shares, bounds))
    if not points:
        return Drawing(title, NO_VOLUME)
    metrics = [metric for point in points for metric in (point.across, *point.shares.values())]
    banded = any(ends for point in points for ends in point.bounds.values())
    unit = (
        f"Predicted rows a story (logarithmic axis), {parse} "
        f"reading{barred(metrics)}{(BANDS + UNBOUNDED) if banded else ''}"
    )
    without = f"without a predicted row: {', '.join(none)}" if none else ""
    canvas = numbered_scatter(points, VOLUME_PANELS, unit=look.noted(unit, without), look=look)
    return Drawing(title, canvas, [f"{at}. {_point_line(point)}" for at, point in enumerate(points, 1)])


def _point_line(point: Point) -> str:
    shares = [
        listed([f"{name.lower()} {metric.text()}", worst_to_best(point.bounds[key])])
        for key, (name, _) in VOLUME_PANELS.items()
        if (metric := point.shares[key])
    ]
    return ", ".join([f"{point.model}: {point.across.text()} rows a story", *shares])


def _volume(entrants: Entrants, parse: str) -> Plot:
    rows = []
    for entrant, counts in found_in(entrants, parse, "volume"):
        shares = {name: entrant.parses.overall(parse).cell(name) for name in METRICS}
        rows.append(ModelRow(entrant.model, shares, counts["predicted_per_story"]))
    return volume(rows, parse=parse)


# --- counts


@plot
def match_counts(look: Look, rows: Mapping[str, Counts], *, parse: str) -> Drawing:
    """Draw predicted rows by how many gold rows they match, as shares; `rows` is {model: {bucket: rows}}."""
    title = Sentence("MatchCount distribution, {parse} parse", parse=word(parse))
    if not any(sum(counts.values()) for counts in rows.values()):
        return Drawing(title, NO_ROW)

    def named(name: str) -> str:
        return name if look.narrow else f"{name} {'match' if name == '1' else 'matches'}"

    canvas = stacked_bars(rows, unit=look.noted(f"Predicted rows (%), {parse} parse"), look=look, named=named)
    lines = [
        f"{model}: " + ", ".join(f"{name} match {n}" for name, n in counts.items()) for model, counts in rows.items()
    ]
    return Drawing(title, canvas, lines)


def _match_counts(entrants: Entrants, parse: str) -> Plot:
    found = found_in(entrants, parse, "match_counts")
    rows = {entrant.model: {name: counts["rows"][name] for name in BUCKETS} for entrant, counts in found}
    return match_counts(rows, parse=parse).about(note=_without(entrants, STAGE1, parse, "left out here"))


@plot
def label_distribution(look: Look, dimensions: Mapping[str, Mapping[str, Any]], *, model: str, parse: str) -> Drawing:
    """Draw how often each label stands in the gold rows, and beside it how often `model` predicted it (paper, figure
    4).

    `dimensions` is {title: counts, as `labels` of `stage2_analyses`}. Bars are shares: of the gold rows of all stories,
    and of those in the usable ones; lines over them are the intervals of the shares.
    """
    title = f"Labels in gold and as predicted by {model}, {parse} parse"
    totals = {name: (sum(counts["gold"]), sum(counts["predicted"])) for name, counts in dimensions.items()}
    if not any(gold for gold, _ in totals.values()):
        return Drawing(title, NO_LABEL)
    rows = {name: _label_rows(counts) for name, counts in dimensions.items()}
    intervals: list[Percent] = []
    parts: dict[str, dict[str, tuple[Bar, Bar]]] = {}
    for name, (in_gold, in_answers) in totals.items():
        for label, gold, predicted, gold_ends, ends, why in rows[name] if in_gold else ():
            bars = Bar(gold / in_gold, gold_ends), Bar(predicted / (in_answers or 1), ends)
            parts.setdefault(name, {})[label] = bars
            if gold or predicted:
                intervals.append(Percent(0.0, (ends[0], ends[1]) if ends else None, why))
    series = [
        Series(key="gold", label="Gold", marker="s", colour="line_strong"),
        Series(key="predicted", label=labels([model])[0], marker="s"),
    ]
    unit = f"Share of the dimension's rows (%): gold, predicted, {parse} parse{barred(intervals, 'line')}"
    canvas = bars_by_part(parts, series, unit=unit, look=look)
    lines = [
        f"{name} ({totals[name][0]} gold rows, {totals[name][1]} in usable stories): "
        + ", ".join(f"{label} gold {gold}, predicted {predicted}" for label, gold, predicted, *_ in of_part)
        for name, of_part in rows.items()
    ]
    return Drawing(title, canvas, lines)


def _label_rows(counts: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return (label, gold, predicted, interval in gold, interval, reason without one) of each label, without `MISSING`
    and `ILLEGAL` if they were not predicted."""
    reasons = [why or other for why, other in zip(counts["reasons"], counts["gold_reasons"], strict=True)]
    columns = (counts[name] for name in ("labels", "gold", "predicted", "gold_ends", "ends"))
    rows = zip(*columns, reasons, strict=True)
    return [row for row in rows if row[0] not in {MISSING, ILLEGAL} or row[2]]


@plot
def confusion(look: Look, counts: Mapping[str, Any], *, dimension: str, model: str, parse: str) -> Drawing:
    """Draw gold labels × predicted labels with counts, coloured by the share of the gold label's rows.

    `counts` are as `confusion` of `stage2_analyses`; `MISSING` and `ILLEGAL` have a column only if they were predicted.
    """
    about = {"titles": word(dimension), "model": model, "parse": word(parse)}
    title = Sentence("{titles}: gold labels and those of {model}, {parse} parse", **about)
    table, said = dict(zip(counts["gold"], counts["rows"], strict=True)), counts["said"]
    if not any(map(sum, table.values())):
        return Drawing(title, NO_LABEL)
    shown = [
        at for at, name in enumerate(said) if name not in {MISSING, ILLEGAL} or any(row[at] for row in table.values())
    ]
    columns, rows = [said[at] for at in shown], {gold: [row[at] for at in shown] for gold, row in table.items()}
    totals = {gold: sum(row) for gold, row in table.items()}
    canvas = heat_table(
        [printable(gold) for gold in rows],
        columns,
        [[100 * n / totals[gold] if totals[gold] else None for n in row] for gold, row in rows.items()],
        [[f"{n:,}" for n in row] for row in rows.values()],
        legend=f"Rows, {parse} parse; colour: share of the gold label's rows (%)",
        look=look,
        ends=(0.0, 100.0),
        corner=("Gold", shortened(f"Predicted by {printable(model)}", 44)),
    )
    lines = [
        f"{gold} ({totals[gold]} rows): " + ", ".join(f"{name} {n}" for name, n in zip(columns, row, strict=True) if n)
        for gold, row in rows.items()
    ]
    return Drawing(title, canvas, lines)


def _labels(entrant: EntrantResults, parse: str, scheme: Scheme) -> Plot:
    found = found_in([entrant], parse, "labels")
    counts = {scheme.titles[key]: counts for _, of_entrant in found for key, counts in of_entrant.items()}
    return label_distribution(counts, model=entrant.model, parse=parse)


def _confusion(entrant: EntrantResults, dimension: str, parse: str, scheme: Scheme) -> Plot:
    counts = confusion_in(entrant, dimension, parse)
    return confusion(counts, dimension=scheme.titles[dimension], model=entrant.model, parse=parse)


# --- pictures by name


def pictures(scheme: Scheme, results: ParseResults) -> dict[str, ShownPicture]:
    """Return the pictures of the parse by name: of what has figures, and of what has analyses."""
    parse, analysed, read = results.parse, own_groups(scheme, results.analysed), own_groups(scheme, results.read)
    first, second = analysed[STAGE1], analysed[STAGE2]
    extraction, labelling = (scheme.group(STAGE1),), (scheme.group(STAGE2),)
    shown = {}
    if read[STAGE1]:
        title = gettext_noop("F1 by story category")
        shown["f1-by-category"] = ShownPicture(title, partial(_categories, read[STAGE1], parse), extraction)
    if read[STAGE2]:
        make, title = partial(_dimensions, read[STAGE2], parse, scheme), gettext_noop("Accuracy by dimension")
        shown["dimensions"] = ShownPicture(title, make, labelling, whole=True)
    for by, name in names_by_kind(scheme).items():
        if first:
            title = Sentence("Extraction by {head}", head=KIND_HEADS[by])
            shown[name] = ShownPicture(title, partial(_kinds, first, STAGE1, by, parse, scheme), extraction)
        if second:
            title = Sentence("Labelling accuracy by {head} and dimension", head=KIND_HEADS[by])
            make = partial(_kinds, second, STAGE2, by, parse, scheme)
            shown[f"{name}-dimensions"] = ShownPicture(title, make, labelling)
    if first:
        title = gettext_noop("Volume against precision and recall")
        shown["volume"] = ShownPicture(title, partial(_volume, first, parse), extraction)
        title = gettext_noop("MatchCount distribution")
        shown["match-counts"] = ShownPicture(title, partial(_match_counts, first, parse), extraction)
    for at, entrant in enumerate(second, 1):
        title = Sentence("Labels in gold and by {model}", model=entrant.model)
        shown[f"labels-{at}"] = ShownPicture(title, partial(_labels, entrant, parse, scheme))
        for dimension, name in scheme.titles.items():
            title = Sentence("{name}: gold labels and those of {model}", name=word(name), model=entrant.model)
            make = partial(_confusion, entrant, dimension, parse, scheme)
            shown[f"confusion-{at}-{slug_of(dimension)}"] = ShownPicture(title, make)
    return shown
