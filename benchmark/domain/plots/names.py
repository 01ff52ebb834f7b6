"""Names of models as labels: one line, printable, not too long, no two alike."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate

from benchmark.domain.plots.text_size import text_width
from benchmark.domain.plots.theme import families
from core.messages import noted

ROOM = {"column": 84.0, "page": 140.0}
"""Points that a label may take in a figure of that width."""
LONGEST, SHORTEST = 30, 8
"""In widths of a Western letter; an East Asian one takes two."""
UNNAMED = "(no name)"
_BOX = "□"


def labels(names: Iterable[str], room: float = ROOM["page"]) -> list[str]:
    """Each name shortened in its middle, where names of one family differ least; what still coincides is numbered.

    `room` is in points; the number of a second and third comes on top.
    """
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        label = fitted(printable(name) or UNNAMED, room)
        seen[label] += 1
        unique.append(noted(label, seen[label]) if seen[label] > 1 else label)
    return unique


def fitted(text: str, room: float, weight: str = "normal") -> str:
    """A printable text, shortened in its middle to `room` points; never below `SHORTEST` letters."""
    sizes = (shortened(text, longest) for longest in range(LONGEST, SHORTEST, -1))
    return next(
        (candidate for candidate in sizes if text_width([candidate], weight=weight) <= room), shortened(text, SHORTEST)
    )


def printable(text: str) -> str:
    """Return the text without control and direction characters or towers of accents; a box stands for what no font at
    hand can draw."""
    characters: list[str] = []
    accents = 0
    for character in unicodedata.normalize("NFC", " ".join(text.split())):
        category = unicodedata.category(character)
        accents = accents + 1 if category in {"Mn", "Me"} else 0
        if category not in {"Cc", "Cf", "Cs"} and accents <= 2:
            characters.append(_BOX if _font(character) is None else character)
    return "".join(characters).strip()


@lru_cache(maxsize=4096)
def _font(character: str) -> int | None:
    """Return the index of the family that draws the character, None where none does."""
    if character.isascii():
        return 0
    from matplotlib.font_manager import FontProperties, fontManager, get_font

    fonts = (get_font(fontManager.findfont(FontProperties(family=family))) for family in families())
    return next((at for at, font in enumerate(fonts) if font.get_char_index(ord(character))), None)


def is_eastern(text: str) -> bool:
    """Return whether a character of a printable text is drawn by another than the first font."""
    return any(_font(character) for character in text)


def width(text: str) -> int:
    return sum(map(_width, text))


@lru_cache(maxsize=4096)
def _width(character: str) -> int:
    return 0 if unicodedata.combining(character) else 1 + (unicodedata.east_asian_width(character) in "WF")


def shortened(text: str, longest: int) -> str:
    if width(text) <= longest:
        return text
    return f"{_beginning(text, longest // 2)}…{_beginning(text[::-1], longest - 1 - longest // 2)[::-1]}"


def _beginning(text: str, longest: int) -> str:
    return text[: bisect_right(list(accumulate(map(_width, text))), longest)]
