"""Decisions on rows of the lanes, and links between them, as the page of reconciliation posts them."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from annotation.domain.reconciliation import LaneState, Status
from annotation.forms.drafts import Place
from annotation.forms.votes import Key, NoKey, Uid
from annotation.services.reconciliation import Decision
from core.ids import new_uid
from core.incoming.shapes import Among, Counted, Moment, Shape

MAX_DECISIONS = 1000


class LaneStateIn(Shape):
    status: Annotated[str, Among([status.value for status in Status])] = ""
    actor: str = ""
    belief: str = ""
    order: str = ""
    remark: str = ""
    place: Place


class DecisionIn(Shape):
    """A decision. Browsers keep unsent ones over an upgrade: a field of an older script must not lose words."""

    model_config = ConfigDict(extra="ignore")

    row: Uid
    base: LaneStateIn | None = None
    state: LaneStateIn
    idempotency_key: Key
    action: Key
    undoes: NoKey = ""
    changed_at: Moment

    @property
    def decision(self) -> Decision:
        plain = {name: getattr(self, name) for name in Decision.__slots__ if name not in ("state", "base")}
        base = LaneState(**self.base.__dict__) if self.base is not None else None
        return Decision(**plain, base=base, state=LaneState(**self.state.__dict__))


Decisions = Annotated[list[DecisionIn], Counted(1, MAX_DECISIONS)]


class DecisionsIn(Shape):
    """`annotator` is who made the decisions, as the browser remembers it."""

    annotator: int | None = None
    changes: Decisions


class LinkIn(Shape):
    """Two rows that are one; without `other`, a row that is two. A script from before links had keys sends none."""

    row: Uid
    other: Uid | None = None
    idempotency_key: Key = Field(default_factory=new_uid)
