"""Changes of a draft's rows as the editor posts them."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from annotation.domain.drafts import RowState
from annotation.forms.votes import Key, NoKey, Uid
from annotation.models import Origin
from annotation.services.drafts import MAX_CHANGES, RowChange
from core.incoming.shapes import Among, Counted, Expected, Moment, Shape
from core.language import gettext_noop

KINDS = (
    "type", "add", "split", "merge", "move", "copy", "delete", "paste", "actor", "undo", "redo", "restore", "tidy",
)  # fmt: skip


Place = Annotated[float, Field(ge=-1e9, le=1e9), Expected(gettext_noop("a number, which rows are ordered by"))]


class StateIn(Shape):
    actor: str = ""
    belief: str = ""
    order: str = ""
    remark: str = ""
    place: Place
    removed: bool = False


class RowChangeIn(Shape):
    """A change of one row. Browsers keep unsent changes over an upgrade: a field of an older script must not lose
    words."""

    model_config = ConfigDict(extra="ignore")

    row: Uid
    base: StateIn | None = None
    state: StateIn
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
        base = RowState(**self.base.__dict__) if self.base is not None else None
        return RowChange(**plain, base=base, state=RowState(**self.state.__dict__))


Changes = Annotated[list[RowChangeIn], Counted(1, MAX_CHANGES)]


class RowChangesIn(Shape):
    """`annotator` is who made the changes, as the browser remembers it."""

    annotator: int | None = None
    changes: Changes
