"""The pictures of a document by name, drawn when they are asked for. Names of what has one reading end in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from benchmark.domain.tables import Absent, absent_told
from benchmark.domain.tables.estimates import figure_of
from benchmark.services.absences import unread
from benchmark.services.documents import Document, absent_from, by_group, results_of, suites_of
from benchmark.suites.contract import Suite
from benchmark.suites.registry import group_named
from benchmark.suites.showing.entries import analyses_of, models_of
from benchmark.suites.showing.missing import left_out, missing_of
from benchmark.suites.showing.ranking import in_rank_order
from benchmark.suites.shown import Entry, Plot, ReadingResults, ShownPicture
from benchmark.suites.story_scores import READINGS


@dataclass(frozen=True, slots=True)
class Picture:
    """`arguments` makes what `plot()` takes; `absent` are models that it does not have. `whole` is as `ShownPicture` has it."""

    title: str
    plot: Callable[[], Plot]
    arguments: Callable[[], Mapping[str, Any]]
    absent: tuple[Absent, ...] = ()
    whole: bool = False

    def shown(self) -> dict[str, Any]:
        """The arguments with what the caption has to say."""
        held = dict(self.arguments())
        note = "; ".join(filter(None, [held.get("note", ""), _not_shown(self.absent)]))
        return held | ({"note": note} if note else {})

    def draw(self, **how: str) -> bytes:
        """`how` is format, theme and width."""
        held = self.shown()
        return self.plot()(*held.pop("positional"), **held, **how)


def plots() -> ModuleType:
    """What draws the pictures that every suite has."""
    from benchmark.domain import plots  # matplotlib takes a second to load

    return plots


NAMED = 6
"""So many absent models stand in a caption; the tables name all."""


def _not_shown(absent: Sequence[Absent]) -> str:
    if not absent:
        return ""
    more = f"; {len(absent) - NAMED} more" if len(absent) > NAMED else ""
    return f"without figures here: {absent_told(absent[:NAMED])}{more}"


def figures_of(document: Document) -> dict[str, Picture]:
    """Those that the reader of the document may see."""
    found = dict(_boards(document))
    for reading in READINGS:
        for suite in suites_of(document):
            results = results_of(document, suite, reading)
            shown = {**dict(_parts(suite, results)), **suite.pictures(results)}
            made = {
                **dict(_matrices(document, results)),
                **{name: _made(document, one, reading) for name, one in shown.items()},
            }
            found |= {f"{name}-{reading}": one for name, one in made.items()}
    return {name: one for name, one in found.items() if one.whole or not document.get("withheld")}


def _of(title: str, reading: str) -> str:
    return f"{title}, {reading} reading"


def _made(document: Document, shown: ShownPicture, reading: str) -> Picture:
    """With the models that have no figures of the reading."""
    absent = absent_from(document, *shown.groups)
    absent += [one for stage in shown.groups for one in unread(document["stages"].get(stage) or [], reading)]
    return Picture(_of(shown.title, reading), shown.plot, shown.arguments, tuple(absent), shown.whole)


def _boards(document: Document) -> Iterator[tuple[str, Picture]]:
    """The ranking of each metric group."""
    for stage, entries in by_group(document).items():
        if entries:
            title, absent = f"{group_named(stage).score_title}, both readings", tuple(absent_from(document, stage))
            made = partial(_board, entries, stage)
            yield f"leaderboard-{stage}", Picture(title, lambda: plots().leaderboard, made, absent, whole=True)


def _board(entries: Sequence[Entry], stage: str) -> dict[str, Any]:
    return {"positional": [leaderboard_rows(entries, stage)], "score": group_named(stage).score_title}


def leaderboard_rows(entries: Sequence[Entry], stage: str) -> list[dict[str, Any]]:
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


def score_of(entry: Entry, reading: str, stage: str) -> dict[str, Any] | None:
    """{value, interval[, reason]} of the figure that the stage is ranked by."""
    overall = (entry["readings"][reading] or {}).get("overall")
    return figure_of(overall, group_named(stage).score) if overall else None


MATRIX_FROM = 3
"""Two models need no picture of their pairs."""


def _matrices(document: Document, results: ReadingResults) -> Iterator[tuple[str, Picture]]:
    """The differences between all pairs."""
    for stage, entries in results.entries.items():
        if len(in_rank_order(entries, results.reading)) >= MATRIX_FROM:
            title = f"{group_named(stage).score_title}: differences between all pairs"
            made, absent = partial(_pairs, entries, stage, results.reading), _unpaired(document, stage, results.reading)
            yield (
                f"pairs-{stage}",
                Picture(_of(title, results.reading), lambda: plots().pair_matrix, made, tuple(absent)),
            )


def _unpaired(document: Document, stage: str, reading: str) -> list[Absent]:
    """Who is absent, with those that have no rank in the reading, people apart, who are not compared."""
    models = models_of(document["stages"].get(stage) or [])
    ranked = {one["key"] for one in in_rank_order(models, reading)}
    found = absent_from(document, stage)
    for one in models:
        if one["key"] not in ranked:
            ranking = (one.get("ranking") or {}).get(reading) or {}
            why = ranking.get("reason") or one["readings"].get("reason") or "not ranked"
            found.append({"model": one["model"], "why": why.removesuffix(".")})
    return found


def _pairs(entries: Sequence[Entry], stage: str, reading: str) -> dict[str, Any]:
    ranked = in_rank_order(entries, reading)
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


MOST_PANELS = 30


def _parts(suite: Suite, results: ReadingResults) -> Iterator[tuple[str, ShownPicture]]:
    """The score by category, unless the suite shows that in its own way, and by facet, as far as panels can be told apart."""
    reading = results.reading
    for stage, read in results.read.items():
        group = group_named(stage)
        analysed = [one for one in results.analysed[stage] if "facets" in analyses_of(one, reading)]
        parts = {}
        if not suite.arranges(f"categories-{stage}"):
            parts[f"categories-{stage}"] = ("category", [_category_values(one, stage, reading) for one in read])
        for name, title in group.facets.items():
            rows = [{"model": one["model"], "values": analyses_of(one, reading)["facets"][name]} for one in analysed]
            parts[f"facet-{name}-{stage}"] = (title.lower(), rows)
        for name, (part, rows) in parts.items():
            if 1 < len({value for row in rows for value in row["values"]}) <= MOST_PANELS:
                held = {"positional": [rows], "reading": reading, "score": group.score_title, "part": part}
                yield (
                    name,
                    ShownPicture(f"{group.score_title} by {part}", lambda: plots().scores_by_part, partial(dict, held)),
                )


def _category_values(entry: Entry, stage: str, reading: str) -> dict[str, Any]:
    """{"model", "values": {category: figure}} of one entry."""
    rows = entry["readings"][reading]["by_category"]
    return {
        "model": entry["model"],
        "values": {row["story_category"]: figure_of(row, group_named(stage).score) for row in rows},
    }


def comparison_picture(comparison: Mapping[str, Any]) -> Picture:
    """Two models, story by story."""
    title = f"{comparison['first']} and {comparison['second']} by story"
    return Picture(title, lambda: plots().two_models, partial(_compared, comparison))


def _compared(comparison: Mapping[str, Any]) -> dict[str, Any]:
    overall = next(row for row in comparison["rows"] if row["key"] == group_named(comparison["stage"]).score)
    return {
        "positional": [[(row["first"], row["second"]) for row in comparison["stories"]]],
        "first": comparison["first"],
        "second": comparison["second"],
        "score": group_named(comparison["stage"]).score_title,
        "difference": {name: overall.get(name) for name in ("value", "interval", "reason")},
    }
