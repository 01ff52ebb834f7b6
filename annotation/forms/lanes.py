"""Decisions on rows of the lanes, and links between them, as the page of reconciliation posts them."""

from __future__ import annotations

from typing import Annotated

from annotation.domain.reconciliation import LaneState, Status
from annotation.forms.drafts import RowIn
from annotation.forms.votes import Key, NoKey, Uid
from annotation.services.reconciliation import Decision
from core.incoming.shapes import Among, Counted, Moment, Shape

MAX_DECISIONS = 1000


class LaneRowIn(RowIn):
    status: Annotated[str, Among([status.value for status in Status])] = ""

    @property
    def state(self) -> LaneState:
        return LaneState(**self.__dict__)


class DecisionIn(Shape):
    """A decision on one row."""

    row: Uid
    base: LaneRowIn | None = None
    state: LaneRowIn
    idempotency_key: Key
    action: Key
    undoes: NoKey = ""
    changed_at: Moment

    @property
    def decision(self) -> Decision:
        plain = {name: getattr(self, name) for name in Decision.__slots__ if name not in ("state", "base")}
        return Decision(**plain, base=self.base and self.base.state, state=self.state.state)


Decisions = Annotated[list[DecisionIn], Counted(1, MAX_DECISIONS)]


class DecisionsIn(Shape):
    """`annotator` is who made the decisions, as the browser remembers it."""

    annotator: int | None = None
    changes: Decisions


class LinkIn(Shape):
    """Two rows that are one; without `other`, a row that is two."""

    row: Uid
    other: Uid | None = None
    idempotency_key: Key
