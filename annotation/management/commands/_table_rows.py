"""Actions of `manage.py table` on one row: of a draft, of the lanes, of the gold table. Rows are named by their number,
from 1, as `table rows` lists them; a new row needs none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.utils import timezone

from annotation.domain.reconciliation import adopted
from annotation.domain.tables import TableRow
from annotation.models import Proposition, Story, User
from annotation.services import belief_tables, drafts, reconciliation
from core.ids import new_uid

WORDS = ("actor", "belief", "order", "remark")


def rows_of(by: User, story: Story) -> dict[str, list[str]]:
    """Return the rows that this expert may see, as a line each: of the own draft, of open lanes, of the gold table."""
    draft = drafts.live_rows(drafts.own_draft(story=story, expert=by))
    return {
        "draft": [_line(row.actor, row.belief, row.order_text) for row in draft],
        "lanes": [
            f"{_line(row.actor, row.belief, row.order_text)} {_state(row)}" for row in reconciliation.lanes_of(story)
        ],
        # who still labels the story is not told a label of it
        "gold": [f"{row.actor}: {row.belief}" for row in Proposition.objects.gold_of(story)],
    }


def _state(row: Any) -> str:
    return f"[{reconciliation.lane_of_row(row)}, {reconciliation.state_of_row(row).status or 'open'}]"


def _line(actor: str, belief: str, order: str) -> str:
    return f"{actor}: {belief}" + (f" (order {order})" if order else "")


@dataclass(frozen=True, slots=True)
class Press:
    """Act of a person on a row of a story, and what is said of it: `words` are those that were given, by name."""

    by: User
    story: Story
    row: int | None
    words: dict[str, str]
    keep: str
    other: int | None
    drop: bool

    def chosen(self, rows: Sequence[Any]) -> Any:
        """Return the row that is meant. Raises ValueError where none is."""
        return _numbered(rows, self.row)


def _numbered(rows: Sequence[Any], number: int | None) -> Any:
    if number is None or not 1 <= number <= len(rows):
        raise ValueError(f"There is no row {number}; expected 1 to {len(rows)}.")
    return rows[number - 1]


def draft_row(press: Press) -> None:
    """Write a row of the expert's own draft anew, a new one below all, or take one away."""
    rows = list(drafts.live_rows(drafts.own_draft(story=press.story, expert=press.by)))
    if press.row is None:
        uid, base = new_uid(), None
        state = drafts.RowState(**press.words, place=rows[-1].place + 1 if rows else 1.0)
    else:
        row = press.chosen(rows)
        uid, base = row.uid, drafts.state_of_row(row)
        state = replace(base, **press.words, removed=press.drop)
    key, now = new_uid() + new_uid(), timezone.now()
    kind = "delete" if press.drop else "type"
    change = drafts.RowChange(uid, base, state, key, key, kind, now)
    drafts.save_rows(by=press.by, story=press.story, changes=[change], now=now)


def decide(press: Press) -> None:
    """Keep A's or B's words in a row of the lanes, or others, or leave it out; without a row, add one."""
    rows = list(reconciliation.lanes_of(press.story))
    if press.row is None:
        uid, base, place = new_uid(), None, max((row.place for row in rows), default=0.0) + 1
        state = reconciliation.LaneState(status="kept", place=place)
    else:
        row = press.chosen(rows)
        uid, base = row.uid, reconciliation.state_of_row(row)
        state = replace(base, **_adopted(row, press.keep), status="dropped" if press.drop else "kept")
    key, now = new_uid() + new_uid(), timezone.now()
    decision = reconciliation.Decision(uid, base, replace(state, **press.words), key, key, now)
    (decided,) = reconciliation.decide(by=press.by, story=press.story, decisions=[decision], now=now)
    if decided.quicker:
        raise ValueError(f"{decided.quicker} decided this row meanwhile; look at it again.")


def _adopted(row: Any, side: str) -> dict[str, str]:
    """Return the words of a side. Raises ValueError where it wrote none."""
    if not side:
        return {}
    words = reconciliation.words_of(getattr(row, side))
    if words is None:
        raise ValueError(f"{side.upper()} did not write this row.")
    other = reconciliation.words_of(row.b if side == "a" else row.a)
    return asdict(adopted(words, other))


def link(press: Press) -> None:
    """Link two rows of the lanes that say the same."""
    rows = list(reconciliation.lanes_of(press.story))
    first, second = press.chosen(rows), _numbered(rows, press.other)
    key, now = new_uid() + new_uid(), timezone.now()
    reconciliation.link(by=press.by, story=press.story, first=first.uid, second=second.uid, key=key, now=now)


def separate(press: Press) -> None:
    """Separate a linked row of the lanes into two."""
    row, now = press.chosen(list(reconciliation.lanes_of(press.story))), timezone.now()
    reconciliation.separate(by=press.by, story=press.story, row=row.uid, key=new_uid() + new_uid(), now=now)


def gold_row(press: Press) -> None:
    """Reword a row of the gold table, take one out, or add one below all."""
    now = timezone.now()
    if "remark" in press.words:
        raise ValueError("A row of the gold table has no --remark here; its page shows where it comes from.")
    if press.row is None:
        row = TableRow(*(press.words.get(name, "") for name in ("actor", "belief", "order")))
        belief_tables.add_rows(by=press.by, story=press.story, rows=[row], now=now)
        return
    proposition = press.chosen(list(Proposition.objects.gold_of(press.story)))
    if press.drop:
        belief_tables.remove(by=press.by, proposition=proposition, now=now)
    elif "order" in press.words:
        raise ValueError("The order of a row of the gold table cannot be changed; add a row in its place.")
    else:
        words = {name: press.words.get(name, getattr(proposition, name)) for name in ("actor", "belief")}
        belief_tables.reword(by=press.by, proposition=proposition, **words, now=now)


ROWS: dict[str, tuple[str, Callable[[Press], None]]] = {
    "draft-row": ("written in the draft", draft_row),
    "decide": ("decided in the lanes", decide),
    "link": ("linked in the lanes", link),
    "separate": ("separated in the lanes", separate),
    "gold-row": ("changed in the gold table", gold_row),
}
"""What is said of the row afterwards, and what the pages do."""
