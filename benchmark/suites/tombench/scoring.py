"""Answers to ToMBench that were made elsewhere, asked as the released code asks: five tries in its own order of
options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmark.suites.answers import AnswerScores, ParsedScores, read_answers
from benchmark.suites.tombench.data import Item, read_tombench
from benchmark.suites.tombench.metrics import Accuracies, VotedItem, official_accuracies, repaired_accuracies
from benchmark.suites.tombench.parsing import extract_official, parse_official, parse_repaired
from benchmark.suites.tombench.shuffling import TRIES, OfferedOptions, Order, official_orders, show
from core.incoming.thoughts import without_thoughts
from core.plain import WHERE_THERE_IS_ONE

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
    accuracies = official_accuracies(_voted(asked, {name: letters[1] for name, letters in official.items()}))
    return ParsedScores(
        AnswerScores(official, _above_nought(accuracies)),
        AnswerScores(repaired, _whole(repaired_accuracies(_voted(asked, repaired)))),
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


def _voted(asked: Mapping[str, Item], choices: Mapping[str, str | None]) -> list[VotedItem]:
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
