"""The columns of each section of an archive and the tables that they come from.

Columns are those of the model, so that a new column is archived without being named here; foreign keys and keys of
votes are put in the archive's own terms by `Terms`. The project's label schema goes whole, under `schema`, but for the
default one. The ledger stays where it is: a suggestion goes without its call.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import models
from django.db.models import QuerySet

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
    """`within` is the look-up from the model to its project."""

    name: str
    model: type[models.Model]
    within: str

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
TABLES = (
    Section("project", Project, "pk"),
    Section("members", Membership, "project"),
    Section("guidelines", Guideline, "project"),
    Section("categories", Category, "project"),
    Section("splits", Split, "project"),
    Section("stories", Story, "project"),
    Section("tables", BeliefTable, "story__project"),
    Section("propositions", Proposition, "table__story__project"),
    Section("suggested_rows", SuggestedRow, "story__project"),
    Section("draft_rows", DraftRow, "table__story__project"),
    Section("draft_events", DraftEvent, "table__story__project"),
    Section("lane_rows", LaneRow, "story__project"),
    Section("lane_events", LaneEvent, "row__story__project"),
    Section("seats", Assignment, "story__project"),
    Section("suggestions", Suggestion, _OF_PROPOSITION),
    Section("votes", Vote, _OF_PROPOSITION),
    Section("vote_events", VoteEvent, _OF_PROPOSITION),
    Section("gold", GoldLabel, _OF_PROPOSITION),
    Section("gold_events", GoldEvent, _OF_PROPOSITION),
    Section("comments", CellComment, _OF_PROPOSITION),
    Section("flags", PropositionFlag, _OF_PROPOSITION),
    Section("audit", AuditEvent, "project"),
)
NUMBERED = {
    Story: "stories",
    BeliefTable: "tables",
    Proposition: "propositions",
    SuggestedRow: "suggested_rows",
    DraftRow: "draft_rows",
    LaneRow: "lane_rows",
}
NAMED = {Category: "categories", Split: "splits"}


def kind_of(field: models.Field) -> str:
    """Return user, key, keys, votes, row, name or value: how a column is put in the archive's terms."""
    if field.is_relation:
        target = field.related_model
        return "user" if target is User else "row" if target in NUMBERED else "name"
    if field.model in (Vote, VoteEvent) and field.name in ("idempotency_key", "undoes"):
        return "key"
    if field.model in (GoldLabel, GoldEvent) and field.name == "votes":
        return "votes"
    return "value"
