"""Changes of an alignment, and decisions on its open rows, as their page posts them."""

from typing import Annotated

from pydantic import Field

from annotation.forms.votes import Key, Milliseconds, NoKey
from core.incoming.shapes import Among, Counted, Like, Moment, Shape
from judge.domain.alignment import MOST_LINKS, RowAnswer, Verdict
from judge.services.settling import Change

MAX_CHANGES = 4000
LONGEST_REASON = 500
RowName = Annotated[str, Like(r"^[pg][1-9][0-9]{0,4}$", "a row such as p1 or g12")]
Links = Annotated[list[RowName], Counted(0, MOST_LINKS)]


class AnswerIn(Shape):
    links: Links = []
    verdict: Annotated[str, Among([verdict.value for verdict in Verdict])] = ""

    @property
    def answer(self) -> RowAnswer:
        return RowAnswer(tuple(self.links), self.verdict)


class AlignmentChangeIn(Shape):
    """A change of one row."""

    row: RowName
    answer: AnswerIn
    idempotency_key: Key
    action: Key
    undoes: NoKey = ""
    accepted: bool = False
    duration_ms: Milliseconds | None = Field(None)
    changed_at: Moment

    @property
    def change(self) -> Change:
        plain = {name: getattr(self, name) for name in Change.__slots__ if name != "answer"}
        return Change(**plain, answer=self.answer.answer)


class AlignmentChangesIn(Shape):
    """`annotator` is who made the changes, as the browser remembers it."""

    annotator: int | None = None
    changes: Annotated[list[AlignmentChangeIn], Counted(1, MAX_CHANGES)]


class RowDecisionIn(Shape):
    row: RowName
    answer: AnswerIn


class RowDecisionsIn(Shape):
    """An expert's decisions on a table that stood at `revision` when they began."""

    annotator: int | None = None
    revision: Annotated[int, Field(ge=0)]
    reason: Annotated[
        str, Like(rf"^[^\u0000]{{0,{LONGEST_REASON}}}$", f"a reason of at most {LONGEST_REASON} characters")
    ] = ""
    decisions: Annotated[list[RowDecisionIn], Counted(1, MAX_CHANGES)]
