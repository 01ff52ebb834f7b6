"""Decisions on cells, and decisions to take back, as the script of the adjudication pages posts them."""

from typing import Annotated

from annotation.forms.values import Label, NoLabel, Reason, Tag
from annotation.forms.votes import Dimension, Key, Uid
from annotation.services.adjudication import MOST_ALIKE
from core.incoming.shapes import Counted, Moment, Shape, Within
from core.messages import gettext_noop

MOST = 500

Revision = Annotated[int, Within(0, 2**31 - 1, gettext_noop("the revision of a gold label"), pointed=True)]
Row = Annotated[int, Within(0, 2**63 - 1, gettext_noop("the id of a gold label"))]


class DecidedIn(Shape):
    """What an expert says of a cell, on a page and by the API."""

    label: Label
    reason: Reason = ""
    error_tag: Tag = ""


class CellIn(Shape):
    proposition: Uid
    dimension: Dimension


class DecisionIn(CellIn, DecidedIn):
    revision: Revision
    row: Row
    replaces: NoLabel = ""
    idempotency_key: Key
    changed_at: Moment


class DecisionsIn(Shape):
    """`annotator` is who made the decisions, as the browser remembers it."""

    annotator: int | None = None
    changes: Annotated[list[DecisionIn], Counted(1, MOST)]


class TakenBackIn(CellIn):
    revision: Revision


class TakenBack(Shape):
    cells: Annotated[list[TakenBackIn], Counted(1, MOST_ALIKE)]


class StoriesIn(Shape):
    """Stories that an expert still works on, or just `opened`: their claims on others are given back."""

    opened: bool = False
    stories: Annotated[list[Uid], Counted(1, MOST)]
