"""Votes kept in a spreadsheet: one row a vote (the contract of `import_votes`)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from annotation.domain.columns import as_displayed, columns_of, restored
from annotation.domain.problems import LeftOut, Problem
from annotation.domain.schema import Schema
from core.incoming.sheets import SheetRow
from core.messages import Sentence, capitalised, gettext_noop

REQUIRED = ("story_id", "actor", "belief", "dimension", "annotator", "label")
_OPTIONAL: Mapping[str, tuple[str, ...]] = {"occurrence": (), "created_at": ("changed_at",)}


_REMEMBERED = 1024
"""Cells whose meaning is remembered: neighbouring rows share most of their texts."""


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


class _Bad(ValueError):
    pass


def read_votes(sheet: Iterable[SheetRow], file: str, schema: Schema, left_out: LeftOut) -> Iterator[VoteRow | Problem]:
    """Yield the votes of a spreadsheet in order, with a Problem in place of each row that cannot be used. Raises
    WrongColumns and BadSheet."""
    rows = iter(sheet)
    header = next(rows, SheetRow(1, []))
    at, unused = columns_of(header.cells, file, required=REQUIRED, spellings=_OPTIONAL, line=header.line)
    left_out.add(unused)
    places = [at[name] for name in REQUIRED]
    proposition_cells, vote_cells = itemgetter(*places[:3]), itemgetter(*places[3:])
    occurrence, created_at = (at.get(name) for name in _OPTIONAL)
    vote_of = lru_cache(_REMEMBERED)(_vote_reader(schema))
    for line, cells, problem in rows:
        try:
            if problem:
                raise _Bad(capitalised(problem))
            proposition, vote = _proposition(*proposition_cells(cells)), vote_of(*vote_cells(cells))
            count = _count(cells[occurrence]) if occurrence is not None else 1
            moment = _moment(cells[created_at].strip()) if created_at is not None else None
            yield VoteRow(line, *proposition, *vote, count, moment)
        except _Bad as error:
            yield Problem(file, line, str(error))


@lru_cache(1)
def _proposition(story: str, actor: str, belief: str) -> tuple[int, str, str]:
    number = as_displayed(story)
    if not number.isdecimal() or len(number) > 18:
        raise _Bad(Sentence("story_id is {number}; expected a whole number.", number=repr(number[:40])))
    return int(number), restored(actor), restored(belief)


def _vote_reader(schema: Schema) -> Callable[[str, str, str], tuple[str, str, str]]:
    """Return a function of three cells to dimension, annotator and label, as the schema writes it. It raises _Bad."""
    labels = {(dimension.key, value.lower()): value for dimension in schema.dimensions for value in dimension.values}

    def vote(dimension: str, annotator: str, label: str) -> tuple[str, str, str]:
        dimension, annotator, bare = dimension.strip(), annotator.strip(), label.strip()
        if dimension not in schema:
            sentence = gettext_noop("dimension is {dimension}; expected one of {keys}.")
            raise _Bad(sentence.format(dimension=repr(dimension[:40]), keys=", ".join(schema.keys)))
        if not 0 < len(annotator) <= 150:
            raise _Bad(gettext_noop("annotator is empty or longer than 150 characters."))
        canonical = labels.get((dimension, bare.lower())) or labels.get((dimension, as_displayed(bare)))
        if canonical is None:
            values = ", ".join(schema[dimension].values)
            raise _Bad(Sentence("label is {cells}; expected one of {values}.", cells=repr(label[:40]), values=values))
        return dimension, restored(annotator), canonical

    return vote


def _count(text: str) -> int:
    raw = as_displayed(text) or "1"
    if not raw.isdecimal() or not 1 <= int(raw[:9]) < 10**6:
        sentence = gettext_noop(
            "occurrence is {raw}; expected 1 for the first of equal propositions, 2 for the second."
        )
        raise _Bad(sentence.format(raw=repr(raw[:40])))
    return int(raw)


@lru_cache(_REMEMBERED)
def _moment(raw: str) -> datetime | None:
    if not raw:
        return None
    try:
        moment = datetime.fromisoformat(raw)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        sentence = gettext_noop("created_at is {raw}; expected a time such as 2026-10-05T09:30:00Z.")
        raise _Bad(sentence.format(raw=repr(raw[:40]))) from error
