"""A report as data: what is on its page, made once from a run and drawn the same way when it was frozen.

A document is {"title", "kind", "form", "score", "stages": {stage: entries}, "facts", "methods", "at"}, ready for JSON; its tables and
figures are made from the entries by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import prefetch_related_objects

from annotation.domain.schema import SCHEMA
from benchmark.domain.omnitom.labels import COLUMNS, DIMENSIONS
from benchmark.domain.tables import Table, main_results
from benchmark.models import Run
from benchmark.services import result_tables as tables
from benchmark.services.leaderboards import Entry, run_standing
from benchmark.services.methods_text import facts_of, methods_of
from benchmark.services.reports import report_of
from benchmark.services.story_scores import READINGS, SCORE, STAGES

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Picture:
    """`arguments` makes what the function `name` of benchmark.domain.figures takes."""

    title: str
    name: str
    arguments: Callable[[], Mapping[str, Any]]

    def draw(self, **how: str) -> bytes:
        """`how` is format, theme and width."""
        from benchmark.domain import figures  # matplotlib takes a second to load

        held = dict(self.arguments())
        return getattr(figures, self.name)(*held.pop("positional"), **held, **how)


def document_of(run: Run) -> Document:
    prefetch_related_objects([run], "entrants")
    report = report_of(run)
    stages = {stage: [_plain(one) for one in run_standing(run, report, stage)] for stage in STAGES}
    return {
        "title": run.title,
        "kind": "run",
        "form": run.form,
        "stages": stages,
        "facts": facts_of(run, report),
        "methods": methods_of(run, report, stages),
        "stories": report["stories"],
    }


def board_document(title: str, stages: Mapping[str, Sequence[Entry]]) -> Document:
    return {"title": title, "kind": "leaderboard", "stages": stages, "facts": [], "methods": []}


def _plain(entry: Entry) -> Entry:
    """Without user names and what only the comparison needed."""
    left_out = {"person", "numbers", "scores", "spec"}
    return {name: value for name, value in entry.items() if name not in left_out} | {"at": entry["at"].isoformat()}


def tables_of(document: Document) -> dict[str, Callable[[], Table]]:
    """The tables by name, made when they are asked for."""
    first, second = (document["stages"].get(stage) or [] for stage in STAGES)
    found: dict[str, Callable[[], Table]] = {}
    for stage, entries in zip(STAGES, (first, second), strict=True):
        if entries:
            found[stage] = lambda stage=stage, entries=entries: tables.stage_table(entries, stage)
            found[f"categories-{stage}"] = lambda stage=stage, entries=entries: tables.category_table(entries, stage)
    if first:
        found |= {
            "orders": lambda: tables.order_table(first),
            "match-counts": lambda: tables.match_count_table(first),
            "volume": lambda: tables.volume_table(first),
        }
    if second:
        found["dimensions"] = lambda: tables.dimension_table(second)
        for one in DIMENSIONS:
            found[f"labels-{_slug(one)}"] = lambda one=one: tables.distribution_table(second, one)
        for at, entry in enumerate(second, 1):
            for one in DIMENSIONS:
                found[f"confusion-{at}-{_slug(one)}"] = lambda entry=entry, one=one: tables.confusion_table(entry, one)
    if first or second:
        found["unusable"] = lambda: tables.unusable_table({"stage1": first, "stage2": second})
        for reading in READINGS:
            if any(one["readings"][reading] for one in (*first, *second)):
                found[f"main-{reading}"] = lambda reading=reading: _main(first, second, reading)
    return found


def _slug(dimension: str) -> str:
    return dimension.replace("_", "-")


def dimension_of(slug: str) -> str:
    return next((one for one in DIMENSIONS if _slug(one) == slug), DIMENSIONS[0])


def _main(first: Sequence[Entry], second: Sequence[Entry], reading: str) -> Table:
    """The paper's table 3."""
    runs: dict[str, dict[str, Any]] = {}
    for stage, entries in zip(STAGES, (first, second), strict=True):
        for one in entries:
            held = runs.setdefault(one["model"], {"model": one["model"], "stage1": None, "stage2": None})
            held[stage] = one["readings"][reading]
    return main_results(list(runs.values()), reading=reading)


def figures_of(document: Document) -> dict[str, Picture]:
    """The figures by name, drawn when they are asked for."""
    first, second = (document["stages"].get(stage) or [] for stage in STAGES)
    found: dict[str, Picture] = {}
    for stage, entries in zip(STAGES, (first, second), strict=True):
        if entries:
            found[f"leaderboard-{stage}"] = Picture(
                f"{tables.SCORES[stage]}, both readings", "leaderboard", lambda s=stage, e=entries: _board(e, s)
            )
    if first:
        found |= {
            "f1-by-category": Picture("F1 by story category", "f1_by_category", lambda: _by_category(first)),
            "orders": Picture("Recall by order", "by_order", lambda: _by_order(first)),
            "volume": Picture("Volume against precision and recall", "volume", lambda: _volume(first)),
            "match-counts": Picture("MatchCount distribution", "match_counts", lambda: _match_counts(first)),
        }
    if second:
        found["dimensions"] = Picture("Accuracy by dimension", "accuracy_by_dimension", lambda: _dimensions(second))
        for at, entry in enumerate(second, 1):
            found[f"labels-{at}"] = Picture(
                f"Labels in gold and by {entry['model']}", "label_distribution", lambda entry=entry: _labels(entry)
            )
            for one in DIMENSIONS:
                found[f"confusion-{at}-{_slug(one)}"] = Picture(
                    f"{SCHEMA[one].name}: gold labels and those of {entry['model']}",
                    "confusion",
                    lambda entry=entry, one=one: _confusion(entry, one),
                )
    return found


def comparison_picture(comparison: Mapping[str, Any]) -> Picture:
    def arguments() -> dict[str, Any]:
        overall = next(row for row in comparison["rows"] if row["key"] == SCORE[comparison["stage"]])
        return {
            "positional": [[(row["first"], row["second"]) for row in comparison["stories"]]],
            "first": comparison["first"],
            "second": comparison["second"],
            "score": tables.SCORES[comparison["stage"]],
            "difference": {"value": overall["value"], "interval": overall["interval"]},
        }

    return Picture(f"{comparison['first']} and {comparison['second']} by story", "two_models", arguments)


def score_of(entry: Entry, reading: str, stage: str) -> dict[str, Any] | None:
    """{value, interval} of the figure that the stage is ranked by."""
    overall = (entry["readings"][reading] or {}).get("overall")
    name = SCORE[stage]
    return {"value": overall[name], "interval": (overall.get("interval") or {}).get(name)} if overall else None


def _board(entries: Sequence[Entry], stage: str) -> dict[str, Any]:
    rows = [
        {"model": one["model"], "group": one["group"]["repaired"]}
        | {name: score_of(one, name, stage) for name in READINGS}
        for one in entries
    ]
    return {"positional": [rows], "score": tables.SCORES[stage]}


def _by_category(entries: Sequence[Entry]) -> dict[str, Any]:
    rows = [
        {
            "model": one["model"],
            "values": {
                row["story_category"]: {"value": row["f1"], "interval": row["interval"].get("f1")}
                for row in one["readings"]["repaired"]["by_category"]
            },
        }
        for one in entries
    ]
    return {"positional": [rows], "reading": "repaired"}


def _by_order(entries: Sequence[Entry]) -> dict[str, Any]:
    rows = [
        {
            "model": one["model"],
            "values": {order: held["recall"] for order, held in one["figures"]["analyses"]["orders"].items()},
        }
        for one in entries
    ]
    return {"positional": [{"Recall of gold rows": rows}], "reading": "repaired"}


def _volume(entries: Sequence[Entry]) -> dict[str, Any]:
    rows = [{"model": one["model"]} | tables.volume_of(one) for one in entries]
    return {"positional": [rows], "reading": "repaired"}


def _match_counts(entries: Sequence[Entry]) -> dict[str, Any]:
    rows = {one["model"]: one["figures"]["analyses"]["match_counts"] for one in entries}
    return {"positional": [rows], "reading": "repaired"}


def _dimensions(entries: Sequence[Entry]) -> dict[str, Any]:
    rows = []
    for one in entries:
        overall = one["readings"]["repaired"]["overall"]
        values = {name: overall[f"acc_{COLUMNS[name]}"] for name in DIMENSIONS}
        rows.append({"model": one["model"], "values": values, "overall": overall["overall_accuracy"]})
    return {"positional": [rows], "reading": "repaired"}


def _labels(entry: Entry) -> dict[str, Any]:
    return {"positional": [entry["figures"]["analyses"]["distribution"]], "model": entry["model"]}


def _confusion(entry: Entry, dimension: str) -> dict[str, Any]:
    table = entry["figures"]["analyses"]["confusion"][dimension]
    return {"positional": [table], "dimension": dimension, "model": entry["model"]}
