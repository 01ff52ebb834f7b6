"""Votes kept in a spreadsheet: one row a vote (the contract of `import_votes`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

from annotation.domain.columns import as_displayed, columns_of, restored
from annotation.domain.problems import LeftOut, Problem
from annotation.domain.schema import Schema
from core.incoming.sheets import SheetRow
from core.messages import Sentence, capitalised, gettext_noop

REQUIRED = ("story_id", "actor", "belief", "dimension", "annotator", "label")
_OPTIONAL: Mapping[str, tuple[str, ...]] = {"occurrence": (), "created_at": ("changed_at",)}


_MOST, _LONGEST = 1024, 300
"""Cells whose meaning is remembered, and the most characters of each."""


class VoteRow(NamedTuple):
    line: int
    story: int
    actor: str
    belief: str
    dimension: str
    annotator: str
    label: str
    occurrence: int
    created_at: datetime | None


vote_row = partial(tuple.__new__, VoteRow)
"""Half the time of a call of the class."""


class _Proposition(NamedTuple):
    """Fields of a row before its vote, and the cells that said them."""

    cells: tuple[str, ...]
    story: int
    actor: str
    belief: str


def read_votes(sheet: Iterable[SheetRow], file: str, schema: Schema, left_out: LeftOut) -> Iterator[VoteRow | Problem]:
    """Yield the votes of a spreadsheet in order, with a Problem in place of each row that cannot be used. Raises
    WrongColumns and BadSheet."""
    rows = iter(sheet)
    header = next(rows, SheetRow(1, []))
    at, unused = columns_of(header.cells, file, required=REQUIRED, spellings=_OPTIONAL, line=header.line)
    left_out.add(unused)
    row_of = _Reader(at, schema).row
    for line, cells, problem in rows:
        try:
            if problem:
                raise _Bad(capitalised(problem))
            yield row_of(cells, line)
        except _Bad as error:
            yield Problem(file, line, str(error))


class _Bad(ValueError):
    pass


class _Reader:
    """Says what the cells of a row mean. Neighbouring rows share most of their texts, so that each text is read once
    and then looked up."""

    def __init__(self, at: Mapping[str, int], schema: Schema) -> None:
        places = [at[name] for name in REQUIRED]
        self._proposition_cells, self._vote_cells = itemgetter(*places[:3]), itemgetter(*places[3:])
        self._occurrence, self._created_at = (at.get(name) for name in _OPTIONAL)
        self._schema = schema
        self._labels = {
            (dimension.key, value.lower()): value for dimension in schema.dimensions for value in dimension.values
        }
        self._seen = _Proposition((), 0, "", "")
        self._votes: dict[tuple[str, ...], tuple[str, str, str]] = {}
        self._moments: dict[str, datetime | None] = {"": None}

    def row(self, cells: list[str], line: int) -> VoteRow:
        """Return the vote of a row. Raises _Bad, for the first of its cells that is wrong."""
        proposition = self._proposition_cells(cells)
        seen = self._seen
        if proposition != seen.cells:
            seen = self._seen = _proposition(proposition)
        vote_cells = self._vote_cells(cells)
        vote = self._votes.get(vote_cells) or self._vote_of(vote_cells)
        count = _count(cells[self._occurrence]) if self._occurrence is not None else 1
        moment = None
        if self._created_at is not None:
            text = cells[self._created_at]
            moment = self._moments[text] if text in self._moments else self._moment_of(text)
        _, story, actor, belief = seen
        return vote_row((line, story, actor, belief, *vote, count, moment))

    def _moment_of(self, text: str) -> datetime | None:
        moment = _moment(text.strip())
        _remember(self._moments, text, moment, len(text))
        return moment

    def _vote_of(self, cells: tuple[str, ...]) -> tuple[str, str, str]:
        """Return dimension, annotator and label, as the schema writes it."""
        dimension, annotator, label = (cell.strip() for cell in cells)
        if dimension not in self._schema:
            raise _Bad(
                Sentence(
                    "dimension is {dimension}; expected one of {keys}.",
                    dimension=repr(dimension[:40]),
                    keys=", ".join(self._schema.keys),
                )
            )
        if not 0 < len(annotator) <= 150:
            raise _Bad(gettext_noop("annotator is empty or longer than 150 characters."))
        canonical = self._labels.get((dimension, label.lower())) or self._labels.get((dimension, as_displayed(label)))
        if canonical is None:
            values = ", ".join(self._schema[dimension].values)
            raise _Bad(
                Sentence("label is {cells}; expected one of {values}.", cells=repr(cells[2][:40]), values=values)
            )
        vote = dimension, restored(annotator), canonical
        _remember(self._votes, cells, vote, sum(map(len, cells)))
        return vote


def _remember(cache: dict[Any, Any], cells: Any, meaning: Any, length: int) -> None:
    """Remember what cells mean, unless they are long or very many are known."""
    if length <= _LONGEST:
        if len(cache) >= _MOST:
            cache.clear()
        cache[cells] = meaning


def _proposition(cells: tuple[str, ...]) -> _Proposition:
    story, actor, belief = cells
    number = as_displayed(story)
    if not number.isdecimal() or len(number) > 18:
        raise _Bad(Sentence("story_id is {number}; expected a whole number.", number=repr(number[:40])))
    return _Proposition(cells, int(number), restored(actor), restored(belief))


def _count(text: str) -> int:
    raw = as_displayed(text) or "1"
    if not raw.isdecimal() or not 1 <= int(raw[:9]) < 10**6:
        raise _Bad(
            Sentence(
                "occurrence is {raw}; expected 1 for the first of equal propositions, 2 for the second.",
                raw=repr(raw[:40]),
            )
        )
    return int(raw)


def _moment(raw: str) -> datetime | None:
    if not raw:
        return None
    try:
        moment = datetime.fromisoformat(raw)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _Bad(
            Sentence("created_at is {raw}; expected a time such as 2026-10-05T09:30:00Z.", raw=repr(raw[:40]))
        ) from error
