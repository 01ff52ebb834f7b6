"""Rankings of a report or a leaderboard as data: by metric group, in both parses, with intervals, bounds and who is
absent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.services.documents import Document, absent_from, by_group
from benchmark.services.plot_data import leaderboard_rows
from benchmark.suites.registry import group_named
from benchmark.suites.shown import EntrantResults


def groups_of(document: Document) -> list[dict[str, Any]]:
    """Return [{key, title, score, entrants, absent}] of a document as its reader may see it: the figures that rank,
    over all samples."""
    return [
        {
            "key": stage,
            "title": group_named(stage).title,
            "score": group_named(stage).score_title,
            "entrants": _entrants(entrants, stage),
            "absent": absent_from(document, stage),
        }
        for stage, entrants in by_group(document).items()
    ]


def _entrants(entrants: Sequence[EntrantResults], stage: str) -> list[dict[str, Any]]:
    return [_entrant(entrant, row) for entrant, row in zip(entrants, leaderboard_rows(entrants, stage), strict=True)]


def _entrant(entrant: EntrantResults, row: Mapping[str, Any]) -> dict[str, Any]:
    ranking = entrant.ranking.get("repaired") or {}
    return {
        "key": entrant.key,
        "model": row["model"],
        "kind": entrant.kind,
        "run": entrant.run,
        "run_title": entrant.run_title,
        "settings": entrant.settings,
        "rank": ranking.get("rank"),
        "ranks": row["ranks"],
        "group": row["group"],
        "official": row["official"],
        "repaired": row["repaired"],
        "bounds": row["bounds"],
        "left_out": row["left_out"],
    }
