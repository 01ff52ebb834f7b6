"""The sections of an archive and the tables that they come from.

Their columns are those of the models, so that a new column is archived without being named here. Foreign keys and keys
of votes are written in the archive's own terms. The project's label schema is written whole, under `schema`. The ledger
is left out: a suggestion is archived without its call.

Apps above append sections of their own to `further` when they are ready.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Annotated, Any

from django.db import connection, models
from pydantic import BeforeValidator, Field, create_model

from annotation.domain.archive_format import file_of
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
    Membership,
    Pair,
    PairEvent,
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
from core.incoming.shapes import Among, Counted, Expected, Like, Moment, Open, Shape, Within
from core.messages import gettext_noop

_LEFT_OUT = {"id", "uid", "project", "slug", "call", "schema_name"}


@dataclass(frozen=True, slots=True)
class Section:
    """`within` is the look-up from the model to its project. Rows of a `numbered` section are named by number in other
    sections, rows of other models by name."""

    name: str
    model: type[models.Model]
    within: str
    numbered: bool = False

    @property
    def fields(self) -> list[models.Field[Any, Any]]:
        return [field for field in self.model._meta.concrete_fields if field.name not in _LEFT_OUT]

    @property
    def generated(self) -> list[str]:
        """The columns that are not archived, because an import fills them: of uid and project."""
        names = {field.name for field in self.model._meta.concrete_fields}
        return [name for name in ("uid", "project") if name in names]

    def rows(self, project: Project) -> models.QuerySet[Any]:
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
    Section("pair_rows", Pair, "story__project", numbered=True),
    Section("pair_events", PairEvent, "row__story__project"),
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
"""Each names only rows of those before it."""
NAMED = (Category, Split)


further: list[tuple[Sequence[Section], Callable[[Project], None], str]] = []
"""Sections of each app above, with a check that raises BadArchive if the imported rows of a project contradict
themselves, and one sentence about what an archive does not bring along with such rows."""


def tables() -> tuple[Section, ...]:
    """Return every section except `people`, in the order in which they are read."""
    return (*_OWN, *(section for sections, _, _ in further for section in sections))


def section_names() -> list[str]:
    return ["people", *(section.name for section in tables())]


def files() -> list[str]:
    return list(map(file_of, section_names()))


def left_out(rows: Mapping[str, int]) -> list[str]:
    """Return a sentence for each app above about what an archive with these numbers of rows does not bring along."""
    return [text for sections, _, text in further if any(rows.get(section.name) for section in sections)]


def kind_of(field: models.Field[Any, Any]) -> str:
    """Return how an archive writes a column: user, row, name, key, votes, time or value."""
    if field.is_relation:
        numbered = {section.model for section in tables() if section.numbered}
        return "user" if field.related_model is User else "row" if field.related_model in numbered else "name"
    if field.model in (Vote, VoteEvent) and field.name in ("idempotency_key", "undoes"):
        return "key"
    if field.model in (GoldLabel, GoldEvent) and field.name == "votes":
        return "votes"
    return "time" if isinstance(field, models.DateTimeField) else "value"


Key = Annotated[str, Like(r"^[\x00-\x7f]{0,20}$", gettext_noop("a key such as k1"))]


class _Vote(Open):
    annotator: str
    label: str
    key: Key


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise ValueError
    return float(value)


def _day(value: Any) -> date:
    try:
        return date.fromisoformat(value)
    except TypeError:
        raise ValueError from None


_PLAIN: Sequence[tuple[type[models.Field[Any, Any]], Any]] = (
    (models.JSONField, Any),
    (models.DateTimeField, Moment),
    (models.DateField, Annotated[date, BeforeValidator(_day), Expected(gettext_noop("a date such as 2030-12-31"))]),
    (models.BooleanField, bool),
    (models.FloatField, Annotated[float, BeforeValidator(_number), Expected(gettext_noop("a number"))]),
)
_TERMS = {"user": str, "name": str, "row": int, "key": Key, "votes": Annotated[list[_Vote], Counted(0, 100)]}


@cache
def shape_of(section: Section) -> type[Shape]:
    """Return the shape of a section's rows: SQLite would store any text in any column."""
    declared: dict[str, Any] = {}
    for field in section.fields:
        kind: Any = _TERMS.get(kind_of(field))
        kind = kind or next((kind for plain, kind in _PLAIN if isinstance(field, plain)), None)
        if kind is None and isinstance(field, models.IntegerField):
            low, high = connection.ops.integer_field_range(field.get_internal_type())
            kind = Annotated[int, Within(0 if field.get_internal_type().startswith("Positive") else low, high)]
        elif kind is None and field.flatchoices:
            values = [value for value, _ in field.flatchoices]
            kind = Annotated[str, Among(["", *values] if field.blank and "" not in values else values)]
        elif kind is None:
            kind = Annotated[str, Field(max_length=field.max_length if isinstance(field, models.CharField) else None)]
        declared[field.name] = (kind | None if field.null else kind, ...)
    if section.numbered:
        declared["ref"] = (int, ...)
    return create_model(section.name, __base__=Shape, **declared)
