"""Belief tables: pasted, warned of while they are written, kept as drafts, and brought together by two experts."""

from dataclasses import replace

import pytest

from annotation.domain.drafts import RowState, in_order, incomplete, last_steps, merge, places_of
from annotation.domain.reconciliation import PairKind, adopted, kind_of, pairs, proposed, remark_of
from annotation.domain.table_checks import checks, depth_of, is_named
from annotation.domain.tables import BadTable, TableRow, read_rows

# --- pasted


def test_pasted_tables_are_read_however_cells_and_columns_are_told():
    expected = [TableRow("world", "The key is in the bag", "0"), TableRow("Ines", "The key, she thinks, is safe", "")]
    for text in [
        "world\tThe key is in the bag\t0\nInes\tThe key, she thinks, is safe\n",
        "| Actor | Belief | Order |\n|---|:---:|---|\n| world | The key is in the bag | 0 |\n\n"
        "| Ines | The key, she thinks, is safe | |",
    ]:
        assert read_rows(text) == expected
    for text in [
        "Order\tProposition\tACTOR\n1\tIt rains\tInes\n",
        "**Actor** | Belief | Order Text\n--- | --- | ---\nInes | It rains | 1.0",
        "\n\nInes\tIt rains\t1\t\t\n",
        'Ines\tIt rains\t"1"',
    ]:
        assert read_rows(text) == [TableRow("Ines", "It rains", "1")]
    for text, row in [  # a text may hold what stands between cells
        (r"| Ines | 5\" or 6\" \| more |", ("Ines", r"5\" or 6\" | more")),
        ('Ines\t"It rains, and\nsnows"', ("Ines", "It rains, and\nsnows")),
        ("Ines | It rains\u2028hard | second-order", ("Ines", "It rains\u2028hard", "second-order")),
    ]:
        assert read_rows(text) == [TableRow(*row)]


def test_pasted_text_of_which_something_would_be_lost_is_refused():
    for text, sentence in [
        ("world | a\nInes\n", "Line 2"),
        ("world,the key is here", "Line 1 needs an actor and a belief, with a tab or | between them."),
        ("1 | world | It rains", "Line 1 has the order 'It rains'; expected a number, or a first line with the names"),
        ("Ines | It rains | 1 | note", "Line 1 has 4 cells"),
        ("Ines\tIt rains\t1\tnote", "Line 1 has 4 cells; expected actor, belief, order. A | within a text"),
        ('world\t"' + "x" * 150_000, "Pasted text, line 1: the quote before 'xxx"),
        (
            'Ines\t"It rains\t1\nMia\tIt snows\t1',
            "Pasted text, line 1: the quote before 'It rains\\t1' is never closed",
        ),
        ('Ines\t"It rains" hard\t1', "Pasted text, line 1: the quote before 'It rains"),
        ("Actor | Belief | Comment\nInes | It rains | why", "Line 1 names columns that are not used here: Comment"),
        ("Actor | Order\nInes | 1", "Pasted text, line 1: the column belief is missing"),
        ("Actor | actor | Belief\na | b | c", "Pasted text, line 1: the column Actor, actor occurs twice"),
        (f"Actor\tBelief\tOrder\nInes\tIt rains\t{'x' * 41}", "Line 2: order is longer than 40 characters."),
        (f"{'I' * 201}\tIt rains", "Line 1: actor is longer than 200 characters."),
        ("Ines\tIt\0rains", "Pasted text, line 1: the line holds a NUL character"),
    ]:
        with pytest.raises(BadTable) as error:
            read_rows(text)
        assert str(error.value).startswith(sentence)


# --- warned of

TEXT = "Xiao Hong puts the key in the bag. Then Ines and the caretaker leave. Old Mr. Varga sees Tomas's hat."


def said(*rows: tuple[str, ...]) -> list[list[str]]:
    return [[warned["text"] for warned in row] for row in checks([TableRow(*row) for row in rows], [TEXT])]


def test_pronouns_and_two_statements_in_one_are_warned_of():
    for belief, warned in {
        "She took it": "write the name",
        "Tomas saw him": "write the name",
        "His hat is gone": "write the name",
        "他知道钥匙在哪": "write the name",
        "The key is in the bag; Tomas left": "split it",
        "Tomas stands up and walks away": "split it",
        "Ines left because Tomas was angry": "split it",
        "Tomas took the key and hid the bag": "split it",
    }.items():
        assert warned in said(("Ines", belief))[0][0], belief
    for row in [
        ("world", "The key is in the bag", "0"),
        ("Ines", "The key is in the bag", "1"),
        ("Ines", "Tomas took his hat"),
        ("Ines", "The key lies there"),
        ("Ines", "It rains"),
        ("world", "Jonas and Mei are married"),
        ("world", "Ines looks up and down the street"),
        ("world", "Jonas and Mei took the key"),
    ]:
        assert said(row) == [[]], row
    both = said(("Ines", "Tomas carries the key and she swims"))[0]
    assert [text[:14] for text in both] == ["“she” may be r", "This seems to "]


def test_equal_and_nearly_equal_rows_of_one_actor_are_warned_of():
    assert said(
        ("Ines", "The key is in the bag"),
        ("Tomas", "The key is in the bag"),
        ("Ines", "the key is in the bag."),
        ("Ines", "The key is in the old bag"),
        ("Ines", "The key is not in the bag"),
    ) == [[], [], ["The same as row 1."], ["Nearly the same as row 1."], []]


def test_an_actor_that_the_story_does_not_name_is_warned_of_with_the_name_that_is_near():
    assert said(("Xiao Hng", "It rains")) == [["The story does not name Xiao Hng. Is it Xiao Hong?"]]
    assert said(("Zed", "It rains")) == [["The story does not name Zed."]]
    named = ["world", "Ines", "The caretaker", "Ines and Tomas", "Ines, Tomas & Mr. Varga", "everyone", "Mr Varga"]
    assert [actor for actor in [*named, "Ines and Zed"] if is_named(actor, TEXT)] == named


def test_an_order_that_does_not_fit_the_minds_that_are_named_is_warned_of():
    for actor, belief, depth in [
        ("world", "Ines thinks that it rains", 0),
        ("Ines", "It rains", 1),
        ("Ines", "Ines does not know where the key is", 1),
        ("Ines", "Tomas does not know where the key is", 2),
        ("Ines", "Tomas thinks Ines thinks the key is in the bag", 3),
    ]:
        assert depth_of(actor, belief) == depth
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
    # a state of mind may be one mind more than the wording names
    assert said(("Ines", "Tomas is hurt", "2")) == [[]] != said(("Ines", "Tomas is hurt", "3"))
    # a schema of its own without order 0 has none for facts, and no order is proposed that it has not
    for row, text in [
        (("Ines", "It rains", "0"), "The order is 0; expected 1, 2."),
        (("Ines", "It rains", "3"), "The order is 3; expected 1, 2."),
        (("world", "It rains", "1"), None),
        (("Ines", "Tomas thinks that it rains", "1"), "order 2?"),
        (("Ines", "Tomas saw that Bea felt cold", "2"), None),
    ]:
        warnings = checks([TableRow(*row)], [TEXT], ("1", "2"))[0]
        told = [warned["text"] for warned in warnings if warned["field"] == "order"]
        assert told == [] if text is None else text in told[0]


# --- drafts

BASE = RowState("Ines", "It rains", "1", place=2)


def test_two_changes_of_one_row_are_merged():
    snow, hail = replace(BASE, belief="It snows"), replace(BASE, belief="It hails")
    gone, moved = replace(BASE, removed=True), replace(BASE, place=9)
    for base, standing, edited, merged in [
        (BASE, BASE, snow, (snow, None)),
        (None, None, snow, (snow, None)),
        (BASE, replace(BASE, order="2"), replace(snow, place=5), (RowState("Ines", "It snows", "2", place=5), None)),
        (BASE, hail, snow, (hail, snow)),  # of two changes of one text neither is lost
        (BASE, snow, snow, (snow, None)),
        (BASE, hail, gone, (hail, None)),  # a row that changed meanwhile is not removed
        (BASE, moved, gone, (replace(moved, removed=True), None)),
        (BASE, gone, snow, (snow, None)),  # words typed into a row that was removed meanwhile bring it back
    ]:
        assert merge(base, standing, edited) == merged


def test_rows_are_placed_between_their_neighbours_and_stand_by_place_without_removed_ones():
    for after, before, count, places in [
        (None, None, 2, [1, 2]),
        (3, None, 2, [4, 5]),
        (None, 3, 2, [1, 2]),
        (1, 2, 1, [1.5]),
        (1, 2, 3, [1.25, 1.5, 1.75]),
    ]:
        assert places_of(after, before, count) == places
    rows = {"a": replace(BASE, place=3), "b": replace(BASE, place=1), "c": replace(BASE, place=2, removed=True)}
    assert [key for key, _ in in_order(rows)] == ["b", "a"]


def test_undo_goes_back_action_by_action_and_redo_forth():
    done = {"a": "", "b": ""}
    undone = done | {"u": "b"}
    redone = undone | {"r": "u"}
    for actions, steps in [
        ({}, ("", "")),
        (done, ("b", "")),
        (undone, ("a", "u")),
        (undone | {"v": "a"}, ("", "v")),
        (redone, ("r", "")),
        (redone | {"w": "r"}, ("a", "w")),
        (undone | {"c": ""}, ("c", "")),
    ]:
        assert last_steps(actions) == steps


def test_a_table_is_handed_in_whole():
    for rows, sentence in [
        ([], "Your table has no row yet."),
        ([RowState("Ines")], "Your table has no row yet."),
        ([BASE, RowState(belief="It rains")], "Row 2 has no actor."),
        ([RowState("Ines", remark="Why?")], "Row 1 has no proposition."),
        ([RowState(), BASE], ""),
    ]:
        assert incomplete(rows) == sentence


# --- of two experts

RAIN, SNOW = TableRow("Ines", "It rains", "1"), TableRow("Ines", "It snows", "1")
NO_ORDER, SECOND = RAIN._replace(order=""), RAIN._replace(order="2")


def kinds(a, b):
    found = [(None if i is None else a[i], None if j is None else b[j]) for i, j in pairs(a, b)]
    return [(kind_of(*pair), pair[0] and pair[0].belief, pair[1] and pair[1].belief) for pair in found]


def test_rows_are_paired_every_one_once():
    a = [
        TableRow("world", "The key is in the bag"),
        TableRow("Ines", "The key is still in the bag"),
        TableRow("Tomas", "Ines is at work"),
        TableRow("Ines", "Nobody has moved anything"),
    ]
    b = [
        TableRow("Ines", "The key is still lying in the bag"),
        TableRow("World", "the key is in  the bag."),
        TableRow("Ines", "Tomas likes plums"),
        TableRow("Petra", "Ines is at work"),
    ]
    assert kinds(a, b) == [
        (PairKind.SAME, "The key is in the bag", "the key is in  the bag."),
        (PairKind.REWORDED, "The key is still in the bag", "The key is still lying in the bag"),
        (PairKind.ONLY_A, "Ines is at work", None),  # Petra's row is equal, but another actor's
        (PairKind.ONLY_A, "Nobody has moved anything", None),
        (PairKind.ONLY_B, None, "Tomas likes plums"),
        (PairKind.ONLY_B, None, "Ines is at work"),
    ]
    assert {kind for kind, *_ in kinds([], b)} == {PairKind.ONLY_B} and kinds([], []) == []
    # a full stop makes no other words in either language, and an article no other actor
    chinese = [TableRow("小明", "球在家里", "1")], [TableRow("小明", "球在家里。", "1")]
    assert [kind for kind, *_ in kinds(*chinese)] == [PairKind.SAME]
    assert pairs([TableRow("caretaker", "It rains")], [TableRow("The caretaker", "It rains.")]) == [(0, 0)]
    assert [kind for kind, *_ in kinds([RAIN] * 3, [RAIN] * 2)] == [PairKind.SAME, PairKind.SAME, PairKind.ONLY_A]
    # 0 alone would take b's 0 (its best), and leave 1 without a mate: together 0-1 and 1-0 are more similar
    a = [TableRow("Ines", "The key is in the old bag"), TableRow("Ines", "The key is in the bag today")]
    b = [TableRow("Ines", "The key is in the bag"), TableRow("Ines", "The keys are in the old bag")]
    assert pairs(a, b) == [(0, 1), (1, 0)]


def test_an_order_that_differs_is_a_kind_of_its_own_and_only_what_both_wrote_is_kept_from_the_start():
    for a, b, kind in [
        (RAIN, RAIN, PairKind.SAME),
        (NO_ORDER, NO_ORDER, PairKind.SAME),
        (RAIN, RAIN._replace(order=" 1"), PairKind.SAME),
        (RAIN, NO_ORDER, PairKind.ORDER),
        (NO_ORDER, RAIN, PairKind.ORDER),
        (RAIN, SECOND, PairKind.ORDER),
        (RAIN, SNOW, PairKind.REWORDED),
        (None, None, PairKind.NEW),
    ]:
        assert kind_of(a, b) is kind
    assert [proposed(RAIN, b, 1).status for b in (RAIN, NO_ORDER, SECOND)] == ["kept", "", ""]
    assert proposed(NO_ORDER, RAIN, 1).order == "1" and proposed(None, SNOW, 1).belief == "It snows"
    # keeping one expert's words settles no order where only the orders differ
    for a, b, order in [(NO_ORDER, RAIN, ""), (RAIN, NO_ORDER, "1"), (SNOW._replace(order=""), RAIN, "1")]:
        assert adopted(a, b).order == order  # reworded: the order of the other stands beside it
    assert adopted(SNOW, None) == SNOW


def test_the_remark_says_what_reconciliation_changed():
    for a, b, fields, remark in [
        (RAIN, RAIN, {}, ""),
        (RAIN, RAIN, {"belief": "It pours"}, "revised"),
        (RAIN, RAIN, {"order": "2"}, "revised"),
        (NO_ORDER, NO_ORDER, {}, ""),
        (RAIN, NO_ORDER, {}, "revised"),
        (RAIN, NO_ORDER, {"order": ""}, "revised"),
        (RAIN, RAIN, {"status": "dropped"}, "removed"),
        (RAIN, SECOND, {"order": "2"}, "revised"),
        (RAIN, SNOW, {}, "revised"),
        (RAIN, None, {}, "added"),
        (None, SNOW, {"belief": "It hails"}, "revised"),
        (None, None, {"belief": "It hails"}, "added"),
        (RAIN, None, {"status": "dropped"}, "removed"),
    ]:
        state = replace(proposed(a, b, 1), **{"status": "kept"} | fields)
        assert remark_of(a, b, state) == remark
