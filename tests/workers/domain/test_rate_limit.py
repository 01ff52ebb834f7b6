"""The shared rate limit against simulated providers: a token bucket that tells nothing but 429, met by workers that are
late at random."""

from __future__ import annotations

import heapq
import itertools
import random
from dataclasses import dataclass, field

import pytest

from workers.domain.rate_limit import BURST, FEWEST, FLOOR, OPENING, RATE, START, RateLimit, TokenBucket


@dataclass
class Bucket:
    """Refills `rate` tokens a second up to `burst`; `change` is (second, new rate)."""

    rate: float
    burst: float
    change: tuple[float, float] = (float("inf"), 0.0)
    tokens: float = field(init=False)
    last: float = 0.0

    def __post_init__(self) -> None:
        self.tokens = self.burst

    def takes(self, now: float) -> bool:
        rate = self.change[1] if now > self.change[0] else self.rate
        self.tokens = min(self.burst, self.tokens + (now - self.last) * rate)
        self.last = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


def simulated(bucket, *, calls, latency=0.2, workers=4, concurrency=64, late=(0.02, 0.1), seed=1):
    """(accepted times, refusals after the opening): `workers` take turns of `late` seconds; a refused call waits a
    second."""
    rnd, limit, count = random.Random(seed), RateLimit(), itertools.count()
    todo, flying, refusals, opening = calls, 0, 0, 0
    accepted, waiting = [], []
    unread = [[] for _ in range(workers)]
    events = [(rnd.random() * 0.5, next(count), "turn", worker, None) for worker in range(workers)]
    heapq.heapify(events)
    while events and len(accepted) < calls:
        now, _, kind, worker, what = heapq.heappop(events)
        if kind == "turn":
            outcomes, unread[worker] = unread[worker], []
            for fine, position, started in sorted(outcomes, key=lambda outcome: outcome[1]):
                flying -= 1
                if not fine:
                    limit.refused(position=position, started=started, now=now, pause=1.0)
                    waiting.append(now + 1.0)
            if good := sum(fine for fine, _, _ in outcomes):
                limit.succeeded(good, now=now)
            again = [at for at in waiting if at <= now]
            free = min(todo + len(again), concurrency - flying, limit.room(now=now, most=0, flight=concurrency))
            starts = (
                limit.start_times([1] * free, now=now, most=0, token_rate=0, flight=concurrency) if free > 0 else []
            )
            for at, start in enumerate(starts):
                if again:
                    waiting.remove(again.pop())
                else:
                    todo -= 1
                flying += 1
                position = limit.booked - len(starts) + at + 1
                sent = max(start, now) + rnd.uniform(*late)
                heapq.heappush(events, (sent, next(count), "send", worker, (position, start)))
            heapq.heappush(events, (now + 0.02 + rnd.uniform(*late), next(count), "turn", worker, None))
        elif kind == "send":
            fine = bucket.takes(now)
            refusals += not fine and what[0] > limit.opened
            opening += not fine and what[0] <= limit.opened
            accepted += [now] * fine
            wait = max(0.01, rnd.gauss(latency, latency / 4)) if fine else 0.005
            heapq.heappush(events, (now + wait, next(count), "done", worker, (fine, *what)))
        else:
            unread[worker].append(what)
    assert opening <= concurrency
    return accepted, refusals


def test_a_hidden_limit_is_used_and_hardly_ever_exceeded():
    for seed in [1, 2]:
        for bucket, calls, options in [
            (Bucket(40, 20), 2400, {}),
            (Bucket(40, 100), 3000, {}),
            (Bucket(40, 20), 2400, {"late": (0.05, 0.3)}),
            (Bucket(200, 50), 9000, {"concurrency": 200}),
            (Bucket(40, 20), 2400, {"latency": 2.0, "concurrency": 200}),
            (Bucket(5, 5), 900, {"latency": 4.0}),
        ]:
            bucket = Bucket(bucket.rate, bucket.burst)
            accepted, refusals = simulated(bucket, calls=calls, seed=seed, **options)
            # What the bucket held at first came besides the limit.
            share = (len(accepted) - bucket.burst) / (accepted[-1] - accepted[0]) / bucket.rate
            assert share > 0.85
            assert refusals / (calls + refusals) < 0.03


def test_the_first_calls_start_within_half_a_second_as_many_as_may_be_in_flight():
    accepted, _ = simulated(Bucket(10_000, 10_000), calls=640, latency=1.0, workers=1, late=(0.0, 0.01))
    assert accepted[63] - accepted[0] < 1.2 * OPENING
    assert accepted[-1] - accepted[0] < 10.5  # ten waves of a second: nothing held the second one back
    limit = RateLimit()
    starts = limit.start_times([1] * 6, now=100.0, most=2.0, token_rate=0, flight=64)
    assert starts[-1] - starts[1] == pytest.approx(2.0), "a known limit is kept from the first call on"


def test_a_refused_opening_says_nothing_of_the_limit_and_ends():
    limit = RateLimit()
    limit.start_times([1] * 30, now=100.0, most=0, token_rate=0, flight=64)
    for position in range(10, 31):
        limit.refused(position=position, started=100.0, now=100.1, pause=1.0)
    assert (limit.rate, limit.ceiling, limit.denied) == (START, 0.0, 21)
    assert limit.room(now=100.2, most=0, flight=64) == 0, "what was given out before is still arriving"
    assert limit.start_times([1], now=101.0, most=0, token_rate=0, flight=64) and limit.opened == 30


def test_a_limit_that_drops_is_found_again():
    # 20 + 30 s × 40 = 1220 calls at the old limit; the other 1180 take 79 s at 15 a second.
    accepted, refusals = simulated(Bucket(40, 20, change=(30.0, 15.0)), calls=2400)
    assert accepted[-1] < (30 + 1180 / 15) * 1.15
    assert refusals / 2400 < 0.03


def test_where_nothing_is_refused_only_the_answers_set_the_speed():
    # 6 at once with 0.2 s each and turns of 0.04 to 0.12 s: at most 30 a second, and more than half of that.
    accepted, refusals = simulated(Bucket(10_000, 10_000), calls=600, concurrency=6)
    assert refusals == 0 and 600 / accepted[-1] > 15


def test_starts_are_an_interval_apart_and_stay_below_the_endpoints_own_limit():
    limit = RateLimit()
    starts = limit.start_times([1] * 4, now=100.0, most=2.0, token_rate=0)
    # 2 a second; the first may be booked up to 0.15 s in the past, and starts now.
    assert starts == [100.0, pytest.approx(100.35), pytest.approx(100.85), pytest.approx(101.35)]
    assert limit.room(now=100.0, most=2.0) == 0


def test_tokens_a_minute_hold_calls_back_and_corrections_give_them_back():
    limit = RateLimit()
    first, second = limit.start_times([300, 300], now=100.0, most=0, token_rate=100.0)
    assert (first, second) == (100.0, pytest.approx(103, abs=0.2))
    before = limit.tokens_next_at
    limit.correct_tokens(200, 100.0)
    assert before - limit.tokens_next_at == pytest.approx(2.0)


def test_headers_cap_the_rate_and_an_empty_minute_blocks():
    limit = RateLimit()
    limit.learn(600, 20, 3.0, now=100.0)
    limit.start_times([1, 1], now=100.0, most=0, token_rate=0)
    assert limit.next_at == pytest.approx(99.85 + 2 / 9.8)  # 600 a minute are 10 a second, of which 98 % are used
    limit.learn(600, 0, 5.0, now=100.0)
    assert limit.room(now=104.9, most=0) == 0 and limit.room(now=105.1, most=0) > 0
    assert "used up" in limit.reason


def test_refusals_of_calls_that_had_their_start_before_do_not_lower_it_again():
    limit = RateLimit()
    limit.start_times([1] * 10, now=100.0, most=0, token_rate=0)
    limit.refused(position=1, started=100.0, now=100.1, pause=1.0)
    lowered = limit.rate
    for position in range(2, 11):
        limit.refused(position=position, started=100.0, now=100.2, pause=1.0)
    assert FLOOR <= lowered < START and limit.rate == lowered


def test_an_endpoint_that_refuses_everything_pauses_and_says_why():
    limit = RateLimit(accepted_at=90.0)
    limit.start_times([1] * 8, now=100.0, most=0, token_rate=0)
    for position in range(1, 9):
        limit.refused(position=position, started=100.0, now=100.5, pause=30.0)
    assert limit.room(now=130.0, most=0) == 0 and limit.room(now=131.0, most=0) > 0
    assert limit.reason == "the last 8 calls were all refused"


def test_a_burst_then_the_rate():
    bucket = TokenBucket()
    assert bucket.pause(now=10.0) == 0.0
    assert bucket.most == BURST
    bucket.take(BURST)
    # nothing is left: the fewest that are worth a turn are there after 8 / 500 s
    assert bucket.pause(now=10.0) == FEWEST / RATE == 0.016
    # 10 ms later 5 of them are there, so 3 / 500 s remain
    assert round(bucket.pause(now=10.01), 9) == 0.006
    assert bucket.pause(now=10.016) == 0.0
    assert bucket.most == FEWEST


def test_rest_saves_no_more_than_a_burst():
    bucket = TokenBucket()
    bucket.pause(now=10.0)
    bucket.take(4)
    assert bucket.pause(now=4000.0) == 0.0
    assert bucket.most == BURST
