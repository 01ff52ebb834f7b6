"""The paper's tables and the tables of its analyses, and the places of tables and pictures on a report page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from benchmark.domain.matched_rows import METRICS
from benchmark.domain.report_rows import NO_FIGURES
from benchmark.domain.tables import Cells, Column, Items, Row, Table, in_order, share_column, short_name_texts
from benchmark.domain.tables.estimates import estimate, estimated, interval_of, metric_of, with_what_is_known
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
SHARED_SETTINGS = ("prompts", "level", "seed", "longest answer")
"""The settings of both metric groups."""


# --- table 3: extraction and labelling of a model in one row

Pair = Mapping[str, EntrantResults | None]
"""One model's entrants in both metric groups; either may be lacking."""


def main_table(groups: EntrantsByGroup, parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Table:
    """Return F1 by category, both averages, then accuracy by dimension and overall, a row per model and settings."""
    pairs = list(_pairs(groups))
    labels = labels_of([_head(pair) for pair in pairs])
    extractions = [extraction for pair in pairs if (extraction := pair[STAGE1])]
    categories = in_order((name for entrant in extractions for name in entrant.parses.by_category(parse)), TASKS)
    columns = {
        **{f"f1 {name}": (STAGE1, name, "f1", TASKS.get(name, name)) for name in categories},
        "f1_category_mean": (STAGE1, "", "f1_category_mean", "Overall"),
        "f1": (STAGE1, "", "f1", gettext_noop("By story")),
        **{scheme.share_of(key): (STAGE2, key, scheme.share_of(key), head) for key, head in scheme.shorts.items()},
        ALL_DIMENSIONS: (STAGE2, "", ALL_DIMENSIONS, "Overall"),
    }
    rows = []
    for pair, model, own in zip(pairs, labels.models, labels.own, strict=True):
        cells: Cells = {}
        where: dict[str, Items] = {}
        for key, (group, part, metric, _) in columns.items():
            if (entrant := pair[group]) and entrant.parses.of(parse):
                cells |= _figure(entrant, parse, key, part if group == STAGE1 else "", metric)
            where[key] = _items(pair[group], group, part, metric, parse)
        rows.append(row_of(replace(_head(pair), model=model, own=own), STAGE1, cells, where))
    titles = {
        STAGE1: gettext_noop("Stage 1: extraction F1 (%)"),
        STAGE2: gettext_noop("Stage 2: labelling accuracy (%)"),
    }
    shares = [
        share_column(key, head, interval=f"{key}_interval", unit="", worst=f"{key}_worst", group=titles[group])
        for key, (group, _, _, head) in columns.items()
    ]
    stories = _stories(zip(labels.models, pairs, strict=True), parse)
    table = Table(
        title=Sentence("Main results, {parse} parse (%)", parse=word(parse)),
        columns=[MODEL, *with_what_is_known(shares, rows)],
        rows=rows,
        lead=unlike_missing(groups),
        notes=[
            MEANS, *short_name_texts(categories, TASKS), *stories, *ranked_within(extractions), *notes_of(extractions),
        ],
        ranking=ranked_by([entrant for entrants in groups.values() for entrant in entrants]),
    )  # fmt: skip
    return with_settings(table)


def _figure(entrant: EntrantResults, parse: str, key: str, category: str, metric: str) -> Cells:
    parses = entrant.parses
    row = parses.by_category(parse).get(category, NO_FIGURES) if category else parses.overall(parse)
    value = row.value_of(metric)  # an official figure is a text of six decimals, printed to its last digit
    cells = {key: None if value == "" else value, f"{key}_worst": row.cell(metric).at_worst}
    return {**cells, **interval_of(f"{key}_interval", row, metric)}


def _items(entrant: EntrantResults | None, group: str, part: str, metric: str, parse: str) -> Items:
    """Return the items behind a cell, which may be another run's than the row's."""
    if group == STAGE1:
        filters = {"step": JUDGE} | ({"category": part} if part else {}) | measured(STAGE1, "f1", parse)
    elif part:
        filters = {"step": LABEL, "dimension": part, "parse": parse}
    else:
        filters = {"step": LABEL} | measured(STAGE2, metric, parse)
    return Items(filters, entrant.run, entrant.entrant) if entrant else Items(filters)


def _head(pair: Pair) -> EntrantResults:
    """Return the entrant that names the row, with the settings of both."""
    first, *others = [entrant for entrant in pair.values() if entrant]
    return replace(first, settings={**(others[-1].settings if others else {}), **first.settings})


def _pairs(groups: EntrantsByGroup) -> Iterator[Pair]:
    """Pair the entrants of one run, then those that were asked alike in two runs."""
    rest, own = list(groups[STAGE2]), {entrant.key for entrant in groups[STAGE1]}
    for entrant in groups[STAGE1]:
        alike = [other for other in rest if other.key == entrant.key] or [
            other for other in rest if other.key not in own and _asked_alike(entrant, other)
        ]
        if alike:
            rest.remove(alike[0])
        yield {STAGE1: entrant, STAGE2: alike[0] if alike else None}
    yield from ({STAGE1: None, STAGE2: other} for other in rest)


def _asked_alike(first: EntrantResults, other: EntrantResults) -> bool:
    same = (first.name, first.kind, first.spec) == (other.name, other.kind, other.spec)
    return same and all(first.settings.get(name) == other.settings.get(name) for name in SHARED_SETTINGS)


def _stories(pairs: Iterator[tuple[str, Pair]], parse: str) -> Iterator[str]:
    """Yield the numbers of stories that each model's figures rest on."""
    named = list(pairs)
    for group, name in ((STAGE1, gettext_noop("Extraction")), (STAGE2, gettext_noop("Labelling"))):
        counts: dict[int, list[str]] = {}
        for model, pair in named:
            if (entrant := pair[group]) and entrant.parses.of(parse):
                counts.setdefault(entrant.parses.overall(parse).stories or 0, []).append(model)
        notes = [
            noted(f"{count:,}", listed(models)) if len(counts) > 1 else f"{count:,}"
            for count, models in sorted(counts.items(), reverse=True)
        ]
        if notes:
            yield Sentence("{name}: stories, n = {notes}.", name=name, notes=listed(notes))


def _published() -> tuple[Published, ...]:
    """Return the figures of the paper's table 3."""
    first, second = gettext_noop("Extraction, F1 (table 3)"), gettext_noop("Labelling, accuracy (table 3)")
    extraction = {
        **{f"f1 {name}": (name, {"categories-stage1": name}) for name in TASKS},
        "f1_category_mean": (gettext_noop("Overall, the mean of categories"), {STAGE1: "f1_category_mean"}),
        "f1": ("By story", {STAGE1: "f1"}),
    }
    labels = zip(OMNITOM_SCHEME.shares, ("Overall", *OMNITOM_SCHEME.shorts.values()), strict=True)
    return (
        *(
            Published(f"{STAGE1}.{key}", title, first, {"main": key} | more)
            for key, (title, more) in extraction.items()
        ),
        *(Published(f"{STAGE2}.{share}", title, second, {"main": share, STAGE2: share}) for share, title in labels),
    )


PUBLISHED = _published()


# --- tables of the analyses


def found_in(entrants: Sequence[EntrantResults], parse: str, part: str) -> list[tuple[EntrantResults, Any]]:
    """Return the entrants with analyses of the parse, each with one part of `analyses.Found`."""
    return [(entrant, found.parts[part]) for entrant, found in findings_of(entrants, parse, Found)]


def _pooled_lead(group: str, entrants: Sequence[EntrantResults]) -> list[str]:
    return unlike_missing({group: entrants}, counted=LEFT_OUT)


def _bounds_note(rows: Sequence[Row]) -> list[str]:
    """Return the note on rows that judges left out, if any."""
    return [BOUNDS_NOTE] if any(value for row in rows for key, value in row.items() if key.endswith(" bounds")) else []


def dimension_table(entrants: Sequence[EntrantResults], parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Table:
    """Return accuracy by dimension and story category, compared within a dimension (paper, table 10)."""
    categories = in_order((name for entrant in entrants for name in entrant.parses.by_category(parse)), TASKS)
    rows = []
    for dimension, title in scheme.titles.items():
        share = scheme.share_of(dimension)
        for entrant in entrants:
            cells: Cells = {"dimension": title}
            where = {}
            for name in categories:
                key, row = f"in {name}", entrant.parses.by_category(parse).get(name)
                cells |= estimate(key, metric_of(row, share) if row else None)
                if row:
                    cells |= {f"{key} n": row.stories or 0, f"{key} worst": row.cell(share).at_worst}
                where[key] = Items({"dimension": dimension, "parse": parse, "category": name})
            rows.append(row_of(entrant, STAGE2, cells, where))
    columns = [estimated(f"in {name}", TASKS.get(name, name), worst=f"in {name} worst") for name in categories]
    counted = any(row.get(f"in {name} n") is not None for row in rows for name in categories)
    return Table(
        title=Sentence("Labelling accuracy by dimension and story category, {parse} parse (%)", parse=word(parse)),
        columns=[MODEL, *with_what_is_known(columns, rows)],
        rows=rows,
        lead=unlike_missing({STAGE2: entrants}),
        notes=[*short_name_texts(categories, TASKS), *([COUNTED] if counted else [])],
        section="dimension",
        mark_within="dimension",
    )


def kind_table(entrants: Sequence[EntrantResults], by: str, parse: str) -> Table:
    """Return precision, recall and F1 of extraction by order (paper, figure 5 a) or actor role; `by` is a key of
    KINDS."""
    measures = {"f1": "F1", "precision": "Precision", "recall": "Recall"}
    best = "high" if complete(entrants, parse) else ""
    columns = [
        estimated(f"{kind} {name}", head, group=KIND_NAMES[kind], digits=1, best=best)
        for kind in KINDS[by]
        for name, head in measures.items()
    ]
    rows = []
    for entrant, kinds in found_in(entrants, parse, "kinds"):
        cells: Cells = {}
        where: dict[str, Items] = {}
        for kind in KINDS[by]:
            for name in measures:
                cells |= estimate(f"{kind} {name}", kinds[kind][name])
                where[f"{kind} {name}"] = Items({by: kind, "parse": parse})
        rows.append(row_of(entrant, STAGE1, cells, where))
    title = Sentence("Extraction by {kind_heads}, {parse} parse (%)", kind_heads=KIND_HEADS[by], parse=word(parse))
    notes = [POOLED, KIND_NOTES[by], *_bounds_note(rows), *unmarked(entrants, parse)]
    return Table(title=title, columns=[MODEL, *columns], rows=rows, lead=_pooled_lead(STAGE1, entrants), notes=notes)


def kind_dimension_table(
    entrants: Sequence[EntrantResults], by: str, parse: str, scheme: Scheme = OMNITOM_SCHEME
) -> Table:
    """Return accuracy of labelling by dimension and order (paper, figure 5 b) or actor role."""
    best = "high" if complete(entrants, parse) else ""
    heads = {"overall": "Overall", **scheme.shorts}
    rows = []
    for kind in KINDS[by]:
        for entrant, kinds in found_in(entrants, parse, "kinds"):
            cells: Cells = {"kind": KIND_NAMES[kind]}
            where = {}
            for name, metric in kinds[kind].items():
                cells |= estimate(name, metric)
                dimension = {} if name == "overall" else {"dimension": name}
                where[name] = Items({by: kind, "parse": parse} | dimension)
            rows.append(row_of(entrant, STAGE2, cells, where))
    return Table(
        title=Sentence(
            "Labelling accuracy by {kind_heads} and dimension, {parse} parse (%)",
            kind_heads=KIND_HEADS[by],
            parse=word(parse),
        ),
        columns=[MODEL, *(estimated(name, head, digits=1, best=best) for name, head in heads.items())],
        rows=rows,
        lead=_pooled_lead(STAGE2, entrants),
        notes=[POOLED_CELLS, CELLS_NOTE.format(head=KIND_HEADS[by]), *unmarked(entrants, parse)],
        section="kind",
        mark_within="kind",
    )


def _share_after(key: str, header: str) -> Column:
    """Return the column of a count's share."""
    return estimated(f"{key} share", listed([header, gettext_noop("share")]), unit="%", best="", n="", digits=1)


def match_count_table(entrants: Sequence[EntrantResults], parse: str) -> Table:
    """Return predicted rows by how many gold rows they match, with totals (paper, table 11)."""
    columns = [MODEL]
    for name in BUCKETS:
        columns += [Column(key=name, header=f"MC={name}", kind="count"), _share_after(name, f"MC={name}")]
    where = {name: Items({"match_count": name, "parse": parse}) for name in BUCKETS}
    where |= {f"{name} share": items for name, items in where.items()}
    found = found_in(entrants, parse, "match_counts")
    rows = []
    for entrant, counts in found:
        cells: Cells = {name: counts["rows"][name] for name in (*BUCKETS, "total")}
        for name in BUCKETS:
            cells |= estimate(f"{name} share", counts["shares"][name])
        rows.append(row_of(entrant, STAGE1, cells, where))
    totals = {name: sum(counts["rows"][name] for _, counts in found) for name in (*BUCKETS, "total")}
    total = {"model": gettext_noop("Total"), **totals}
    unjudged = {entrant.model: counts["unjudged"] for entrant, counts in found if counts["unjudged"]}
    left = clauses(*(Sentence("{name} {value}", name=model, value=f"{count:,}") for model, count in unjudged.items()))
    return Table(
        title=Sentence("Predicted-side MatchCount distribution, {parse} parse", parse=word(parse)),
        columns=[*columns, Column(key="total", header=gettext_noop("Total"), kind="count")],
        rows=rows,
        totals=[total] if len(rows) > 1 else (),
        lead=_pooled_lead(STAGE1, entrants),
        notes=[
            gettext_noop("Shares of the model's predicted rows; brackets: 95 % intervals over stories."),
            *([Sentence("Not among them, as the judge left them out: {left}.", left=left)] if left else []),
            *_bounds_note(rows),
        ],
    )


def volume_table(entrants: Sequence[EntrantResults], parse: str) -> Table:
    """Return the number of rows that a model says against how much of it is right (paper, figure 8)."""
    number = {"kind": "number", "digits": 1, "unit": "", "best": "", "n": ""}
    share = {"unit": "%", "best": "", "n": ""}
    columns = [
        MODEL,
        Column(key="predicted", header=gettext_noop("Predicted rows"), kind="count"),
        Column(key="gold", header=gettext_noop("Gold rows"), kind="count"),
        estimated("predicted_per_story", gettext_noop("Predicted a story"), **number),
        estimated("gold_per_story", gettext_noop("Gold a story"), **number),
        *(estimated(name, head, **share) for name, head in zip(METRICS, ("Precision", "Recall", "F1"), strict=True)),
        Column(key="stories", header="Stories", kind="count"),
    ]
    rows = []
    for entrant, volume in found_in(entrants, parse, "volume"):
        cells: Cells = {name: volume[name] for name in ("predicted", "gold", "stories")}
        for name in ("predicted_per_story", "gold_per_story"):
            cells |= estimate(name, volume[name])
        for name in METRICS:
            cells |= estimate(name, metric_of(entrant.parses.overall(parse), name))
        rows.append(row_of(entrant, STAGE1, cells))
    notes = [gettext_noop("Brackets: 95 % intervals over stories.")]
    notes += [CASES_NOTE] if any(row["f1 bounds"] for row in rows) else []
    title = Sentence("Volume against precision and recall, {parse} parse", parse=word(parse))
    return Table(title=title, columns=columns, rows=rows, lead=_pooled_lead(STAGE1, entrants), notes=notes)


def unreadable_table(groups: EntrantsByGroup, parse: str) -> Table:
    """Return the model's own answers that cannot be used, of how many, and apart from them what is missing that is not
    the model's doing (paper, table 12), with the reasons below."""
    columns = [MODEL]
    for group, parts in MISSING_PARTS.items():
        heading, unreadable = Sentence("Stage {group}", group=group[-1]), gettext_noop("Unreadable")
        counts = {"answers": gettext_noop("Answers"), **parts}
        columns += [
            estimated(group, unreadable, unit="%", group=heading, best="", n=""),
            Column(key=f"{group}_unreadable", header=unreadable, unit="answers", kind="count", group=heading),
            *(Column(key=f"{group}_{key}", header=head, kind="count", group=heading) for key, head in counts.items()),
        ]
    cells: dict[str, Cells] = {}
    first: dict[str, EntrantResults] = {}
    reasons: dict[str, Counter[str]] = {}
    for group, entrants in groups.items():
        for entrant, outputs in found_in([other for other in entrants if other.kind != "person"], parse, "outputs"):
            first.setdefault(entrant.model, entrant)
            cells.setdefault(entrant.model, {}).update(_outputs_cells(group, outputs))
            for part in (outputs["reasons"], *outputs["without"].values()):
                reasons.setdefault(entrant.model, Counter()).update(part)
    rows = [row_of(entrant, STAGE1, cells[model], _outputs_where(parse)) for model, entrant in first.items()]
    notes = [
        labelled(model, listed(worded(why, f"{count:,}") for why, count in sorted(counts.items())))
        for model, counts in reasons.items()
        if counts
    ]
    title = Sentence("Unreadable outputs, {parse} parse", parse=word(parse))
    return Table(title=title, columns=columns, rows=rows, notes=[UNREADABLE_NOTES[parse], *notes])


def _outputs_cells(group: str, outputs: Mapping[str, Any]) -> Cells:
    counts = {"unreadable": outputs["unreadable"], "answers": outputs["share"].n}
    counts |= {part: sum(reasons.values()) for part, reasons in outputs["without"].items()}
    return estimate(group, outputs["share"]) | {f"{group}_{key}": count for key, count in counts.items()}


def _outputs_where(parse: str) -> dict[str, Items]:
    """Official parsing keeps no row of an extraction itself: its counts stand with the judgement."""
    where: dict[str, Items] = {}
    for group, step in ((STAGE1, EXTRACT), (STAGE2, LABEL)):
        read_at = JUDGE if parse == "official" and step == EXTRACT else step
        unreadable = {"step": read_at, "problem": "unreadable"} | ({"parse": parse} if parse == "official" else {})
        where |= {key: Items(unreadable) for key in (group, f"{group}_unreadable")}
        where[f"{group}_answers"] = Items({"step": step, "problem": "answered"})
        where[f"{group}_calls"] = Items({"step": step, "problem": "unanswered"})
    gaps = {"judgements": "unjudged", "rows": "gaps"}
    return where | {f"{STAGE1}_{key}": Items({"step": JUDGE, "problem": problem}) for key, problem in gaps.items()}


# --- labels


def distribution_table(
    entrants: Sequence[EntrantResults], dimension: str, parse: str, scheme: Scheme = OMNITOM_SCHEME
) -> Table:
    """Return counts of each label in gold and among the predictions (paper, figure 4)."""
    counted = [(entrant, labels[dimension]) for entrant, labels in found_in(entrants, parse, "labels")]
    labels = counted[0][1]["labels"]
    where = {label: Items({"dimension": dimension, "said": label, "parse": parse}) for label in labels}
    where |= {f"{label} share": items for label, items in where.items()}
    rows = [
        row_of(entrant, STAGE2, _distributed(labels, counts["predicted"], counts["ends"], counts["reasons"]), where)
        for entrant, counts in counted
    ]
    # people cover fewer stories than the run
    most = max((counts for _, counts in counted), key=lambda counts: sum(counts["gold"]))
    gold: Cells = {"model": gettext_noop("Gold of all stories")}
    gold |= _distributed(labels, most["gold"], most["gold_ends"], most["gold_reasons"])
    gold |= {f"{label} share": None for label in (NO_LABEL, ILLEGAL)}  # which gold cannot have
    title = Sentence(
        "{titles}: labels as predicted, {parse} parse", titles=word(scheme.titles[dimension]), parse=word(parse)
    )
    lead, columns = _pooled_lead(STAGE2, entrants), [MODEL, *_label_columns(labels)]
    return Table(title=title, columns=columns, rows=rows, totals=[gold], lead=lead, notes=[DISTRIBUTION_NOTE])


def _label_columns(labels: Sequence[str]) -> list[Column]:
    columns = []
    for label in labels:
        columns += [Column(key=label, header=label, kind="count"), _share_after(label, word(label))]
    return [*columns, Column(key="total", header="Rows", kind="count")]


def _distributed(
    labels: Sequence[str], counts: Sequence[int], ends: Sequence[list[float] | None], reasons: Sequence[str]
) -> Cells:
    total = sum(counts)
    cells: Cells = {"total": total}
    for label, count, interval, why in zip(labels, counts, ends, reasons, strict=True):
        share = Estimate(count / total if total else None, total, interval, reason=why)
        cells |= {label: count} | estimate(f"{label} share", share)
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
    by_gold = zip(*(confusion[name] for name in ("gold", "rows", "ends", "reasons")), strict=True)
    for gold, counts, ends, why in by_gold:
        of_gold = {"dimension": dimension, "gold": gold, "parse": parse}
        where = {label: Items(of_gold | {"said": label}) for label in confusion["said"]}
        where |= {f"{label} share": items for label, items in where.items()}
        where["total"] = Items(of_gold)
        rows.append(row_of(entrant, STAGE2, {"gold": gold} | _distributed(confusion["said"], counts, ends, why), where))
    title = Sentence(
        "{titles}: gold labels and those of {model}, {parse} parse",
        titles=word(scheme.titles[dimension]),
        model=entrant.model,
        parse=word(parse),
    )
    columns = [Column(key="gold", header="Gold"), *_label_columns(confusion["said"])]
    return Table(title=title, columns=columns, rows=rows, notes=[CONFUSION_NOTE])


def slug_of(dimension: str) -> str:
    """Return the dimension as it is spelled in names and addresses."""
    return dimension.replace("_", "-")


# --- tables by name, and their places on a report page


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


def _choices(scheme: Scheme, results: ParseResults) -> list[Choice]:
    models = [(str(at), str(entrant.model)) for at, entrant in enumerate(results.analysed[scheme.group(STAGE2)], 1)]
    dimensions = [(slug_of(key), title) for key, title in scheme.titles.items()]
    choices = [Choice("confusion_model", "Model", models), Choice("dimension", "Dimension", dimensions)]
    return choices if models else []


def _shows(chosen: Mapping[str, str]) -> Explored:
    model, dimension = chosen["confusion_model"], chosen["dimension"]
    return Explored(f"confusion-{model}-{dimension}", f"labels-{model}", f"labels-{dimension}")


def explorer_of(scheme: Scheme) -> Explorer:
    return Explorer("labels", gettext_noop("Labels: distribution and confusion"), partial(_choices, scheme), _shows)
