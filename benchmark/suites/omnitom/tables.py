"""The paper's tables over runs of this platform. Model names and counts come in as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.report_rows import NO_FIGURES, ParseRows, ReportRow, RowMetric
from benchmark.domain.tables.categories import in_order, short_name_texts
from benchmark.domain.tables.estimates import (
    estimate,
    estimated,
    interval_of,
    share_column,
    with_what_is_known,
)
from benchmark.domain.tables.table import Cells, Column, Row, Table
from benchmark.suites.omnitom.analyses import Outputs
from benchmark.suites.omnitom.labels import ALL_DIMENSIONS, OMNITOM_SCHEME, Scheme
from benchmark.suites.omnitom.step_keys import STAGE1, STAGE2
from benchmark.suites.tombench_tasks import TASKS
from core.messages import Sentence, gettext_noop, listed, word

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
