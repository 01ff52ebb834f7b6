"""One person's answers about two tables of one story: which predicted row says what which gold row says.

Rows are named by side and place: "p1" is the first predicted row, "g1" the first gold row. Links are kept with the
predicted row; a gold row's are read off them. MatchCount is the number of links of a row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from core.language import gettext, ngettext
from core.messages import Sentence, gettext_noop, word
from core.plain import Json, plain, read_filled


@dataclass(frozen=True, slots=True)
class ClusterName:
    """The name of what is resampled whole."""

    singular: str
    plural: str

    @property
    def aligned(self) -> str:
        """The name of those of which people aligned a table."""
        return Sentence("aligned {plural}", plural=word(self.plural))


STORIES = ClusterName(gettext_noop("story"), gettext_noop("stories"))


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOrigin:
    """The origin of a study's tables: answers of the runs with these uids, to a suite by its name, on a version of a
    dataset and a `split` of it, empty for all; `noun` is what one table is of. A study can be of no run."""

    suite: str = ""
    dataset: int | None = None
    runs: Sequence[str] = ()
    split: str = ""
    noun: str = "story"

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> StudyOrigin:
        return read_filled(cls, kept)


MOST_LINKS = 3
"""A compound row matches at most so many rows of the other table."""
_ROW = re.compile(r"([pg])([1-9]\d{0,4})")


class Verdict(StrEnum):
    """A verdict on a row without links; empty while nothing is said."""

    OPEN = ""
    NONE = "none"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class RowAnswer:
    """The answer about one row: the rows of the other table that it is linked with, or a verdict where there are
    none."""

    links: tuple[str, ...] = ()
    verdict: str = ""

    @property
    def given(self) -> bool:
        return bool(self.links or self.verdict)

    @property
    def count(self) -> int | None:
        """The MatchCount of the row; None where nobody said, or could tell."""
        return len(self.links) if self.links or self.verdict == Verdict.NONE else None

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> RowAnswer:
        return cls(tuple(kept.get("links", ())), kept.get("verdict", ""))


NOTHING = RowAnswer()
Answers = Mapping[str, RowAnswer]
"""The answers of one person by row; links stand with predicted rows alone."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The numbers of rows of both tables, and of rows that one may be linked with."""

    predictions: int
    gold: int
    most_links: int = 1

    @property
    def names(self) -> list[str]:
        return [*self.predicted, *self.golden]

    @property
    def predicted(self) -> list[str]:
        return [f"p{at}" for at in range(1, self.predictions + 1)]

    @property
    def golden(self) -> list[str]:
        return [f"g{at}" for at in range(1, self.gold + 1)]

    def has(self, row: str) -> bool:
        side, place = _ROW.fullmatch(row).groups() if _ROW.fullmatch(row) else ("", "0")  # type: ignore[union-attr]
        return 0 < int(place) <= {"p": self.predictions, "g": self.gold}.get(side, 0)


def place_of(row: str) -> int:
    """Return the place of a row in its table, from 0 on."""
    return int(row[1:]) - 1


def changed(answers: Answers, row: str, answer: RowAnswer) -> dict[str, RowAnswer]:
    """Return the answers with another one about that row, its links in the order of the table; rows about which
    nothing is said are left out."""
    links = tuple(sorted(set(answer.links), key=place_of))
    made = {**answers, row: RowAnswer(links, "" if links else answer.verdict)}
    return {name: kept for name, kept in made.items() if kept.given}


def misfit(answers: Answers, row: str, rows: Rows) -> str:
    """Return why the answer about a row cannot stand among these answers, one sentence; empty where it can.

    A row may be linked with one of the other table or, where the study says so, with several; of two linked rows only
    one may have several links: it is the compound one.
    """
    answer = answers.get(row, NOTHING)
    unknown = [name for name in (row, *answer.links) if not rows.has(name)]
    if unknown:
        return gettext("There is no row {row} in these tables.").format(row=unknown[0])
    if answer.links and (row[0] != "p" or any(link[0] != "g" for link in answer.links)):
        return gettext("A link goes from a predicted row to a gold row.")
    linked = links_by_row(answers)
    for name in (row, *answer.links):
        if len(linked.get(name, ())) > rows.most_links:
            most = rows.most_links
            sentence = ngettext(
                "A row is linked with one row of the other table at most; {row} would have more.",
                "A row is linked with {most} rows of the other table at most; {row} would have more.",
                most,
            )
            return sentence.format(most=most, row=row_name(name))
    if len(answer.links) > 1 and any(len(linked[name]) > 1 for name in answer.links):
        return gettext("Of two linked rows only one can have several links.")
    if len(answer.links) == 1 and len(linked[answer.links[0]]) > 1:
        partners = linked[answer.links[0]]
        if any(len(linked[name]) > 1 for name in partners):
            return gettext("Of two linked rows only one can have several links.")
    return ""


def row_name(row: str) -> str:
    """Return the row's name as a person reads it."""
    name = gettext("prediction {number}") if row[0] == "p" else gettext("gold row {number}")
    return name.format(number=row[1:])


def links_by_row(answers: Answers) -> dict[str, tuple[str, ...]]:
    """Return the links of every row of both tables that has any."""
    linked: dict[str, list[str]] = {}
    for row, answer in answers.items():
        for other in answer.links:
            linked.setdefault(row, []).append(other)
            linked.setdefault(other, []).append(row)
    return {row: tuple(sorted(others, key=place_of)) for row, others in linked.items()}


def both_sides(answers: Answers, rows: Rows) -> dict[str, RowAnswer]:
    """Return the answer about every row of both tables, in their order; a verdict on a linked row does not count."""
    linked = links_by_row(answers)
    return {
        name: RowAnswer(linked[name]) if name in linked else RowAnswer(verdict=answers.get(name, NOTHING).verdict)
        for name in rows.names
    }


def unanswered(answers: Answers, rows: Rows) -> list[str]:
    """Return the rows that nothing is said of yet, in their order."""
    return [name for name, answer in both_sides(answers, rows).items() if not answer.given]


def answers_as_json(answers: Answers) -> Json:
    """Return what is kept of the answers of one person: those rows about which something is said."""
    return {row: plain(answer) for row, answer in answers.items() if answer.given}


Table = Sequence[Sequence[str]]
"""Rows as (actor, belief)."""


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
    sides, settled = [both_sides(answers, rows) for answers in people], {}
    for name in rows.names:
        given = [side[name] for side in sides if side[name].given]
        [(top, votes)] = Counter(given).most_common(1) or [(NOTHING, 0)]
        method = Method.UNANIMOUS if votes == len(people) else Method.MAJORITY
        if 2 * votes <= len(people):
            top, method = NOTHING, Method.OPEN
        elif len(people) == 1:
            method = Method.SINGLE
        settled[name] = SettledRow(top, method)
    return settled


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
