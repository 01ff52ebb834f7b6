"""How fast one process starts calls, whatever its endpoints allow."""

from __future__ import annotations

from dataclasses import dataclass

RATE, BURST, FEWEST = 500.0, 24, 8
"""Calls a second; the most that start together; the fewest that are worth a turn."""


@dataclass(slots=True)
class Starts:
    """A token bucket. Calls that start together are answered together, and then wait for each other: the answers of sixty-four
    keep the process busy for half of the time that a fast model took for them."""

    credit: float = BURST
    at: float = 0.0

    def pause(self, *, now: float) -> float:
        """Seconds until calls may start; 0 where `most` of them may now. `now` in seconds of any clock that only rises."""
        self.credit = min(BURST, self.credit + (now - self.at) * RATE)
        self.at = now
        return max(0.0, (FEWEST - self.credit) / RATE)

    @property
    def most(self) -> int:
        return int(self.credit)

    def take(self, count: int) -> None:
        self.credit -= count
