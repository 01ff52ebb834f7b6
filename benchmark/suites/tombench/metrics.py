"""Votes over the tries of an item, and accuracy per task, per ability and overall.

The official and the repaired way differ in three things. Officially every answer is a vote, an item is right where the
majority equals the answer cell to the character, and abilities are the raw strings. Repaired, an answer that names no
option is not a vote, the cell's letter counts, and abilities are trimmed. In both a group without a right item has the
accuracy 0, which the released code leaves out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchmark.suites.answers import AnswerScores, ParsedScores, read_answers
from benchmark.suites.tombench.data import (
    TRIES,
    Item,
    OfferedOptions,
    Order,
    gold_letter,
    official_orders,
    read_tombench,
    show,
)
from benchmark.suites.tombench.parsing import extract_official, parse_official, parse_repaired
from core.incoming.thoughts import without_thoughts
from core.plain import WHERE_THERE_IS_ONE


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


_ID = re.compile(r"(.+)/(\d+)/(\d+)")
_PLACES = 10
"""Decimals of an accuracy."""


class BadAnswerId(ValueError):
    """The fault in the id of an answer, as one sentence."""


def score_answers(data: Path, answers: Path, *, language: str = "en") -> ParsedScores:
    """Return the scores of a file of answers by `<task>/<line from 0>/<try from 0>` to the copy in the folder
    `data`, with accuracies from 0 to 1; only questions with an answer are scored.

    An official answer is [the letter that is taken, the original one], a repaired one the original letter, that which
    was chosen without being offered, or None where no option is chosen. Official metrics leave out what is 0, as the
    released code does; repaired ones have `overall` and say what was `unparsed`. Raises ValueError.
    """
    items = _by_file(data, language)
    texts = read_answers(answers)
    displayed = {name: _item_and_options(items, name, answers.name) for name in texts}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise BadAnswerId(f"{answers.name}: the answer {name!r:.80} is not a text; expected what the model said.")
    official = {
        name: [extract_official(text), parse_official(text, displayed[name][1])] for name, text in texts.items()
    }
    repaired = {name: parse_repaired(without_thoughts(text), displayed[name][1]) for name, text in texts.items()}
    asked = {name: item for name, (item, _) in displayed.items()}
    accuracies = official_accuracies(_voted_items(asked, {name: letters[1] for name, letters in official.items()}))
    return ParsedScores(
        AnswerScores(official, _above_nought(accuracies)),
        AnswerScores(repaired, _whole(repaired_accuracies(_voted_items(asked, repaired)))),
    )


Asked = Mapping[str, Sequence[tuple[Item, tuple[Order, ...]]]]
"""The items of each file, with the orders of options that each try shows."""


def _by_file(data: Path, language: str) -> Asked:
    """The items of a copy: one generator of orders runs through a file."""
    by_file: dict[str, list[Item]] = {}
    for item in read_tombench(data, languages=(language,)).items:
        by_file.setdefault(item.task, []).append(item)
    return {
        task: list(zip(items, official_orders(len(item.options) for item in items), strict=True))
        for task, items in by_file.items()
    }


def _item_and_options(items: Asked, name: str, file: str) -> tuple[Item, OfferedOptions]:
    match = _ID.fullmatch(name)
    task, line, attempt = (match[1], int(match[2]), int(match[3])) if match else ("", 0, 0)
    if not match or task not in items or line >= len(items[task]) or attempt >= TRIES:
        raise BadAnswerId(
            f"{file}: there is no question {name!r:.80}; expected <task>/<line from 0>/<try from 0 to {TRIES - 1}>."
        )
    item, orders = items[task][line]
    return item, show(item.cleaned_options, orders[attempt])


def _voted_items(asked: Mapping[str, Item], choices: Mapping[str, str | None]) -> list[VotedItem]:
    """The items in the order of the data, with the votes of those tries that have an answer, in their order."""
    votes: dict[str, list[tuple[int, str | None]]] = {}
    items = {item.key: item for item in asked.values()}
    for name, item in asked.items():
        votes.setdefault(item.key, []).append((int(name.rpartition("/")[2]), choices[name]))
    return [
        VotedItem(
            item.task,
            item.ability,
            item.answer,
            tuple(vote for _, vote in sorted(votes[key], key=lambda vote: vote[0])),
        )
        for key, item in items.items()
    ]


def _above_nought(accuracies: Accuracies) -> dict[str, dict[str, float]]:
    return {
        kind: {name: round(accuracy.value or 0.0, _PLACES) for name, accuracy in groups.items() if accuracy.correct}
        for kind, groups in (("tasks", accuracies.tasks), ("abilities", accuracies.abilities))
    }


@dataclass(frozen=True, slots=True)
class RepairedAccuracies:
    """Accuracies from 0 to 1 by task, by ability and overall, None without an item that has a vote; `unparsed` items
    have none, and `bounds` of the overall accuracy take them as wrong and as right."""

    tasks: Mapping[str, float | None]
    abilities: Mapping[str, float | None]
    overall: float | None
    unparsed: int | None
    bounds: tuple[float, float] | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


def _whole(accuracies: Accuracies) -> RepairedAccuracies:
    tasks, abilities = (
        {name: accuracy.value for name, accuracy in groups.items()}
        for groups in (accuracies.tasks, accuracies.abilities)
    )
    overall = accuracies.overall
    if overall is None:
        return RepairedAccuracies(tasks, abilities, None, None)
    bounds = overall.bounds if overall.unparsed else None
    return RepairedAccuracies(tasks, abilities, overall.value, overall.unparsed, bounds)
