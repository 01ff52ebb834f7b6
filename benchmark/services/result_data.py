"""Rankings of a report or a leaderboard as data: by metric group, in both parses, with intervals, bounds and who is
absent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmark.domain.drawn import RankedRow
from benchmark.domain.tables import Absent
from benchmark.services.documents import Document, absent_from, by_group
from benchmark.services.plot_data import leaderboard_rows
from benchmark.suites.registry import group_named
from benchmark.suites.reports import BaselineLevels, Level
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.levels import levels_of
from core.plain import Json, plain
from judge.domain.corrections import Correction


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedEntrant:
    """An entrant of a ranking: its `rank`, the best and worst that it may have (`ranks`), the letters of its `group`,
    and its score in both parses, with where it can be and the share that is left out, and on a leaderboard its scores
    without the judge's error."""

    key: str
    model: str
    kind: str
    run: str
    run_title: str
    settings: Mapping[str, str]
    rank: int | None
    ranks: Sequence[int] | None
    group: str | None
    official: Json | None
    repaired: Json | None
    bounds: Sequence[float] | None
    left_out: float | None
    corrected: Correction | None


@dataclass(frozen=True, slots=True)
class RankedGroup:
    """The ranking of a metric group, over all samples, with who is absent from it, and what its score is by chance and
    for the answer that is right most often, None where that is not defined or may not be known."""

    key: str
    title: str
    score: str
    entrants: Sequence[RankedEntrant]
    absent: Sequence[Absent]
    chance: Level | None
    majority: Level | None


def groups_of(document: Document) -> list[RankedGroup]:
    """Return the rankings of a document as its reader may see it."""
    return [
        RankedGroup(
            group,
            group_named(group).title,
            group_named(group).score_title,
            _entrants(entrants, group),
            absent_from(document, group),
            *_levels(entrants),
        )
        for group, entrants in by_group(document).items()
    ]


def _levels(entrants: Sequence[EntrantResults]) -> tuple[Level | None, Level | None]:
    levels = levels_of(entrants) or BaselineLevels()
    return levels.chance, levels.majority


def _entrants(entrants: Sequence[EntrantResults], group: str) -> list[RankedEntrant]:
    return [_entrant(entrant, row) for entrant, row in zip(entrants, leaderboard_rows(entrants, group), strict=True)]


def _entrant(entrant: EntrantResults, row: RankedRow) -> RankedEntrant:
    ranking = entrant.ranking.get("repaired")
    return RankedEntrant(
        key=entrant.key,
        model=row.model,
        kind=entrant.kind,
        run=entrant.run,
        run_title=entrant.run_title,
        settings=entrant.settings,
        rank=ranking.rank if ranking else None,
        ranks=row.ranks,
        group=row.group,
        official=plain(row.official),
        repaired=plain(row.repaired),
        bounds=row.bounds,
        left_out=row.left_out,
        corrected=entrant.corrected,
    )
