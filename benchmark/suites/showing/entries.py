"""The entries that tables and pictures show, and what their rows say of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from benchmark.domain.tables import Source, SourcedRow, Where
from benchmark.domain.tables.categories import ShortNames
from benchmark.suites.registry import group_named, group_suite, suite_named
from benchmark.suites.shown import Entry
from benchmark.suites.story_scores import READINGS

JUDGE_TEST = "judge_test"
"""The key of a row under which it says what the self-test of its judge came to."""


def models_of(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries that are not people."""
    return [entry for entry in entries if entry["kind"] != "person"]


def readings_in(entries: Iterable[Entry]) -> list[str]:
    """Both, or only the repaired one where nobody has an official one: structured output."""
    listed = list(entries)
    return [name for name in READINGS if name == "repaired" or any(entry["readings"][name] for entry in listed)]


def unranked(entry: Entry) -> bool:
    """Whether the entry is out of the ranking: a person, or a model of which too much was lost."""
    ranking = (entry.get("ranking") or {}).get("repaired")
    return entry["kind"] == "person" or bool(ranking and ranking["rank"] is None)


def unjudged(entry: Entry) -> int:
    """Rows of both tables without a judgement."""
    counts = entry["readings"]["repaired"]["overall"].get("unjudged", {})
    return int(counts.get("predicted", 0) + counts.get("gold", 0))


def by_category(entry: Entry, reading: str) -> dict[str, Mapping[str, Any]]:
    """The report's row of each category; none without figures of the reading."""
    return {row["story_category"]: row for row in (entry["readings"][reading] or {}).get("by_category", ())}


def analyses_of(entry: Entry, reading: str) -> Mapping[str, Any]:
    """The analyses of an entry that has them in the reading."""
    analyses: Mapping[str, Any] = entry["figures"]["analyses"][reading]
    return analyses


def row_of(entry: Entry, stage: str, cells: Mapping[str, Any], where: Where | None = None) -> SourcedRow:
    """A row of an entry: its name, what the self-test of its judge came to, and `cells`, which rest on the items `where`."""
    source = Source(
        key=entry["key"],
        kind=entry["kind"],
        run=entry["run"],
        run_title=entry["run_title"],
        entrant=entry["entrant"],
        stage=stage,
        own=entry["own"],
        others=entry.get("others", 0),
        unranked=unranked(entry),
        where=where or {},
    )
    result = (entry.get("judge_test") or {}).get("told")
    return SourcedRow({**cells, "model": entry["model"], JUDGE_TEST: result}, source)


def measured(stage: str, name: str, reading: str) -> dict[str, str]:
    """The items behind the measure `name` of a metric group."""
    if where := group_named(stage).measured_in.get(name):
        return dict(where) | {"reading": reading}
    return {"problem": "used"} if reading == "repaired" else {}


def short_names_of(stage: str) -> ShortNames:
    """The categories that the suite of a metric group names."""
    return suite_named(group_suite(stage)).categories
