from hypothesis import given
from hypothesis import strategies as st

from judge.domain.text import key, normalise_space


def test_space_is_what_python_calls_space_and_a_key_keeps_what_its_quotes_held():
    assert normalise_space(" a\u00a0\u2003b\x85\x1c c ") == "a b c"
    assert normalise_space("\ufeffa\u200b") == "\ufeffa\u200b"
    assert normalise_space(None) == ""
    assert key('" A "') == " a "
    assert key("ΑΣ") == "ας"
    assert key("“A”.") == "“a”."


@given(st.text())
def test_any_text_has_a_key(text):
    assert normalise_space(normalise_space(text)) == normalise_space(text)
    assert key(text) == key(text.strip())
