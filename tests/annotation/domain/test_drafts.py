"""Rows of a draft: two changes of one row, places, undo."""

from __future__ import annotations

from dataclasses import replace

from annotation.domain.drafts import RowState, in_order, incomplete, last_steps, merge, places_of

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
    assert incomplete([]) == incomplete([RowState("Ines")]) == "Your table has no row yet."
    assert incomplete([BASE, RowState(belief="It rains")]) == "Row 2 has no actor."
    assert incomplete([RowState("Ines", remark="Why?")]) == "Row 1 has no proposition."
    assert incomplete([RowState(), BASE]) == ""


def test_rows_stand_by_place_without_removed_ones():
    rows = {"a": replace(BASE, place=3), "b": replace(BASE, place=1), "c": replace(BASE, place=2, removed=True)}
    assert [key for key, _ in in_order(rows)] == ["b", "a"]
