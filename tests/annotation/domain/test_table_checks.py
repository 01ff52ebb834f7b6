"""Warnings while a belief table is written."""

from __future__ import annotations

from annotation.domain.table_checks import checks, depth_of, is_named
from annotation.domain.tables import TableRow

TEXT = "Xiao Hong puts the key in the bag. Then Ines and the caretaker leave. Old Mr. Varga sees Tomas's hat."


def said(*rows: tuple[str, ...]) -> list[list[str]]:
    return [[warned.text for warned in row] for row in checks([TableRow(*row) for row in rows], [TEXT])]


def test_a_plain_row_is_not_warned_of():
    assert said(("world", "The key is in the bag", "0"), ("Ines", "The key is in the bag", "1")) == [[], []]


def test_a_pronoun_is_warned_of():
    for belief in ["She took it", "Tomas saw him", "His hat is gone", "他知道钥匙在哪"]:
        assert "write the name" in said(("Ines", belief))[0][0]


def test_a_pronoun_with_its_name_before_it_is_not():
    for belief in ["Tomas took his hat", "The key lies there", "It rains"]:
        assert said(("Ines", belief)) == [[]]


def test_two_statements_in_one_are_warned_of():
    for belief in [
        "The key is in the bag; Tomas left",
        "Tomas stands up and walks away",
        "Ines left because Tomas was angry",
        "Tomas took the key and hid the bag",
    ]:
        assert "split it" in said(("Ines", belief))[0][0]


def test_a_second_clause_that_begins_with_a_pronoun_is_warned_of_beside_the_pronoun():
    assert [text[:14] for text in said(("Ines", "Tomas carries the key and she swims"))[0]] == [
        "“she” may be r",
        "This seems to ",
    ]


def test_a_list_of_names_is_no_second_statement():
    for belief in ["Jonas and Mei are married", "Ines looks up and down the street", "Jonas and Mei took the key"]:
        assert said(("world", belief)) == [[]]


def test_equal_and_nearly_equal_rows_of_one_actor_are_warned_of():
    rows = [
        ("Ines", "The key is in the bag"),
        ("Tomas", "The key is in the bag"),
        ("Ines", "the key is in the bag."),
        ("Ines", "The key is in the old bag"),
        ("Ines", "The key is not in the bag"),
    ]
    expected = [[], [], ["The same as row 1."], ["Nearly the same as row 1."], []]
    assert said(*rows) == expected


def test_an_actor_that_the_story_does_not_name_is_warned_of_with_the_name_that_is_near():
    assert said(("Xiao Hng", "It rains")) == [["The story does not name Xiao Hng. Is it Xiao Hong?"]]
    assert said(("Zed", "It rains")) == [["The story does not name Zed."]]


def test_groups_and_titles_are_named():
    for actor in [
        "world",
        "Ines",
        "The caretaker",
        "Ines and Tomas",
        "Ines, Tomas & Mr. Varga",
        "everyone",
        "Mr Varga",
    ]:
        assert is_named(actor, TEXT)


def test_a_group_with_a_stranger_is_not_named():
    assert not is_named("Ines and Zed", TEXT)


def test_each_mind_that_is_named_adds_one_to_the_order():
    for actor, belief, depth in [
        ("world", "Ines thinks that it rains", 0),
        ("Ines", "It rains", 1),
        ("Ines", "Ines does not know where the key is", 1),
        ("Ines", "Tomas does not know where the key is", 2),
        ("Ines", "Tomas thinks Ines thinks the key is in the bag", 3),
    ]:
        assert depth_of(actor, belief) == depth


def test_an_order_that_does_not_fit_the_wording_is_warned_of():
    for row, text in [
        (("world", "It rains", "1"), "order 0, not 1"),
        (("Ines", "It rains", "0"), "an actor's own belief has 1"),
        (("Ines", "It rains", "4"), "expected 0 to 3"),
        (("Ines", "Tomas thinks that it rains", "1"), "order 2?"),
        (("Ines", "Tomas wants the key", "1"), "order 2?"),
        (("Ines", "Tomas saw that Bea felt cold", "2"), "order 3?"),
        (("Ines", "小红希望下雨", "1"), "order 2?"),
        (("Ines", "It rains", "2"), "fewer minds than order 2 has: order 1?"),
        (("Ines", "Tomas thinks that it rains", "3"), "order 2?"),
    ]:
        assert text in said(row)[0][0]


def test_a_state_of_mind_may_be_one_mind_more_than_the_wording_names():
    assert said(("Ines", "Tomas is hurt", "2")) == [[]]
    assert said(("Ines", "Tomas is hurt", "3")) != [[]]


def test_orders_of_a_schema_of_its_own_are_taken_and_others_are_warned_of():
    """A schema without order 0 has none for facts, and no order is proposed that it has not."""
    for row, text in [
        (("Ines", "It rains", "0"), "The order is 0; expected 1, 2."),
        (("Ines", "It rains", "3"), "The order is 3; expected 1, 2."),
        (("world", "It rains", "1"), None),
        (("Ines", "Tomas thinks that it rains", "1"), "order 2?"),
        (("Ines", "Tomas saw that Bea felt cold", "2"), None),
    ]:
        told = [warned.text for warned in checks([TableRow(*row)], [TEXT], ("1", "2"))[0] if warned.field == "order"]
        assert told == [] if text is None else text in told[0]
