"""Lines by which an answer is compared with another model's: label by label, and proposition by proposition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmark.suites.items import MOST_LINES, ReadLine
from benchmark.suites.omnitom.item_pages import AskedRow, CountedRow, ExtractedRow, LabelledRow, item
from benchmark.suites.omnitom.step_keys import EXTRACT, FOLLOW_UP, LABEL
from benchmark.suites.questions import PARSES, ItemView
from core.messages import Sentence

YES, NO = "yes", "no"


def lines(view: ItemView) -> Sequence[ReadLine]:
    """Return the lines of an item: of a labelling each label of each gold proposition; of an extraction the
    propositions, whether gold has them in these words, which no mark is made of, as the judge decides; of a judgement
    how many predicted propositions each gold one was matched with; of a follow-up the same of the propositions that it
    is about."""
    step, page = view.question.step, item(view)
    if step == LABEL:
        return list(_labels(page))
    if step == EXTRACT:
        return list(_extracted(page))
    if step == FOLLOW_UP:
        return [
            ReadLine(about=_about(row), part=row.side, repaired=_times(row.count))
            for row in page["asked"].rows[:MOST_LINES]
        ]
    return [
        ReadLine(about=_about(row), official=_times(row.official), repaired=_times(row.repaired))
        for row in page["gold"]
    ]


def _labels(page: Mapping[str, Any]) -> Iterator[ReadLine]:
    for row in page["rows"]:
        for dimension, cell in zip(page["dimensions"], row.cells, strict=True):
            label = cell.predicted or None
            officially = label if cell.officially is None else cell.officially or None
            yield ReadLine(
                about=_about(row),
                part=dimension.short,
                gold=cell.gold,
                official=officially if page["official"] else None,
                repaired=label,
                right=cell.right if label else None,
                officially_right=officially == cell.gold if page["official"] and officially else None,
            )


def _extracted(page: Mapping[str, Any]) -> Iterator[ReadLine]:
    """Yield gold's propositions in its order, then what else was predicted."""
    read: dict[str, dict[str, str]] = {}
    for table in page["tables"]:
        for row in table.rows:
            for parse in PARSES if table.name == "Both parses" else [_parse_of(table.name)]:
                read.setdefault(_about(row), {})[parse] = YES
    gold = list(dict.fromkeys(map(_about, page["gold"])))
    answered = bool(page["tables"])
    for about in dict.fromkeys([*gold, *read]):
        parses = read.get(about, {})
        official, repaired = (parses.get(parse, NO if answered else None) for parse in PARSES)
        yield ReadLine(about=about, gold=YES if about in gold else NO, official=official, repaired=repaired)


def _parse_of(name: str) -> str:
    return "official" if name.startswith("Official") else "repaired"


def _about(row: ExtractedRow | AskedRow | CountedRow | LabelledRow) -> str:
    return f"{row.actor}: {row.belief}"


def _times(count: int | None) -> str | None:
    return None if count is None else Sentence("matched {count}", count=count)
