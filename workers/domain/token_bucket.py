"""The token bucket that limits how fast one process starts calls, whatever its endpoints allow."""

from __future__ import annotations

from dataclasses import dataclass

RATE, BURST, FEWEST = 500.0, 24, 8
"""Calls a second; the most that start together; the fewest that are worth a turn."""


@dataclass(slots=True)
class TokenBucket:
    """A token for each call that may start now.

    Calls that start together are answered together, and then wait for each other: the answers of sixty-four keep the
    process busy for half of the time that a fast model took for them.
    """

    tokens: float = BURST
    filled_at: float = 0.0

    def pause(self, *, now: float) -> float:
        """Return the seconds until calls may start; 0 where `most` of them may now. `now` in seconds of any clock that
        only rises."""
        self.tokens = min(BURST, self.tokens + (now - self.filled_at) * RATE)
        self.filled_at = now
        return max(0.0, (FEWEST - self.tokens) / RATE)

    @property
    def most(self) -> int:
        """Number of calls that may start now."""
        return int(self.tokens)

    def take(self, count: int) -> None:
        """Spend the tokens of `count` calls."""
        self.tokens -= count
