"""Changes of a draft's rows as the editor posts them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from annotation.domain.drafts import LONGEST, RowState
from annotation.forms.values import text_of
from annotation.forms.votes import Key, NoKey, Uid
from annotation.models import Origin
from annotation.services.drafts import MAX_CHANGES, RowChange
from core.incoming.shapes import Among, Counted, Expected, Moment, Shape
from core.messages import gettext_noop

KINDS = (
    "type", "add", "split", "merge", "move", "copy", "delete", "paste", "actor", "undo", "redo", "restore", "tidy",
)  # fmt: skip


Place = Annotated[float, Field(ge=-1e9, le=1e9), Expected(gettext_noop("a number, which rows are ordered by"))]


class RowIn(Shape):
    """A row as it shall be; rows stand in the order of `place`."""

    actor: Annotated[str, text_of(LONGEST["actor"])] = ""
    belief: Annotated[str, text_of(LONGEST["belief"])] = ""
    order: Annotated[str, text_of(LONGEST["order"])] = ""
    remark: Annotated[str, text_of(LONGEST["remark"])] = ""
    place: Place


class DraftRowIn(RowIn):
    removed: bool = Field(False, description="Takes the row away; its words are kept.")

    @property
    def state(self) -> RowState:
        return RowState(**self.__dict__)


class RowChangeIn(Shape):
    """A change of one row."""

    row: Uid
    base: DraftRowIn | None = None
    state: DraftRowIn
    idempotency_key: Key
    action: Key
    kind: Annotated[str, Among(KINDS)]
    undoes: NoKey = ""
    changed_at: Moment
    origin: Annotated[str, Among((Origin.TYPED.value, Origin.PASTED.value))] = Origin.TYPED.value
    parent: NoKey = ""

    @property
    def change(self) -> RowChange:
        plain = {name: getattr(self, name) for name in RowChange.__slots__ if name not in ("state", "base")}
        return RowChange(**plain, base=self.base and self.base.state, state=self.state.state)


Changes = Annotated[list[RowChangeIn], Counted(1, MAX_CHANGES)]


class RowChangesIn(Shape):
    """`annotator` is who made the changes, as the browser remembers it."""

    annotator: int | None = None
    changes: Changes
