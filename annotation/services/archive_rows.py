"""The columns of each section of an archive and the tables that they come from.

Columns are those of the model, so that a new column is archived without being named here; foreign keys and keys of
votes are put in the archive's own terms by `Terms`. The project's label schema goes whole, under `schema`. The ledger
stays where it is: a suggestion goes without its call.

An app above adds sections of its own by `register` when it is ready.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.db import models
from django.db.models import QuerySet

from annotation.domain.archive_format import SECTIONS
from annotation.models import (
    Assignment,
    AuditEvent,
    BeliefTable,
    Category,
    CellComment,
    DraftEvent,
    DraftRow,
    GoldEvent,
    GoldLabel,
    Guideline,
    LaneEvent,
    LaneRow,
    Membership,
    Project,
    Proposition,
    PropositionFlag,
    Split,
    Story,
    SuggestedRow,
    Suggestion,
    User,
    Vote,
    VoteEvent,
)

_LEFT_OUT = {"id", "uid", "project", "slug", "call", "schema_name"}


@dataclass(frozen=True, slots=True)
class Section:
    """`within` is the look-up from the model to its project; other sections name rows of a `numbered` one by number."""

    name: str
    model: type[models.Model]
    within: str
    numbered: bool = False

    @property
    def fields(self) -> list[models.Field]:
        return [field for field in self.model._meta.concrete_fields if field.name not in _LEFT_OUT]

    @property
    def has_uid(self) -> bool:
        return any(field.name == "uid" for field in self.model._meta.concrete_fields)

    @property
    def has_project(self) -> bool:
        return any(field.name == "project" for field in self.model._meta.concrete_fields)

    def rows(self, project: Project) -> QuerySet:
        return self.model._default_manager.filter(**{self.within: project.pk}).order_by("id")


_OF_PROPOSITION = "proposition__table__story__project"
_OWN = (
    Section("project", Project, "pk"),
    Section("members", Membership, "project"),
    Section("guidelines", Guideline, "project"),
    Section("categories", Category, "project"),
    Section("splits", Split, "project"),
    Section("stories", Story, "project", numbered=True),
    Section("tables", BeliefTable, "story__project", numbered=True),
    Section("propositions", Proposition, "table__story__project", numbered=True),
    Section("suggested_rows", SuggestedRow, "story__project", numbered=True),
    Section("draft_rows", DraftRow, "table__story__project", numbered=True),
    Section("draft_events", DraftEvent, "table__story__project"),
    Section("lane_rows", LaneRow, "story__project", numbered=True),
    Section("lane_events", LaneEvent, "row__story__project"),
    Section("assignments", Assignment, "story__project"),
    Section("suggestions", Suggestion, _OF_PROPOSITION),
    Section("votes", Vote, _OF_PROPOSITION),
    Section("vote_events", VoteEvent, _OF_PROPOSITION),
    Section("gold", GoldLabel, _OF_PROPOSITION),
    Section("gold_events", GoldEvent, _OF_PROPOSITION),
    Section("comments", CellComment, _OF_PROPOSITION),
    Section("flags", PropositionFlag, _OF_PROPOSITION),
    Section("audit", AuditEvent, "project"),
)
NAMED = {Category: "categories", Split: "splits"}


@dataclass(frozen=True, slots=True)
class Further:
    """Sections of an app above. `check` looks at what was imported of them into a project that is not open yet, and
    raises BadArchive; `left_out` says in one sentence what an archive does not bring along with such rows."""

    sections: Sequence[Section]
    check: Callable[[Project], None]
    left_out: str


_further: list[Further] = []


def register(further: Further) -> None:
    """Have archives hold these sections, too."""
    _further.append(further)
    SECTIONS.extend(section.name for section in further.sections)


def tables() -> tuple[Section, ...]:
    """Return every section but `people`, in the order in which they are read."""
    return (*_OWN, *(section for further in _further for section in further.sections))


def check_further(project: Project) -> None:
    """Have each app above look at what was imported of its sections. Raises BadArchive."""
    for further in _further:
        further.check(project)


def left_out(rows: Mapping[str, int]) -> list[str]:
    """Return what an archive of so many rows by section does not bring along, one sentence an app above."""
    return [further.left_out for further in _further if any(rows.get(section.name) for section in further.sections)]


def _is_numbered(model: type[models.Model]) -> bool:
    return any(section.numbered and section.model is model for section in tables())


def kind_of(field: models.Field) -> str:
    """Return user, key, keys, votes, row, name or value: how a column is put in the archive's terms."""
    if field.is_relation:
        target = field.related_model
        return "user" if target is User else "row" if _is_numbered(target) else "name"
    if field.model in (Vote, VoteEvent) and field.name in ("idempotency_key", "undoes"):
        return "key"
    if field.model in (GoldLabel, GoldEvent) and field.name == "votes":
        return "votes"
    return "value"
