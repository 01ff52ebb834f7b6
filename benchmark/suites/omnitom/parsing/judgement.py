"""Match counts, as a person reads them off a judge's answer."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchmark.suites.omnitom.data import GoldRow
from benchmark.suites.omnitom.parsing.cells import Header, cells_at, header_of, lines_of
from benchmark.suites.omnitom.parsing.extraction import PredictedRow
from benchmark.suites.omnitom.parsing.official import JudgedRow
from benchmark.suites.omnitom.parsing.values import by_position, pair, place_of, row_key, rows_in
from core.incoming.embedded_json import values_in
from judge.domain.judgements import PassVerdict

Counts = list[int | None]

_HEADING_MARKS = re.compile(r"^[\s#>*_\-\[(\"“'`=\ufeff]*(?:\d{1,2}[.)]\s*)?[\s#>*_\[(\"“'`]*")
_PREDICTION = re.compile(r"(?:the\s+)?predict(?:ions?|ed)\b", re.IGNORECASE)
_GOLD = re.compile(r"(?:the\s+)?(?:ground[\s_-]*truths?|gt|gold|reference)\b", re.IGNORECASE)
_COUNT = re.compile(r"\d{1,6}(?:\.0+)?")
_SIDES = ("predictions", "gold")


def parse_counts(
    text: str, predicted: Sequence[PredictedRow], gold: Sequence[GoldRow], *, structured: bool = False
) -> tuple[Counts, Counts]:
    """The count of each predicted row and of each gold row that the judge was shown; None where it gave none.

    Structured: `{"predictions": [{"id", "matches": [ids]}], "gold": […]}`, ids counted from 1, a count is the number of
    distinct matches. Tables are no `structured` judgement. Equal rows share a count: the judge need not repeat itself.
    """
    if structured or values_in(text).object_with(*_SIDES):
        sides = linked(text, len(predicted), len(gold))
        return _counts(sides[0]), _counts(sides[1])
    sections = _sections(text)
    keys = [(row.actor, row.belief, row.officially) for row in predicted]
    return _counted(keys, sections[0]), _counted([(row.actor, row.belief, None) for row in gold], sections[1])


def linked(
    text: str, predicted: int, gold: int, *, cannot_tell: bool = False
) -> tuple[list[PassVerdict | None], list[PassVerdict | None]]:
    """Return what a structured judgement says of each of `predicted` and `gold` rows, None of a row that it leaves out.
    Each side counts from the last object that has it. With `cannot_tell`, a row may say that of itself."""
    values = values_in(text)
    sides = zip(_SIDES, (predicted, gold), (gold, predicted), strict=True)
    first, second = (
        _by_id(rows_in(values.object_with(name), name), count, other, cannot_tell) for name, count, other in sides
    )
    return first, second


def _counts(side: Sequence[PassVerdict | None]) -> Counts:
    return [None if of_pass is None else of_pass.count for of_pass in side]


def _by_id(rows: Iterable[Mapping[str, Any]], size: int, other: int, cannot_tell: bool) -> list[PassVerdict | None]:
    """An id that is named twice with different counts, or matched with a row that is not there, is left out."""
    verdicts: dict[int, PassVerdict | None] = {}
    for row in rows:
        at, of_pass = place_of(row.get("id"), size), _verdict_in(row, other, cannot_tell)
        if at is None or of_pass is None:
            continue
        first = verdicts.get(at, of_pass)
        verdicts[at] = first if first and first.count == of_pass.count and of_pass is not _NOWHERE else None
    return [verdicts.get(at) for at in range(size)]


_NOWHERE = PassVerdict(-1, None)


def _verdict_in(row: Mapping[str, Any], other: int, cannot_tell: bool) -> PassVerdict | None:
    """Return what a row of JSON says, None where it says nothing, `_NOWHERE` where it matches a row that is not
    there."""
    if cannot_tell and row.get("cannottell") is True:
        return PassVerdict(None, ())
    matches = row.get("matches")
    if not isinstance(matches, list):
        return None
    places = {place_of(match, other) for match in matches}
    there = tuple(sorted(at for at in places if at is not None))
    return _NOWHERE if None in places else PassVerdict(len(places), there)


def _counted(rows: Sequence[tuple[str, str, tuple[str, str] | None]], judged: Sequence[JudgedRow]) -> Counts:
    keys = [row_key(actor, belief) for actor, belief, _ in rows]
    judged_keys = [row_key(row.actor, row.belief) for row in judged]
    places = pair(keys, judged_keys)
    cut = [
        row_key(*other) if other and place is None else "" for place, (_, _, other) in zip(places, rows, strict=True)
    ]
    left = set(range(len(judged))) - {place for place in places if place is not None}
    spare = [key if at in left else "-" for at, key in enumerate(judged_keys)]
    places = [place if place is not None else again for place, again in zip(places, pair(cut, spare), strict=True)]
    places = by_position(places, [row[0] for row in rows], [row.actor for row in judged])
    counts = [None if place is None else judged[place].count for place in places]
    shared = {key: count for key, count in zip(keys, counts, strict=True) if count is not None}
    unclear = _contradicted(keys, judged_keys, judged)
    return [
        None if key in unclear else shared.get(key) if count is None else count
        for key, count in zip(keys, counts, strict=True)
    ]


def _contradicted(keys: Sequence[str], judged_keys: Sequence[str], judged: Sequence[JudgedRow]) -> set[str]:
    """Keys that the judge counts more often than there are rows, and differently."""
    occurrences, counts_by_key = Counter(keys), defaultdict[str, list[int]](list)
    for key, row in zip(judged_keys, judged, strict=True):
        counts_by_key[key].append(row.count)
    return {key for key, counts in counts_by_key.items() if len(counts) > occurrences[key] and len(set(counts)) > 1}


def _sections(text: str) -> tuple[list[JudgedRow], list[JudgedRow]]:
    """Both tables: of each side the last one that holds rows, as an answer may echo its input first."""
    tables: tuple[list[JudgedRow], list[JudgedRow]] = ([], [])
    for side, rows in _tables(text):
        if side is not None and rows:
            tables[side][:] = rows
    return tables


def _tables(text: str) -> Iterator[tuple[int | None, list[JudgedRow]]]:
    side: int | None = None
    header: Header | None = None
    rows: list[JudgedRow] = []
    lines = lines_of(text)
    at = 0
    while at < len(lines):
        columns = _header(lines[at])
        cells, used = _cells(lines, at, header) if header and not columns else (None, 1)
        row = _row(cells, header) if cells and header else None
        heading = None if row or columns else _heading(lines[at])
        if heading is not None:
            yield side, rows
            side, header, rows = heading, None, []
        elif columns:
            header = columns
        elif row:
            rows.append(row)
        at += used
    yield side, rows


def _heading(line: str) -> int | None:
    """0 for the heading of the predictions, 1 for that of the gold rows."""
    heading = _HEADING_MARKS.sub("", line, count=1)
    return 0 if _PREDICTION.match(heading) else 1 if _GOLD.match(heading) else None


def _header(line: str) -> Header | None:
    header = header_of(line)
    return header if header and "count" in header.columns else None


def _cells(lines: Sequence[str], at: int, header: Header) -> tuple[Sequence[str], int]:
    cells, used = cells_at(lines, at, header.delimiter, lambda cells: _row(header.cells(cells), header) is not None)
    return header.cells(cells), used


def _row(cells: Sequence[str], header: Header) -> JudgedRow | None:
    """A row with a count; cells too many are a belief that holds the delimiter."""
    fields = header.spread(cells)
    if not fields or not _COUNT.fullmatch(fields["count"]):
        return None
    return JudgedRow(fields["actor"], fields["belief"], int(fields["count"].partition(".")[0]))
