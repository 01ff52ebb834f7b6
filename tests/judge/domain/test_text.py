from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from judge.domain.text import key, match_count, normalise_space


def test_the_official_scalars(omnitom):
    functions = {"normalize_space": normalise_space, "normalize_key": key, "coerce_matchcount": match_count}
    cases = [case for case in omnitom("unit_scalars")["cases"] if case["fn"] in functions]
    assert len(cases) > 60
    for case in cases:
        assert functions[case["fn"]](case["input"]) == case["expected"], case


def test_space_is_what_python_calls_space():
    assert normalise_space(" a\u00a0\u2003b\x85\x1c c ") == "a b c"
    assert normalise_space("\ufeffa\u200b") == "\ufeffa\u200b"
    assert normalise_space(None) == ""


def test_a_key_keeps_the_blanks_that_its_quotes_held():
    assert key('" A "') == " a "
    assert key("ΑΣ") == "ας"
    assert key("“A”.") == "“a”."


def test_a_count_is_cut_towards_zero():
    assert [match_count(said) for said in ("1.9", "-0.5", "1e1", "٣", "nan", "1e999", "1 match", None)] == [
        1, 0, 10, 3, 0, 0, 0, 0,
    ]  # fmt: skip


@given(st.text())
def test_any_text_has_a_key_and_a_count(text):
    assert normalise_space(normalise_space(text)) == normalise_space(text)
    assert key(text) == key(text.strip())
    assert isinstance(match_count(text), int)
