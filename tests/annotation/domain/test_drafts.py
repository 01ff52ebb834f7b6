"""Rows of a draft: two changes of one row, places, undo."""

from __future__ import annotations

from dataclasses import replace

from annotation.domain.drafts import Action, RowState, in_order, incomplete, last_steps, merge, places_of

BASE = RowState("Ines", "It rains", "1", place=2)


def test_a_change_of_what_stands_is_taken_as_it_is():
    wanted = replace(BASE, belief="It snows")
    assert merge(BASE, BASE, wanted) == (wanted, None)
    assert merge(None, None, wanted) == (wanted, None)


def test_changes_of_different_fields_are_both_kept():
    standing, wanted = replace(BASE, order="2"), replace(BASE, belief="It snows", place=5)
    assert merge(BASE, standing, wanted).state == RowState("Ines", "It snows", "2", place=5)


def test_of_two_changes_of_one_text_neither_is_lost():
    standing, wanted = replace(BASE, belief="It hails"), replace(BASE, belief="It snows")
    assert merge(BASE, standing, wanted) == (standing, wanted)


def test_the_same_change_twice_is_no_conflict():
    same = replace(BASE, belief="It snows")
    assert merge(BASE, same, same) == (same, None)


def test_a_row_that_changed_meanwhile_is_not_removed():
    standing = replace(BASE, belief="It hails")
    assert merge(BASE, standing, replace(BASE, removed=True)) == (standing, None)
    moved = replace(BASE, place=9)
    assert merge(BASE, moved, replace(BASE, removed=True)).state == replace(moved, removed=True)


def test_words_typed_into_a_row_that_was_removed_meanwhile_bring_it_back():
    gone = replace(BASE, removed=True)
    assert merge(BASE, gone, replace(BASE, belief="It snows")).state == replace(BASE, belief="It snows")


def test_rows_are_placed_between_their_neighbours():
    for after, before, count, places in [
        (None, None, 2, [1, 2]),
        (3, None, 2, [4, 5]),
        (None, 3, 2, [1, 2]),
        (1, 2, 1, [1.5]),
        (1, 2, 3, [1.25, 1.5, 1.75]),
    ]:
        assert places_of(after, before, count) == places


def test_undo_goes_back_action_by_action_and_redo_forth():
    a, b = Action("a"), Action("b")
    assert last_steps([]) == ("", "")
    assert last_steps([a, b]) == ("b", "")
    undone = [a, b, Action("u", "b")]
    assert last_steps(undone) == ("a", "u")
    assert last_steps([*undone, Action("v", "a")]) == ("", "v")
    redone = [*undone, Action("r", "u")]
    assert last_steps(redone) == ("r", "")
    assert last_steps([*redone, Action("w", "r")]) == ("a", "w")
    assert last_steps([*undone, Action("c")]) == ("c", "")


def test_a_table_is_handed_in_whole():
    assert incomplete([]) == incomplete([RowState("Ines")]) == "Your table has no row yet."
    assert incomplete([BASE, RowState(belief="It rains")]) == "Row 2 has no actor."
    assert incomplete([RowState("Ines", remark="Why?")]) == "Row 1 has no proposition."
    assert incomplete([RowState(), BASE]) == ""


def test_rows_stand_by_place_without_removed_ones():
    rows = {"a": replace(BASE, place=3), "b": replace(BASE, place=1), "c": replace(BASE, place=2, removed=True)}
    assert [key for key, _ in in_order(rows)] == ["b", "a"]
