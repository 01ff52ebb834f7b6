"""Several tables in one answer: parts of one table, or versions of it, of which the last counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from benchmark.suites.omnitom.parsing.cells import Row, Table
from benchmark.suites.omnitom.parsing.matching import fold, row_key

_OF_THE_STORY = (
    r"(?!\s+(?:\w+\s+)?(?:beliefs?|propositions?|knowledge|thoughts?|views?|states?|scenes?|parts?|sections?|"
    r"paragraphs?|acts?|days?))"
)
"""Behind a word that announces a version, unless that is said of what a story tells."""
_FINAL = re.compile(rf"\bfinal\b{_OF_THE_STORY}|最终|最后(?!一?[幕天]|场景|部分)", re.IGNORECASE)
_REVISED = re.compile(
    rf"\b(?:correct(?:ed|ions?|ing)|revis\w*|updat\w*|improv\w*|redo|rewrit\w*|"
    rf"(?:second|new|better) (?:attempt|version|draft|table)|version 2|v2)\b{_OF_THE_STORY}|修正|更正|修改|修订|重新",
    re.IGNORECASE,
)
_IN_A_SENTENCE = re.compile(r"\b(?:mistakes?|wrong|wait|actually|instead)\b", re.IGNORECASE)
"""Words that announce a version in a sentence; a heading with one may be about a belief."""
_DRAFT = re.compile(
    rf"\b(?:drafts?|rough|preliminary|initial|scratch|first (?:attempt|pass|version|try))\b"
    rf"{_OF_THE_STORY}|草稿|初稿|初步",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\b(?:orders?:? \d|parts?|scenes?|sections?|paragraphs?|continued|cont\.|rest|remaining|rows? \d|"
    r"additional|further|also|missed|more (?:rows|beliefs|propositions))\b|续|部分|补充",
    re.IGNORECASE,
)
_TITLE = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*\Z|__[^_]+__:?\s*\Z)")
_LONGEST_HEADING = 200


def names_a_version(line: str) -> bool:
    """Return whether a line announces another version of the table before it."""
    return len(line) <= _LONGEST_HEADING and bool(_FINAL.search(line) or _is_revised(line))


def _is_revised(heading: str) -> bool:
    lines = heading.split("\n")
    return any(_REVISED.search(line) or (_IN_A_SENTENCE.search(line) and not _TITLE.match(line)) for line in lines)


def joined(tables: Sequence[Table], *, restated: bool) -> list[Row]:
    """Return the rows that count. A table replaces the tables before it if its heading says so, if it repeats half of
    their rows, or, with `restated`, if it has rows of the same actors and orders in other words, unless both have a
    title of Markdown. Rows of any other
    table are added, or replace equal ones; those under the heading of a part are always added."""
    rows: list[Row] = []
    earlier = ""
    for table in tables:
        heading = _heading(table.lead)
        if not rows or _replaces(earlier, rows, heading, table.rows, restated):
            rows = list(table.rows)
        elif _PART.search(heading):
            rows = [*rows, *table.rows]
        else:
            rows = _merged(rows, table.rows)
        earlier = heading
    return rows


def _replaces(earlier: str, rows: Sequence[Row], heading: str, later: Sequence[Row], restated: bool) -> bool:
    before, after = {_key(row) for row in rows}, {_key(row) for row in later}
    if _FINAL.search(heading):
        return True
    if after < before:  # some rows of the table again, which are merged
        return False
    if 2 * len(later) >= len(rows) and (_is_revised(heading) or _DRAFT.search(earlier)):
        return True
    if _PART.search(heading) or (_has_title(earlier) and _has_title(heading)):
        return False
    repeated = len(before & after)
    return 2 * repeated >= len(before) or (restated and not repeated and _restates(rows, later))


def _heading(lead: Sequence[str]) -> str:
    """Return the text in front of a table from its last heading on, at most three lines."""
    return "\n".join([line[:_LONGEST_HEADING] for line in lead if line][-3:])


def _has_title(heading: str) -> bool:
    return any(map(_TITLE.match, heading.split("\n")))


def _key(row: Row) -> str:
    actor, belief, _ = row.proposition()
    return row_key(actor, belief)


def _restates(rows: Sequence[Row], later: Sequence[Row]) -> bool:
    """Return whether each row has another of the same actor and order in the later table, which is not divided by
    actors or orders."""
    before, after = (
        Counter((fold(actor), fold(order)) for actor, _, order in _propositions(side)) for side in (rows, later)
    )
    return before <= after


def _propositions(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    return [row.proposition() for row in rows]


def _merged(rows: Sequence[Row], later: Sequence[Row]) -> list[Row]:
    """Return the rows of both, those of `later` in the place of equal earlier ones."""
    if not rows:
        return list(later)
    by_key = {_key(row): row for row in later}
    earlier = {_key(row) for row in rows}
    return [by_key.get(_key(row), row) for row in rows] + [row for row in later if _key(row) not in earlier]
