"""Changes of a draft's rows as the editor posts them, decisions on pairs of rows, and links, as the page of
reconciliation posts them."""

from typing import Annotated, Any

from pydantic import Field

from annotation.domain.drafts import LONGEST, Change, RowState
from annotation.domain.reconciliation import PairState, Status
from annotation.forms.values import text_of
from annotation.forms.votes import Key, NoKey, Uid
from annotation.models import Origin
from annotation.services.drafts import MAX_CHANGES
from core.incoming.shapes import Among, Counted, Expected, Moment, Shape
from core.messages import gettext_noop

KINDS = (
    "type", "add", "split", "merge", "move", "copy", "delete", "paste", "actor", "undo", "redo", "restore", "tidy",
)  # fmt: skip
MAX_DECISIONS = 1000
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


class PairIn(RowIn):
    status: Annotated[str, Among([status.value for status in Status])] = ""

    @property
    def state(self) -> PairState:
        return PairState(**self.__dict__)


class ChangeIn(Shape):
    """A change of one row. A subclass has `base` and `state`; without `action` every change is one of its own."""

    row: Uid
    idempotency_key: Key
    changed_at: Moment

    @property
    def change(self) -> Change:
        given: dict[str, Any] = self.__dict__
        states = {"base": given["base"] and given["base"].state, "state": given["state"].state}
        return Change(**{"action": self.idempotency_key} | given | states)


class RowChangeIn(ChangeIn):
    base: DraftRowIn | None = None
    state: DraftRowIn
    action: Key
    kind: Annotated[str, Among(KINDS)]
    undoes: NoKey = ""
    origin: Annotated[str, Among((Origin.TYPED.value, Origin.PASTED.value))] = Origin.TYPED.value
    parent: NoKey = ""


class RowChangesIn(Shape):
    """`annotator` is who made the changes, as the browser remembers it."""

    annotator: int | None = None
    changes: Annotated[list[RowChangeIn], Counted(1, MAX_CHANGES)]


class DecisionIn(ChangeIn):
    base: PairIn | None = None
    state: PairIn
    action: Key
    undoes: NoKey = ""


class DecisionsIn(Shape):
    """`annotator` is who made the decisions, as the browser remembers it."""

    annotator: int | None = None
    changes: Annotated[list[DecisionIn], Counted(1, MAX_DECISIONS)]


class LinkIn(Shape):
    """Two rows that are one; without `other`, a row that is two."""

    row: Uid
    other: Uid | None = None
    idempotency_key: Key
