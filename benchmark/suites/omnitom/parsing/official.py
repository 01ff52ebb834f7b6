"""Tables with pipes and judgements as official scoring reads them (specification "OmniToM scoring", section 2).

Columns of tables with pipes are positional, the header is only ever the first row, and whatever holds a pipe is a row.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import NamedTuple

from benchmark.suites.omnitom.labels import DIMENSIONS, Labels, canonical
from judge.domain.text import key, normalise_space

HEADINGS = ("Prediction Table:", "Ground Truth Table:")
PROPOSITION_COLUMNS = ("Actor", "Belief")
JUDGED_COLUMNS = (*PROPOSITION_COLUMNS, "MatchCount")
MAX_FIELD = 131_072
"""Characters that Python's csv module takes in one field; beyond that the released code ends with a traceback."""
_TOO_LONG = f"The text holds a CSV field of more than {MAX_FIELD:,} characters, at which official scoring aborts."
_SEPARATOR = re.compile(r":?-{3,}:?")
_PREDICTION = re.compile(r"predictions?\b")
_GOLD = re.compile(r"(?:ground\s*truth|gt)\b")


class OversizedField(ValueError):
    """A cell that the released code cannot read: its run ends there, without any figure."""


class ExtractionRow(NamedTuple):
    actor: str
    belief: str
    order: str


class LabelRow(NamedTuple):
    actor: str
    belief: str
    labels: Labels

    def cells(self) -> list[str]:
        return [self.actor, self.belief, *self.labels]


class JudgedRow(NamedTuple):
    """One row of a judge's table, texts space-normalised."""

    actor: str
    belief: str
    count: int  # type: ignore[assignment]  # it hides tuple.count, which rows have no use for

    def keyed(self) -> JudgedRow:
        """The row as alignment compares it."""
        return JudgedRow(key(self.actor), key(self.belief), self.count)


# --- tables with pipes


def cells(text: str) -> Iterator[list[str]]:
    """The trimmed cells of every line that holds a pipe, without separator rows."""
    for line in text.splitlines():
        if "|" not in line:
            continue
        cells = [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
        if not all(not cell or _SEPARATOR.fullmatch(cell) for cell in cells):
            yield cells


def _body(text: str, *, header_cells: int, least: int) -> Iterator[list[str]]:
    for at, row in enumerate(cells(text)):
        is_header = at == 0 and len(row) >= header_cells and key(row[0]) == "actor"
        if not is_header and len(row) >= least:
            yield [normalise_space(row[0]), normalise_space(row[1]).rstrip("."), *row[2:]]


def extraction_rows(text: str) -> list[ExtractionRow]:
    """Predicted propositions; rows without an actor or a belief stay. A blank before a removed period stays too."""
    body = _body(text, header_cells=3, least=3)
    return [ExtractionRow(actor, belief, normalise_space(order)) for actor, belief, order, *_ in body]


def label_rows(text: str) -> list[LabelRow]:
    """Labelled propositions: nine cells by position, further cells are ignored."""
    return [
        LabelRow(row[0], row[1], tuple(map(canonical, DIMENSIONS, row[2:9])))
        for row in _body(text, header_cells=2, least=9)
    ]


# --- tables that a judge is shown and answers with


def _written(header: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def belief_csv(rows: Iterable[tuple[str, str]]) -> str:
    """A table of (actor, belief) as the judge is shown it: header `Actor,Belief`, LF, texts as given."""
    return _written(PROPOSITION_COLUMNS, rows)


def judged_csv(rows: Iterable[tuple[str, str, int]]) -> str:
    """A table as the judge is asked to answer it: header `Actor,Belief,MatchCount`, LF."""
    return _written(JUDGED_COLUMNS, rows)


def judgement(predictions: Iterable[tuple[str, str, int]], gold: Iterable[tuple[str, str, int]]) -> str:
    """A judge's answer in the form that official scoring reads: two headed tables of actor, belief and count."""
    return "\n".join(f"{name}\n{judged_csv(rows)}" for name, rows in zip(HEADINGS, (predictions, gold), strict=True))


def predictions_csv(rows: Iterable[tuple[str, str]]) -> str:
    """Predicted rows (actor, belief) for the judge: space-normalised, none left out."""
    return belief_csv((normalise_space(actor), normalise_space(belief)) for actor, belief in rows)


def gold_csv(rows: Iterable[tuple[str, str]]) -> str:
    """Gold rows (actor, belief) for the judge: trimmed outside only, without those that lack an actor or a belief."""
    trimmed = ((actor.strip(), belief.strip()) for actor, belief in rows)
    return belief_csv((actor, belief) for actor, belief in trimmed if actor and belief)


# --- judgements


def match_count(value: object) -> int:
    """A MatchCount as a whole number, cut towards zero; 0 for whatever is not a finite number."""
    try:
        return int(float(str(value).strip()))
    except (ValueError, OverflowError):
        return 0


def is_prediction_heading(line: str) -> bool:
    return _PREDICTION.match(_heading(line)) is not None


def is_gold_heading(line: str) -> bool:
    return _GOLD.match(_heading(line)) is not None


def _heading(line: str) -> str:
    return normalise_space(line).lower().strip("*").strip(":")


def parse_judgement(text: str) -> tuple[list[JudgedRow], list[JudgedRow]]:
    """Both tables of a judge's text, predicted and gold rows in its order; a section that is not found has no rows.
    Raises OversizedField."""
    lines = text.splitlines()
    kinds = [(is_prediction_heading(line), is_gold_heading(line)) for line in lines]
    sections = []
    for side in (0, 1):
        # from the first heading of that side up to the next heading of either side
        start = next((at + 1 for at, kind in enumerate(kinds) if kind[side]), len(lines))
        end = next((at for at in range(start, len(lines)) if any(kinds[at])), len(lines))
        sections.append(list(_rows(lines[start:end])))
    return sections[0], sections[1]


def _rows(section: Sequence[str]) -> Iterator[JudgedRow]:
    """Yield the rows of the lines with a comma from the header on, until the first without one that follows such a
    line."""
    table: list[str] = []
    started = False
    for line in filter(None, (line.strip() for line in section)):
        lowered = line.lower()
        started = started or ("actor" in lowered and "matchcount" in lowered)
        if started and "," in line:
            table.append(line)
        elif table:
            break
    try:
        rows = [cells for cells in csv.reader(io.StringIO("\n".join(table))) if cells]
    except csv.Error as error:  # the only one left: lines were split at every line end before
        raise OversizedField(_TOO_LONG) from error
    check_fields(chain.from_iterable(rows))
    for cells in rows[1:]:
        row = dict(zip(rows[0], chain(cells, repeat("")), strict=False))
        actor, belief, count = (row[name] if name in row else row.get(name.lower(), "") for name in JUDGED_COLUMNS)
        yield JudgedRow(normalise_space(actor), normalise_space(belief), match_count(count))


def check_fields(cells: Iterable[str]) -> None:
    """Raise OversizedField where a cell is longer than the released code can read back."""
    if any(len(cell) > MAX_FIELD for cell in cells):
        raise OversizedField(_TOO_LONG)


def align(rows: Sequence[tuple[str, str]], judged: Iterable[JudgedRow]) -> list[int]:
    """The count of each of `rows` (actor, belief), in their order; 0 where the judge has no row left for it.

    Of several judged rows that are equal to one row the highest count is taken first, and each is used once. Counts
    are not capped and may be negative.
    """
    waiting: dict[tuple[str, str], list[int]] = defaultdict(list)
    for actor, belief, count in judged:
        waiting[key(actor), key(belief)].append(count)
    for counts in waiting.values():
        counts.sort()
    left = [waiting.get((key(actor), key(belief))) for actor, belief in rows]
    return [counts.pop() if counts else 0 for counts in left]
