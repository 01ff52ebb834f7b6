"""Matching of rows that say the same: the forgiving comparison, and pairing by it."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

from judge.domain.text import normalise_space

_DROPPED = dict.fromkeys(map(ord, '"“”„«»`*\\\u200b\u200c\u200d\u2060\ufeff'))
_ALIKE = str.maketrans({"’": "'", "‘": "'", "‛": "'", "–": "-", "—": "-"})
_AROUND_PIPE = re.compile(r"\s*\|\s*")
_OUTER = " '.。_"


def fold(text: str) -> str:
    """`text` without what models change at will: case, white space, quotes, emphasis, trailing periods."""
    plain = unicodedata.normalize("NFC", text).translate(_DROPPED).translate(_ALIKE)
    return normalise_space(plain).casefold().strip(_OUTER)


@lru_cache(maxsize=1024)  # the rows of a story are asked for once with each table that they are paired with
def row_key(actor: str, belief: str) -> str:
    """Return what rows are paired by. A pipe belongs to the text on either side of it, so that a split cell still
    pairs."""
    return _AROUND_PIPE.sub("|", f"{fold(actor)}|{fold(belief)}")


def pair(expected: Sequence[str], keys: Sequence[str]) -> list[int | None]:
    """Return, for each expected key, the index of its row in `keys`, the n-th of equal keys with the n-th; None without
    one."""
    waiting: dict[str, list[int]] = defaultdict(list)
    for at in range(len(keys) - 1, -1, -1):
        waiting[keys[at]].append(at)
    return [waiting[key].pop() if waiting.get(key) else None for key in expected]


def by_position(pairs: Sequence[int | None], expected: Sequence[str], keys: Sequence[str]) -> list[int | None]:
    """`pairs` with reworded rows filled in from their position; `expected` and `keys` are the rows' actors.

    Only where both tables have the same number of rows, more than half are paired, each with the row at its own place,
    and the actors agree: then there is one row left for one place.
    """
    paired = [at for at, place in enumerate(pairs) if place is not None]
    in_place = len(expected) == len(keys) and all(pairs[at] == at for at in paired)
    if not in_place or 2 * len(paired) <= len(expected):
        return list(pairs)
    return [at if place is None and fold(expected[at]) == fold(keys[at]) else place for at, place in enumerate(pairs)]
