from __future__ import annotations

import hashlib
import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.texts import canonical, storable
from workers.domain.pricing import Extent, Prices, as_typed, budget_of, dollars, estimated_tokens, exact_dollars
from workers.providers.contract import Usage
from workers.services.planning import call_key

PRICES = Prices(Decimal(2), Decimal("0.5"), Decimal("2.5"), Decimal(10))
DOLLARS = st.decimals(0, 1000, places=6)
COUNTS = st.integers(0, 100_000)


def test_cached_tokens_are_part_of_the_input_and_not_billed_twice():
    # 1,000 in: 500 plain at 2, 400 cached at 0.5, 100 written at 2.5; 200 out at 10, of which 50 reasoned
    # (1000 + 200 + 250 + 2000) / 1,000,000
    usage = Usage(input=1000, cached=400, cache_write=100, output=200, reasoning=50)
    assert PRICES.cost(usage) == Decimal("0.00345")
    assert PRICES.cost(usage, batch=True) == Decimal("0.001725")


def test_more_cached_than_input_is_no_credit():
    # 30 cached at 0.5; the plain part would be 10 − 30
    assert PRICES.cost(Usage(input=10, cached=30)) == Decimal("0.000015")


def test_the_most_that_a_call_can_cost():
    # 4 tokens at the dearest input price, 2.5; 100 out at 10: (10 + 1000) / 1,000,000
    assert PRICES.at_most(4, 100) == Decimal("0.00101")
    assert PRICES.at_most(4, 100, batch=True) == Decimal("0.000505")


def test_characters_round_up_to_tokens():
    assert [estimated_tokens("x" * length) for length in (0, 1, 3, 4)] == [0, 1, 1, 2]


def test_chinese_and_emoji_are_not_underestimated():
    # no tokenizer makes more tokens of a text than it has bytes; in UTF-8 a Chinese character has three, an emoji four
    # or more
    assert estimated_tokens("她知道钥匙在盒子里。" * 38) == 3 * 380
    assert estimated_tokens("👩‍👧") == 4 + 3 + 4
    assert estimated_tokens("Ines 知道") == 2 + 6  # five ASCII characters, two Chinese
    assert estimated_tokens("\ud800") == 3  # half a surrogate pair is counted, too


@given(st.text(), st.text())
def test_extents_of_parts_add_up(first, second):
    assert Extent.of(first) + Extent.of(second) == Extent.of(first + second)
    assert Extent.of(first + second) - Extent.of(second) == Extent.of(first)
    assert Extent.of(first).fewest_tokens <= Extent.of(first).tokens


@given(prices=st.tuples(DOLLARS, DOLLARS, DOLLARS, DOLLARS), tokens=st.tuples(COUNTS, COUNTS, COUNTS), out=COUNTS)
def test_no_call_costs_more_than_was_booked(prices, tokens, out):
    plain, cached, written = tokens
    usage = Usage(input=plain + cached + written, cached=cached, cache_write=written, output=out)
    booked = Prices(*prices).at_most(usage.input, out)
    assert Prices(*prices).cost(usage) <= booked


def test_money_is_written_alike_and_never_as_nothing():
    for amount, text in [
        ("0", "$0.0000"),
        ("0.0078", "$0.0078"),
        ("0.2078", "$0.2078"),
        ("0.20784", "$0.2078"),
        ("12", "$12.0000"),
        ("1234.5", "$1,234.5000"),
        # below a cent four digits that count, never zero
        ("0.001234", "$0.001234"),
        ("0.00000123", "$0.00000123"),
        ("0.0000123456", "$0.00001235"),
    ]:
        assert dollars(Decimal(amount)) == text


def test_what_somebody_set_is_written_as_it_was_set():
    for amount, text in [("5.0000", "$5.00"), ("0.0078", "$0.0078"), ("2.5", "$2.50"), ("10", "$10.00")]:
        assert exact_dollars(Decimal(amount)) == text
        assert as_typed(Decimal(amount)) == text[1:]


def test_a_field_of_numbers_takes_no_comma():
    assert (exact_dollars(Decimal("1234.5")), as_typed(Decimal("1234.5"))) == ("$1,234.50", "1234.50")


def test_a_budget_is_read_in_digits_with_a_point():
    for text, budget in [
        ("25", "25"),
        (" 2.50 ", "2.5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("10.12340000", "10.1234"),
        ("0", "0"),
        ("99999999", "99999999"),
    ]:
        assert budget_of(text) == Decimal(budget)


def test_what_is_no_budget_is_none():
    for text in ["", "-1", "+1", "1e2", "1_000", "１２", "NaN", "0.12345", "100000000", "1,5", "$5", "."]:
        assert budget_of(text) is None


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


def test_a_body_as_text():
    text = canonical({"b": [1, 2.5, True, None], "a": "ü\n"})
    assert text == '{"a":"ü\\n","b":[1,2.5,true,null]}'


def test_half_a_surrogate_pair_is_escaped():
    assert canonical({"a": "ü\ud800"}) == '{"a":"\\u00fc\\ud800"}'


def test_what_is_no_json_has_no_key():
    with pytest.raises(ValueError):
        canonical({"temperature": float("nan")})


@given(body=st.dictionaries(ANY_TEXT, JSON, max_size=5))
def test_the_order_of_keys_changes_nothing_and_nothing_is_lost(body):
    text = canonical(body)
    assert canonical(reversed_keys(body)) == text
    assert json.loads(text) == body
    text.encode()  # every database takes it
    assert call_key(**WHERE, body=body) == call_key(**WHERE, body=reversed_keys(body))


def test_a_key_is_the_digest_of_all_that_makes_a_call():
    parts = ["openai", "http://a.example/v1", "tiny", "", 0, canonical(BODY)]
    digest = hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()
    assert call_key(**WHERE, body=BODY) == digest


def test_a_slash_at_the_end_of_an_address_changes_nothing():
    assert call_key(**WHERE | {"base_url": "http://a.example/v1/"}, body=BODY) == call_key(**WHERE, body=BODY)


def test_every_part_makes_another_call():
    for other in [
        {"provider": "vllm"},
        {"base_url": "http://b.example/v1"},
        {"model": "large"},
        {"revision": "main"},
        {"sample": 1},
        {"body": BODY | {"seed": 1}},
        {"body": BODY | {"messages": []}},
    ]:
        # Two models never share an answer (lm-evaluation-harness#4063), nor do two draws of one question.
        assert call_key(**(WHERE | {"body": BODY} | other)) != call_key(**WHERE, body=BODY)


def test_what_no_database_holds_is_replaced():
    assert storable("a\x00b") == "a␀b"
    assert storable("a\ud800b\udc00") == "a?b?"
    assert storable("plain 🔑 ü") == "plain 🔑 ü"


@given(text=ANY_TEXT)
def test_stored_text_is_stable(text):
    stored = storable(text)
    assert "\x00" not in stored and stored.encode().decode() == stored
    assert storable(stored) == stored and len(stored) == len(text)
