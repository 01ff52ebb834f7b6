"""A report as data: what is on its page, made once from a run and drawn the same way when it was frozen.

A document is {"title", "kind", "stages": {stage: entries}, "absent": {stage: models that are not among them}, "facts", "methods"}, of a run
with "form" and "stories" too, ready for JSON; its
tables and figures are made from the entries by name. Names of what has one reading end in it. One with "withheld", the number of stories that
its reader still has work on, has the tables and figures over all stories alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.db.models import prefetch_related_objects

from benchmark.domain.tables import Absent, Table, absent_told
from benchmark.domain.tables.estimates import figure_of
from benchmark.models import Run
from benchmark.services import analysis_tables as analyses
from benchmark.services import facet_tables as facets
from benchmark.services import pictured
from benchmark.services import result_tables as tables
from benchmark.services.absences import Absence, unread
from benchmark.services.leaderboards import run_standing
from benchmark.services.main_table import main_table
from benchmark.services.methods_text import facts_of, methods_of
from benchmark.services.reports import report_of
from benchmark.suites.omnitom.labels import DIMENSIONS, SCHEMA
from benchmark.suites.registry import group_named, keys_of, ordered_keys
from benchmark.suites.showing.entries import Entry
from benchmark.suites.showing.judges import judge_test_table, tests_of
from benchmark.suites.showing.missing import left_out, missing_of
from benchmark.suites.story_scores import READINGS

Document = dict[str, Any]

WHOLE_FIGURES = frozenset(f"dimensions-{one}" for one in READINGS)
"""Beside the tables and the plots of whole rankings, what is over all stories and counts no gold label: all that a reader with open work
sees. Whatever is new is not in it."""


@dataclass(frozen=True, slots=True)
class Picture:
    """`arguments` makes what the plot `name` takes; `absent` are models that it does not have."""

    title: str
    name: str
    arguments: Callable[[], Mapping[str, Any]]
    absent: tuple[Absent, ...] = ()

    def shown(self) -> dict[str, Any]:
        """The arguments with what the caption has to say."""
        held = dict(self.arguments())
        note = "; ".join(filter(None, [held.get("note", ""), _not_shown(self.absent)]))
        return held | ({"note": note} if note else {})

    def draw(self, **how: str) -> bytes:
        """`how` is format, theme and width."""
        held = self.shown()
        return _plot(self.name)(*held.pop("positional"), **held, **how)


def _plot(name: str) -> Callable[..., bytes]:
    from benchmark.domain import figures  # matplotlib takes a second to load
    from benchmark.suites.omnitom import plots

    return getattr(figures if name in figures.__all__ else plots, name)


NAMED = 6
"""So many absent models stand in a caption; the tables name all."""


def _not_shown(absent: Sequence[Absent]) -> str:
    if not absent:
        return ""
    more = f"; {len(absent) - NAMED} more" if len(absent) > NAMED else ""
    return f"without figures here: {absent_told(absent[:NAMED])}{more}"


def document_of(run: Run) -> Document:
    prefetch_related_objects([run], "entrants")
    report = report_of(run)
    stages = {stage: [_plain(one) for one in run_standing(run, report, stage)] for stage in keys_of(run.suite)}
    return {
        "title": run.title,
        "kind": "run",
        "form": run.form,
        "stages": stages,
        "absent": {},
        "facts": facts_of(run, report),
        "methods": methods_of(run, report, stages),
        "stories": report["stories"],
        "numbers": report["numbers"],
    }


def board_document(title: str, stages: Mapping[str, Sequence[Entry]], absent: Sequence[Absence] = ()) -> Document:
    told = {stage: [one.told for one in absent if one.stage == stage] for stage in stages}
    return {"title": title, "kind": "leaderboard", "stages": stages, "absent": told, "facts": [], "methods": []}


def absent_from(document: Document, *stages: str) -> list[Absent]:
    """Models that the document's rankings of these stages do not have, each reason once; reports that were frozen before name none."""
    held = [one for stage in stages for one in document.get("absent", {}).get(stage, ())]
    return [one for at, one in enumerate(held) if one not in held[:at]]


def _unpaired(document: Document, stage: str, reading: str) -> list[Absent]:
    """With those that have no rank in the reading, people apart, who are not compared."""
    models = [one for one in document["stages"].get(stage) or [] if one["kind"] != "person"]
    ranked = {one["key"] for one in _in_order(models, reading)}
    found = absent_from(document, stage)
    for one in models:
        if one["key"] not in ranked:
            ranking = (one.get("ranking") or {}).get(reading) or {}
            why = ranking.get("reason") or one["readings"].get("reason") or "not ranked"
            found.append({"model": one["model"], "why": why.removesuffix(".")})
    return found


def _lacking(document: Document, stage: str, reading: str) -> list[Absent]:
    """With those that have no figures of the reading."""
    return [*absent_from(document, stage), *unread(document["stages"].get(stage) or [], reading)]


def _plain(entry: Entry) -> Entry:
    """Without user names and what only the comparison needed."""
    left_out = {"person", "numbers", "scores", "spec", "conditions"}
    return {name: value for name, value in entry.items() if name not in left_out} | {"at": entry["at"].isoformat()}


def tables_of(document: Document) -> dict[str, Callable[[], Table]]:
    """The tables by name, made when they are asked for, each with the models that it does not have."""
    found: dict[str, Callable[[], Table]] = {}
    absent: dict[str, list[Absent]] = {}
    for stage, entries in _stages(document).items():
        if entries:
            found[stage] = partial(tables.stage_table, entries, stage)
            found[f"categories-{stage}"] = partial(tables.category_table, entries, stage)
            absent |= dict.fromkeys((stage, f"categories-{stage}"), absent_from(document, stage))
    if tests_of(document["stages"].get("stage1") or []):
        found["judge-tests"] = partial(judge_test_table, document["stages"]["stage1"])
    for reading in READINGS:
        held = {
            stage: [one for one in entries if one["readings"][reading]] for stage, entries in _stages(document).items()
        }
        if any(held.get(stage) for stage in MAIN):
            found[f"main-{reading}"] = partial(main_table, _stages(document), reading)
            absent[f"main-{reading}"] = absent_from(document, *document["stages"])
        if held.get("stage2"):
            found[f"dimensions-{reading}"] = partial(analyses.dimension_table, held["stage2"], reading)
            absent[f"dimensions-{reading}"] = _without_figures(document, "stage2", reading)
        analysed = readings_of(document, reading)
        made = _analysis_tables(analysed, reading) | _facet_tables(analysed, reading)
        found |= {f"{name}-{reading}": make for name, make in made.items()}
        absent |= {
            f"{name}-{reading}": _without_figures(document, STAGE_TOLD[name], reading)
            for name in made
            if name in STAGE_TOLD
        }
    named = {
        name: partial(_with_absent, make, absent[name]) if absent.get(name) else make for name, make in found.items()
    }
    return _open(named, document, frozenset(document["stages"]))


def _with_absent(make: Callable[[], Table], absent: Sequence[Absent]) -> Table:
    return replace(make(), absent=absent)


def _without_figures(document: Document, stage: str, reading: str) -> list[Absent]:
    """Who has no row in a table of one reading."""
    held = document["stages"].get(stage) or []
    without = unread([one for one in held if not one["readings"][reading]], reading)
    return [*absent_from(document, stage), *without]


STAGE_TOLD = {
    **dict.fromkeys(("orders", "roles", "volume", "match-counts"), "stage1"),
    **dict.fromkeys(("orders-dimensions", "roles-dimensions"), "stage2"),
}
"""Of which stage the analyses are that have a row for each model."""


def _open(found: dict[str, Any], document: Document, whole: frozenset[str]) -> dict[str, Any]:
    return {name: one for name, one in found.items() if name in whole} if document.get("withheld") else found


def _stages(document: Document) -> dict[str, list[Entry]]:
    return {stage: document["stages"][stage] or [] for stage in ordered_keys(document["stages"])}


def readings_of(document: Document, reading: str) -> dict[str, list[Entry]]:
    """By stage the entries that have analyses of a reading. A leaderboard has none: its figures are of chosen stories, analyses of a run's."""
    if document["kind"] == "leaderboard":
        return {stage: [] for stage in _stages(document)}
    return {
        stage: [one for one in entries if one["readings"][reading] and one["figures"]["analyses"][reading]]
        for stage, entries in _stages(document).items()
    }


def _analysis_tables(held: Mapping[str, list[Entry]], reading: str) -> dict[str, Callable[[], Table]]:
    first, second = (held.get(stage, []) for stage in ("stage1", "stage2"))
    found: dict[str, Callable[[], Table]] = {}
    for by, name in KIND_PARTS.items():
        if first:
            found[name] = partial(analyses.kind_table, first, by, reading)
        if second:
            found[f"{name}-dimensions"] = partial(analyses.kind_dimension_table, second, by, reading)
    if first:
        found["match-counts"] = partial(analyses.match_count_table, first, reading)
        found["volume"] = partial(analyses.volume_table, first, reading)
    if first or second:
        own = {stage: entries for stage, entries in held.items() if stage in MAIN}
        found["unusable"] = partial(analyses.unusable_table, own, reading)
    for dimension in DIMENSIONS if second else ():
        found[f"labels-{slug_of(dimension)}"] = partial(analyses.distribution_table, second, dimension, reading)
        for at, entry in enumerate(second, 1):
            made = partial(analyses.confusion_table, entry, dimension, reading)
            found[f"confusion-{at}-{slug_of(dimension)}"] = made
    return found


def _facet_tables(held: Mapping[str, list[Entry]], reading: str) -> dict[str, Callable[[], Table]]:
    found: dict[str, Callable[[], Table]] = {}
    for stage, entries in held.items():
        for name in group_named(stage).facets:
            if kept := [one for one in entries if "facets" in one["figures"]["analyses"][reading]]:
                found[f"facet-{name}-{stage}"] = partial(facets.facet_table, kept, stage, name, reading)
        if repeated := [one for one in entries if "repetitions" in one["figures"]["analyses"][reading]]:
            found[f"repetitions-{stage}"] = partial(facets.repetition_table, repeated, stage, reading)
    return found


MAIN = ("stage1", "stage2")
"""The groups of the paper's table 3."""
KIND_PARTS = {"order": "orders", "role": "roles"}


def slug_of(dimension: str) -> str:
    return dimension.replace("_", "-")


def dimension_of(slug: str) -> str:
    return next((one for one in DIMENSIONS if slug_of(one) == slug), DIMENSIONS[0])


def figures_of(document: Document) -> dict[str, Picture]:
    """The figures by name, drawn when they are asked for."""
    found: dict[str, Picture] = {}
    for stage, entries in _stages(document).items():
        if entries:
            title = f"{group_named(stage).score_title}, both readings"
            absent = tuple(absent_from(document, stage))
            found[f"leaderboard-{stage}"] = Picture(title, "leaderboard", partial(_board, entries, stage), absent)
    for reading in READINGS:
        for name, one in _reading_figures(document, reading).items():
            stage = name.removeprefix("pairs-") if name.startswith("pairs-") else STAGE_SHOWN.get(name)
            lacking = _unpaired if one.name == "pair_matrix" else _lacking
            absent = tuple(lacking(document, stage, reading)) if stage else ()
            found[f"{name}-{reading}"] = replace(one, title=f"{one.title}, {reading} reading", absent=absent)
    return _open(found, document, WHOLE_FIGURES | {f"leaderboard-{stage}" for stage in document["stages"]})


STAGE_SHOWN = STAGE_TOLD | {
    "f1-by-category": "stage1", "dimensions": "stage2",
}  # fmt: skip
"""Of which stage the pictures are that show models beside each other."""


def _reading_figures(document: Document, reading: str) -> dict[str, Picture]:
    held = {stage: [one for one in entries if one["readings"][reading]] for stage, entries in _stages(document).items()}
    found: dict[str, Picture] = {}
    if held.get("stage1"):
        arguments = partial(pictured.by_category, held["stage1"], reading)
        found["f1-by-category"] = Picture("F1 by story category", "f1_by_category", arguments)
    if held.get("stage2"):
        arguments = partial(pictured.dimensions, held["stage2"], reading)
        found["dimensions"] = Picture("Accuracy by dimension", "accuracy_by_dimension", arguments)
    for stage, entries in _stages(document).items():
        if len(_in_order(entries, reading)) >= MATRIX_FROM:
            arguments = partial(_pairs, entries, stage, reading)
            found[f"pairs-{stage}"] = Picture(
                f"{group_named(stage).score_title}: differences between all pairs", "pair_matrix", arguments
            )
    found |= _part_figures(document, reading)
    analysed = readings_of(document, reading)
    first, second = (analysed.get(stage, []) for stage in ("stage1", "stage2"))
    for by, name in KIND_PARTS.items():
        head = analyses.KIND_HEADS[by]
        if first:
            arguments = partial(pictured.extraction_by_kind, first, by, reading)
            found[name] = Picture(f"Extraction by {head}", "by_kind", arguments)
        if second:
            arguments = partial(pictured.labelling_by_kind, second, by, reading)
            found[f"{name}-dimensions"] = Picture(f"Labelling accuracy by {head} and dimension", "by_kind", arguments)
    if first:
        found["volume"] = Picture(
            "Volume against precision and recall", "volume", partial(pictured.volume, first, reading)
        )
        found["match-counts"] = Picture(
            "MatchCount distribution", "match_counts", partial(pictured.match_counts, first, reading)
        )
    for at, entry in enumerate(second, 1):
        arguments = partial(pictured.labels, entry, reading)
        found[f"labels-{at}"] = Picture(f"Labels in gold and by {entry['model']}", "label_distribution", arguments)
        for one in DIMENSIONS:
            title = f"{SCHEMA[one].name}: gold labels and those of {entry['model']}"
            found[f"confusion-{at}-{slug_of(one)}"] = Picture(
                title, "confusion", partial(pictured.confusion, entry, one, reading)
            )
    return found


MOST_PANELS = 30


def _part_figures(document: Document, reading: str) -> dict[str, Picture]:
    """The score by category and by facet of groups that have no plots of their own, as far as panels can be told apart."""
    found: dict[str, Picture] = {}
    for stage, entries in _stages(document).items():
        group, held = group_named(stage), [one for one in entries if one["readings"][reading]]
        if not held or stage in MAIN:
            continue
        parts = {f"categories-{stage}": ("category", [pictured.category_values(one, stage, reading) for one in held])}
        analysed = readings_of(document, reading).get(stage, [])
        for name, title in group.facets.items() if analysed else ():
            rows = [
                {"model": one["model"], "values": one["figures"]["analyses"][reading]["facets"][name]}
                for one in analysed
            ]
            parts[f"facet-{name}-{stage}"] = (title.lower(), rows)
        for name, (part, rows) in parts.items():
            if 1 < len({value for row in rows for value in row["values"]}) <= MOST_PANELS:
                arguments = partial(pictured.parts, rows, reading, group.score_title, part)
                found[name] = Picture(f"{group.score_title} by {part}", "scores_by_part", arguments)
    return found


def comparison_picture(comparison: Mapping[str, Any]) -> Picture:
    def arguments() -> dict[str, Any]:
        overall = next(row for row in comparison["rows"] if row["key"] == group_named(comparison["stage"]).score)
        return {
            "positional": [[(row["first"], row["second"]) for row in comparison["stories"]]],
            "first": comparison["first"],
            "second": comparison["second"],
            "score": group_named(comparison["stage"]).score_title,
            "difference": {name: overall.get(name) for name in ("value", "interval", "reason")},
        }

    return Picture(f"{comparison['first']} and {comparison['second']} by story", "two_models", arguments)


def score_of(entry: Entry, reading: str, stage: str) -> dict[str, Any] | None:
    """{value, interval[, reason]} of the figure that the stage is ranked by."""
    overall = (entry["readings"][reading] or {}).get("overall")
    return figure_of(overall, group_named(stage).score) if overall else None


MATRIX_FROM = 3
"""Two models need no picture of their pairs."""


def _in_order(entries: Sequence[Entry], reading: str) -> list[Entry]:
    """Those that are ranked in the reading, by their rank; reports that were frozen before have none."""
    ranked = [one for one in entries if ((one.get("ranking") or {}).get(reading) or {}).get("rank")]
    return sorted(ranked, key=lambda one: one["ranking"][reading]["rank"])


def _pairs(entries: Sequence[Entry], stage: str, reading: str) -> dict[str, Any]:
    ranked = _in_order(entries, reading)
    cells = [[_pair(first["ranking"][reading]["against"], second["key"]) for second in ranked] for first in ranked]
    return {
        "positional": [[one["model"] for one in ranked], cells],
        "score": group_named(stage).score_title,
        "reading": reading,
    }


def _pair(against: Mapping[str, Sequence[Any]], key: str) -> dict[str, Any] | None:
    if key not in against:
        return None
    value, _, shown = against[key]
    return {"value": value, "shown": shown}


def board_rows(entries: Sequence[Entry], stage: str) -> list[dict[str, Any]]:
    """{model, repaired, official, group, ranks, left_out, bounds} each: what the pictures of a ranking show. `bounds` are where the score can
    be, None where nothing is missing."""
    found = []
    for one in entries:
        missing = missing_of(one, stage)
        ranking = (one.get("ranking") or {}).get("repaired") or {}
        row = {"model": one["model"], "group": one["group"]["repaired"], "ranks": ranking.get("ranks")}
        row |= {name: score_of(one, name, stage) for name in READINGS}
        row["left_out"] = left_out(missing)
        found.append(row | {"bounds": [missing["low"], missing["high"]] if missing["low"] != missing["high"] else None})
    return found


def _board(entries: Sequence[Entry], stage: str) -> dict[str, Any]:
    return {"positional": [board_rows(entries, stage)], "score": group_named(stage).score_title}
