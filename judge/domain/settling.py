"""The outcome of several people's alignments of one table: a majority a row, an expert's decision where there is
none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from core.plain import Json, plain
from judge.domain.alignment import NOTHING, Answers, RowAnswer, Rows, Verdict, both_sides


class Method(StrEnum):
    """The way in which the answer about a row was settled."""

    OPEN = "open"
    SINGLE = "single"
    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    ADJUDICATED = "adjudicated"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class SettledRow:
    """The answer about a row of either table, and how it came about; an OPEN row has none."""

    answer: RowAnswer
    method: str

    @property
    def count(self) -> int | None:
        return None if self.method == Method.OPEN else self.answer.count

    def as_json(self) -> Json:
        return {**plain(self.answer), "method": self.method}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> SettledRow:
        return cls(RowAnswer.from_json(kept), kept["method"])


def settle(people: Sequence[Answers], rows: Rows) -> dict[str, SettledRow]:
    """Return what more than half of the people say of each row of both tables, OPEN where no answer has so many.

    An answer is all links of a row together: two people who link a row with different rows disagree about it. Without a
    row on the other side there is nothing to ask: no row matches.
    """
    if not (rows.predictions and rows.gold):
        return dict.fromkeys(rows.names, SettledRow(RowAnswer(verdict=Verdict.NONE.value), Method.EMPTY))
    sides = [both_sides(answers, rows) for answers in people]
    return {name: _settled([side[name] for side in sides]) for name in rows.names}


def _settled(answers: Sequence[RowAnswer]) -> SettledRow:
    given = [answer for answer in answers if answer.given]
    [(top, votes)] = Counter(given).most_common(1) or [(NOTHING, 0)]
    if 2 * votes <= len(answers):
        return SettledRow(NOTHING, Method.OPEN)
    if len(answers) == 1:
        return SettledRow(top, Method.SINGLE)
    return SettledRow(top, Method.UNANIMOUS if votes == len(answers) else Method.MAJORITY)


def standing(settled: Mapping[str, SettledRow]) -> dict[str, RowAnswer]:
    """Return the settled rows as one person's answers: where an expert begins. A link that either of its rows has
    stands, for it has a majority."""
    links: dict[str, set[str]] = {}
    for row, settled_row in settled.items():
        for other in settled_row.answer.links:
            predicted, gold = (row, other) if row[0] == "p" else (other, row)
            links.setdefault(predicted, set()).add(gold)
    answers = {
        row: RowAnswer(verdict=settled_row.answer.verdict)
        for row, settled_row in settled.items()
        if settled_row.answer.verdict
    }
    return answers | {
        row: RowAnswer(tuple(sorted(others, key=lambda name: int(name[1:])))) for row, others in links.items()
    }


def decided(
    settled: Mapping[str, SettledRow], answers: Answers, rows: Rows, asked: Collection[str]
) -> dict[str, SettledRow]:
    """Return the settled rows after an expert's answers: rows that were `asked` about, those that they are linked with
    and others whose answer they change are ADJUDICATED; any other open row stays open."""
    after = {}
    asked = {*asked, *(other for row in asked for other in answers.get(row, NOTHING).links)}
    for name, answer in both_sides(answers, rows).items():
        before = settled[name]
        if answer.given and (name in asked or (before.method != Method.OPEN and before.answer != answer)):
            after[name] = SettledRow(answer, Method.ADJUDICATED)
        elif not answer.given and (name in asked or before.method != Method.OPEN):
            after[name] = SettledRow(NOTHING, Method.OPEN)
        else:
            after[name] = before
    return after


def open_rows(settled: Mapping[str, SettledRow]) -> list[str]:
    return [name for name, settled_row in settled.items() if settled_row.method == Method.OPEN]
