"""Official parses of a raw text, as `parse_outputs` prints them."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.suites.answers import Parser, Row, Tables
from benchmark.suites.omnitom.judge_alignment import align
from benchmark.suites.omnitom.judge_tables import JudgedRow, parse_judgement
from benchmark.suites.omnitom.pipe_tables import extraction_rows, label_rows
from benchmark.suites.omnitom.step_keys import EXTRACT, JUDGE, LABEL
from core.plain import Json


def _extract(text: str, tables: Tables) -> Json:
    return {"rows": extraction_rows(text)}


def _label(text: str, tables: Tables) -> Json:
    return {"rows": [row.cells() for row in label_rows(text)]}


def _judge(text: str, tables: Tables) -> Json:
    """The counts of the given rows, or the rows as parsed where none are given."""
    judgement = parse_judgement(text)
    pred, gold = (
        _counted(tables[side], judged) if side in tables else [row.keyed() for row in judged]
        for side, judged in (("pred", judgement.predictions), ("gold", judgement.gold))
    )
    return {"pred": pred, "gold": gold}


def _counted(rows: Sequence[Row], judged: Sequence[JudgedRow]) -> list[list[str | int]]:
    pairs = [(actor, belief) for actor, belief in rows]
    return [[*row, count] for row, count in zip(pairs, align(pairs, judged), strict=True)]


_ROWS = {
    "pred": "JSON [[actor, belief], …] of the predicted rows",
    "gold": "JSON [[actor, belief], …] of the gold rows",
}
PARSERS = {
    EXTRACT: Parser(_extract),
    LABEL: Parser(_label),
    JUDGE: Parser(_judge, options=_ROWS, columns=("actor", "belief")),
}
