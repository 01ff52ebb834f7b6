"""A draft of a belief table as it is typed: states of its rows, what becomes of two changes of one row, and undo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from core.language import gettext
from core.messages import gettext_noop

TEXTS = ("actor", "belief", "order", "remark")
LONGEST = {"actor": 200, "belief": 2000, "order": 40, "remark": 500}
STEP = 1.0
"""The distance between the places of two rows that were added one after the other."""


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
        """True where nothing is said yet: an actor alone is where a row begins."""
        return not (self.belief.strip() or self.remark.strip())


class Merged(NamedTuple):
    """The row as it stands now, and a row of its own for words that would be lost otherwise."""

    state: RowState
    copy: RowState | None = None


def merge(base: RowState | None, standing: RowState | None, edited: RowState) -> Merged:
    """Return what becomes of a row that was changed to `edited` by somebody who saw `base`, where `standing` stands.

    Changes of different fields are both kept. Where both changed one text, what stands stays and `edited` becomes a row
    of its own; a row that changed meanwhile is not removed.
    """
    if standing is None or base is None or standing == base:
        return Merged(edited)
    theirs = {name for name in TEXTS if getattr(standing, name) != getattr(base, name)}
    mine = {name for name in TEXTS if getattr(edited, name) != getattr(base, name)}
    if edited.removed and not base.removed and theirs:
        return Merged(standing)
    if any(getattr(standing, name) != getattr(edited, name) for name in theirs & mine):
        return Merged(standing, replace(edited, removed=False))
    changed = {name: getattr(edited, name) for name in mine}
    if edited.place != base.place:
        changed["place"] = edited.place
    removed = edited.removed if edited.removed != base.removed else standing.removed
    if mine:
        removed = False  # words that were typed into a row that somebody removed meanwhile bring it back
    return Merged(replace(standing, **changed, removed=removed))


def places_of(after: float | None, before: float | None, count: int) -> list[float]:
    """Return `count` places between two neighbours, either of which may be missing."""
    if after is None:
        start = before if before is not None else STEP * (count + 1)
        return [start - STEP * (count - at) for at in range(count)]
    if before is None:
        return [after + STEP * (at + 1) for at in range(count)]
    return [after + (before - after) * (at + 1) / (count + 1) for at in range(count)]


@dataclass(frozen=True, slots=True)
class Action:
    """Changes of one key press, however many rows it changed; `undoes` is the action that it takes back."""

    key: str
    undoes: str = ""


def last_steps(actions: Iterable[Action]) -> tuple[str, str]:
    """Return the action that undo takes back next and the one that redo does, each empty where there is none.

    Redo takes back an undo; a new action leaves nothing to redo.
    """
    done: list[str] = []
    undone: list[str] = []
    for action in actions:
        if action.undoes and done and done[-1] == action.undoes:
            undone.append(action.key)
            done.pop()
        elif action.undoes and undone and undone[-1] == action.undoes:
            undone.pop()
            done.append(action.key)
        else:
            done.append(action.key)
            undone.clear()
    return done[-1] if done else "", undone[-1] if undone else ""


def in_order(rows: Mapping[str, RowState]) -> list[tuple[str, RowState]]:
    """Return the rows that are not removed, by place."""
    live = [(key, state) for key, state in rows.items() if not state.removed]
    return sorted(live, key=lambda row: (row[1].place, row[0]))


def incomplete(rows: Sequence[RowState]) -> str:
    """Return why a table of these rows cannot be handed in, one sentence; empty where it can. Empty rows do not
    count."""
    numbered = list(enumerate(rows, 1))
    if all(state.is_empty for _, state in numbered):
        return gettext("Your table has no row yet.")
    for number, state in numbered:
        if not state.is_empty and not state.actor.strip():
            return gettext("Row {number} has no actor.").format(number=number)
        if not state.is_empty and not state.belief.strip():
            return gettext("Row {number} has no proposition.").format(number=number)
    return ""


class Mark(StrEnum):
    """Fate of a row that a model may have drafted, in an expert's hands."""

    KEPT = gettext_noop("model")
    EDITED = gettext_noop("model, edited")
    ADDED = gettext_noop("added")


def mark_of(words: tuple[str, str, str], suggested: tuple[str, str, str] | None) -> Mark:
    """Return what became of a row, by its actor, proposition and order and by those of the model's row that it began
    as, None where it began as none. Outer spaces make no difference."""
    if suggested is None:
        return Mark.ADDED
    same = [word.strip() for word in words] == [word.strip() for word in suggested]
    return Mark.KEPT if same else Mark.EDITED
