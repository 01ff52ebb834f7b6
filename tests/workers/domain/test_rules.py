import hashlib
import heapq
import itertools
import json
import random
from dataclasses import dataclass
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.texts import canonical, storable
from workers.domain.outcomes import Outcome, Policy, commonest, decide, outcome_of
from workers.domain.pricing import Extent, Prices, as_typed, budget_of, dollars, estimated_tokens, exact_dollars
from workers.domain.rate_limit import BURST, FEWEST, FLOOR, OPENING, RATE, START, RateLimit, TokenBucket
from workers.providers.contract import Usage
from workers.providers.errors import Forbidden, Lost, Overloaded, Rejected, Throttled, Unreachable, Unreadable
from workers.services.planning import call_key
from workers.templatetags.money import LEAST, segments_of


@dataclass
class Bucket:
    """A provider that tells nothing but 429: `rate` tokens a second up to `burst`; `change` is (second, new rate)."""

    rate: float
    burst: float
    change: tuple[float, float] = (float("inf"), 0.0)
    last: float = 0.0

    def __post_init__(self) -> None:
        self.tokens = self.burst

    def takes(self, now: float) -> bool:
        rate = self.change[1] if now > self.change[0] else self.rate
        self.tokens = min(self.burst, self.tokens + (now - self.last) * rate)
        self.last = now
        fine = self.tokens >= 1
        self.tokens -= fine
        return fine


def simulated(bucket, *, calls, latency=0.2, workers=4, concurrency=64, late=(0.02, 0.1), seed=1):
    """(accepted times, refusals after the opening): `workers` take turns that are `late`; refused calls wait 1 s."""
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
            free = max(free, 0)
            starts = (free and limit.start_times([1] * free, now=now, most=0, token_rate=0, flight=concurrency)) or []
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


def test_a_hidden_limit_is_used_hardly_ever_exceeded_and_found_again_when_it_drops():
    for rate, burst, calls, options in [
        (40, 20, 2400, {}),
        (40, 100, 3000, {}),
        (40, 20, 2400, {"late": (0.05, 0.3)}),
        (200, 50, 9000, {"concurrency": 200}),
        (40, 20, 2400, {"latency": 2.0, "concurrency": 200}),
        (5, 5, 900, {"latency": 4.0}),
    ]:
        for seed in (1, 2):
            accepted, refusals = simulated(Bucket(rate, burst), calls=calls, seed=seed, **options)
            # What the bucket held at first came besides the limit.
            assert (len(accepted) - burst) / (accepted[-1] - accepted[0]) / rate > 0.85
            assert refusals / (calls + refusals) < 0.03
    # 20 + 30 s × 40 = 1220 calls at the old limit; the other 1180 take 79 s at 15 a second.
    accepted, refusals = simulated(Bucket(40, 20, change=(30.0, 15.0)), calls=2400)
    assert accepted[-1] < (30 + 1180 / 15) * 1.15 and refusals / 2400 < 0.03


def test_where_nothing_is_refused_only_the_answers_set_the_speed():
    # 6 at once with 0.2 s each and turns of 0.04 to 0.12 s: at most 30 a second, and more than half of that.
    accepted, refusals = simulated(Bucket(10_000, 10_000), calls=600, concurrency=6)
    assert refusals == 0 and 600 / accepted[-1] > 15
    # the first calls start within half a second, as many as may be in flight
    accepted, _ = simulated(Bucket(10_000, 10_000), calls=640, latency=1.0, workers=1, late=(0.0, 0.01))
    assert accepted[63] - accepted[0] < 1.2 * OPENING
    assert accepted[-1] - accepted[0] < 10.5  # ten waves of a second: nothing held the second one back


def test_a_refused_opening_says_nothing_of_the_limit_and_ends():
    limit = RateLimit()
    limit.start_times([1] * 30, now=100.0, most=0, token_rate=0, flight=64)
    for position in range(10, 31):
        limit.refused(position=position, started=100.0, now=100.1, pause=1.0)
    assert (limit.rate, limit.ceiling, limit.denied) == (START, 0.0, 21)
    assert limit.room(now=100.2, most=0, flight=64) == 0, "what was given out before is still arriving"
    assert limit.start_times([1], now=101.0, most=0, token_rate=0, flight=64) and limit.opened == 30


def test_starts_stay_below_the_endpoints_own_limits_of_calls_and_tokens():
    limit = RateLimit()
    starts = limit.start_times([1] * 4, now=100.0, most=2.0, token_rate=0)
    # 2 a second; the first may be booked up to 0.15 s in the past, and starts now.
    assert starts == [100.0, pytest.approx(100.35), pytest.approx(100.85), pytest.approx(101.35)]
    assert limit.room(now=100.0, most=2.0) == 0
    starts = RateLimit().start_times([1] * 6, now=100.0, most=2.0, token_rate=0, flight=64)
    assert starts[-1] - starts[1] == pytest.approx(2.0), "a known limit is kept from the first call on"
    limit = RateLimit()
    first, second = limit.start_times([300, 300], now=100.0, most=0, token_rate=100.0)
    assert (first, second) == (100.0, pytest.approx(103, abs=0.2))
    before = limit.tokens_next_at
    limit.correct_tokens(200, 100.0)
    assert before - limit.tokens_next_at == pytest.approx(2.0), "what was booked too much is given back"


def test_headers_cap_the_rate_and_an_empty_minute_blocks():
    limit = RateLimit()
    limit.learn(600, 20, 3.0, now=100.0)
    limit.start_times([1, 1], now=100.0, most=0, token_rate=0)
    assert limit.next_at == pytest.approx(99.85 + 2 / 9.8)  # 600 a minute are 10 a second, of which 98 % are used
    limit.learn(600, 0, 5.0, now=100.0)
    assert limit.room(now=104.9, most=0) == 0 and limit.room(now=105.1, most=0) > 0
    assert "used up" in limit.reason


def test_refusals_lower_the_rate_once_and_a_row_of_them_pauses_the_endpoint():
    limit = RateLimit()
    limit.start_times([1] * 10, now=100.0, most=0, token_rate=0)
    limit.refused(position=1, started=100.0, now=100.1, pause=1.0)
    lowered = limit.rate
    for position in range(2, 11):  # those had their start before
        limit.refused(position=position, started=100.0, now=100.2, pause=1.0)
    assert FLOOR <= lowered < START and limit.rate == lowered
    limit = RateLimit(accepted_at=90.0)
    limit.start_times([1] * 8, now=100.0, most=0, token_rate=0)
    for position in range(1, 9):
        limit.refused(position=position, started=100.0, now=100.5, pause=30.0)
    assert limit.room(now=130.0, most=0) == 0 and limit.room(now=131.0, most=0) > 0
    assert limit.reason == "the last 8 calls were all refused"


def test_a_process_starts_a_burst_then_its_rate_and_rest_saves_no_more():
    bucket = TokenBucket()
    assert (bucket.pause(now=10.0), bucket.most) == (0.0, BURST)
    bucket.take(BURST)
    # nothing is left: the fewest that are worth a turn are there after 8 / 500 s
    assert bucket.pause(now=10.0) == FEWEST / RATE == 0.016
    # 10 ms later 5 of them are there, so 3 / 500 s remain
    assert round(bucket.pause(now=10.01), 9) == 0.006
    assert (bucket.pause(now=10.016), bucket.most) == (0.0, FEWEST)
    assert (bucket.pause(now=4000.0), bucket.most) == (0.0, BURST)


def test_the_outcome_of_a_job_and_its_commonest_problem():
    for outcome, counts in {
        Outcome.FINISHED: [(3, 0, 0), (0, 0, 0)],
        Outcome.UNREADABLE: [(1, 2, 0)],
        Outcome.PARTLY: [(1, 0, 2), (1, 2, 1)],
        Outcome.USELESS: [(0, 2, 0), (0, 1, 2)],
        Outcome.FAILED: [(0, 0, 2)],
    }.items():
        for done, unreadable, failed in counts:
            assert outcome_of(done=done, unreadable=unreadable, failed=failed) == outcome, (done, unreadable, failed)
    # sentences that differ in numbers and ids count as one: 2 + 3 + 1 of the slow ones are more than the 5 refusals,
    # and "in 7 s" occurs most often of their forms
    problems = [
        ("Slow down, try again in 2 s (req_a1b2c3).", 2),
        ("Slow down, try again in 7 s (req_ffff00).", 3),
        ("The model does not exist.", 5),
        ("Slow down, try again in 1.5 s (req_9).", 1),
    ]
    assert commonest(problems) == ("Slow down, try again in 7 s (req_ffff00).", 6)
    assert commonest([]) == ("", 0)


def test_the_parts_of_a_bar_fill_it_and_a_single_failure_is_seen():
    parts = segments_of({"done": 9_990, "unreadable": 0, "failed": 1, "waiting": 9})
    assert [part["state"] for part in parts] == ["done", "failed", "waiting"]
    assert parts[1]["width"] == LEAST and parts[0]["width"] == pytest.approx(100 - 2 * LEAST)
    assert parts[0]["start"] == 0 and parts[-1]["end"] == pytest.approx(100)
    assert segments_of({"done": 0}) == []
    assert [part["width"] for part in segments_of({"done": 1, "failed": 3})] == [25, 75]


POLICY = Policy(attempts=6, unknown=1, cap=60.0)


def after(error, *, attempts=1, unknowns=0, policy=POLICY, jitter=0.0):
    return decide(error, attempts=attempts, unknowns=unknowns, policy=policy, jitter=jitter)


def test_pauses_double_up_to_a_minute_with_jitter_and_obey_a_longer_retry_after():
    for kind in (Throttled, Overloaded, Unreachable):
        # 1 · 2^(n−1) seconds: 1, 2, 4, … 32, then 64 is cut to 60
        pauses = [after(kind("Busy."), attempts=at, policy=Policy(attempts=20))[0] for at in (1, 2, 3, 6, 7, 12)]
        assert pauses == [1, 2, 4, 32, 60, 60]
    # up to a quarter more: 4 s · (1 + 1/4)
    assert [after(Overloaded("Busy."), attempts=3, jitter=jitter)[0] for jitter in (1.0, 0.5)] == [5, 4.5]
    for told, attempts, pause in [(10, 1, 10), (10, 5, 16), (0, 1, 1)]:
        assert after(Throttled("Slow down.", retry_after=told), attempts=attempts)[0] == pause
    pause, reason = after(Throttled("Slow down.", retry_after=3600))
    assert (pause, reason) == (
        60,
        "Slow down. The provider asks to wait 3600 s; waiting 60 s, the cap of this endpoint.",
    )
    assert after(Throttled("Slow down.", retry_after=60))[1] == "Slow down."


def test_a_call_ends_with_what_was_said_and_with_what_may_have_been_paid():
    maybe = "The outcome of one attempt is unknown; it may have been paid."
    once, sixth = Policy(attempts=1), {"attempts": 6}
    ends = [(kind("No such model."), {}, "No such model.") for kind in (Rejected, Forbidden)]
    ends += [
        (Throttled("Busy.", retry_after=5), sixth, "Busy. Given up after 6 attempts."),
        (Throttled("Busy.", retry_after=5), {"policy": once}, "Busy. Given up after one attempt."),
        # unknown outcomes count as attempts too, and lost answers are told of however the call ends
        (Lost("Gone."), sixth | {"unknowns": 1}, f"Gone. Given up after 6 attempts. {maybe}"),
        (Overloaded("Busy."), sixth | {"unknowns": 1}, f"Busy. Given up after 6 attempts. {maybe}"),
        (Rejected("No such model."), {"attempts": 2, "unknowns": 1}, f"No such model. {maybe}"),
        (Rejected("No such model."), {"attempts": 2}, "No such model."),
    ]
    for said in ("HTTP 501: no", "HTTP 501: no.", "HTTP 501: no\n"):
        ends.append((Overloaded(said), sixth, "HTTP 501: no. Given up after 6 attempts."))
    for kind in (Lost, Unreadable):  # repeated as often as the policy says
        assert after(kind("Gone."), unknowns=1)[0] is not None
        twice = "Gone. The outcome of 2 attempts is unknown; it may have been paid."
        ends.append((kind("Gone."), {"attempts": 2, "unknowns": 2}, twice))
        ends.append((kind("Gone."), {"unknowns": 1, "policy": Policy(unknown=0)}, f"Gone. {maybe}"))
    for error, known, reason in ends:
        assert after(error, **known) == (None, reason)


DOLLARS = st.decimals(0, 1000, places=6)
COUNTS = st.integers(0, 100_000)


def test_what_a_call_costs_and_the_most_that_it_can_cost():
    prices = Prices(Decimal(2), Decimal("0.5"), Decimal("2.5"), Decimal(10))
    # 1,000 in: 500 plain at 2, 400 cached at 0.5, 100 written at 2.5; 200 out at 10, of which 50 reasoned
    # (1000 + 200 + 250 + 2000) / 1,000,000
    usage = Usage(input=1000, cached=400, cache_write=100, output=200, reasoning=50)
    assert [prices.cost(usage, batch=batch) for batch in (False, True)] == [Decimal("0.00345"), Decimal("0.001725")]
    # more cached than input is no credit: 30 cached at 0.5; the plain part would be 10 − 30
    assert prices.cost(Usage(input=10, cached=30)) == Decimal("0.000015")
    # 4 tokens at the dearest input price, 2.5; 100 out at 10: (10 + 1000) / 1,000,000
    assert [prices.at_most(4, 100, batch=batch) for batch in (False, True)] == [Decimal("0.00101"), Decimal("0.000505")]


@given(prices=st.tuples(DOLLARS, DOLLARS, DOLLARS, DOLLARS), tokens=st.tuples(COUNTS, COUNTS, COUNTS), out=COUNTS)
def test_no_call_costs_more_than_was_booked(prices, tokens, out):
    plain, cached, written = tokens
    usage = Usage(input=plain + cached + written, cached=cached, cache_write=written, output=out)
    assert Prices(*prices).cost(usage) <= Prices(*prices).at_most(usage.input, out)


def test_tokens_are_estimated_and_never_too_few():
    assert [estimated_tokens("x" * length) for length in (0, 1, 3, 4)] == [0, 1, 1, 2]
    # no tokenizer makes more tokens of a text than it has bytes; in UTF-8 a Chinese character has three, an emoji four
    # or more
    assert estimated_tokens("她知道钥匙在盒子里。" * 38) == 3 * 380
    assert estimated_tokens("👩‍👧") == 4 + 3 + 4
    assert estimated_tokens("Ines 知道") == 2 + 6  # five ASCII characters, two Chinese
    assert estimated_tokens("\ud800") == 3  # half a surrogate pair is counted, too


@given(st.text(), st.text())
def test_extents_of_parts_add_up(first, second):
    assert Extent.of(first) + Extent.of(second) == Extent.of(first + second)
    assert Extent.of(first).fewest_tokens <= Extent.of(first).tokens


def test_money_is_written_alike_and_never_as_nothing():
    for amounts, texts in [
        ("0 0.0078 0.2078 0.20784 12 1234.5", "$0.0000 $0.0078 $0.2078 $0.2078 $12.0000 $1,234.5000"),
        # below a cent four digits that count, never zero
        ("0.001234 0.00000123 0.0000123456", "$0.001234 $0.00000123 $0.00001235"),
    ]:
        assert [dollars(Decimal(amount)) for amount in amounts.split()] == texts.split()
    # what somebody set is written as it was set; a field of numbers takes no comma
    for amount, text in [("5.0000", "$5.00"), ("0.0078", "$0.0078"), ("2.5", "$2.50"), ("1234.5", "$1,234.50")]:
        assert exact_dollars(Decimal(amount)) == text
        assert as_typed(Decimal(amount)) == text[1:].replace(",", "")


def test_a_budget_is_read_in_digits_with_a_point():
    for text in ("25", " 2.50 ", ".5", "5.", "10.12340000", "0", "99999999"):
        assert budget_of(text) == Decimal(text.strip())
    for text in ("", "-1", "+1", "1e2", "1_000", "１２", "NaN", "0.12345", "100000000", "1,5", "$5", "."):
        assert budget_of(text) is None, text


WHERE = {"provider": "openai", "base_url": "http://a.example/v1", "model": "tiny", "revision": "", "sample": 0}
BODY = {"model": "tiny", "messages": [{"role": "user", "content": "Wo ist der Schlüssel? 🔑"}], "seed": None}
ANY_TEXT = st.text(st.characters())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


def reversed_keys(value):
    if isinstance(value, dict):
        return {name: reversed_keys(value[name]) for name in reversed(value)}
    return [reversed_keys(part) for part in value] if isinstance(value, list) else value


def test_a_key_is_the_digest_of_all_that_makes_a_call():
    assert canonical({"b": [1, 2.5, True, None], "a": "ü\n"}) == '{"a":"ü\\n","b":[1,2.5,true,null]}'
    assert canonical({"a": "ü\ud800"}) == '{"a":"\\u00fc\\ud800"}', "half a surrogate pair is escaped"
    with pytest.raises(ValueError):
        canonical({"temperature": float("nan")})
    parts = ["openai", "http://a.example/v1", "tiny", "", 0, canonical(BODY)]
    key = call_key(**WHERE, body=BODY)
    assert key == hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()
    assert call_key(**WHERE | {"base_url": "http://a.example/v1/"}, body=BODY) == key
    others = [{"provider": "vllm"}, {"base_url": "http://b.example/v1"}, {"model": "large"}, {"revision": "main"}]
    others += [{"sample": 1}, {"body": BODY | {"seed": 1}}, {"body": BODY | {"messages": []}}]
    for other in others:
        # Two models never share an answer (lm-evaluation-harness#4063), nor do two draws of one question.
        assert call_key(**(WHERE | {"body": BODY} | other)) != key, other


@given(body=st.dictionaries(ANY_TEXT, JSON, max_size=5))
def test_the_order_of_keys_changes_nothing_and_nothing_is_lost(body):
    text = canonical(body)
    assert canonical(reversed_keys(body)) == text
    assert json.loads(text) == body
    text.encode()  # every database takes it
    assert call_key(**WHERE, body=body) == call_key(**WHERE, body=reversed_keys(body))


@given(text=ANY_TEXT)
def test_what_no_database_holds_is_replaced_and_stays_so(text):
    assert [storable(one) for one in ("a\x00b", "a\ud800b\udc00", "plain 🔑 ü")] == ["a␀b", "a?b?", "plain 🔑 ü"]
    stored = storable(text)
    assert "\x00" not in stored and stored.encode().decode() == stored
    assert storable(stored) == stored and len(stored) == len(text)
