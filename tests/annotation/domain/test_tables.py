from __future__ import annotations

import pytest

from annotation.domain.tables import BadTable, TableRow, read_rows

EXPECTED = [TableRow("world", "The key is in the bag", "0"), TableRow("Ines", "The key, she thinks, is safe", "")]


def test_tabs_commas_and_pipes_are_read():
    for text in [
        "world\tThe key is in the bag\t0\nInes\tThe key, she thinks, is safe\n",
        'world,The key is in the bag,0\nInes,"The key, she thinks, is safe"',
        (
            "| Actor | Belief | Order |\n|---|:---:|---|\n| world | The key is in the bag | 0 |\n\n| Ines | The "
            "key, she thinks, is safe | |"
        ),
    ]:
        assert read_rows(text) == EXPECTED


def test_a_row_without_a_belief_is_named():
    with pytest.raises(BadTable, match="Line 2"):
        read_rows("world | a\nInes\n")


def test_a_cell_that_never_ends_is_one_sentence():
    with pytest.raises(BadTable, match=r"^Pasted text, line 1: the quote before 'xxx.*' is never closed"):
        read_rows('world,"' + "x" * 150_000)


def test_pasted_text_of_which_something_would_be_lost_is_refused():
    for text, sentence in [
        ("world,the key is here, and it is gold,0", "Line 1 has 4 cells; expected actor, belief, order: a text with a"),
        ("world,the key is here, she thinks", "Line 1 has the order 'she thinks'; expected a number: a text with a co"),
        (
            "Nour,He has 1,000",
            "Line 1 has the order '000'; expected a number: a text with a comma must stand in quotes",
        ),
        ("1 | world | It rains", "Line 1 has the order 'It rains'; expected a number: a | within a text is written"),
        ("Ines | It rains | 1 | note", "Line 1 has 4 cells"),
        ("Ines\tIt rains\t1\tnote", "Line 1 has 4 cells; expected actor, belief, order: a text with a tab must stand"),
        ('Ines,"It rains,1\nMia,It snows,1', "Pasted text, line 1: the quote before 'It rains,1' is never closed"),
        ('Ines,"It rains" hard,1', "Pasted text, line 1: the quote before 'It rains"),
        ("Actor | Belief | Comment\nInes | It rains | why", "Line 1 names columns that are not used here: Comment"),
        ("Actor | Order\nInes | 1", "Pasted text, line 1: the column belief is missing"),
        ("Actor | actor | Belief\na | b | c", "Pasted text, line 1: the column Actor, actor occurs twice"),
        (f"Actor,Belief,Order\nInes,It rains,{'x' * 41}", "Line 2: order is longer than 40 characters."),
        (f"{'I' * 201},It rains", "Line 1: actor is longer than 200 characters."),
        ("Ines,It\0rains", "Pasted text, line 1: the line holds a NUL character"),
    ]:
        with pytest.raises(BadTable) as error:
            read_rows(text)
        assert str(error.value).startswith(sentence)


def test_the_first_line_names_the_columns():
    for text in [
        "Order,Proposition,ACTOR\n1,It rains,Ines\n",
        "**Actor** | Belief | Order Text\n--- | --- | ---\nInes | It rains | 1.0",
        "\n\nInes\tIt rains\t1\t\t\n",
        'Ines,It rains,"1"',
    ]:
        assert read_rows(text) == [TableRow("Ines", "It rains", "1")]


def test_a_text_may_hold_what_stands_between_cells():
    assert read_rows(r"| Ines | 5\" or 6\" \| more |") == [TableRow("Ines", r"5\" or 6\" | more")]
    assert read_rows('Ines,"It rains, and\nsnows"') == [TableRow("Ines", "It rains, and\nsnows")]
    assert read_rows("Ines | It rains\u2028hard | second-order") == [
        TableRow("Ines", "It rains\u2028hard", "second-order")
    ]
