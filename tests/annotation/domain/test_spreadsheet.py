from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from annotation.domain.columns import defused, restored


def test_what_a_spreadsheet_would_run_gets_an_apostrophe():
    for text in ["=1+1", "+1", "-1", "@sum", "\tx", "\rx", "'=1", "''=1"]:
        assert defused(text) == "'" + text


def test_other_text_stays():
    for text in ["", "1-1", "'tis so", "a=b", "'"]:
        assert defused(text) == text


@given(st.text(alphabet="'=+-@\t\rab", max_size=8))
def test_the_way_back_is_exact(text):
    assert restored(defused(text)) == text
    assert not defused(text).startswith(("=", "+", "-", "@", "\t", "\r"))
