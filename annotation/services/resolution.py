"""Keep gold labels in step with votes. Called in the transaction that changed the votes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from typing import NamedTuple

from annotation.domain.gold_votes import GoldVote, from_json
from annotation.domain.resolution import Outcome, Resolution, resolve
from annotation.models import GoldLabel, Method, Project, User, Vote
from annotation.services.gold import Change, Settling, State, write_settlings
from core.reads import Read

Cell = tuple[int, str]
"""(proposition id, dimension key)"""

_COMPARED = ("label", "method", "agreement")


class Touched(NamedTuple):
    """Cells of a project whose votes somebody changed; `votes` are the standing ones of each, by annotator id."""

    project: Project
    cells: Set[Cell]
    now: datetime
    by: User | None
    votes: Mapping[Cell, list[GoldVote]]


def resolve_cells(*, project: Project, cells: Iterable[Cell], now: datetime, by: User | None = None) -> None:
    """Apply the project's rule to `cells` and no others. The caller holds a transaction and the locks on the
    propositions."""
    touched = set(cells)
    if touched:
        resolve_touched([Touched(project, touched, now, by, votes_of(touched))])


def resolve_touched(touched: Sequence[Touched]) -> None:
    """Apply the projects' rules to cells whose votes the caller has read under the locks that `resolve_cells` asks for;
    no cell occurs twice.

    An adjudicated label stands: it is marked `disturbed` where the votes under it changed. The number of statements
    does not depend on whether the votes agree, so that the time of a save tells an annotator nothing about the others.
    """
    cells = {cell for batch in touched for cell in batch.cells}
    if not cells:
        return
    labels = _gold_of(cells)
    settlings: list[Settling] = []
    disturbed: dict[bool, list[GoldLabel]] = {True: [], False: []}
    for batch in touched:
        changes: list[Change] = []
        settlings.append(Settling(changes, batch.project, batch.by, batch.now))
        for cell in sorted(batch.cells):
            gold, standing = labels.get(cell), batch.votes[cell]
            if gold is not None and gold.method == Method.ADJUDICATED:
                if gold.disturbed != differ(from_json(gold.votes), standing):
                    disturbed[not gold.disturbed].append(gold)
                continue
            after = settled(batch.project, cell[1], standing, batch.now)
            if _changes(gold, after):
                changes.append(Change(*cell, gold, after, standing))
    for value, decisions in disturbed.items():
        GoldLabel.objects.disturb(decisions, value)
    write_settlings(settlings)


def settled(project: Project, dimension: str, votes: list[GoldVote], now: datetime) -> State | None:
    """Return the state that the project's rule gives a cell with these votes, None where they are not all in."""
    resolution = _resolution(project, dimension, votes)
    if resolution.outcome is Outcome.PENDING:
        return None
    versions = (project.rule_version, project.schema_version)
    return State(resolution.label, resolution.outcome.value, resolution.agreement, votes, *versions, None, now)


def _resolution(project: Project, dimension: str, votes: list[GoldVote]) -> Resolution:
    return resolve(
        [vote.label for vote in votes],
        rule=project.rule_version,
        overlap=project.overlap,
        demand_unanimity=dimension in project.unanimity_dimensions,
    )


def differ(votes: list[GoldVote], others: list[GoldVote]) -> bool:
    """Return whether two lists of votes of a cell differ in annotators or labels; idempotency keys do not count."""
    return _essence(votes) != _essence(others)


def _essence(votes: list[GoldVote]) -> list[tuple[int, str]]:
    return sorted((vote.annotator, vote.label) for vote in votes)


def _changes(gold: GoldLabel | None, after: State | None) -> bool:
    """Return whether the rule gives another result now. An equal label keeps the version that it was made under."""
    if gold is None or after is None:
        return gold is not None or after is not None
    changed = any(getattr(gold, name) != getattr(after, name) for name in _COMPARED)
    return changed or from_json(gold.votes) != after.votes


def votes_of(cells: set[Cell]) -> dict[Cell, list[GoldVote]]:
    """Return the standing votes of cells in order of annotator."""
    votes_by_cell: dict[Cell, list[GoldVote]] = defaultdict(list)
    rows = (
        Vote.objects.cast()
        .filter(proposition_id__in={cell[0] for cell in cells}, dimension__in={cell[1] for cell in cells})
        .order_by("annotator_id")
        .values_list("proposition_id", "dimension", "annotator_id", "label", "idempotency_key")
    )
    for proposition, dimension, annotator, label, key in rows:
        votes_by_cell[proposition, dimension].append(GoldVote(annotator, label, key))
    return votes_by_cell


_GOLD_OF = Read[GoldLabel](
    lambda given: GoldLabel.objects.filter(
        proposition_id__in=given.propositions, dimension__in=given.dimensions
    ).select_for_update()
)


def _gold_of(cells: set[Cell]) -> dict[Cell, GoldLabel]:
    rows = _GOLD_OF(propositions=sorted({cell[0] for cell in cells}), dimensions=sorted({cell[1] for cell in cells}))
    return {(gold.proposition_id, gold.dimension): gold for gold in rows}
