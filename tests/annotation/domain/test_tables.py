from __future__ import annotations

import pytest

from annotation.domain.tables import BadTable, TableRow, read_rows

EXPECTED = [TableRow("world", "The key is in the bag", "0"), TableRow("Ines", "The key, she thinks, is safe", "")]


@pytest.mark.parametrize(
    "text",
    [
        "world\tThe key is in the bag\t0\nInes\tThe key, she thinks, is safe\n",
        'world,The key is in the bag,0\nInes,"The key, she thinks, is safe"',
        (
            "| Actor | Belief | Order |\n|---|:---:|---|\n| world | The key is in the bag | 0 |\n\n| Ines | The "
            "key, she thinks, is safe | |"
        ),
    ],
)
def test_tabs_commas_and_pipes_are_read(text):
    assert read_rows(text) == EXPECTED


def test_a_row_without_a_belief_is_named():
    with pytest.raises(BadTable, match="Line 2"):
        read_rows("world | a\nInes\n")


def test_a_cell_that_never_ends_is_one_sentence():
    with pytest.raises(BadTable, match=r"^Pasted text, line 1: the quote before 'xxx.*' is never closed"):
        read_rows('world,"' + "x" * 150_000)
