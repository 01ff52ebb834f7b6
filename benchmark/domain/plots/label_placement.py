"""Placement of the numbers beside marks, so that none covers a mark or another number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

Point = tuple[float, float]
_MARK = 3.0


class LabelPlacer:
    """Greedy: the first free place around the mark, near ones first; the least crowded one where none is free."""

    def __init__(self, marks: Sequence[Point], size: tuple[float, float]) -> None:
        self.size = size
        self.taken = [(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for x, y in marks]

    def place(self, mark: Point, width: float, height: float) -> Point:
        """The middle of the text, in the unit of the marks."""
        best = min(
            self._around(mark, width, height),
            key=lambda candidate: (self._crowd(candidate, width, height), candidate[2]),
        )
        self.taken.append(_box(best, width, height))
        return best[0], best[1]

    def _around(self, mark: Point, width: float, height: float) -> Iterator[tuple[float, float, float]]:
        for step, (right, up) in product(
            (1.0, 2.2, 3.6), ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
        ):
            x = mark[0] + right * (_MARK + width / 2 + 1) * step
            y = mark[1] + up * (_MARK + height / 2) * step
            yield x, y, step

    def _crowd(self, place: tuple[float, float, float], width: float, height: float) -> float:
        a, b, c, d = _box(place, width, height)
        outside = a < -6 or b < 0 or c > self.size[0] + 6 or d > self.size[1] + 4
        over = sum(max(0.0, min(c, z) - max(a, x)) * max(0.0, min(d, w) - max(b, y)) for x, y, z, w in self.taken)
        return over + 1000 * outside


def _box(place: Sequence[float], width: float, height: float) -> tuple[float, float, float, float]:
    return place[0] - width / 2, place[1] - height / 2, place[0] + width / 2, place[1] + height / 2
