"""The rate of one endpoint, shared by the whole fleet: a leaky bucket whose rate adapts to what the provider refuses.

Calls get start times one interval apart. A refusal (429) of a call that was sent after the last change lowers the rate: to
just under what was accepted, where the rate stood long enough to know that, else by a third. Then it rises: quickly up to just under the
last refusal, slowly beyond. Known limits (the endpoint's settings, the provider's headers) cap it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

START, FLOOR = 150.0, 0.5
"""Calls a second: where an endpoint without a known limit begins, and where no refusal brings it below."""
HORIZON = 0.1
"""Seconds ahead that start times are given out: what is given out cannot be slowed any more."""
CUT, UNDER, TRUSTED = 0.7, 0.96, 2.0
QUICK, SLOW, LIMIT_SHARE = 1.25, 1.01, 0.98
ALL_REFUSED = 8
"""Refusals in a row, with nothing accepted between them, after which the whole endpoint pauses."""


@dataclass(slots=True)
class Pace:
    """Times are seconds since the epoch. `rate` in calls a second; `token_rate` in tokens a second, 0 for no limit."""

    rate: float = START
    next_at: float = 0.0
    ceiling: float = 0.0
    changed_at: float = 0.0
    raised_at: float = 0.0
    header_rate: float = 0.0
    tokens_next_at: float = 0.0
    blocked_until: float = 0.0
    reason: str = ""
    refused_in_a_row: int = 0
    accepted: list[list[float]] = field(default_factory=list)

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Pace:
        return cls(**state)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def room(self, *, now: float, most: float) -> int:
        """How many calls may be given a start within the horizon. `most`: the endpoint's own limit in calls a second, 0 for none."""
        if now < self.blocked_until:
            return 0
        ahead = max(0.0, self.next_at - now)
        return max(0, int((HORIZON - ahead) * self._rate(most) + 1)) if ahead < HORIZON else 0

    def start_times(self, tokens: Sequence[int], *, now: float, most: float, token_rate: float) -> list[float]:
        """A start for each call, in order, and books them. `tokens`: how many each is expected to use."""
        starts = []
        for count in tokens:
            start = max(now, self.next_at, self.tokens_next_at if token_rate else 0.0)
            self.next_at = start + 1.0 / self._rate(most)
            if token_rate:
                self.tokens_next_at = max(start, self.tokens_next_at) + count / token_rate
            starts.append(start)
        return starts

    def correct_tokens(self, excess: int, token_rate: float) -> None:
        """Gives back (negative: takes) what was booked beyond what was used."""
        if token_rate:
            self.tokens_next_at -= excess / token_rate

    def learn(self, limit: float | None, left: float | None, reset: float | None, *, now: float) -> None:
        """What the provider's headers say: requests a minute, requests left, seconds until more."""
        if limit:
            self.header_rate = limit / 60.0
        if left is not None and left <= 0 and reset:
            self._block(now + min(reset, 60.0), "the provider's headers say that the minute's requests are used up")

    def succeeded(self, count: int, *, now: float, most: float) -> None:
        self.refused_in_a_row = 0
        self._note(count, now)
        if now - self.raised_at < 1.0:
            return
        self.raised_at = now
        if self.ceiling and self.rate * QUICK > self.ceiling * LIMIT_SHARE:
            if now - self.changed_at > TRUSTED:
                self.rate = max(self.rate * SLOW, min(self.rate * QUICK, self.ceiling * LIMIT_SHARE))
        else:
            self.rate *= QUICK if self.ceiling else 2.0
        self.rate = min(self.rate, self._limit(most) or 10_000.0)

    def refused(self, *, sent_at: float, now: float, pause: float, most: float) -> None:
        """A 429 for a call sent at `sent_at`; `pause` is how long that call itself will wait."""
        self.refused_in_a_row += 1
        if self.refused_in_a_row >= ALL_REFUSED:
            self._block(now + pause, f"the last {self.refused_in_a_row} calls were all refused")
        if sent_at < self.changed_at:
            return  # it was on its way when the rate was lowered
        known = self._accepted_rate(now)
        stood = now - self.changed_at > TRUSTED and known > 0
        rate = self._rate(most)
        self.ceiling = min(rate, known) if stood else rate * CUT
        self.rate = max(FLOOR, min(rate, known) * UNDER if stood else rate * CUT)
        self.changed_at = self.raised_at = now
        self.next_at = max(self.next_at, now + 1.0 / self.rate)

    def _block(self, until: float, reason: str) -> None:
        if until > self.blocked_until:
            self.blocked_until, self.reason = until, reason

    def _limit(self, most: float) -> float:
        known = [one for one in (most, self.header_rate * LIMIT_SHARE) if one]
        return min(known) if known else 0.0

    def _rate(self, most: float) -> float:
        limit = self._limit(most)
        return max(FLOOR / 10, min(self.rate, limit) if limit else self.rate)

    def _note(self, count: int, now: float) -> None:
        second = float(int(now))
        if self.accepted and self.accepted[-1][0] == second:
            self.accepted[-1][1] += count
        else:
            self.accepted.append([second, float(count)])
        self.accepted = [one for one in self.accepted if one[0] > second - 6]

    def _accepted_rate(self, now: float) -> float:
        """Accepted calls a second over the whole seconds since the last change, at most five."""
        since = max(self.changed_at + 1, float(int(now)) - 5)
        whole = [count for second, count in self.accepted if since <= second < int(now)]
        return sum(whole) / len(whole) if whole else 0.0
