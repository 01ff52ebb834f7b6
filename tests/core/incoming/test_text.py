import json
import math

import pytest

from core.incoming.text import MAX_DEPTH, NotJson, json_of, too_deep, unstorable


def test_a_value_is_read_as_it_was_written_or_refused_with_its_place():
    assert json_of(b'{"a": [1, "\xc3\xab"]}') == json_of(b'\xef\xbb\xbf{"a": [1, "\xc3\xab"]}') == {"a": [1, "\u00eb"]}
    assert math.isnan(json_of(b'{"a": NaN}', nan=True)["a"]), "only where it is expected"
    for raw, nan in ((b'{"a": NaN}', False), (b'{"a": Infinity}', True), (b'{"a": -Infinity}', False)):
        with pytest.raises(NotJson, match=r"It holds -?(NaN|Infinity); expected a JSON value"):
            json_of(raw, nan=nan)
    for raw, sentence in [
        (b"", ", line 1, column 1: it is not JSON (Expecting value); expected one JSON value."),
        (b'{"a":\n 1 2}', ", line 2, column 4: it is not JSON (Expecting ',' delimiter); expected one JSON value."),
        (b"a\xff", ": byte 1 is not UTF-8; expected JSON in UTF-8."),
        (b"[" * 100_000, ": the JSON is nested too deeply; expected at most 50 levels."),
        (b"[" * 51 + b"]" * 51, ": the JSON is nested too deeply; expected at most 50 levels."),
        (b"9" * 5_000, ": it holds a number of too many digits; expected one JSON value."),
        (b'[{"a": 1, "b": 2, "a": 3}]', ": the field 'a' occurs twice in one object; expected it once."),
    ]:
        with pytest.raises(NotJson) as caught:
            json_of(raw)
        assert caught.value.message_for("f.json") == f"f.json{sentence}"


def test_text_that_no_database_keeps_is_told():
    for text in ["a\x00b", "\ud800", "\\\x00"]:
        assert unstorable({"a": [text]}).startswith("it holds ")
        assert unstorable(json.loads(json.dumps({text: 1})))
    assert unstorable({"a": "C:\\u0000 \u00eb"}) == "", "a backslash before u0000 is text and no NUL"


def test_depth_is_counted_without_recursion():
    value: list = []
    for _ in range(MAX_DEPTH - 1):
        value = [value]
    assert not too_deep(value) and too_deep([value])
    for _ in range(100_000):
        value = [value]
    assert too_deep(value)
    while value:  # taken apart by hand: freeing it at once would recurse
        value = value[0]
