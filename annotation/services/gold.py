"""The one writer of gold: a label and the event that tells of it, together, whoever or whatever settles the cell.

The caller holds the transaction and the locks on the propositions. Every label is written onto the revision that was
read, and onto no other.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from annotation.domain.resolution import GoldVote, Outcome, Resolution, as_json, from_json, largest_share, resolve
from annotation.models import GoldEvent, GoldLabel, Method, Project, Proposition, User, Vote
from annotation.services.counts import recount
from core.bulk import write_few
from core.reads import Read

Cell = tuple[int, str]
"""(proposition id, dimension key)"""
_CELL = ("proposition_id", "dimension")
_LABEL = (
    *_CELL, "label", "method", "agreement", "votes", "rule_version", "schema_version", "decided_by_id", "decided_at",
    "reason", "error_tag", "guideline_flag", "disturbed", "revision",
)  # fmt: skip
_EVENT = (
    *_CELL, "before", "before_method", "after", "after_method", "by_id", "at", "reason", "error_tag", "undoes",
    "rule_version", "votes", "revision",
)  # fmt: skip


_RESULT = ("label", "method", "agreement", "votes")


class ChangedMeanwhile(Exception):
    """A label was no longer at the revision that was read. The transaction must be rolled back."""


class Change(NamedTuple):
    """A change of a cell's gold: `before` is its label as read, `after` the unsaved new one, or None to remove it.
    `votes` are those that stand now, `undoes` is the revision of the decision that is taken back."""

    cell: Cell
    before: GoldLabel | None
    after: GoldLabel | None
    votes: list[GoldVote]
    undoes: int | None = None


class Touched(NamedTuple):
    """Cells of a project whose votes somebody changed, with the standing votes of each by annotator id."""

    project: Project
    by: User | None
    now: datetime
    votes: Mapping[Cell, list[GoldVote]]


def decided(
    cell: Cell,
    label: str,
    *,
    by: User,
    at: datetime,
    votes: list[GoldVote],
    project: Project,
    before: GoldLabel | None,
    reason: str = "",
    error_tag: str = "",
    guideline_flag: bool | None = None,
) -> GoldLabel:
    """Return the label that an expert's decision on these votes gives a cell. `guideline_flag` None leaves the flag as
    it was `before`."""
    gold = _label(cell, project, Resolution(Outcome.OPEN, label, largest_share([vote.label for vote in votes])), votes)
    gold.method, gold.decided_by_id, gold.decided_at = Method.ADJUDICATED, by.pk, at
    gold.reason, gold.error_tag = reason, error_tag
    if guideline_flag is None:
        guideline_flag = before.guideline_flag if before else False
    gold.guideline_flag = guideline_flag
    return gold


def settled(
    cell: Cell, *, votes: list[GoldVote], project: Project, before: GoldLabel | None, now: datetime
) -> GoldLabel | None:
    """Return the label that the project's rule gives a cell with these votes. Returns None if votes are missing."""
    resolution = resolve(
        [vote.label for vote in votes], rule=project.rule_version, overlap=project.overlap,
        demand_unanimity=cell[1] in project.unanimity_dimensions,
    )  # fmt: skip
    if resolution.outcome is Outcome.PENDING:
        return None
    gold = _label(cell, project, resolution, votes)
    gold.decided_at, gold.guideline_flag = now, before.guideline_flag if before else False
    return gold


def _label(cell: Cell, project: Project, resolution: Resolution, votes: list[GoldVote]) -> GoldLabel:
    return GoldLabel(
        proposition_id=cell[0], dimension=cell[1], label=resolution.label, method=resolution.outcome.value,
        agreement=resolution.agreement, votes=as_json(votes), rule_version=project.rule_version,
        schema_version=project.schema_version,
    )  # fmt: skip


def write_gold(changes: Sequence[Change], *, project: Project, by: User | None, now: datetime) -> None:
    """Write labels and events of cells, none of them twice, and count their stories. Raises ChangedMeanwhile."""
    _write([(change, project, by, now) for change in changes])
    recount(stories_of({change.cell[0] for change in changes}), voters=())


def _write(changes: Sequence[tuple[Change, Project, User | None, datetime]]) -> None:
    removed, settled_rows, decided_rows, events = list[Any](), list[list[Any]](), list[list[Any]](), []
    for change, project, by, now in changes:
        cell, before, after, votes, undoes = change
        revision = (before.revision if before else 0) + (after is not None)
        if after is None:
            removed.append(before)
        else:
            after.revision = revision
            rows = decided_rows if after.method == Method.ADJUDICATED else settled_rows
            rows.append([getattr(after, name) for name in _LABEL])
        was = (before.label, before.method) if before else ("", "")
        became = (after.label, after.method) if after else ("", "")
        why = (after.reason, after.error_tag) if after else ("", "")
        rule = after.rule_version if after else project.rule_version
        events.append((*cell, *was, *became, by.pk if by else None, now, *why, undoes, rule, as_json(votes), revision))
    written = (
        GoldLabel.objects.remove(removed)
        + GoldLabel.objects.settle(_LABEL, settled_rows)
        + GoldLabel.objects.decide(_LABEL, decided_rows)
    )
    if written != len(changes):
        raise ChangedMeanwhile
    write_few(GoldEvent, _EVENT, events)


_GOLD_OF = Read[GoldLabel](
    lambda given: GoldLabel.objects.filter(
        proposition_id__in=given.propositions, dimension__in=given.dimensions
    ).select_for_update()
)


def resolve_cells(*, project: Project, cells: Iterable[Cell], now: datetime, by: User | None = None) -> None:
    """Apply the project's rule to `cells`, whose votes changed, and to no others, and count their stories."""
    touched = set(cells)
    if touched:
        votes = votes_of(touched)
        resolve_touched([Touched(project, by, now, {cell: votes[cell] for cell in touched})])
        recount(stories_of({proposition for proposition, _ in touched}))


def resolve_touched(touched: Sequence[Touched]) -> None:
    """Apply the projects' rules to cells whose votes the caller has read under the locks; no cell occurs twice. The
    caller counts the stories.

    An adjudicated label stands: it is marked `disturbed` if the votes under it changed. The number of statements does
    not depend on whether the votes agree, so that the time of a save tells an annotator nothing about the others.
    """
    cells = {cell for batch in touched for cell in batch.votes}
    propositions, dimensions = sorted({cell[0] for cell in cells}), sorted({cell[1] for cell in cells})
    rows = _GOLD_OF(propositions=propositions, dimensions=dimensions) if cells else []
    labels = {(gold.proposition_id, gold.dimension): gold for gold in rows}
    changes: list[tuple[Change, Project, User | None, datetime]] = []
    disturbed: dict[bool, list[GoldLabel]] = {True: [], False: []}
    for project, by, now, votes in touched:
        for cell, standing in sorted(votes.items()):
            gold = labels.get(cell)
            if gold is not None and gold.method == Method.ADJUDICATED:
                if gold.disturbed != differ(from_json(gold.votes), standing):
                    disturbed[not gold.disturbed].append(gold)
                continue
            after = settled(cell, votes=standing, project=project, before=gold, now=now)
            # An equal label keeps the version that it was made under.
            if gold is None or after is None:
                is_new = gold is not after
            else:
                is_new = any(getattr(gold, name) != getattr(after, name) for name in _RESULT)
            if is_new:
                changes.append((Change(cell, gold, after, standing), project, by, now))
    for value, decisions in disturbed.items():
        GoldLabel.objects.disturb(decisions, value)
    _write(changes)


def differ(votes: list[GoldVote], others: list[GoldVote]) -> bool:
    """Return whether two lists of votes of a cell differ in annotators or labels; idempotency keys do not count."""
    first, second = (sorted((vote.annotator, vote.label) for vote in each) for each in (votes, others))
    return first != second


def votes_of(cells: set[Cell]) -> dict[Cell, list[GoldVote]]:
    """Return the standing votes of cells in order of annotator."""
    votes_by_cell: dict[Cell, list[GoldVote]] = defaultdict(list)
    rows = (
        Vote.objects.cast()
        .filter(proposition_id__in={cell[0] for cell in cells}, dimension__in={cell[1] for cell in cells})
        .order_by("annotator_id")
        .values_list("proposition_id", "dimension", "annotator_id", "label", "idempotency_key")
    )
    for proposition, dimension, *vote in rows:
        votes_by_cell[proposition, dimension].append(GoldVote._make(vote))
    return votes_by_cell


def stories_of(propositions: Collection[int]) -> set[int]:
    """Return the stories of propositions."""
    rows = Proposition.objects.filter(pk__in=propositions).order_by()
    return set(rows.values_list("table__story_id", flat=True))
