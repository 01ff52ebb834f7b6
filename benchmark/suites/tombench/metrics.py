"""Votes over the tries of an item, and accuracy per task, per ability and overall.

The official and the repaired way differ in three things. Officially every answer is a vote, an item is right where the
majority equals the answer cell to the character, and abilities are the raw strings. Repaired, an answer that names no
option is not a vote, the cell's letter counts, and abilities are trimmed. In both a group without a right item has the
accuracy 0, which the released code leaves out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class VotedItem:
    """One item and the votes of its tries, in the order of the tries.

    `gold` is the answer cell as it stands in the data, `ability` its raw string. A vote is an original letter;
    officially also the empty string (a letter that was not shown), repaired also that letter itself, which is never
    right, and None (no option chosen).
    """

    task: str
    ability: str
    gold: str
    votes: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The number of a group's items that are right. `unparsed` items have no vote at all: `value` leaves them out, and
    `bounds` take them as wrong and as right."""

    items: int
    correct: int
    unparsed: int

    @property
    def value(self) -> float | None:
        """The share of right items among those with a vote, from 0 to 1. None where there is none."""
        voted = self.items - self.unparsed
        return self.correct / voted if voted else None

    @property
    def bounds(self) -> tuple[float, float]:
        """The shares among all items, from 0 to 1, with the unparsed ones as wrong and as right."""
        return self.correct / self.items, (self.correct + self.unparsed) / self.items


@dataclass(frozen=True, slots=True)
class Accuracies:
    """Accuracy overall, by task and by ability; tasks and abilities are in the order of their first item.

    `overall` pools all items; None where there is none.
    """

    overall: Accuracy | None
    tasks: Mapping[str, Accuracy]
    abilities: Mapping[str, Accuracy]


def majority(votes: Sequence[str]) -> str | None:
    """Return the most frequent vote; of equally frequent ones that which was cast first. None without a vote."""
    return max(Counter(votes).items(), key=lambda item: item[1], default=(None, 0))[0]


def majority_vote(votes: Iterable[str | None]) -> str | None:
    """Return the majority among the tries that chose an option, None where none did."""
    return majority([vote for vote in votes if vote is not None])


def gold_letter(cell: str) -> str:
    """Return the letter of an answer cell: `A` of `A. `."""
    return cell.strip()[:1]


def is_correct_officially(item: VotedItem) -> bool:
    """Return whether the majority equals the answer cell to the character: never for a cell such as `A. `."""
    return majority_vote(item.votes) == item.gold


def is_correct(item: VotedItem) -> bool:
    """Return whether the majority is the letter of the answer cell; false where no try chose an option."""
    return majority_vote(item.votes) == gold_letter(item.gold)


def official_accuracies(items: Sequence[VotedItem]) -> Accuracies:
    """Return the accuracies as the released code computes them, with groups of accuracy 0 and an overall figure
    added."""
    return _accuracies([_Row(item.task, item.ability, is_correct_officially(item), _unparsed(item)) for item in items])


def repaired_accuracies(items: Sequence[VotedItem]) -> Accuracies:
    """Return the repaired accuracies; abilities that differ in outer space alone are one."""
    return _accuracies([_Row(item.task, item.ability.strip(), is_correct(item), _unparsed(item)) for item in items])


class _Row(NamedTuple):
    task: str
    ability: str
    correct: bool
    unparsed: bool


def _unparsed(item: VotedItem) -> bool:
    return majority_vote(item.votes) is None


def _accuracies(rows: Sequence[_Row]) -> Accuracies:
    tasks: dict[str, list[_Row]] = {}
    abilities: dict[str, list[_Row]] = {}
    for row in rows:
        tasks.setdefault(row.task, []).append(row)
        abilities.setdefault(row.ability, []).append(row)
    return Accuracies(
        overall=_accuracy(rows) if rows else None,
        tasks={name: _accuracy(group) for name, group in tasks.items()},
        abilities={name: _accuracy(group) for name, group in abilities.items()},
    )


def _accuracy(rows: Sequence[_Row]) -> Accuracy:
    return Accuracy(len(rows), sum(row.correct for row in rows), sum(row.unparsed for row in rows))
