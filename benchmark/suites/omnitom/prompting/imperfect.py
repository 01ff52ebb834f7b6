"""A made-up prediction for a gold table, wrong in known ways: what a judge is shown how to judge.

By rule, so that every count is known: of the first actor besides world that has two rows (else of world) the first two
are merged into one; the other rows are, in turn, copied, denied, reworded, left out and said twice.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from annotation.domain.schema import WORLD
from judge.domain.text import key

Pair = tuple[str, str]
LEAST_ROWS = 4
_OPENER = re.compile(
    r"(?:An?|All|Every|He|Her|His|Its?|Most|No|Nobody|Not|Nothing|She|Some|Somebody|Something|Th(?:at|e|eir|ere|ese|ey|is|ose))\b"
)


@dataclass(frozen=True, slots=True)
class Prediction:
    """Predicted rows (actor, belief), and which of them mean the same as which gold row: (place, place), from 0."""

    rows: tuple[Pair, ...]
    matches: tuple[tuple[int, int], ...]

    def counts(self, gold: int) -> tuple[list[int], list[int]]:
        """The count of each predicted row and of each of the `gold` rows."""
        sides = [Counter(pair[side] for pair in self.matches) for side in (0, 1)]
        return [sides[0][at] for at in range(len(self.rows))], [sides[1][at] for at in range(gold)]


def imperfect(gold: Sequence[Pair]) -> Prediction | None:
    """A prediction for the gold rows (actor, belief) in which the counts 0, 1 and 2 occur.

    None for fewer than LEAST_ROWS rows, rows that repeat each other, and where no actor has two rows.
    """
    merged = _to_merge(gold)
    keys = {(key(actor), key(belief)) for actor, belief in gold}
    if len(gold) < LEAST_ROWS or len(keys) < len(gold) or not merged:
        return None
    rows: list[Pair] = []
    matches: list[tuple[int, int]] = []
    turn = 0
    for at, (actor, belief) in enumerate(gold):
        if at in merged:
            if at == merged[0]:
                matches += [(len(rows), row) for row in merged]
                rows.append((actor, _joined(belief, gold[merged[1]][1])))
            continue
        turn_texts, matched = _TURNS[turn % len(_TURNS)]
        turn += 1
        if matched:
            matches.append((len(rows), at))
        rows += [(actor, text) for text in turn_texts(_bare(belief))]
    return Prediction(tuple(rows), tuple(matches))


def _to_merge(gold: Sequence[Pair]) -> tuple[int, int] | None:
    places: dict[str, list[int]] = defaultdict(list)
    for at, (actor, _) in enumerate(gold):
        places[key(actor)].append(at)
    people = [rows_of_actor for actor, rows_of_actor in places.items() if actor != WORLD]
    mergeable = next((rows_of_place for rows_of_place in (*people, places[WORLD]) if len(rows_of_place) > 1), None)
    return (mergeable[0], mergeable[1]) if mergeable else None


def _bare(belief: str) -> str:
    return belief.rstrip(". ")


def _inside(belief: str) -> str:
    """The belief as a clause: its first word is lower-cased where that is not a name."""
    return (
        _OPENER.sub(lambda match: match[0].lower(), _bare(belief), count=1) if _OPENER.match(belief) else _bare(belief)
    )


def _joined(first: str, other: str) -> str:
    return f"{_bare(first)}, and {_inside(other)}"


def _reworded(belief: str) -> str:
    return f"It is the case that {_inside(belief)}"


def _denied(belief: str) -> str:
    return f"It is not the case that {_inside(belief)}"


_TURNS: tuple[tuple[Callable[[str], list[str]], bool], ...] = (
    (lambda belief: [belief], True),
    (lambda belief: [_denied(belief)], False),
    (lambda belief: [_reworded(belief)], True),
    (lambda belief: [], False),
    (lambda belief: [belief, _reworded(belief)], True),
)
"""The rows instead of a gold row, and whether the first of it matches the row: a repetition gets nothing."""
