"""A draft of a belief table as it is typed: states of its rows, merging of two changes of one row, and undo."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from core.language import gettext
from core.messages import gettext_noop
from core.plain import read_as

TEXTS = ("actor", "belief", "order", "remark")
LONGEST = {"actor": 200, "belief": 2000, "order": 40, "remark": 500}
STEP = 1.0
"""The distance between the places of two rows that were added one after the other."""
State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class RowState:
    """A row at one moment. Rows stand in the order of `place`; a removed one keeps its words, for undo."""

    actor: str = ""
    belief: str = ""
    order: str = ""
    remark: str = ""
    place: float = 0.0
    removed: bool = False

    @property
    def is_empty(self) -> bool:
        """True for a row without words; an actor by itself does not count."""
        return not (self.belief.strip() or self.remark.strip())


@dataclass(frozen=True, slots=True)
class Change:
    """A row of a draft or of a reconciliation as its expert wants it to be. `base` is the state that they saw before,
    None for a new row. Changes of one key press share their `action`; `undoes` is the action that they take back.
    `parent` is the row that a new one was split off or copied from."""

    row: str
    base: Any
    state: Any
    idempotency_key: str
    action: str
    changed_at: datetime
    undoes: str = ""
    kind: str = "type"
    origin: str = "typed"
    parent: str = ""

    def event(self, now: datetime) -> dict[str, Any]:
        """Return the fields that the events of drafts and of reconciliations share."""
        names = ("idempotency_key", "action", "undoes", "changed_at")
        return {name: getattr(self, name) for name in names} | {"received_at": now}


def unfit(state: Any) -> str:
    """Return the reason why a row cannot hold these texts, one sentence. Returns "" if it can."""
    for name in TEXTS:
        text = getattr(state, name)
        if len(text) > LONGEST[name]:
            sentence = gettext("A row's {name} has {text} characters; expected at most {name_2}.")
            return sentence.format(name=name, text=len(text), name_2=LONGEST[name])
        if "\x00" in text:
            return gettext("A row's {name} holds a NUL character; remove it.").format(name=name)
    return ""


def merge(base: RowState | None, standing: RowState | None, edited: RowState) -> tuple[RowState, RowState | None]:
    """Return the state of a row that somebody who saw `base` changed to `edited`, where `standing` stands; and a row of
    its own for words that would be lost, else None.

    Changes of different fields are both kept. Where both changed one text, what stands stays and `edited` becomes a row
    of its own; a row that changed meanwhile is not removed.
    """
    if standing is None or base is None or standing == base:
        return edited, None
    theirs = {name for name in TEXTS if getattr(standing, name) != getattr(base, name)}
    mine = {name for name in TEXTS if getattr(edited, name) != getattr(base, name)}
    if edited.removed and not base.removed and theirs:
        return standing, None
    if any(getattr(standing, name) != getattr(edited, name) for name in theirs & mine):
        return standing, replace(edited, removed=False)
    changed = {name: getattr(edited, name) for name in mine}
    if edited.place != base.place:
        changed["place"] = edited.place
    # words that were typed into a row that somebody removed meanwhile bring it back
    removed = not mine and (edited.removed if edited.removed != base.removed else standing.removed)
    return replace(standing, **changed, removed=removed), None


def places_of(after: float | None, before: float | None, count: int) -> list[float]:
    """Return `count` places between two neighbours, either of which may be missing."""
    if after is None:
        start = before if before is not None else STEP * (count + 1)
        return [start - STEP * (count - at) for at in range(count)]
    if before is None:
        return [after + STEP * (at + 1) for at in range(count)]
    return [after + (before - after) * (at + 1) / (count + 1) for at in range(count)]


def last_steps(actions: Mapping[str, str]) -> tuple[str, str]:
    """Return the action that undo takes back next and the one that redo does, each "" if there is none. `actions` maps
    each action, in order, to the one that it undoes, or "".

    Redo takes back an undo; a new action leaves nothing to redo.
    """
    done: list[str] = []
    undone: list[str] = []
    for action, undoes in actions.items():
        if undoes and done and done[-1] == undoes:
            undone.append(action)
            done.pop()
        elif undoes and undone and undone[-1] == undoes:
            undone.pop()
            done.append(action)
        else:
            done.append(action)
            undone.clear()
    return done[-1] if done else "", undone[-1] if undone else ""


def states_before(events: Iterable[Any], kind: type[State], **gone: Any) -> dict[str, State]:
    """Return row → its state before the events of an action. A row that the action made is `gone`."""
    states: dict[str, State] = {}
    for event in events:
        states.setdefault(event.row.uid, read_as(kind, event.before or {**event.after, **gone}))
    return states


def in_order(rows: Mapping[str, RowState]) -> list[tuple[str, RowState]]:
    """Return the rows that are not removed, by place."""
    live = [(key, state) for key, state in rows.items() if not state.removed]
    return sorted(live, key=lambda row: (row[1].place, row[0]))


def incomplete(rows: Sequence[RowState]) -> str:
    """Return why a table of these rows cannot be handed in, one sentence. Returns "" if it can. Empty rows do not
    count."""
    filled = [(number, state) for number, state in enumerate(rows, 1) if not state.is_empty]
    if not filled:
        return gettext("Your table has no row yet.")
    for number, state in filled:
        if not state.actor.strip():
            return gettext("Row {number} has no actor.").format(number=number)
        if not state.belief.strip():
            return gettext("Row {number} has no proposition.").format(number=number)
    return ""


class Mark(StrEnum):
    """Fate of a row that a model may have drafted, in an expert's hands."""

    KEPT = gettext_noop("model")
    EDITED = gettext_noop("model, edited")
    ADDED = gettext_noop("added")


def mark_of(words: tuple[str, str, str], suggested: tuple[str, str, str] | None) -> Mark:
    """Return the fate of a row by its actor, proposition and order and by those of the model's row that it began as,
    None for a row of the expert's own. Outer spaces make no difference."""
    if suggested is None:
        return Mark.ADDED
    same = [word.strip() for word in words] == [word.strip() for word in suggested]
    return Mark.KEPT if same else Mark.EDITED
