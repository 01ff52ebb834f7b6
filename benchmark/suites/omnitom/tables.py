"""The paper's tables over runs of this platform. Model names and counts come in as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.matched_rows import METRICS
from benchmark.domain.report_rows import NO_FIGURES, ParseRows, ReportRow, RowMetric
from benchmark.domain.tables import Column, Items, Row, Table
from benchmark.domain.tables.categories import in_order, short_name_texts
from benchmark.domain.tables.estimates import (
    estimate,
    estimated,
    interval_of,
    metric_of,
    share_column,
    with_what_is_known,
)
from benchmark.domain.tables.table import Cells
from benchmark.suites.omnitom.analyses import (
    BUCKETS,
    ILLEGAL,
    NO_CONFUSION,
    Ends,
    Outputs,
    Stage1Analyses,
    Stage2Analyses,
)
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
from benchmark.suites.showing.entrants import finding_of, findings_of, measured, row_of
from benchmark.suites.showing.judges import notes_of
from benchmark.suites.showing.missing import LEFT_OUT, complete, unlike_missing, unmarked
from benchmark.suites.showing.names import labels_of
from benchmark.suites.showing.ranking import ranked_by, ranked_within, with_settings
from benchmark.suites.tombench_tasks import TASKS
from core.messages import Sentence, clauses, gettext_noop, labelled, listed, noted, word, worded
from core.statistics import Estimate

_MODEL = Column(key="model", header=gettext_noop("Model"))
COUNTED = gettext_noop("n: stories.")
_MEANS = (
    gettext_noop(
        "F1 overall is the unweighted mean of the categories' means, as the paper prints it; F1 by "
        "story is the mean over "
        "stories, as its section 5 defines it."
    ),
)


def _reported(key: str, header: str, group: str) -> Column:
    return share_column(key, header, interval=f"{key}_interval", unit="", worst=f"{key}_worst", group=group)


def _number(value: Any) -> Any:
    """Official figures are texts of six decimals and stay so, to be printed to their last digit."""
    return None if value in (None, "") else value


@dataclass(frozen=True, slots=True, kw_only=True)
class MainResult:
    """Results of a model by metric group, and why it has no figures of a group. `section` is the part of the table that
    it stands in."""

    model: str
    rows: Mapping[str, ParseRows | None]
    reasons: Mapping[str, str] = field(default_factory=dict)
    section: str | None = None


def main_results(runs: Sequence[MainResult], *, parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Table:
    """The paper's table 3: F1 by category, both averages, then accuracy by dimension and overall.

    All are of one `parse`, which the title names. Intervals are those of the reports, where they have any.
    """
    extractions = [extraction for run in runs if (extraction := run.rows.get(STAGE1))]
    categories = in_order((row.category for extraction in extractions for row in extraction.by_category), TASKS)
    first, second = gettext_noop("Stage 1: extraction F1 (%)"), gettext_noop("Stage 2: labelling accuracy (%)")
    columns = [
        _MODEL,
        *(_reported(f"f1 {name}", TASKS.get(name, name), first) for name in categories),
        _reported("f1_category_mean", "Overall", first),
        _reported("f1", gettext_noop("By story"), first),
        *(_reported(scheme.share_of(name), head, second) for name, head in scheme.shorts.items()),
        _reported(ALL_DIMENSIONS, "Overall", second),
    ]
    rows = [_result(run, categories, scheme) for run in runs]
    return Table(
        title=Sentence("Main results, {parse} parse (%)", parse=word(parse)),
        columns=with_what_is_known(columns, rows),
        rows=rows,
        notes=(*_MEANS, *_reasons(runs), *short_name_texts(categories, TASKS)),
        section="section" if any(run.section for run in runs) else "",
    )


def _result(run: MainResult, categories: Sequence[str], scheme: Scheme) -> Row:
    row: Cells = {"model": run.model, "section": run.section}
    if extraction := run.rows.get(STAGE1):
        by_category = {row.category: row for row in extraction.by_category}
        for name in categories:
            row |= _metric(f"f1 {name}", by_category.get(name, NO_FIGURES), "f1")
        row |= _metric("f1_category_mean", extraction.overall) | _metric("f1", extraction.overall)
    if labelling := run.rows.get(STAGE2):
        for share in scheme.shares:
            row |= _metric(share, labelling.overall)
    return row


def _metric(key: str, metrics: ReportRow, name: str = "") -> Cells:
    name = name or key
    return {
        key: _number(metrics.value_of(name)),
        **interval_of(f"{key}_interval", metrics, name),
        f"{key}_worst": metrics.worst_of(name),
    }


def _reasons(runs: Iterable[MainResult]) -> list[str]:
    return [
        Sentence("{model}, stage {group}: {why}", model=run.model, group=group[-1], why=why)
        for run in runs
        for group, why in run.reasons.items()
        if not run.rows.get(group)
    ]


@dataclass(frozen=True, slots=True)
class CategoryAccuracy:
    """An accuracy over the `stories` of a category, and at its `worst`; official ones are texts."""

    metric: RowMetric
    stories: int
    worst: float | str | None


def _accuracy(key: str, accuracy: CategoryAccuracy | float | None) -> Cells:
    if isinstance(accuracy, CategoryAccuracy):
        beside = {f"{key} n": accuracy.stories, f"{key} worst": accuracy.worst}
        return estimate(key, accuracy.metric) | beside
    return estimate(key, accuracy)


def by_dimension_and_category(
    accuracies: Mapping[str, Mapping[str, Mapping[str, CategoryAccuracy | float | None]]],
    *,
    parse: str,
    scheme: Scheme = OMNITOM_SCHEME,
) -> Table:
    """The paper's table 10 from {model: {dimension: {category: accuracy}}}; cells are compared within a dimension."""
    categories = in_order(
        (name for model in accuracies.values() for categories in model.values() for name in categories), TASKS
    )
    rows = [
        {"dimension": title, "model": model}
        | {
            key: metric
            for name in categories
            for key, metric in _accuracy(f"in {name}", accuracies_by_category.get(dimension, {}).get(name)).items()
        }
        for dimension, title in scheme.titles.items()
        for model, accuracies_by_category in accuracies.items()
    ]
    cells = [estimated(f"in {name}", TASKS.get(name, name), worst=f"in {name} worst") for name in categories]
    return Table(
        title=Sentence("Labelling accuracy by dimension and story category, {parse} parse (%)", parse=word(parse)),
        columns=[_MODEL, *with_what_is_known(cells, rows)],
        rows=rows,
        notes=(*short_name_texts(categories, TASKS), *_counted(rows)),
        section="dimension",
        mark_within="dimension",
    )


def _counted(rows: Sequence[Row]) -> list[str]:
    """Return what n is, where any row has one."""
    return [COUNTED] if any(_counts(rows)) else []


def _counts(rows: Iterable[Row]) -> list[int]:
    return [value for row in rows for key, value in row.items() if key.endswith(" n") and value is not None]


def match_count_distribution(
    counts: Mapping[str, Mapping[str, int]],
    *,
    parse: str,
    shares: Mapping[str, Mapping[str, BoundedEstimate]] | None = None,
) -> Table:
    """The paper's table 11 from {model: rows by bucket and their `total`}: predicted rows by how many gold rows they
    match, with totals.

    `shares` adds the estimate of each bucket's share of a model's rows.
    """
    buckets = list(dict.fromkeys(name for model_counts in counts.values() for name in model_counts if name != "total"))
    columns = [_MODEL]
    for name in buckets:
        columns.append(Column(key=name, header=f"MC={name}", kind="count"))
        if shares:
            columns.append(
                estimated(
                    f"{name} share", listed([f"MC={name}", gettext_noop("share")]), unit="%", best="", n="", digits=1
                )
            )
    rows: list[Cells] = [
        {"model": model, **model_counts}
        | {
            key: metric
            for name in buckets
            if shares
            for key, metric in estimate(f"{name} share", shares[model][name]).items()
        }
        for model, model_counts in counts.items()
    ]
    keys = (*buckets, "total")
    total = {"model": gettext_noop("Total"), **{name: sum(row.get(name) or 0 for row in rows) for name in keys}}
    return Table(
        title=Sentence("Predicted-side MatchCount distribution, {parse} parse", parse=word(parse)),
        columns=[*columns, Column(key="total", header=gettext_noop("Total"), kind="count")],
        rows=rows,
        totals=[total] if len(rows) > 1 else (),
    )


GROUP_PARTS = {STAGE1: ("calls", "judgements", "rows"), STAGE2: ("calls",)}
_PARTS = {
    "calls": gettext_noop("Calls without an answer"),
    "judgements": gettext_noop("Extractions without a judgement"),
    "rows": gettext_noop("Rows without a judgement"),
}


def unreadable_outputs(outputs: Mapping[str, Mapping[str, Outputs | None]], *, parse: str) -> Table:
    """The paper's table 12 from {model: {"stage1": outputs or None, "stage2": …}}: the model's own answers
    that cannot be used, of how many, and apart from them what is not the model's doing."""
    columns = [_MODEL]
    for group, parts in GROUP_PARTS.items():
        heading = Sentence("Stage {group}", group=group[-1])
        columns += [
            estimated(group, gettext_noop("Unreadable"), unit="%", group=heading, best="", n=""),
            Column(
                key=f"{group}_unreadable",
                header=gettext_noop("Unreadable"),
                unit="answers",
                kind="count",
                group=heading,
            ),
            Column(key=f"{group}_answers", header=gettext_noop("Answers"), kind="count", group=heading),
            *(Column(key=f"{group}_{part}", header=_PARTS[part], kind="count", group=heading) for part in parts),
        ]
    rows = [_unreadable(*arguments) for arguments in outputs.items()]
    return Table(title=Sentence("Unreadable outputs, {parse} parse", parse=word(parse)), columns=columns, rows=rows)


def _unreadable(model: str, groups: Mapping[str, Outputs | None]) -> Row:
    row: Cells = {"model": model}
    for group, outputs in groups.items():
        if outputs:
            row |= estimate(group, outputs.share)
            row |= {f"{group}_unreadable": outputs.unreadable, f"{group}_answers": outputs.share.n}
            row |= {f"{group}_{part}": sum(reasons.values()) for part, reasons in outputs.without.items()}
    return row


POOLED = gettext_noop("Rows are pooled over stories; brackets: 95 % intervals over stories; n: rows.")
POOLED_CELLS = gettext_noop("Rows are pooled over stories; brackets: 95 % intervals over stories; n: cells.")
BOUNDS_NOTE = (
    "Rows not judged are in no figure; brackets, and the worst and best case in CSV and JSON, take them as unmatched "
    "and as matched, or as of another match count and as of this one."
)
CASES_NOTE = (
    "Worst and best case, in CSV and JSON: with missing answers and rows not judged at their worst and at their best."
)


def pooled_lead(group: str, entrants: Sequence[EntrantResults]) -> list[str]:
    return unlike_missing({group: entrants}, counted=LEFT_OUT)


def of_bounds(rows: Sequence[Row]) -> list[str]:
    """Return what brackets and bounds make of rows that judges left out, where there are any."""
    bounds = (value for row in rows for key, value in row.items() if key.endswith(" bounds"))
    return [BOUNDS_NOTE] if any(bounds) else []


def _published() -> tuple[Published, ...]:
    """Return the figures of the paper's table 3."""
    first, second = gettext_noop("Extraction, F1 (table 3)"), gettext_noop("Labelling, accuracy (table 3)")
    categories = {f"f1 {name}": (name, {"categories-stage1": name}) for name in TASKS}
    overall = {
        "f1_category_mean": (gettext_noop("Overall, the mean of categories"), {STAGE1: "f1_category_mean"}),
        "f1": ("By story", {STAGE1: "f1"}),
    }
    labels = zip(OMNITOM_SCHEME.shares, ("Overall", *OMNITOM_SCHEME.shorts.values()), strict=True)
    return (
        *(
            Published(f"{STAGE1}.{key}", title, first, {"main": key} | more)
            for key, (title, more) in (categories | overall).items()
        ),
        *(Published(f"{STAGE2}.{share}", title, second, {"main": share, STAGE2: share}) for share, title in labels),
    )


PUBLISHED = _published()


def main_table(groups: EntrantsByGroup, parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Table:
    """The paper's table 3: a row for each model under its settings, with what it came to in either metric group."""
    rows = [_Joined(*pair) for pair in _joined(groups)]
    heads = [row.head for row in rows]
    labels = labels_of(heads)
    heads = [
        replace(head, model=model, own=own) for head, model, own in zip(heads, labels.models, labels.own, strict=True)
    ]
    runs = [
        MainResult(
            model=head.model,
            rows={group: entrant.parses.of(parse) if entrant else None for group, entrant in row.by_group.items()},
        )
        for head, row in zip(heads, rows, strict=True)
    ]
    table = main_results(runs, parse=parse, scheme=scheme)
    cells = [
        row_of(head, STAGE1, row, {key: main_row.where(key, parse, scheme) for key in row})
        for row, head, main_row in zip(table.rows, heads, rows, strict=True)
    ]
    notes = [*table.notes, *_stories(runs), *_of_judges([row.first for row in rows if row.first])]
    ranking = ranked_by([entrant for entrants in groups.values() for entrant in entrants])
    return with_settings(replace(table, rows=cells, lead=unlike_missing(groups), notes=notes, ranking=ranking))


def _of_judges(entrants: Sequence[EntrantResults]) -> list[str]:
    return [*ranked_within(entrants), *notes_of(entrants)]


def _stories(runs: Sequence[MainResult]) -> Iterator[str]:
    """Say on how many stories each model's figures rest."""
    for group, name in ((STAGE1, gettext_noop("Extraction")), (STAGE2, gettext_noop("Labelling"))):
        counts: dict[int, list[str]] = {}
        for run in runs:
            if of_group := run.rows[group]:
                counts.setdefault(of_group.overall.stories or 0, []).append(run.model)
        notes = [
            noted(f"{count:,}", listed(models)) if len(counts) > 1 else f"{count:,}"
            for count, models in sorted(counts.items(), reverse=True)
        ]
        if notes:
            yield Sentence("{name}: stories, n = {notes}.", name=name, notes=listed(notes))


@dataclass(frozen=True, slots=True)
class _Joined:
    """One model's entrants in the two metric groups; either may be lacking."""

    first: EntrantResults | None
    second: EntrantResults | None

    @property
    def by_group(self) -> dict[str, EntrantResults | None]:
        return {STAGE1: self.first, STAGE2: self.second}

    @property
    def head(self) -> EntrantResults:
        """A copy of the entrant that names the row, with the settings of both."""
        present = [entrant for entrant in (self.first, self.second) if entrant]
        return replace(present[0], settings={**present[-1].settings, **present[0].settings})

    def where(self, key: str, parse: str, scheme: Scheme) -> Items:
        """The items behind a column, which may be another run's than the row's."""
        filters = _main_where(key, parse, scheme)
        entrant = self.first if filters["step"] == JUDGE else self.second
        return Items(filters, entrant.run, entrant.entrant) if entrant else Items(filters)


def _joined(groups: EntrantsByGroup) -> Iterator[tuple[EntrantResults | None, EntrantResults | None]]:
    """Pair the entrants of one run, then those that were asked alike in two runs."""
    rest = list(groups[STAGE2])
    for entrant in groups[STAGE1]:
        alike = [other for other in rest if other.key == entrant.key] or [
            other for other in rest if _asked_alike(entrant, other) and not _in(groups[STAGE1], other)
        ]
        if alike:
            rest.remove(alike[0])
        yield entrant, alike[0] if alike else None
    yield from ((None, other) for other in rest)


def _in(entrants: Sequence[EntrantResults], entrant: EntrantResults) -> bool:
    return any(other.key == entrant.key for other in entrants)


SHARED_SETTINGS = ("prompts", "level", "seed", "longest answer")
"""The notes on both metric groups."""


def _asked_alike(first: EntrantResults, other: EntrantResults) -> bool:
    if (first.name, first.kind, first.spec) != (other.name, other.kind, other.spec):
        return False
    return all(first.settings.get(name) == other.settings.get(name) for name in SHARED_SETTINGS)


def _main_where(key: str, parse: str, scheme: Scheme) -> dict[str, str]:
    if key.startswith("f1"):
        category = {"category": key.removeprefix("f1 ")} if key.startswith("f1 ") else {}
        return {"step": JUDGE} | category | measured(STAGE1, "f1", parse)
    dimension = next((name for name in scheme.keys if scheme.share_of(name) == key), "")
    if dimension:
        return {"step": LABEL, "dimension": dimension, "parse": parse}
    return {"step": LABEL} | measured(STAGE2, key, parse)


def dimension_table(entrants: Sequence[EntrantResults], parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Table:
    """The paper's table 10."""
    accuracies = {entrant.model: _accuracies(entrant, parse, scheme) for entrant in entrants}
    table = by_dimension_and_category(accuracies, parse=parse, scheme=scheme)
    by_model = {entrant.model: entrant for entrant in entrants}
    rows = [row_of(by_model[row["model"]], STAGE2, row, _where(row, parse, scheme)) for row in table.rows]
    return replace(table, rows=rows, lead=unlike_missing({STAGE2: entrants}))


def _accuracies(entrant: EntrantResults, parse: str, scheme: Scheme) -> dict[str, dict[str, CategoryAccuracy]]:
    """Return {dimension: {category: accuracy}}."""
    accuracies: dict[str, dict[str, CategoryAccuracy]] = {name: {} for name in scheme.keys}
    for category, row in entrant.parses.by_category(parse).items():
        for name in scheme.keys:
            share = scheme.share_of(name)
            metric, worst = metric_of(row, share), row.worst_of(share)
            accuracies[name][category] = CategoryAccuracy(metric, row.stories or 0, worst)
    return accuracies


def _where(row: Row, parse: str, scheme: Scheme) -> dict[str, Items]:
    dimension = next(key for key, title in scheme.titles.items() if title == row["dimension"])
    cells = {"dimension": dimension, "parse": parse}
    return {key: Items(cells | {"category": key.removeprefix("in ")}) for key in row if key.startswith("in ")}


KIND_NAMES = {
    **{order: Sentence("Order {order}", order=order) for order in KINDS["order"]},
    "world": gettext_noop("World"),
    "actors": gettext_noop("Actors"),
}
KIND_NOTES = {
    "order": (
        gettext_noop(
            "Precision is over predicted rows by the order that the model gave them, recall over gold rows by "
            "theirs, F1 is of the two."
        )
    ),
    "role": gettext_noop(
        "World holds what the narrator states as fact; actors are all characters and groups. Precision is over "
        "predicted rows, recall over "
        "gold rows, F1 is of the two."
    ),
}
CELLS_NOTE = gettext_noop("By the {head} of the gold row; overall is over the cells of all dimensions.")


def kind_table(entrants: Sequence[EntrantResults], by: str, parse: str) -> Table:
    """Precision, recall and F1 of extraction by order (paper, figure 5 a) or actor role; `by` is a key of KINDS."""
    measures = {"f1": "F1", "precision": "Precision", "recall": "Recall"}
    columns, best = [Column(key="model", header="Model")], "high" if complete(entrants, parse) else ""
    for kind in KINDS[by]:
        columns += [
            estimated(f"{kind} {name}", head, group=KIND_NAMES[kind], digits=1, best=best)
            for name, head in measures.items()
        ]
    rows = []
    for entrant, analyses in findings_of(entrants, parse, Stage1Analyses):
        cells: Cells = {}
        where: dict[str, Items] = {}
        for kind in KINDS[by]:
            for name in measures:
                cells |= estimate(f"{kind} {name}", analyses.kinds[kind][name])
                where[f"{kind} {name}"] = Items({by: kind, "parse": parse})
        rows.append(row_of(entrant, STAGE1, cells, where))
    title = Sentence("Extraction by {kind_heads}, {parse} parse (%)", kind_heads=KIND_HEADS[by], parse=word(parse))
    notes = [POOLED, KIND_NOTES[by], *of_bounds(rows), *unmarked(entrants, parse)]
    return Table(title=title, columns=columns, rows=rows, lead=pooled_lead(STAGE1, entrants), notes=notes)


def kind_dimension_table(
    entrants: Sequence[EntrantResults], by: str, parse: str, scheme: Scheme = OMNITOM_SCHEME
) -> Table:
    """Accuracy of labelling by dimension and order (paper, figure 5 b) or actor role."""
    heads = {"overall": "Overall", **scheme.shorts}
    best = "high" if complete(entrants, parse) else ""
    columns = [Column(key="model", header="Model")]
    columns += [estimated(name, head, digits=1, best=best) for name, head in heads.items()]
    rows = []
    for kind in KINDS[by]:
        for entrant, analyses in findings_of(entrants, parse, Stage2Analyses):
            cells: Cells = {"kind": KIND_NAMES[kind]}
            where = {}
            for name, metric in analyses.kinds[kind].items():
                cells |= estimate(name, metric)
                dimension = {} if name == "overall" else {"dimension": name}
                where[name] = Items({by: kind, "parse": parse} | dimension)
            rows.append(row_of(entrant, STAGE2, cells, where))
    title = Sentence(
        "Labelling accuracy by {kind_heads} and dimension, {parse} parse (%)",
        kind_heads=KIND_HEADS[by],
        parse=word(parse),
    )
    notes = [POOLED_CELLS, CELLS_NOTE.format(head=KIND_HEADS[by])]
    notes += unmarked(entrants, parse)
    lead = pooled_lead(STAGE2, entrants)
    return Table(title=title, columns=columns, rows=rows, lead=lead, notes=notes, section="kind", mark_within="kind")


DISTRIBUTION_NOTE = gettext_noop(
    "Brackets: 95 % intervals over stories of the share of the row's total (%). Gold's are those of all stories, "
    "models' of usable ones."
)
CONFUSION_NOTE = gettext_noop("Brackets: 95 % intervals over stories of the share of the gold label's rows (%).")


def distribution_table(
    entrants: Sequence[EntrantResults], dimension: str, parse: str, scheme: Scheme = OMNITOM_SCHEME
) -> Table:
    """Tabulate how often each label stands in gold and was predicted (paper, figure 4)."""
    counted = [
        (entrant, analyses.labels[dimension]) for entrant, analyses in findings_of(entrants, parse, Stage2Analyses)
    ]
    labels = counted[0][1].labels
    columns = [Column(key="model", header="Model")]
    for name in labels:
        columns += [
            Column(key=name, header=name, kind="count"),
            estimated(f"{name} share", listed([word(name), gettext_noop("share")]), unit="%", best="", n="", digits=1),
        ]
    columns.append(Column(key="total", header="Rows", kind="count"))
    rows = []
    for entrant, counts in counted:
        predicted = counts.in_answers
        cells = _distributed(labels, predicted.predicted, predicted.ends, predicted.reasons)
        where = {label: Items({"dimension": dimension, "said": label, "parse": parse}) for label in labels}
        where |= {f"{label} share": items for label, items in where.items()}
        rows.append(row_of(entrant, STAGE2, cells, where))
    # people cover fewer stories than the run
    most = max((counts.in_gold for _, counts in counted), key=lambda in_gold: sum(in_gold.gold))
    gold: Cells = {"model": gettext_noop("Gold of all stories")}
    gold |= _distributed(labels, most.gold, most.gold_ends, most.gold_reasons)
    gold |= {f"{label} share": None for label in (NO_LABEL, ILLEGAL)}  # which gold cannot have
    title = Sentence(
        "{titles}: labels as predicted, {parse} parse", titles=word(scheme.titles[dimension]), parse=word(parse)
    )
    lead = pooled_lead(STAGE2, entrants)
    return Table(title=title, columns=columns, rows=rows, totals=[gold], lead=lead, notes=[DISTRIBUTION_NOTE])


def _distributed(labels: Sequence[str], counts: Sequence[int], ends: Ends, reasons: Sequence[str]) -> Cells:
    total = sum(counts)
    row: Cells = {"total": total}
    for label, count, interval, why in zip(labels, counts, ends, reasons, strict=True):
        share = Estimate(count / total if total else None, total, interval, reason=why)
        row |= {label: count} | estimate(f"{label} share", share)
    return row


def confusion_table(entrant: EntrantResults, dimension: str, parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Table:
    """Gold labels in rows, predicted labels in columns."""
    analyses = finding_of(entrant, parse, Stage2Analyses)
    confusion = analyses.confusion[dimension] if analyses else NO_CONFUSION
    columns = [Column(key="gold", header="Gold")]
    for label in confusion.said:
        columns += [
            Column(key=label, header=label, kind="count"),
            estimated(
                f"{label} share", listed([word(label), gettext_noop("share")]), unit="%", best="", n="", digits=1
            ),
        ]
    columns.append(Column(key="total", header="Rows", kind="count"))
    rows = []
    by_gold = zip(confusion.gold, confusion.rows, confusion.ends, confusion.reasons, strict=True)
    for gold, counts, ends, why in by_gold:
        of_gold = {"dimension": dimension, "gold": gold, "parse": parse}
        where = {label: Items(of_gold | {"said": label}) for label in confusion.said}
        where |= {f"{label} share": items for label, items in where.items()}
        where["total"] = Items(of_gold)
        cells = {"gold": gold} | _distributed(confusion.said, counts, ends, why)
        rows.append(row_of(entrant, STAGE2, cells, where))
    title = Sentence(
        "{titles}: gold labels and those of {model}, {parse} parse",
        titles=word(scheme.titles[dimension]),
        model=entrant.model,
        parse=word(parse),
    )
    return Table(title=title, columns=columns, rows=rows, notes=[CONFUSION_NOTE])


def slug_of(dimension: str) -> str:
    """Return the dimension as names and addresses have it."""
    return dimension.replace("_", "-")


UNREADABLE_NOTES = {
    "official": (
        gettext_noop(
            "Unreadable: answers in which official parsing finds no row, of labelling no row of a gold proposition. "
            "Official scoring counts them 0."
        )
    ),
    "repaired": (
        gettext_noop(
            "Unreadable: answers of the model itself that nobody could read. Calls that failed, judgements that cannot "
            "be used and rows that the judge left out are no answer of the model and are counted apart."
        )
    ),
}


def match_count_table(entrants: Sequence[EntrantResults], parse: str) -> Table:
    """The paper's table 11."""
    matches_by_model = {
        entrant.model: analyses.match_counts for entrant, analyses in findings_of(entrants, parse, Stage1Analyses)
    }
    counts = {
        model: {name: matches.rows[name] for name in (*BUCKETS, "total")} for model, matches in matches_by_model.items()
    }
    table = match_count_distribution(
        counts, parse=parse, shares={model: matches.shares for model, matches in matches_by_model.items()}
    )
    where = {name: Items({"match_count": name, "parse": parse}) for name in BUCKETS}
    where |= {f"{name} share": items for name, items in where.items()}
    rows = [row_of(entrant, STAGE1, row, where) for row, entrant in zip(table.rows, entrants, strict=True)]
    left = clauses(
        *(
            Sentence("{name} {value}", name=model, value=f"{matches.unjudged:,}")
            for model, matches in matches_by_model.items()
            if matches.unjudged
        )
    )
    notes = [*table.notes, gettext_noop("Shares of the model's predicted rows; brackets: 95 % intervals over stories.")]
    notes += [Sentence("Not among them, as the judge left them out: {left}.", left=left)] if left else []
    notes += of_bounds(rows)
    return replace(table, rows=rows, lead=pooled_lead(STAGE1, entrants), notes=notes)


def unreadable_table(groups: EntrantsByGroup, parse: str) -> Table:
    """The paper's table 12, with the reasons below."""
    outputs: dict[str, dict[str, Outputs | None]] = {}
    by_model: dict[str, EntrantResults] = {}
    for group, entrants in groups.items():
        for entrant in entrants:
            of_group = _outputs_of(entrant, group, parse)
            if entrant.kind != "person" and of_group:
                by_model.setdefault(entrant.model, entrant)
                outputs.setdefault(entrant.model, {STAGE1: None, STAGE2: None})[group] = of_group
    table = unreadable_outputs(outputs, parse=parse)
    rows = [row_of(by_model[row["model"]], STAGE1, row, _outputs_where(parse)) for row in table.rows]
    notes = [labelled(model, reasons) for model, of_model in outputs.items() if (reasons := _output_reasons(of_model))]
    return replace(table, rows=rows, notes=[*table.notes, UNREADABLE_NOTES[parse], *notes])


def _outputs_of(entrant: EntrantResults, group: str, parse: str) -> Outputs | None:
    if group == STAGE1:
        extracted = finding_of(entrant, parse, Stage1Analyses)
        return extracted.outputs if extracted else None
    labelled = finding_of(entrant, parse, Stage2Analyses)
    return labelled.outputs if labelled else None


def _outputs_where(parse: str) -> dict[str, Items]:
    """Official parsing keeps no row of an extraction itself: its counts stand with the judgement."""
    first = JUDGE if parse == "official" else EXTRACT
    filters_by_column: dict[str, dict[str, str]] = {}
    for group, step in ((STAGE1, first), (STAGE2, LABEL)):
        unreadable = {"step": step, "problem": "unreadable"} | ({"parse": parse} if parse == "official" else {})
        filters_by_column |= {group: unreadable, f"{group}_unreadable": unreadable}
    steps = {STAGE1: EXTRACT, STAGE2: LABEL}
    filters_by_column |= {f"{group}_answers": {"step": step, "problem": "answered"} for group, step in steps.items()}
    filters_by_column |= {f"{group}_calls": {"step": step, "problem": "unanswered"} for group, step in steps.items()}
    gaps = {"stage1_judgements": "unjudged", "stage1_rows": "gaps"}
    filters_by_column |= {key: {"step": JUDGE, "problem": problem} for key, problem in gaps.items()}
    return {key: Items(filters) for key, filters in filters_by_column.items()}


def _output_reasons(groups: Mapping[str, Outputs | None]) -> str:
    """Return why outputs cannot be used and what else is missing, with counts, over both metric groups."""
    reasons: Counter[str] = Counter()
    for group in filter(None, groups.values()):
        for part in (group.reasons, *group.without.values()):
            reasons.update(part)
    return listed(worded(why, f"{count:,}") for why, count in sorted(reasons.items()))


def volume_table(entrants: Sequence[EntrantResults], parse: str) -> Table:
    """Tabulate how much a model says against how much of it is right (paper, figure 8)."""
    number = {"kind": "number", "digits": 1, "unit": "", "best": ""}
    share = {"unit": "%", "best": "", "n": ""}
    columns = [
        Column(key="model", header="Model"),
        Column(key="predicted", header=gettext_noop("Predicted rows"), kind="count"),
        Column(key="gold", header=gettext_noop("Gold rows"), kind="count"),
        estimated("predicted_per_story", gettext_noop("Predicted a story"), **number, n=""),
        estimated("gold_per_story", gettext_noop("Gold a story"), **number, n=""),
        *(estimated(name, head, **share) for name, head in zip(METRICS, ("Precision", "Recall", "F1"), strict=True)),
        Column(key="stories", header="Stories", kind="count"),
    ]
    rows = []
    for entrant, analyses in findings_of(entrants, parse, Stage1Analyses):
        volume, overall = analyses.volume, entrant.parses.overall(parse)
        row: Cells = {"predicted": volume.predicted, "gold": volume.gold, "stories": volume.stories}
        row |= estimate("predicted_per_story", volume.predicted_per_story)
        row |= estimate("gold_per_story", volume.gold_per_story)
        for name in METRICS:
            row |= estimate(name, metric_of(overall, name))
        rows.append(row_of(entrant, STAGE1, row))
    notes = [gettext_noop("Brackets: 95 % intervals over stories.")]
    notes += [CASES_NOTE] if any(row["f1 bounds"] for row in rows) else []
    title, lead = (
        Sentence("Volume against precision and recall, {parse} parse", parse=word(parse)),
        pooled_lead(STAGE1, entrants),
    )
    return Table(title=title, columns=columns, rows=rows, lead=lead, notes=notes)


BY_KIND = {"order": "orders", "role": "roles"}
"""The names of what is shown by each of KINDS."""


def tables(scheme: Scheme, results: ParseResults) -> dict[str, ShownTable]:
    """Return the tables of what has figures, and of what has analyses, in the parse."""
    return dict(_tables(scheme, results))


def names_by_kind(scheme: Scheme) -> dict[str, str]:
    """Return `BY_KIND`, without orders by a scheme that has none."""
    return {by: name for by, name in BY_KIND.items() if by != ORDER or scheme.ordered}


def _tables(scheme: Scheme, results: ParseResults) -> Iterator[tuple[str, ShownTable]]:
    parse, first, second = results.parse, results.analysed[STAGE1], results.analysed[STAGE2]
    if any(results.read.values()):
        main = partial(main_table, results.entrants, parse, scheme)
        yield "main", ShownTable(main, (STAGE1, STAGE2), keeps_unreadable=True)
    if labelled := results.read[STAGE2]:
        yield "dimensions", ShownTable(partial(dimension_table, labelled, parse, scheme), (STAGE2,))
    for by, name in names_by_kind(scheme).items():
        if first:
            yield name, ShownTable(partial(kind_table, first, by, parse), (STAGE1,))
        if second:
            table = partial(kind_dimension_table, second, by, parse, scheme)
            yield f"{name}-dimensions", ShownTable(table, (STAGE2,))
    if first:
        yield "match-counts", ShownTable(partial(match_count_table, first, parse), (STAGE1,))
        yield "volume", ShownTable(partial(volume_table, first, parse), (STAGE1,))
    if first or second:
        yield "unreadable", ShownTable(partial(unreadable_table, results.analysed, parse))
    if second:
        yield from _of_labels(scheme, results)


def _of_labels(scheme: Scheme, results: ParseResults) -> Iterator[tuple[str, ShownTable]]:
    parse, labelled = results.parse, results.analysed[STAGE2]
    for dimension in scheme.keys:
        slug = slug_of(dimension)
        yield f"labels-{slug}", ShownTable(partial(distribution_table, labelled, dimension, parse, scheme))
        for at, entrant in enumerate(labelled, 1):
            yield f"confusion-{at}-{slug}", ShownTable(partial(confusion_table, entrant, dimension, parse, scheme))


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


def sections_of(scheme: Scheme, keys: Mapping[str, str]) -> tuple[Section, ...]:
    """Return the parts for gold of a scheme, where metric groups have other `keys`; the paper's own table is
    OmniToM's."""
    sections = []
    for section in SECTIONS:
        title = "Extraction and labelling" if section.paper else section.title
        names = tuple(_renamed(name, keys) for name in section.tables)
        sections.append(replace(section, title=title, tables=names, paper=False))
    return tuple(sections)


def _renamed(table: str, keys: Mapping[str, str]) -> str:
    name, _, group = table.rpartition("-")
    return f"{name}-{keys[group]}" if group in keys else table


def _choices(scheme: Scheme, results: ParseResults) -> list[Choice]:
    labelled = results.analysed[STAGE2]
    if not labelled:
        return []
    models = [(str(at), str(entrant.model)) for at, entrant in enumerate(labelled, 1)]
    dimensions = [(slug_of(key), title) for key, title in scheme.titles.items()]
    return [Choice("confusion_model", "Model", models), Choice("dimension", "Dimension", dimensions)]


def _shows(chosen: Mapping[str, str]) -> Explored:
    model, dimension = chosen["confusion_model"], chosen["dimension"]
    return Explored(f"confusion-{model}-{dimension}", f"labels-{model}", f"labels-{dimension}")


def explorer_of(scheme: Scheme) -> Explorer:
    return Explorer("labels", gettext_noop("Labels: distribution and confusion"), partial(_choices, scheme), _shows)
