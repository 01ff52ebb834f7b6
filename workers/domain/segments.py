"""The parts of a progress bar: one for each state that items are in, wide enough to be seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LEAST = 1.5
"""Per cent of the bar that a part takes at least: one failure of ten thousand must be seen."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the bar. `start` and `width` are in per cent of the bar."""

    state: str
    count: int
    start: float
    width: float

    @property
    def end(self) -> float:
        return round(self.start + self.width, 3)


def segments_of(counts: Mapping[str, int]) -> list[Segment]:
    """Return a segment for each state that has items, in the order of `counts`. Their widths add up to 100 per cent."""
    filled = {state: count for state, count in counts.items() if count > 0}
    total = sum(filled.values())
    raised = {state: max(LEAST, 100 * count / total) for state, count in filled.items()}
    small = {state: width for state, width in raised.items() if width == LEAST}
    # What small parts gain is taken from the others, each by its share.
    scale = (100 - sum(small.values())) / (sum(raised.values()) - sum(small.values()) or 1)
    segments, start = [], 0.0
    for state, count in filled.items():
        width = LEAST if state in small else raised[state] * scale
        segments.append(Segment(state, count, round(start, 3), round(width, 3)))
        start += width
    return segments
