"""Predicted propositions, labels and match counts, as a person reads them off an answer."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from benchmark.suites.omnitom.data import GoldRow
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, ORDER, Labels, Scheme
from benchmark.suites.omnitom.parsing.cells import (
    FENCE,
    RULE,
    Header,
    Row,
    cells_at,
    header_of,
    lines_of,
    names_of,
    split_cells,
)
from benchmark.suites.omnitom.parsing.official import JudgedRow
from benchmark.suites.omnitom.parsing.tables import rows_of
from benchmark.suites.omnitom.parsing.values import (
    by_position,
    is_blank,
    object_in,
    pair,
    place_of,
    repaired,
    row_key,
    rows_in,
    text_of,
)
from core.incoming.embedded_json import plain_name, values_in
from judge.domain.judgements import PassVerdict
from judge.domain.text import key, normalise_space

Counts = list[int | None]

_HEADING_MARKS = re.compile(r"^[\s#>*_\-\[(\"“'`=\ufeff]*(?:\d{1,2}[.)]\s*)?[\s#>*_\[(\"“'`]*")
_PREDICTION = re.compile(r"(?:the\s+)?predict(?:ions?|ed)\b", re.IGNORECASE)
_GOLD = re.compile(r"(?:the\s+)?(?:ground[\s_-]*truths?|gt|gold|reference)\b", re.IGNORECASE)
_COUNT = re.compile(r"\d{1,6}(?:\.0+)?")
_SIDES = ("predictions", "gold")


# --- propositions and labels


class PredictedRow(NamedTuple):
    """A proposition; `officially` is (actor, belief) as official parsing shows it to a judge, where that differs."""

    actor: str
    belief: str
    order: str
    officially: tuple[str, str] | None = None


def parse_extraction(text: str, *, structured: bool = False, scheme: Scheme = OMNITOM_SCHEME) -> list[PredictedRow]:
    """The propositions of an answer, in its order: of its JSON (`rows`), otherwise of its tables. Of a `structured`
    answer only tables in JSON count.

    Rows without an actor or a belief are not propositions. Without a header a line counts only if it ends in an order,
    so that prose with pipes stays out; by a scheme without orders none does.
    """
    value = object_in(text)
    if value and value["rows"] == []:
        return []
    if rows := rows_in(value, "rows"):
        cells = ([text_of(row.get(name)) for name in ("actor", "belief", "order")] for row in rows)
        predicted = [PredictedRow(actor, belief, order) for actor, belief, order in cells]
    else:
        lines = rows_of(text, names_of(scheme), restated=True, only_json=structured)
        predicted = [row for line in lines if (row := _row(line, scheme))]
    tidy = []
    for row in predicted:
        belief = normalise_space(row.belief).rstrip(".").rstrip()
        order = repaired(ORDER, row.order, scheme) if scheme.ordered else ""
        tidy.append(row._replace(actor=normalise_space(row.actor), belief=belief, order=order))
    return [row for row in tidy if row.actor and row.belief]


def _row(line: Row, scheme: Scheme) -> PredictedRow | None:
    cells = line.cells
    for read in line.header.readings(cells) if line.header else ():
        if line.is_sure or not scheme.ordered or _is_order(read.get(ORDER, ""), scheme):
            return _predicted(cells, read["actor"], read["belief"], read.get(ORDER, ""))
    if line.header or not scheme.ordered:
        return None
    # The last cell that is an order ends the proposition: pipes before it are the belief's, cells after it remarks.
    # An order in digits only goes before any other.
    ends = [at for at, cell in enumerate(cells) if at > 1 and not is_blank(cell) and _is_order(cell, scheme)]
    ends = [at for at in ends if cells[at].isdecimal()] or ends
    if not ends or ends[-1] not in (2, len(cells) - 1):
        return None
    return _predicted(cells, cells[0], " | ".join(cells[1 : ends[-1]]), cells[ends[-1]])


def _predicted(cells: tuple[str, ...], actor: str, belief: str, order: str) -> PredictedRow:
    """Official parsing cuts a belief at its first pipe; a judge who was shown that table judged the cut row."""
    if "|" not in belief or key(cells[0]) != key(actor):
        return PredictedRow(actor, belief, order)
    return PredictedRow(actor, belief, order, (cells[0], belief.split("|")[0].strip()))


@lru_cache(maxsize=8192)
def _is_order(text: str, scheme: Scheme) -> bool:
    return is_blank(text) or repaired(ORDER, text, scheme) in scheme.legal[ORDER] or text.strip().isdecimal()


def says_nothing(text: str, scheme: Scheme = OMNITOM_SCHEME) -> bool:
    """Return whether an answer is a table without rows: an empty list of `rows`, or a header with nothing but rules
    below it."""
    value = object_in(text, listed=True)
    if value is not None:
        return bool(value["rows"] == [])
    names, lines = names_of(scheme), [line for line in lines_of(text) if line and not FENCE.match(line)]
    while lines and all(RULE.fullmatch(cell) for cell in split_cells(lines[-1])):
        lines.pop()
    return bool(lines) and header_of(lines[-1], names) is not None and not rows_of(text, names)


def parse_labels(
    text: str, gold: Sequence[GoldRow], *, structured: bool = False, scheme: Scheme = OMNITOM_SCHEME
) -> list[Labels | None]:
    """Return, for each of the `gold` rows that were shown, in their order, its labels of the scheme; None where the
    answer has no row.

    A structured row names its gold row by `id`, counted from 1, or by actor and belief; a table row by actor and
    belief. A table is not a `structured` answer.
    """
    rows = rows_in(object_in(text), "rows")
    if rows and not any("actor" in row for row in rows):
        labels_by_row, twice = dict[int, Labels](), set[int]()
        for row in rows:
            if (at := place_of(row.get("id"), len(gold))) is not None:
                labels = _labels(_structured(row, scheme), scheme)
                if labels_by_row.setdefault(at, labels) != labels:
                    twice.add(at)  # two rows that give one id different labels leave it without any
        return [None if at in twice else labels_by_row.get(at) for at in range(len(gold))]
    read = [_structured(row, scheme) for row in rows]
    keys = [row_key(row.actor, row.belief) for row in gold]
    of_gold = set(keys)
    for line in () if rows else rows_of(text, names_of(scheme), only_json=structured):
        header = line.header
        if not header or not set(scheme.keys) & header.columns.keys():
            names = ("actor", "belief", *scheme.keys)
            header = Header("|", {name: at for at, name in enumerate(names)}, len(names))
        ways = header.readings(line.cells)  # of a line with cells too many, the one that names a gold row counts
        read += [*(way for way in ways if row_key(way["actor"], way["belief"]) in of_gold), *ways][:1]
    places = pair(keys, [row_key(row["actor"], row["belief"]) for row in read])
    places = by_position(places, [row.actor for row in gold], [row["actor"] for row in read])
    return [None if place is None else _labels(read[place], scheme) for place in places]


def _structured(row: Mapping[str, Any], scheme: Scheme) -> dict[str, str]:
    named = {dimension: text_of(row.get(plain_name(dimension))) for dimension in scheme.keys}
    return named | {name: text_of(row.get(name)) for name in ("actor", "belief")}


def _labels(row: Mapping[str, str], scheme: Scheme) -> Labels:
    return tuple(repaired(dimension, row.get(dimension, ""), scheme) for dimension in scheme.keys)


# --- judgements


def parse_counts(
    text: str, predicted: Sequence[PredictedRow], gold: Sequence[GoldRow], *, structured: bool = False
) -> tuple[Counts, Counts]:
    """The count of each predicted row and of each gold row that the judge was shown; None where it gave none.

    Structured: `{"predictions": [{"id", "matches": [ids]}], "gold": […]}`, ids counted from 1, a count is the number of
    distinct matches. Tables are no `structured` judgement. Equal rows share a count: the judge need not repeat itself.
    """
    if structured or values_in(text).object_with(*_SIDES):
        sides = linked(text, len(predicted), len(gold))
        first, second = ([verdict and verdict.count for verdict in side] for side in sides)
        return first, second
    sections = _judged_tables(text)
    keys = [(row.actor, row.belief, row.officially) for row in predicted]
    return _counted(keys, sections[0]), _counted([(row.actor, row.belief, None) for row in gold], sections[1])


def linked(
    text: str, predicted: int, gold: int, *, cannot_tell: bool = False
) -> tuple[list[PassVerdict | None], list[PassVerdict | None]]:
    """Return what a structured judgement says of each of `predicted` and `gold` rows, None of a row that it leaves out.
    Each side counts from the last object that has it. With `cannot_tell`, a row may say that of itself."""
    values, sides = values_in(text), []
    for name, size, other in zip(_SIDES, (predicted, gold), (gold, predicted), strict=True):
        verdicts: dict[int, PassVerdict | None] = {}
        for row in rows_in(values.object_with(name), name):
            at, matches = place_of(row.get("id"), size), row.get("matches")
            verdict: PassVerdict | None = PassVerdict(None, ())
            if not cannot_tell or row.get("cannottell") is not True:
                if not isinstance(matches, list):
                    continue
                places = {place_of(match, other) for match in matches}
                there = sorted(place for place in places if place is not None)
                verdict = None if None in places else PassVerdict(len(places), tuple(there))
            if at is not None:  # one matched with a row that is not there, or twice with different counts, is left out
                first = verdicts.get(at, verdict)
                verdicts[at] = first if first and verdict and first.count == verdict.count else None
        sides.append([verdicts.get(at) for at in range(size)])
    return sides[0], sides[1]


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
    # keys that the judge counts more often than there are rows, and differently
    occurrences, counts_by_key = Counter(keys), defaultdict[str, list[int]](list)
    for name, row in zip(judged_keys, judged, strict=True):
        counts_by_key[name].append(row.count)
    unclear = {name for name, of in counts_by_key.items() if len(of) > occurrences[name] and len(set(of)) > 1}
    return [
        None if key in unclear else shared.get(key) if count is None else count
        for key, count in zip(keys, counts, strict=True)
    ]


def _judged_tables(text: str) -> tuple[list[JudgedRow], list[JudgedRow]]:
    """Both tables: of each side the last one that holds rows, as an answer may echo its input first."""
    tables: tuple[list[JudgedRow], list[JudgedRow]] = ([], [])
    side: int | None = None
    header: Header | None = None
    rows: list[JudgedRow] = []

    def judged(cells: Sequence[str]) -> JudgedRow | None:
        """A row with a count; cells too many are a belief that holds the delimiter."""
        fields = header.spread(header.cells(cells)) if header else None
        if not fields or not _COUNT.fullmatch(fields["count"]):
            return None
        return JudgedRow(fields["actor"], fields["belief"], int(fields["count"].partition(".")[0]))

    lines, at = lines_of(text), 0
    while at < len(lines):
        below, row, used = header_of(lines[at]), None, 1
        if below and "count" in below.columns:
            header = below
        else:
            if header:
                cells, used = cells_at(lines, at, header.delimiter, lambda cells: judged(cells) is not None)
                row = judged(cells)
            heading = _HEADING_MARKS.sub("", lines[at], count=1)
            if row:
                rows.append(row)
            elif (is_gold := _GOLD.match(heading) is not None) or _PREDICTION.match(heading):
                if side is not None and rows:
                    tables[side][:] = rows
                side, header, rows = int(is_gold), None, []
        at += used
    if side is not None and rows:
        tables[side][:] = rows
    return tables
