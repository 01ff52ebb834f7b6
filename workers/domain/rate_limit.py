"""The rate limit of one endpoint, shared by the whole fleet: a leaky bucket whose rate adapts to what the provider
refuses.

Calls get start times one interval apart. The first calls of an endpoint, as many as may be in flight, open it: they
start within half a second, and what of them is refused says how much the provider's bucket held, not how fast it
refills. After a refused opening the rate begins low; it doubles quickly until the next refusal (429). A refusal says
that the provider's own bucket is empty; so between two of them the provider let through exactly what it refills, and
the calls that it accepted in between, divided by the time, are its limit. The rate goes just under that and probes
upward slowly. Until there is such an estimate it is halved. Known limits (the endpoint's settings, the provider's
headers) cap it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from core.messages import Sentence, gettext_noop
from core.plain import Json

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
        """Return the seconds until calls may start; `now` in seconds of a monotonic clock."""
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


START, FLOOR, TOP = 30.0, 0.5, 10_000.0
"""Calls a second: where an endpoint begins, and where no refusal and no success brings it beyond."""
DOUBLING = 0.25
"""Seconds in which the rate doubles before the first refusal."""
OPENING = 0.5
"""Seconds in which an endpoint's first calls start, as many as may be in flight where no limit is known; the first
refusal ends that."""
HORIZON = 0.06
"""Seconds ahead that start times are given out: what is given out cannot be slowed any more."""
BEHIND = 0.15
"""Seconds of lateness of the fleet that are made up for by sending closer together."""
UNDER, PROBE = 0.98, 0.005
"""The share of an estimated limit that is used; a first step upward."""
STEADY = 1.5
"""Seconds between two refusals from which on they give an estimate."""
FILLED = 5.0
"""Seconds after which what the provider's bucket held before weighs little in an estimate."""
EVEN = 0.9
"""A mean rate below this share of the newest one says that the rate rose meanwhile."""
FIRST = 0.5
"""The part of the speed of the last second that is kept after a first refusal: the bucket's content came with it."""
CUTS, DEEPEST = (0.85, 0.7, 0.5), 8
"""Factors after refusals that follow each other too fast for an estimate; the deepest such cut, as a part of the
ceiling."""
REST = 0.4
"""Seconds without a start after a refusal: what was given out before is still arriving at an empty bucket."""
GROWTH = 1.25
"""The factor a second by which the rate rises while its limit is not estimated."""
CONFIRMED = 0.8
"""The share of all calls that must have been answered before the rate doubles once more."""
PATIENCE = 15.0
"""Seconds without a refusal after which the steps upward grow."""
LIMIT_SHARE = 0.98
"""The share of a limit in the headers that is used."""
ALL_REFUSED, SILENCE = 8, 2.0
"""Refusals in a row, and seconds with nothing accepted, after which the whole endpoint pauses."""


@dataclass(slots=True)
class RateLimit:
    """The state of a rate limit, which its methods change: one call after another, under the lock of its row. Times are
    seconds since the epoch, `rate` is in calls a second, `token_rate` in tokens a second (0: no limit).

    `speed` is how fast start times were asked for of late, in calls a second (a mean that forgets within a second).
    `booked` counts start times ever given out, and is the position of the last of them, `opened` those of the opening;
    `denied` counts refusals. The estimate runs from the call at position `mark_booked`, which started at `mark_at`;
    `filled` says that the provider's bucket may have held something then.
    """

    rate: float = START
    next_at: float = 0.0
    ceiling: float = 0.0
    changed_at: float = 0.0
    raised_at: float = 0.0
    bound_at: float = 0.0
    demanded_at: float = 0.0
    speed: float = 0.0
    booked: int = 0
    opened: int = 0
    denied: int = 0
    answered: int = 0
    lowered_booked: int = 0
    mark_booked: int = 0
    mark_denied: int = 0
    mark_at: float = 0.0
    filled: bool = True
    estimated: bool = False
    cuts: int = 0
    header_rate: float = 0.0
    tokens_next_at: float = 0.0
    blocked_until: float = 0.0
    reason: str = ""
    refused_in_a_row: int = 0
    accepted_at: float = 0.0

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> RateLimit:
        """Return the state that `as_json` wrote; that of an endpoint without calls is empty."""
        return cls(**state)

    def as_json(self) -> Json:
        return asdict(self)

    def room(self, *, now: float, most: float, flight: int = 0) -> int:
        """Return how many calls may be given a start within the horizon. `most` is the endpoint's own limit in calls a
        second, 0 for none, `flight` how many calls may be in flight, 0 where that is not known."""
        if now < self.blocked_until:
            return 0
        ahead = max(self.next_at - now, -BEHIND)
        return max(0, int((HORIZON - ahead) * self._rate(most, flight) + 1)) if ahead < HORIZON else 0

    def start_times(
        self, tokens: Sequence[int], *, now: float, most: float, token_rate: float, flight: int = 0
    ) -> list[float]:
        """Book a start for each call and return them in order. `tokens`: how many each call is expected to use."""
        opening = self._opens(most, flight)
        self.speed = self.speed * math.exp(self.demanded_at - now) + (0 if opening else len(tokens))
        self.demanded_at = now
        # Where something else than the rate held calls back, the provider's bucket filled: an estimate begins anew.
        if now - self.bound_at > 1.0:
            self.mark_booked, self.mark_denied, self.mark_at, self.filled = self.booked, self.denied, now, True
        if self.next_at > now - HORIZON or not self.booked:
            self.bound_at = now
        if not self.ceiling and not opening:
            self._grow(now)
        starts = []
        for count in tokens:
            start = max(now - BEHIND, self.next_at, self.tokens_next_at if token_rate else 0.0)
            self.next_at = start + 1.0 / self._rate(most, flight)
            if token_rate:
                self.tokens_next_at = max(start, self.tokens_next_at) + count / token_rate
            starts.append(max(now, start))
        self.booked += len(starts)
        if opening:
            self.opened = self.booked
        return starts

    def correct_tokens(self, excess: int, token_rate: float) -> None:
        """Give back the tokens that were booked and not used; a negative excess takes more."""
        if token_rate:
            self.tokens_next_at -= excess / token_rate

    def learn(self, limit: float | None, left: float | None, reset: float | None, *, now: float) -> None:
        """Take what the provider's headers say: requests a minute, requests left, seconds until the count resets."""
        if limit:
            self.header_rate = limit / 60.0
        if left is not None and left <= 0 and reset:
            self._block(
                now + min(reset, 60.0),
                gettext_noop("the provider's headers say that the minute's requests are used up"),
            )

    def succeeded(self, count: int, *, now: float) -> None:
        """Take `count` answers, after which the rate may rise."""
        self.refused_in_a_row, self.accepted_at = 0, now
        self.answered += count
        if self.opened and not self.denied:  # the provider took them all at once
            self.rate = max(self.rate, self.opened / OPENING)
        if not self.ceiling or now - self.raised_at < 1.0 or now - self.bound_at > 1.0:
            return
        self.raised_at = now
        near = self.ceiling * UNDER
        bolder = min(10.0, 1.0 + max(0.0, now - self.changed_at - PATIENCE) / 5)  # the longer nothing is refused
        if self.rate >= near * UNDER:
            self.rate *= 1 + PROBE * bolder
        else:
            self.rate = (self.rate + near) / 2 if self.estimated else min(near, self.rate * GROWTH)
        self.ceiling = max(self.ceiling, self.rate)

    def refused(self, *, position: int, started: float, now: float, pause: float) -> None:
        """Take a 429 for the call at `position`, which started at `started` and itself waits for `pause` seconds."""
        self.refused_in_a_row += 1
        self.denied += 1
        if self.refused_in_a_row >= ALL_REFUSED and now - self.accepted_at > SILENCE:
            self._block(
                now + pause,
                Sentence("the last {refused_in_a_row} calls were all refused", refused_in_a_row=self.refused_in_a_row),
            )
        if position <= self.opened:
            if not self.lowered_booked:
                self.lowered_booked, self.changed_at, self.raised_at = self.booked, now, now + REST
            self.next_at = max(self.next_at, self.changed_at + REST)
            self.mark_booked, self.mark_denied, self.mark_at = self.booked, self.denied, now
            return
        # Others had their start time before the rate was lowered, or met the bucket that those had emptied.
        grace = REST if self.estimated or (self.opened and not self.ceiling) else 0.0
        if position > self.lowered_booked and started > self.changed_at + grace:
            self._lower(position, started, now)
        if position > self.mark_booked:
            self.mark_booked, self.mark_denied, self.mark_at = position, self.denied, started
            self.filled = False

    def _lower(self, position: int, started: float, now: float) -> None:
        lasted = started - self.mark_at
        accepted = position - self.mark_booked - (self.denied - self.mark_denied)
        limit = max(FLOOR, accepted) / lasted if lasted >= STEADY else self.speed
        if limit < self.rate * EVEN:
            limit = math.sqrt(limit * self.rate)  # the limit lies between the mean and what the rate is now
        limit = min(self.rate, max(FLOOR, limit))
        if lasted >= STEADY and (not self.filled or lasted > FILLED):
            self.ceiling, self.estimated, self.cuts = limit, not self.filled, 0
            self.rate = limit * UNDER
        elif self.filled:
            self.ceiling, self.estimated, self.cuts = self.rate, False, 0
            self.rate = limit * FIRST
        else:
            self.rate = max(self.rate * CUTS[min(self.cuts, len(CUTS) - 1)], self.ceiling / DEEPEST)
            self.estimated, self.cuts = False, self.cuts + 1
        self.rate = max(FLOOR, self.rate)
        self.changed_at = self.raised_at = now
        self.lowered_booked = self.booked
        self.next_at = max(self.next_at, now + max(REST, 1.0 / self.rate))

    def _grow(self, now: float) -> None:
        """Raise the rate by time; once there are answers, not beyond what they confirm."""
        if not self.raised_at or self.bound_at < now:
            self.raised_at = now  # the first calls, or something else than the rate held them back
            return
        steps = int((now - self.raised_at) / DOUBLING)
        if steps and (not self.answered or self.answered >= (self.booked - self.denied) * CONFIRMED):
            self.rate, self.raised_at = min(TOP, self.rate * 2 ** min(steps, 1 if self.answered else steps)), now

    def _block(self, until: float, reason: str) -> None:
        if until > self.blocked_until:
            self.blocked_until, self.reason = until, reason

    def _limit(self, most: float) -> float:
        limits = [limit for limit in (most, self.header_rate * LIMIT_SHARE) if limit]
        return min(limits) if limits else 0.0

    def _opens(self, most: float, flight: int) -> bool:
        """True while the next calls are of the opening: the endpoint's first ones, where no limit of it is known."""
        return self.booked < flight and self.booked == self.opened and not self.denied and not self._limit(most)

    def _rate(self, most: float, flight: int = 0) -> float:
        limit = self._limit(most)
        rate = max(self.rate, flight / OPENING) if self._opens(most, flight) else self.rate
        return max(FLOOR / 10, min(rate, limit) if limit else rate)
