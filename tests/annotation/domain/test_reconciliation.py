from __future__ import annotations

from dataclasses import replace

from annotation.domain.reconciliation import DraftRow, Lane, adopted, change_of, lane_of, pairs, proposed

A = [
    DraftRow("world", "The key is in the bag"),
    DraftRow("Ines", "The key is still in the bag"),
    DraftRow("Tomas", "Ines is at work"),
    DraftRow("Ines", "Nobody has moved anything"),
]
B = [
    DraftRow("Ines", "The key is still lying in the bag"),
    DraftRow("World", "the key is in  the bag."),
    DraftRow("Ines", "Tomas likes plums"),
    DraftRow("Petra", "Ines is at work"),
]


def lanes(a, b):
    found = [(None if i is None else a[i], None if j is None else b[j]) for i, j in pairs(a, b)]
    return [(lane_of(*pair), pair[0] and pair[0].belief, pair[1] and pair[1].belief) for pair in found]


def test_rows_fall_into_lanes():
    assert lanes(A, B) == [
        (Lane.SAME, "The key is in the bag", "the key is in  the bag."),
        (Lane.REWORDED, "The key is still in the bag", "The key is still lying in the bag"),
        (Lane.ONLY_A, "Ines is at work", None),  # Petra's row is equal, but another actor's
        (Lane.ONLY_A, "Nobody has moved anything", None),
        (Lane.ONLY_B, None, "Tomas likes plums"),
        (Lane.ONLY_B, None, "Ines is at work"),
    ]


def test_a_full_stop_makes_no_other_words_in_either_language():
    chinese = [DraftRow("小明", "球在家里", "1")], [DraftRow("小明", "球在家里。", "1")]
    assert lanes(*chinese) == [(Lane.SAME, "球在家里", "球在家里。")]


def test_every_row_occurs_once_also_among_equal_ones():
    row = DraftRow("Ines", "It rains")
    assert [lane for lane, *_ in lanes([row, row, row], [row, row])] == [Lane.SAME, Lane.SAME, Lane.ONLY_A]


def test_the_pairs_are_the_most_similar_together():
    # 0 alone would take b's 0 (its best), and leave 1 without a mate: together 0-1 and 1-0 are more similar.
    a = [DraftRow("Ines", "The key is in the old bag"), DraftRow("Ines", "The key is in the bag today")]
    b = [DraftRow("Ines", "The key is in the bag"), DraftRow("Ines", "The keys are in the old bag")]
    assert pairs(a, b) == [(0, 1), (1, 0)]


def test_an_article_makes_no_other_actor():
    assert pairs([DraftRow("caretaker", "It rains")], [DraftRow("The caretaker", "It rains.")]) == [(0, 0)]


def test_an_empty_table_leaves_one_lane():
    assert {lane for lane, *_ in lanes([], B)} == {Lane.ONLY_B}
    assert lanes([], []) == []


RAIN, SNOW = DraftRow("Ines", "It rains", "1"), DraftRow("Ines", "It snows", "1")


def test_an_order_that_differs_has_a_lane_of_its_own():
    for a, b, lane in [
        (RAIN, RAIN, Lane.SAME),
        (replace(RAIN, order=""), replace(RAIN, order=""), Lane.SAME),
        (RAIN, replace(RAIN, order=" 1"), Lane.SAME),
        (RAIN, replace(RAIN, order=""), Lane.ORDER),
        (replace(RAIN, order=""), RAIN, Lane.ORDER),
        (RAIN, replace(RAIN, order="2"), Lane.ORDER),
        (RAIN, SNOW, Lane.REWORDED),
        (None, None, Lane.NEW),
    ]:
        assert lane_of(a, b) is lane


def test_only_what_both_wrote_is_kept_from_the_start():
    assert proposed(RAIN, RAIN, 1).status == "kept"
    assert proposed(RAIN, replace(RAIN, order=""), 1).status == ""
    assert proposed(replace(RAIN, order=""), RAIN, 1).order == "1"
    assert proposed(RAIN, replace(RAIN, order="2"), 1).status == ""
    assert proposed(None, SNOW, 1).belief == "It snows"


def test_keeping_one_experts_words_settles_no_order_where_only_the_orders_differ():
    assert adopted(replace(RAIN, order=""), RAIN).order == ""
    assert adopted(RAIN, replace(RAIN, order="")).order == "1"
    assert adopted(replace(SNOW, order=""), RAIN).order == "1"  # reworded: the order of the other stands beside it
    assert adopted(SNOW, None) == SNOW


def test_the_remark_says_what_reconciliation_changed():
    for a, b, fields, remark in [
        (RAIN, RAIN, {}, ""),
        (RAIN, RAIN, {"belief": "It pours"}, "revised"),
        (RAIN, RAIN, {"order": "2"}, "revised"),
        (replace(RAIN, order=""), replace(RAIN, order=""), {}, ""),
        (RAIN, replace(RAIN, order=""), {}, "revised"),
        (RAIN, replace(RAIN, order=""), {"order": ""}, "revised"),
        (RAIN, RAIN, {"status": "dropped"}, "removed"),
        (RAIN, replace(RAIN, order="2"), {"order": "2"}, "revised"),
        (RAIN, SNOW, {}, "revised"),
        (RAIN, None, {}, "added"),
        (None, SNOW, {"belief": "It hails"}, "revised"),
        (None, None, {"belief": "It hails"}, "added"),
        (RAIN, None, {"status": "dropped"}, "removed"),
    ]:
        state = replace(proposed(a, b, 1), **{"status": "kept"} | fields)
        assert change_of(a, b, state) == remark
