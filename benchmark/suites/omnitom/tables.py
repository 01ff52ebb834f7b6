"""The paper's tables and the tables of its analyses, and the places of tables and pictures on a report page."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from benchmark.domain.matched_rows import METRICS
from benchmark.domain.report_rows import NO_FIGURES
from benchmark.domain.tables import (
    NOTHING,
    Cell,
    Cells,
    Column,
    Items,
    Row,
    Table,
    in_order,
    share_column,
    short_name_texts,
)
from benchmark.suites.omnitom.analyses import BUCKETS, ILLEGAL, Found
from benchmark.suites.omnitom.analyses import MISSING as NO_LABEL
from benchmark.suites.omnitom.data import EXTRACT, JUDGE, LABEL, STAGE1, STAGE2
from benchmark.suites.omnitom.labels import ALL_DIMENSIONS, OMNITOM_SCHEME, ORDER, Scheme
from benchmark.suites.omnitom.results import KIND_HEADS, KINDS
from benchmark.suites.reports import Published
from benchmark.suites.results import (
    Choice,
    EntrantResults,
    EntrantsByGroup,
    Explored,
    Explorer,
    ParseResults,
    Section,
    ShownTable,
)
from benchmark.suites.showing.entrants import (
    finding_of,
    findings_of,
    labels_of,
    measured,
    models_of,
    ranked_by,
    ranked_within,
    row_of,
    with_settings,
)
from benchmark.suites.showing.judges import notes_of
from benchmark.suites.showing.missing import LEFT_OUT, complete, unlike_missing, unmarked
from benchmark.suites.tombench_tasks import TASKS
from core.messages import Sentence, clauses, gettext_noop, labelled, listed, noted, word, worded
from core.statistics import Estimate

MODEL = Column(key="model", header=gettext_noop("Model"))
COUNTED = gettext_noop("n: stories.")
MEANS = gettext_noop(
    "F1 overall is the unweighted mean of the categories' means, as the paper prints it; F1 by story is the mean over "
    "stories, as its section 5 defines it."
)
POOLED = gettext_noop("Rows are pooled over stories; brackets: 95 % intervals over stories; n: rows.")
POOLED_CELLS = gettext_noop("Rows are pooled over stories; brackets: 95 % intervals over stories; n: cells.")
BOUNDS_NOTE = (
    "Rows not judged are in no figure; brackets, and the worst and best case in CSV and JSON, take them as unmatched "
    "and as matched, or as of another match count and as of this one."
)
CASES_NOTE = (
    "Worst and best case, in CSV and JSON: with missing answers and rows not judged at their worst and at their best."
)
KIND_NAMES = {
    **{order: Sentence("Order {order}", order=order) for order in KINDS["order"]},
    "world": gettext_noop("World"),
    "actors": gettext_noop("Actors"),
}
KIND_NOTES = {
    "order": gettext_noop(
        "Precision is over predicted rows by the order that the model gave them, recall over gold rows by theirs, F1 "
        "is of the two."
    ),
    "role": gettext_noop(
        "World holds what the narrator states as fact; actors are all characters and groups. Precision is over "
        "predicted rows, recall over gold rows, F1 is of the two."
    ),
}
CELLS_NOTE = gettext_noop("By the {head} of the gold row; overall is over the cells of all dimensions.")
DISTRIBUTION_NOTE = gettext_noop(
    "Brackets: 95 % intervals over stories of the share of the row's total (%). Gold's are those of all stories, "
    "models' of usable ones."
)
CONFUSION_NOTE = gettext_noop("Brackets: 95 % intervals over stories of the share of the gold label's rows (%).")
UNREADABLE_NOTES = {
    "official": gettext_noop(
        "Unreadable: answers in which official parsing finds no row, of labelling no row of a gold proposition. "
        "Official scoring counts them 0."
    ),
    "repaired": gettext_noop(
        "Unreadable: answers of the model itself that nobody could read. Calls that failed, judgements that cannot be "
        "used and rows that the judge left out are no answer of the model and are counted apart."
    ),
}
MISSING_PARTS = {
    STAGE1: {
        "calls": gettext_noop("Calls without an answer"),
        "judgements": gettext_noop("Extractions without a judgement"),
        "rows": gettext_noop("Rows without a judgement"),
    },
    STAGE2: {"calls": gettext_noop("Calls without an answer")},
}
"""What is missing that is not the model's doing, by metric group."""
BY_KIND = {"order": "orders", "role": "roles"}
"""The names of tables and pictures by each of KINDS."""
MAIN_TITLES = (gettext_noop("Stage 1: extraction F1 (%)"), gettext_noop("Stage 2: labelling accuracy (%)"))
MEASURES = {"f1": "F1", "precision": "Precision", "recall": "Recall"}
PER_STORY = (gettext_noop("Predicted a story"), gettext_noop("Gold a story"))
SHARED_SETTINGS = ("prompts", "level", "seed", "longest answer")
"""The settings of both metric groups."""
Entrants = Sequence[EntrantResults]


# --- table 3: extraction and labelling of a model in one row

Pair = Mapping[str, EntrantResults | None]
"""One model's entrants in both metric groups; either may be lacking."""


def main_table(groups: EntrantsByGroup, parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Table:
    """Return F1 by category, both averages, then accuracy by dimension and overall, a row per model and settings."""
    pairs = list(_pairs(groups))
    heads = []
    for pair in pairs:  # the entrant that names the row, with the settings of both
        first, *others = [entrant for entrant in pair.values() if entrant]
        heads.append(replace(first, settings={**(others[-1].settings if others else {}), **first.settings}))
    models, owns, _ = labels_of(heads)
    extractions = [extraction for pair in pairs if (extraction := pair[STAGE1])]
    categories = in_order((name for entrant in extractions for name in entrant.parses.by_category(parse)), TASKS)
    parts = [
        *((f"f1 {name}", STAGE1, name, "f1", TASKS.get(name, name)) for name in categories),
        ("f1_category_mean", STAGE1, "", "f1_category_mean", "Overall"),
        ("f1", STAGE1, "", "f1", gettext_noop("By story")),
        *((scheme.share_of(key), STAGE2, key, scheme.share_of(key), head) for key, head in scheme.shorts.items()),
        (ALL_DIMENSIONS, STAGE2, "", ALL_DIMENSIONS, "Overall"),
    ]
    titles = dict(zip((STAGE1, STAGE2), MAIN_TITLES, strict=True))
    columns = [share_column(key, header, unit="", group=titles[group]) for key, group, _, _, header in parts]
    rows = []
    for pair, head, model, own in zip(pairs, heads, models, owns, strict=True):
        cells = {key: _main_cell(pair[group], group, part, metric, parse) for key, group, part, metric, _ in parts}
        rows.append(row_of(replace(head, model=model, own=own), STAGE1, cells))
    stories = _stories(list(zip(models, pairs, strict=True)), parse)
    notes = [MEANS, *short_name_texts(categories, TASKS), *stories]
    table = Table(
        title=Sentence("Main results, {parse} parse (%)", parse=word(parse)),
        columns=[MODEL, *columns],
        rows=rows,
        lead=unlike_missing(groups),
        notes=[*notes, *ranked_within(extractions), *notes_of(extractions)],
        ranking=ranked_by([entrant for entrants in groups.values() for entrant in entrants]),
    )
    return with_settings(table)


def _main_cell(entrant: EntrantResults | None, group: str, part: str, metric: str, parse: str) -> Cell:
    """Return a figure and the items behind it, which may be another run's than the row's. `part` is a category of
    extraction or a dimension of labelling."""
    if entrant is None or not entrant.parses.of(parse):
        return NOTHING
    row = entrant.parses.overall(parse)
    if group == STAGE1:
        row = entrant.parses.by_category(parse).get(part, NO_FIGURES) if part else row
        filters = {"step": JUDGE} | ({"category": part} if part else {}) | measured(STAGE1, "f1", parse)
    elif part:
        filters = {"step": LABEL, "dimension": part, "parse": parse}
    else:
        filters = {"step": LABEL} | measured(STAGE2, metric, parse)
    return replace(row.cell(metric), items=Items(filters, entrant.run, entrant.entrant))


def _pairs(groups: EntrantsByGroup) -> Iterator[Pair]:
    """Pair the entrants of one run, then those that were asked alike in two runs."""
    rest, own = list(groups[STAGE2]), {entrant.key for entrant in groups[STAGE1]}
    for entrant in groups[STAGE1]:
        asked = (entrant.name, entrant.kind, entrant.spec, [entrant.settings.get(name) for name in SHARED_SETTINGS])
        alike = [other for other in rest if other.key == entrant.key] or [
            other
            for other in rest
            if other.key not in own
            and asked == (other.name, other.kind, other.spec, [other.settings.get(name) for name in SHARED_SETTINGS])
        ]
        if alike:
            rest.remove(alike[0])
        yield {STAGE1: entrant, STAGE2: alike[0] if alike else None}
    yield from ({STAGE1: None, STAGE2: other} for other in rest)


def _stories(pairs: Sequence[tuple[str, Pair]], parse: str) -> Iterator[str]:
    """Yield the numbers of stories that each model's figures rest on."""
    for group, name in ((STAGE1, gettext_noop("Extraction")), (STAGE2, gettext_noop("Labelling"))):
        counts: dict[int, list[str]] = {}
        for model, pair in pairs:
            if (entrant := pair[group]) and entrant.parses.of(parse):
                counts.setdefault(entrant.parses.overall(parse).stories or 0, []).append(model)
        notes = [
            noted(f"{count:,}", listed(models)) if len(counts) > 1 else f"{count:,}"
            for count, models in sorted(counts.items(), reverse=True)
        ]
        if notes:
            yield Sentence("{name}: stories, n = {notes}.", name=name, notes=listed(notes))


def _published() -> Iterator[Published]:
    """Yield the figures of the paper's table 3."""
    extraction = {
        **{f"f1 {name}": (name, {"categories-stage1": name}) for name in TASKS},
        "f1_category_mean": (gettext_noop("Overall, the mean of categories"), {STAGE1: "f1_category_mean"}),
        "f1": ("By story", {STAGE1: "f1"}),
    }
    for key, (title, places) in extraction.items():
        heading = gettext_noop("Extraction, F1 (table 3)")
        yield Published(f"{STAGE1}.{key}", title, heading, {"main": key} | places)
    labels = zip(OMNITOM_SCHEME.shares, ("Overall", *OMNITOM_SCHEME.shorts.values()), strict=True)
    for share, title in labels:
        heading = gettext_noop("Labelling, accuracy (table 3)")
        yield Published(f"{STAGE2}.{share}", title, heading, {"main": share, STAGE2: share})


PUBLISHED = tuple(_published())


# --- tables of the analyses


def found_in(entrants: Entrants, parse: str, part: str) -> list[tuple[EntrantResults, Any]]:
    """Return the entrants with analyses of the parse, each with one part of `analyses.Found`."""
    return [(entrant, found.parts[part]) for entrant, found in findings_of(entrants, parse, Found)]


def _pooled_lead(group: str, entrants: Entrants) -> list[str]:
    return unlike_missing({group: entrants}, counted=LEFT_OUT)


def _of(estimate: Estimate | Cell, filters: Mapping[str, str] | None = None, **more: Any) -> Cell:
    """Return the cell of an estimate with the items behind it. `more` are other fields of the cell."""
    return replace(Cell.of(estimate), items=None if filters is None else Items(filters), **more)


def dimension_table(entrants: Entrants, parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Table:
    """Return accuracy by dimension and story category, compared within a dimension (paper, table 10)."""
    categories = in_order((name for entrant in entrants for name in entrant.parses.by_category(parse)), TASKS)
    columns = [share_column(f"in {name}", TASKS.get(name, name), unit="") for name in categories]
    rows = []
    for dimension, title in scheme.titles.items():
        for entrant in entrants:
            cells: Cells = {"dimension": title}
            for name, row in entrant.parses.by_category(parse).items():
                filters = {"dimension": dimension, "parse": parse, "category": name}
                cells[f"in {name}"] = _of(row.cell(scheme.share_of(dimension)), filters, n=row.stories or 0)
            rows.append(row_of(entrant, STAGE2, cells))
    return Table(
        title=Sentence("Labelling accuracy by dimension and story category, {parse} parse (%)", parse=word(parse)),
        columns=[MODEL, *columns],
        rows=rows,
        lead=unlike_missing({STAGE2: entrants}),
        notes=[*short_name_texts(categories, TASKS), *([COUNTED] if categories else [])],
        section="dimension",
        mark_within="dimension",
    )


def _table(title: Sentence, columns: Sequence[Column], rows: Sequence[Row], *notes: str, **more: Any) -> Table:
    """Return a table of analyses, with the note on rows that judges left out if there are any."""
    bounds = any(isinstance(cell, Cell) and cell.bounds for row in rows for cell in row.values())
    return Table(title=title, columns=columns, rows=rows, notes=[*notes, *([BOUNDS_NOTE] if bounds else [])], **more)


def kind_table(entrants: Entrants, by: str, parse: str) -> Table:
    """Return precision, recall and F1 of extraction by order (paper, figure 5 a) or actor role; `by` is a key of
    KINDS."""
    more = {"unit": "", "digits": 1, "best": "high" if complete(entrants, parse) else ""}
    parts = [(kind, *measure) for kind in KINDS[by] for measure in MEASURES.items()]
    columns = [share_column(f"{kind} {name}", head, group=KIND_NAMES[kind], **more) for kind, name, head in parts]
    rows = []
    for entrant, kinds in found_in(entrants, parse, "kinds"):
        cells = {f"{kind} {name}": _of(kinds[kind][name], {by: kind, "parse": parse}) for kind, name, _ in parts}
        rows.append(row_of(entrant, STAGE1, cells))
    title = Sentence("Extraction by {kind_heads}, {parse} parse (%)", kind_heads=KIND_HEADS[by], parse=word(parse))
    notes = (POOLED, KIND_NOTES[by], *unmarked(entrants, parse))
    return _table(title, [MODEL, *columns], rows, *notes, lead=_pooled_lead(STAGE1, entrants))


def kind_dimension_table(entrants: Entrants, by: str, parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Table:
    """Return accuracy of labelling by dimension and order (paper, figure 5 b) or actor role."""
    more = {"unit": "", "digits": 1, "best": "high" if complete(entrants, parse) else ""}
    columns = [share_column(name, head, **more) for name, head in {"overall": "Overall", **scheme.shorts}.items()]
    rows = []
    for kind in KINDS[by]:
        for entrant, kinds in found_in(entrants, parse, "kinds"):
            filters = {by: kind, "parse": parse}
            cells: Cells = {"kind": KIND_NAMES[kind]}
            for name, metric in kinds[kind].items():
                cells[name] = _of(metric, filters if name == "overall" else filters | {"dimension": name})
            rows.append(row_of(entrant, STAGE2, cells))
    about = {"kind_heads": KIND_HEADS[by], "parse": word(parse)}
    title = Sentence("Labelling accuracy by {kind_heads} and dimension, {parse} parse (%)", **about)
    notes = (POOLED_CELLS, CELLS_NOTE.format(head=KIND_HEADS[by]), *unmarked(entrants, parse))
    more = {"lead": _pooled_lead(STAGE2, entrants), "section": "kind", "mark_within": "kind"}
    return _table(title, [MODEL, *columns], rows, *notes, **more)


def _with_shares(names: Mapping[str, str], total: str) -> list[Column]:
    """Return the columns of a count and its share for each name, by its heading, and of the total."""
    columns = []
    for name, header in names.items():
        share = listed([header, gettext_noop("share")])
        columns += [Column(key=name, header=str(header), kind="count")]
        columns += [share_column(f"{name} share", share, best="", digits=1)]
    return [*columns, Column(key="total", header=total, kind="count")]


def match_count_table(entrants: Entrants, parse: str) -> Table:
    """Return predicted rows by how many gold rows they match, with totals (paper, table 11)."""
    found = found_in(entrants, parse, "match_counts")
    rows, left = [], []
    for entrant, counts in found:
        cells: Cells = {"total": counts["rows"]["total"]}
        for name in BUCKETS:
            filters = {"match_count": name, "parse": parse}
            cells[name] = _of(Cell(counts["rows"][name]), filters)
            cells[f"{name} share"] = _of(counts["shares"][name], filters, n=None)
        rows.append(row_of(entrant, STAGE1, cells))
        if counts["unjudged"]:
            left.append(Sentence("{name} {value}", name=entrant.model, value=f"{counts['unjudged']:,}"))
    totals = {name: sum(counts["rows"][name] for _, counts in found) for name in (*BUCKETS, "total")}
    notes = [gettext_noop("Shares of the model's predicted rows; brackets: 95 % intervals over stories.")]
    notes += [Sentence("Not among them, as the judge left them out: {left}.", left=clauses(*left))] if left else []
    return _table(
        Sentence("Predicted-side MatchCount distribution, {parse} parse", parse=word(parse)),
        [MODEL, *_with_shares({name: f"MC={name}" for name in BUCKETS}, gettext_noop("Total"))],
        rows,
        *notes,
        totals=[{"model": gettext_noop("Total"), **totals}] if len(rows) > 1 else (),
        lead=_pooled_lead(STAGE1, entrants),
    )


def volume_table(entrants: Entrants, parse: str) -> Table:
    """Return the number of rows that a model says against how much of it is right (paper, figure 8)."""
    counts = {"predicted": gettext_noop("Predicted rows"), "gold": gettext_noop("Gold rows")}
    per_story = {f"{side}_per_story": head for side, head in zip(counts, PER_STORY, strict=True)}
    columns = [
        *(Column(key=name, header=head, kind="count") for name, head in counts.items()),
        *(Column(key=name, header=head, kind="number", digits=1) for name, head in per_story.items()),
        *(share_column(name, MEASURES[name], best="") for name in METRICS),
        Column(key="stories", header="Stories", kind="count"),
    ]
    rows = []
    for entrant, volume in found_in(entrants, parse, "volume"):
        overall = entrant.parses.overall(parse)
        cells: Cells = {name: volume[name] for name in (*counts, "stories")}
        cells |= {name: _of(volume[name], n=None) for name in per_story}
        rows.append(row_of(entrant, STAGE1, cells | {name: overall.cell(name) for name in METRICS}))
    title = Sentence("Volume against precision and recall, {parse} parse", parse=word(parse))
    notes = [gettext_noop("Brackets: 95 % intervals over stories.")]
    notes += [CASES_NOTE] if any(row["f1"].bounds for row in rows) else []
    lead = _pooled_lead(STAGE1, entrants)
    return Table(title=title, columns=[MODEL, *columns], rows=rows, lead=lead, notes=notes)


def unreadable_table(groups: EntrantsByGroup, parse: str) -> Table:
    """Return the model's own answers that cannot be used, of how many, and apart from them what is missing that is not
    the model's doing (paper, table 12), with the reasons below."""
    columns = [MODEL]
    for group, parts in MISSING_PARTS.items():
        heading, unreadable = Sentence("Stage {group}", group=group[-1]), gettext_noop("Unreadable")
        more: dict[str, Any] = {"kind": "count", "group": heading}
        columns += [
            share_column(group, unreadable, group=heading, best=""),
            Column(key=f"{group}_unreadable", header=unreadable, unit="answers", **more),
            Column(key=f"{group}_answers", header=gettext_noop("Answers"), **more),
            *(Column(key=f"{group}_{key}", header=head, **more) for key, head in parts.items()),
        ]
    cells: dict[str, Cells] = {}
    first: dict[str, EntrantResults] = {}
    reasons: dict[str, Counter[str]] = {}
    for group, entrants in groups.items():
        for entrant, outputs in found_in(models_of(entrants), parse, "outputs"):
            first.setdefault(entrant.model, entrant)
            cells.setdefault(entrant.model, {}).update(_outputs_cells(group, outputs, parse))
            for part in (outputs["reasons"], *outputs["without"].values()):
                reasons.setdefault(entrant.model, Counter()).update(part)
    notes = [
        labelled(model, listed(worded(why, f"{count:,}") for why, count in sorted(counts.items())))
        for model, counts in reasons.items()
        if counts
    ]
    title = Sentence("Unreadable outputs, {parse} parse", parse=word(parse))
    rows = [row_of(entrant, STAGE1, cells[model]) for model, entrant in first.items()]
    return _table(title, columns, rows, UNREADABLE_NOTES[parse], *notes)


def _outputs_cells(group: str, outputs: Mapping[str, Any], parse: str) -> Cells:
    """Return the cells of a metric group. Official parsing keeps no row of an extraction itself: its counts stand with
    the judgement."""
    step = EXTRACT if group == STAGE1 else LABEL
    read_at = {"step": JUDGE if step == EXTRACT else step, "parse": parse} if parse == "official" else {"step": step}
    unreadable = {"problem": "unreadable"} | read_at
    steps = {"calls": (step, "unanswered"), "judgements": (JUDGE, "unjudged"), "rows": (JUDGE, "gaps")}
    cells = {
        group: _of(outputs["share"], unreadable, n=None),
        f"{group}_unreadable": _of(Cell(outputs["unreadable"]), unreadable),
        f"{group}_answers": _of(Cell(outputs["share"].n), {"step": step, "problem": "answered"}),
    }
    for part, reasons in outputs["without"].items():
        behind = dict(zip(("step", "problem"), steps[part], strict=True))
        cells[f"{group}_{part}"] = _of(Cell(sum(reasons.values())), behind)
    return cells


# --- labels


def distribution_table(entrants: Entrants, dimension: str, parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Table:
    """Return counts of each label in gold and among the predictions (paper, figure 4)."""
    found = [(entrant, labels[dimension]) for entrant, labels in found_in(entrants, parse, "labels")]
    labels, filters = found[0][1]["labels"], {"dimension": dimension, "parse": parse}
    rows = []
    for entrant, counts in found:
        cells = _distributed(labels, counts["predicted"], counts["ends"], counts["reasons"], filters)
        rows.append(row_of(entrant, STAGE2, cells))
    # people cover fewer stories than the run
    most = max((counts for _, counts in found), key=lambda counts: sum(counts["gold"]))
    gold = _distributed(labels, most["gold"], most["gold_ends"], most["gold_reasons"], filters)
    gold |= {"model": gettext_noop("Gold of all stories")}
    gold |= {f"{label} share": None for label in (NO_LABEL, ILLEGAL)}  # which gold cannot have
    about = {"titles": word(scheme.titles[dimension]), "parse": word(parse)}
    title = Sentence("{titles}: labels as predicted, {parse} parse", **about)
    more = {"totals": [gold], "lead": _pooled_lead(STAGE2, entrants)}
    return _table(
        title, [MODEL, *_with_shares({label: word(label) for label in labels}, "Rows")], rows, DISTRIBUTION_NOTE, **more
    )


def _distributed(
    labels: Sequence[str],
    counts: Sequence[int],
    ends: Sequence[list[float] | None],
    reasons: Sequence[str],
    filters: Mapping[str, str],
) -> Cells:
    """Return the count of each label, its share with the interval or the reason for none, and the total."""
    total = sum(counts)
    cells: Cells = {"total": total}
    for label, count, interval, why in zip(labels, counts, ends, reasons, strict=True):
        share = Cell(count / total if total else None, interval, reason=why)
        cells |= {
            name: _of(cell, {**filters, "said": label})
            for name, cell in ((label, Cell(count)), (f"{label} share", share))
        }
    return cells


def confusion_in(entrant: EntrantResults, dimension: str, parse: str) -> Mapping[str, Any]:
    """Return the confusion of a dimension, empty without analyses of the parse."""
    found = finding_of(entrant, parse, Found)
    nothing: dict[str, list[Any]] = {name: [] for name in ("gold", "said", "rows", "ends", "reasons")}
    return found.parts["confusion"][dimension] if found else nothing


def confusion_table(entrant: EntrantResults, dimension: str, parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Table:
    """Return gold labels in rows, predicted labels in columns."""
    confusion = confusion_in(entrant, dimension, parse)
    rows = []
    for gold, *of_gold in zip(*(confusion[name] for name in ("gold", "rows", "ends", "reasons")), strict=True):
        filters = {"dimension": dimension, "gold": gold, "parse": parse}
        counts, ends, reasons = of_gold
        cells = _distributed(confusion["said"], counts, ends, reasons, filters)
        rows.append(row_of(entrant, STAGE2, cells | {"gold": gold, "total": _of(Cell(cells["total"]), filters)}))
    about = {"titles": word(scheme.titles[dimension]), "model": entrant.model, "parse": word(parse)}
    title = Sentence("{titles}: gold labels and those of {model}, {parse} parse", **about)
    columns = [
        Column(key="gold", header="Gold"),
        *_with_shares({label: word(label) for label in confusion["said"]}, "Rows"),
    ]
    return _table(title, columns, rows, CONFUSION_NOTE)


# --- tables by name, and their places on a report page


def slug_of(dimension: str) -> str:
    """Return the dimension as it is spelled in names and addresses."""
    return dimension.replace("_", "-")


def names_by_kind(scheme: Scheme) -> dict[str, str]:
    """Return `BY_KIND`, without orders for a scheme that has none."""
    return {by: name for by, name in BY_KIND.items() if by != ORDER or scheme.ordered}


def own_groups(scheme: Scheme, entrants: EntrantsByGroup) -> EntrantsByGroup:
    """Return entrants by `STAGE1` and `STAGE2`, whatever the keys of a scheme's metric groups are."""
    return {group: entrants[scheme.group(group)] for group in (STAGE1, STAGE2)}


def tables(scheme: Scheme, results: ParseResults) -> dict[str, ShownTable]:
    """Return the tables of the parse by name: of what has figures, and of what has analyses."""
    parse, analysed, read = results.parse, own_groups(scheme, results.analysed), own_groups(scheme, results.read)
    first, second = analysed[STAGE1], analysed[STAGE2]
    extraction, labelling = (scheme.group(STAGE1),), (scheme.group(STAGE2),)
    shown = {}
    if any(read.values()):
        main = partial(main_table, own_groups(scheme, results.entrants), parse, scheme)
        shown["main"] = ShownTable(main, (*extraction, *labelling), keeps_unreadable=True)
    if read[STAGE2]:
        shown["dimensions"] = ShownTable(partial(dimension_table, read[STAGE2], parse, scheme), labelling)
    for by, name in names_by_kind(scheme).items():
        if first:
            shown[name] = ShownTable(partial(kind_table, first, by, parse), extraction)
        if second:
            table = partial(kind_dimension_table, second, by, parse, scheme)
            shown[f"{name}-dimensions"] = ShownTable(table, labelling)
    if first:
        shown["match-counts"] = ShownTable(partial(match_count_table, first, parse), extraction)
        shown["volume"] = ShownTable(partial(volume_table, first, parse), extraction)
    if first or second:
        shown["unreadable"] = ShownTable(partial(unreadable_table, analysed, parse))
    for dimension in scheme.keys if second else ():
        slug = slug_of(dimension)
        shown[f"labels-{slug}"] = ShownTable(partial(distribution_table, second, dimension, parse, scheme))
        for at, entrant in enumerate(second, 1):
            shown[f"confusion-{at}-{slug}"] = ShownTable(partial(confusion_table, entrant, dimension, parse, scheme))
    return shown


SECTIONS = (
    Section(gettext_noop("The paper’s table 3"), (), ("main-repaired", "main-official"), paper=True),
    Section(gettext_noop("F1 by story category"), ("f1-by-category",), ("categories-stage1",)),
    Section(gettext_noop("Extraction by order"), ("orders",), ("orders",)),
    Section(gettext_noop("Labelling by order and dimension"), ("orders-dimensions",), ("orders-dimensions",)),
    Section(gettext_noop("Extraction by actor role"), ("roles",), ("roles",)),
    Section(gettext_noop("Labelling by actor role and dimension"), ("roles-dimensions",), ("roles-dimensions",)),
    Section(gettext_noop("Volume against precision and recall"), ("volume",), ("volume",)),
    Section(gettext_noop("MatchCount distribution"), ("match-counts",), ("match-counts",)),
    Section(gettext_noop("Accuracy by dimension"), ("dimensions",)),
    Section(gettext_noop("Accuracy by story category"), (), ("categories-stage2",)),
    Section(gettext_noop("Dimension × story category"), (), ("dimensions",)),
    Section(gettext_noop("Unreadable outputs"), (), ("unreadable",)),
    Section(gettext_noop("Self-test of judges"), (), ("judge-tests",)),
)


def sections_of(scheme: Scheme) -> tuple[Section, ...]:
    """Return the sections for gold of a scheme; the paper's own table is OmniToM's."""
    if scheme.official:
        return SECTIONS

    def renamed(table: str) -> str:
        name, _, group = table.rpartition("-")
        return f"{name}-{scheme.group(group)}" if group in (STAGE1, STAGE2) else table

    return tuple(
        replace(
            section,
            title="Extraction and labelling" if section.paper else section.title,
            tables=tuple(map(renamed, section.tables)),
            paper=False,
        )
        for section in SECTIONS
    )


def explorer_of(scheme: Scheme) -> Explorer:
    """Return the part of a page that shows one confusion matrix and distribution at a time."""

    def choices(results: ParseResults) -> list[Choice]:
        models = [(str(at), str(entrant.model)) for at, entrant in enumerate(results.analysed[scheme.group(STAGE2)], 1)]
        dimensions = [(slug_of(key), title) for key, title in scheme.titles.items()]
        offered = [Choice("confusion_model", "Model", models), Choice("dimension", "Dimension", dimensions)]
        return offered if models else []

    def shows(chosen: Mapping[str, str]) -> Explored:
        model, dimension = chosen["confusion_model"], chosen["dimension"]
        return Explored(f"confusion-{model}-{dimension}", f"labels-{model}", f"labels-{dimension}")

    return Explorer("labels", gettext_noop("Labels: distribution and confusion"), choices, shows)
