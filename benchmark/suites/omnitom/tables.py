"""The paper's tables over runs of this platform. Model names, scores and counts come in as plain data.

A report is what `score_official` or `score_repaired` has for a stage: `overall` and `by_category`, numbers or their texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmark.domain.tables.table import Column, Row, Table
from benchmark.suites.omnitom.labels import DIMENSIONS, SCHEMA
from benchmark.suites.omnitom.metrics import STAGE2_SHARES
from core.statistics import FEWEST, few

ABBREVIATIONS: Mapping[str, str] = {
    "Ambiguous Story Task": "AST",
    "False Belief Task": "FBT",
    "Faux-pas Recognition Test": "FPT",
    "Hinting Task Test": "HT",
    "Persuasion Story Task": "PST",
    "Scalar Implicature Test": "SIT",
    "Strange Story Task": "SST",
}
"""Story categories as the paper's tables head them."""

HEADERS: Mapping[str, str] = dict(
    zip(DIMENSIONS, ("Order", "Status", "Access", "Repr", "CType", "Source", "Context"), strict=True)
)
"""Dimensions as the paper's table 3 heads them."""

_MODEL = Column(key="model", header="Model")
COUNTED = "n: stories."
_MEANS = (
    "F1 overall is the unweighted mean of the categories' means, as the paper prints it; F1 by story is the mean over "
    "stories, as its section 5 defines it.",
)


def _share(key: str, header: str, **more: Any) -> Column:
    return Column(key=key, header=header, **{"unit": "%", "kind": "share", "best": "high", **more})


def _reported(key: str, header: str, group: str) -> Column:
    return _share(key, header, group=group, interval=f"{key}_interval", unit="", worst=f"{key}_worst")


def _with_what_is_known(columns: Iterable[Column], rows: Sequence[Row]) -> list[Column]:
    """Columns lose an interval and a worst case that no row has."""

    def known(key: str) -> str:
        return key if any(row.get(name) is not None for row in rows for name in (key, f"{key}_reason")) else ""

    return [replace(column, interval=known(column.interval), worst=known(column.worst)) for column in columns]


def in_order(categories: Iterable[str]) -> list[str]:
    """The story categories named, the paper's seven in their order, then what else there is."""
    order = list(ABBREVIATIONS)
    return sorted(set(categories), key=lambda one: (order.index(one) if one in order else len(order), one))


def _number(value: Any) -> Any:
    """Official figures are texts of six decimals and stay so, to be printed to their last digit."""
    return None if value in (None, "") else value


def main_results(runs: Sequence[Mapping[str, Any]], *, reading: str) -> Table:
    """The paper's table 3: F1 by category, both averages, then accuracy by dimension and overall.

    A run is {"model", "stage1": report or None, "stage2": report or None[, "section"][, "reason": {stage: why}]}; all of
    one `reading`, which the title names. Intervals are those of the reports, where they have any.
    """
    reports = [run["stage1"] for run in runs if run.get("stage1")]
    categories = in_order(row["story_category"] for report in reports for row in report["by_category"])
    first, second = "Stage 1: extraction F1 (%)", "Stage 2: labelling accuracy (%)"
    columns = [
        _MODEL,
        *(_reported(f"f1 {name}", ABBREVIATIONS.get(name, name), first) for name in categories),
        _reported("f1_category_mean", "Overall", first),
        _reported("f1", "By story", first),
        *(_reported(share, HEADERS[name], second) for name, share in zip(DIMENSIONS, STAGE2_SHARES[1:], strict=True)),
        _reported(STAGE2_SHARES[0], "Overall", second),
    ]
    rows = [_result(run, categories) for run in runs]
    return Table(
        title=f"Main results, {reading} reading (%)",
        columns=_with_what_is_known(columns, rows),
        rows=rows,
        notes=(*_MEANS, *_reasons(runs), *_abbreviated(categories)),
        section="section" if any(run.get("section") for run in runs) else "",
    )


def _result(run: Mapping[str, Any], categories: Sequence[str]) -> Row:
    row: dict[str, Any] = {"model": run["model"], "section": run.get("section")}
    if report := run.get("stage1"):
        held = {one["story_category"]: one for one in report["by_category"]}
        for name in categories:
            row |= _figure(f"f1 {name}", held.get(name, {}), "f1")
        row |= _figure("f1_category_mean", report["overall"]) | _figure("f1", report["overall"])
    if report := run.get("stage2"):
        for share in STAGE2_SHARES:
            row |= _figure(share, report["overall"])
    return row


def _figure(key: str, figures: Mapping[str, Any], name: str = "") -> dict[str, Any]:
    name = name or key
    return {
        key: _number(figures.get(name)),
        **interval_of(f"{key}_interval", figures, name),
        f"{key}_worst": ((figures.get("bounds") or {}).get(name) or (None,))[0],
    }


def figure_of(figures: Mapping[str, Any], name: str) -> dict[str, Any]:
    """{value, interval[, reason, bounds]} of the figure `name` of a report's row; `bounds` where anything is missing."""
    held = interval_of("interval", figures, name)
    why, bounds = held.get("interval_reason"), (figures.get("bounds") or {}).get(name)
    found = {"value": figures.get(name), "interval": held["interval"]} | ({"reason": why} if why else {})
    return found | ({"bounds": bounds} if bounds and bounds[0] != bounds[1] else {})


def interval_of(key: str, figures: Mapping[str, Any], name: str) -> Row:
    """What a row holds under `key`: the interval of the figure `name` of a report's row, or why there is none."""
    ends = (figures.get("interval") or {}).get(name)
    return {key: ends} if ends else {key: None, f"{key}_reason": _no_interval(figures, name)}


def _no_interval(figures: Mapping[str, Any], name: str) -> str | None:
    """Reports that were frozen before figures kept their reasons have one for the whole row, or none."""
    reasons, stories = figures.get("reasons") or {}, int(figures.get("stories") or 0)
    return reasons.get(name) or figures.get("reason") or (few("stories") if 0 < stories < FEWEST else None)


def _reasons(runs: Iterable[Mapping[str, Any]]) -> list[str]:
    return [
        f"{run['model']}, stage {stage[-1]}: {why}"
        for run in runs
        for stage, why in (run.get("reason") or {}).items()
        if not run.get(stage)
    ]


def _abbreviated(categories: Iterable[str]) -> list[str]:
    said = [f"{ABBREVIATIONS[name]} {name}" for name in categories if name in ABBREVIATIONS]
    return ["; ".join(said) + "."] if said else []


def estimated(key: str, header: str, **more: Any) -> Column:
    """A share with its interval and n, in a row that holds `estimate(key, …)`."""
    return _share(
        key, header, **{"unit": "", "interval": f"{key} interval", "n": f"{key} n", "bounds": f"{key} bounds"} | more
    )


def estimate(key: str, found: Mapping[str, Any] | float | None) -> dict[str, Any]:
    """What a row holds of {"value", "interval", "n"[, "bounds"]}, or of a bare number."""
    held = found if isinstance(found, Mapping) else {"value": found}
    return {
        key: held["value"],
        f"{key} interval": held.get("interval"),
        **({} if held.get("interval") else {f"{key} interval_reason": held.get("reason")}),
        f"{key} n": held.get("n"),
        f"{key} worst": held.get("worst"),
        f"{key} bounds": held.get("bounds"),
    }


def by_dimension_and_category(
    accuracies: Mapping[str, Mapping[str, Mapping[str, Mapping[str, Any] | float | None]]], *, reading: str
) -> Table:
    """The paper's table 10 from {model: {dimension: {category: accuracy}}}; cells are compared within a dimension.

    An accuracy is a number, or {"value", "interval", "n", "worst"} with n stories.
    """
    categories = in_order(name for model in accuracies.values() for held in model.values() for name in held)
    rows = [
        {"dimension": SCHEMA[dimension].name, "_dimension": dimension, "model": model}
        | {
            key: one
            for name in categories
            for key, one in estimate(f"in {name}", held.get(dimension, {}).get(name)).items()
        }
        for dimension in DIMENSIONS
        for model, held in accuracies.items()
    ]
    cells = [estimated(f"in {name}", ABBREVIATIONS.get(name, name), worst=f"in {name} worst") for name in categories]
    return Table(
        title=f"Labelling accuracy by dimension and story category, {reading} reading (%)",
        columns=[_MODEL, *_with_what_is_known(cells, rows)],
        rows=rows,
        notes=(*_abbreviated(categories), *_counted(rows)),
        section="dimension",
        mark_within="dimension",
    )


def _counted(rows: Sequence[Row]) -> list[str]:
    """What n is, where any row has one."""
    return [COUNTED] if any(_counts(rows)) else []


def _counts(rows: Iterable[Row]) -> list[int]:
    return [value for row in rows for key, value in row.items() if key.endswith(" n") and value is not None]


def match_count_distribution(
    counts: Mapping[str, Mapping[str, int]],
    *,
    reading: str,
    shares: Mapping[str, Mapping[str, Mapping[str, Any]]] | None = None,
) -> Table:
    """The paper's table 11 from {model: rows by bucket and their `total`}: predicted rows by how many gold rows they match, with totals.

    `shares` adds the estimate of each bucket's share of a model's rows.
    """
    buckets = list(dict.fromkeys(name for held in counts.values() for name in held if name != "total"))
    columns = [_MODEL]
    for name in buckets:
        columns.append(Column(key=name, header=f"MC={name}", kind="count"))
        if shares:
            columns.append(estimated(f"{name} share", f"MC={name}, share", unit="%", best="", n="", digits=1))
    rows = [
        {"model": model, **held}
        | {
            key: one
            for name in buckets
            if shares
            for key, one in estimate(f"{name} share", shares[model][name]).items()
        }
        for model, held in counts.items()
    ]
    keys = (*buckets, "total")
    total = {"model": "Total", **{name: sum(row.get(name) or 0 for row in rows) for name in keys}}
    return Table(
        title=f"Predicted-side MatchCount distribution, {reading} reading",
        columns=[*columns, Column(key="total", header="Total", kind="count")],
        rows=rows,
        totals=[total] if len(rows) > 1 else (),
    )


STAGE_PARTS = {"stage1": ("calls", "judgements", "rows"), "stage2": ("calls",)}
_PARTS = {
    "calls": "Calls without an answer",
    "judgements": "Extractions without a judgement",
    "rows": "Rows without a judgement",
}


def unusable_outputs(shares: Mapping[str, Mapping[str, Mapping[str, Any] | None]], *, reading: str) -> Table:
    """The paper's table 12 from {model: {"stage1": `outputs_analysis` or None, "stage2": …}}: the model's own answers that cannot be used,
    of how many, and apart from them what is not the model's doing."""
    columns = [_MODEL]
    for stage, parts in STAGE_PARTS.items():
        group = f"Stage {stage[-1]}"
        columns += [
            estimated(stage, "Unusable", unit="%", group=group, best="", n=""),
            Column(key=f"{stage}_unusable", header="Unusable", unit="answers", kind="count", group=group),
            Column(key=f"{stage}_answers", header="Answers", kind="count", group=group),
            *(Column(key=f"{stage}_{part}", header=_PARTS[part], kind="count", group=group) for part in parts),
        ]
    rows = [_unusable(*one) for one in shares.items()]
    return Table(title=f"Unusable outputs, {reading} reading", columns=columns, rows=rows)


def _unusable(model: str, stages: Mapping[str, Mapping[str, Any] | None]) -> Row:
    row: dict[str, Any] = {"model": model}
    for stage, found in stages.items():
        if found:
            row |= estimate(stage, found["share"])
            row |= {f"{stage}_unusable": found["unusable"], f"{stage}_answers": found["share"]["n"]}
            row |= {f"{stage}_{part}": sum(held.values()) for part, held in found["without"].items()}
    return row
