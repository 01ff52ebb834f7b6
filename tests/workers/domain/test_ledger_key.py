from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.texts import canonical, storable
from workers.services.planning import call_key

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


@pytest.mark.parametrize(
    "other",
    [
        {"provider": "vllm"},
        {"base_url": "http://b.example/v1"},
        {"model": "large"},
        {"revision": "main"},
        {"sample": 1},
        {"body": BODY | {"seed": 1}},
        {"body": BODY | {"messages": []}},
    ],
    ids=lambda body: next(iter(body)),
)
def test_every_part_makes_another_call(other):
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
