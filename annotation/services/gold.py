"""The one writer of gold: a label and the event that tells of it, together, whoever or whatever settles the cell.

A `Change` says what the label of a cell was and what it becomes. The caller holds the transaction and the locks on the
propositions. Every label is written onto the
revision that was read, and onto no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from annotation.domain.gold_votes import GoldVote, as_json
from annotation.domain.resolution import largest_share
from annotation.models import GoldEvent, GoldLabel, Method, Project, User
from core.bulk import write_few


class ChangedMeanwhile(Exception):
    """A label was no longer at the revision that was read; nothing of the call counts, so the transaction must be given
    up."""


class State(NamedTuple):
    """The content of a cell's gold label: the columns of `GoldLabel`. `guideline_flag` None leaves the flag as it
    is."""

    label: str
    method: str
    agreement: float | None
    votes: list[GoldVote]
    rule_version: str
    schema_version: str
    decided_by_id: int | None
    decided_at: datetime
    reason: str = ""
    error_tag: str = ""
    guideline_flag: bool | None = None
    disturbed: bool = False


class Change(NamedTuple):
    """A change of a cell's gold: `before` is its label as read, `after` None where the label goes, `votes` those that
    stand now.

    `undoes` is the revision of the decision that is taken back.
    """

    proposition: int
    dimension: str
    before: GoldLabel | None
    after: State | None
    votes: list[GoldVote]
    undoes: int | None = None

    @property
    def revision(self) -> int:
        """The revision of the label that is written, or of the one that goes."""
        revision = self.before.revision if self.before else 0
        return revision if self.after is None else revision + 1


_EVENT = (
    "proposition_id", "dimension", "before", "before_method", "after", "after_method", "by_id", "at", "reason",
    "error_tag", "undoes", "rule_version", "votes", "revision",
)  # fmt: skip
_LABEL = ("proposition_id", "dimension", *State._fields, "revision")
_VOTES = State._fields.index("votes")


def decided(
    label: str,
    *,
    by: User,
    at: datetime,
    votes: list[GoldVote],
    project: Project,
    reason: str = "",
    error_tag: str = "",
    guideline_flag: bool | None = None,
) -> State:
    """Return the state that an expert's decision on these votes gives a cell."""
    share = largest_share([vote.label for vote in votes])
    versions = (project.rule_version, project.schema_version)
    return State(label, Method.ADJUDICATED, share, votes, *versions, by.pk, at, reason, error_tag, guideline_flag)


class Settling(NamedTuple):
    """Changes in one project that somebody, or nobody in particular, brings about at one moment."""

    changes: Sequence[Change]
    project: Project
    by: User | None
    now: datetime


def write_gold(changes: Sequence[Change], *, project: Project, by: User | None, now: datetime) -> None:
    """Write labels and events of a few cells, none of them twice. Raises ChangedMeanwhile.

    A handful of statements, however many changes there are and whatever they say.
    """
    write_settlings([Settling(changes, project, by, now)])


def write_settlings(settlings: Sequence[Settling]) -> None:
    """Write the changes of several, as `write_gold` does those of one and in as many statements; no cell occurs twice.
    Raises ChangedMeanwhile."""
    changes = [change for settling in settlings for change in settling.changes]
    removed = [change.before for change in changes if change.after is None]
    settled, decided = [], []
    for change in changes:
        if change.after is not None:
            rows = decided if change.after.method == Method.ADJUDICATED else settled
            rows.append(_label(change))
    written = (
        GoldLabel.objects.remove(removed)
        + GoldLabel.objects.settle(_LABEL, settled)
        + GoldLabel.objects.decide(_LABEL, decided)
    )
    if written != len(changes):
        raise ChangedMeanwhile
    write_few(GoldEvent, _EVENT, [_event(change, *about) for changes, *about in settlings for change in changes])


def _label(change: Change) -> tuple:
    """Return the values of _LABEL."""
    proposition, dimension, before, after, _, _ = change
    filed = after.guideline_flag
    if filed is None:
        filed = before.guideline_flag if before else False
    kept = after._replace(guideline_flag=filed)
    return (proposition, dimension, *kept[:_VOTES], as_json(after.votes), *kept[_VOTES + 1 :], change.revision)


def _event(change: Change, project: Project, by: User | None, now: datetime) -> tuple:
    """Return the values of _EVENT."""
    proposition, dimension, before, after, votes, undoes = change
    was = (before.label, before.method) if before else ("", "")
    became, why = ((after.label, after.method), (after.reason, after.error_tag)) if after else (("", ""), ("", ""))
    rule = after.rule_version if after else project.rule_version
    actor = by.pk if by else None
    return (proposition, dimension, *was, *became, actor, now, *why, undoes, rule, as_json(votes), change.revision)
