from __future__ import annotations

from dataclasses import replace

from annotation.domain.reconciliation import PairKind, adopted, kind_of, pairs, proposed, remark_of
from annotation.domain.tables import TableRow

A = [
    TableRow("world", "The key is in the bag"),
    TableRow("Ines", "The key is still in the bag"),
    TableRow("Tomas", "Ines is at work"),
    TableRow("Ines", "Nobody has moved anything"),
]
B = [
    TableRow("Ines", "The key is still lying in the bag"),
    TableRow("World", "the key is in  the bag."),
    TableRow("Ines", "Tomas likes plums"),
    TableRow("Petra", "Ines is at work"),
]


def kinds(a, b):
    found = [(None if i is None else a[i], None if j is None else b[j]) for i, j in pairs(a, b)]
    return [(kind_of(*pair), pair[0] and pair[0].belief, pair[1] and pair[1].belief) for pair in found]


def test_rows_are_paired():
    assert kinds(A, B) == [
        (PairKind.SAME, "The key is in the bag", "the key is in  the bag."),
        (PairKind.REWORDED, "The key is still in the bag", "The key is still lying in the bag"),
        (PairKind.ONLY_A, "Ines is at work", None),  # Petra's row is equal, but another actor's
        (PairKind.ONLY_A, "Nobody has moved anything", None),
        (PairKind.ONLY_B, None, "Tomas likes plums"),
        (PairKind.ONLY_B, None, "Ines is at work"),
    ]


def test_a_full_stop_makes_no_other_words_in_either_language():
    chinese = [TableRow("小明", "球在家里", "1")], [TableRow("小明", "球在家里。", "1")]
    assert kinds(*chinese) == [(PairKind.SAME, "球在家里", "球在家里。")]


def test_every_row_occurs_once_also_among_equal_ones():
    row = TableRow("Ines", "It rains")
    assert [kind for kind, *_ in kinds([row, row, row], [row, row])] == [PairKind.SAME, PairKind.SAME, PairKind.ONLY_A]


def test_the_pairs_are_the_most_similar_together():
    # 0 alone would take b's 0 (its best), and leave 1 without a mate: together 0-1 and 1-0 are more similar.
    a = [TableRow("Ines", "The key is in the old bag"), TableRow("Ines", "The key is in the bag today")]
    b = [TableRow("Ines", "The key is in the bag"), TableRow("Ines", "The keys are in the old bag")]
    assert pairs(a, b) == [(0, 1), (1, 0)]


def test_an_article_makes_no_other_actor():
    assert pairs([TableRow("caretaker", "It rains")], [TableRow("The caretaker", "It rains.")]) == [(0, 0)]


def test_an_empty_table_leaves_only_rows_of_one():
    assert {kind for kind, *_ in kinds([], B)} == {PairKind.ONLY_B}
    assert kinds([], []) == []


RAIN, SNOW = TableRow("Ines", "It rains", "1"), TableRow("Ines", "It snows", "1")


def test_an_order_that_differs_is_a_kind_of_its_own():
    for a, b, kind in [
        (RAIN, RAIN, PairKind.SAME),
        (RAIN._replace(order=""), RAIN._replace(order=""), PairKind.SAME),
        (RAIN, RAIN._replace(order=" 1"), PairKind.SAME),
        (RAIN, RAIN._replace(order=""), PairKind.ORDER),
        (RAIN._replace(order=""), RAIN, PairKind.ORDER),
        (RAIN, RAIN._replace(order="2"), PairKind.ORDER),
        (RAIN, SNOW, PairKind.REWORDED),
        (None, None, PairKind.NEW),
    ]:
        assert kind_of(a, b) is kind


def test_only_what_both_wrote_is_kept_from_the_start():
    assert proposed(RAIN, RAIN, 1).status == "kept"
    assert proposed(RAIN, RAIN._replace(order=""), 1).status == ""
    assert proposed(RAIN._replace(order=""), RAIN, 1).order == "1"
    assert proposed(RAIN, RAIN._replace(order="2"), 1).status == ""
    assert proposed(None, SNOW, 1).belief == "It snows"


def test_keeping_one_experts_words_settles_no_order_where_only_the_orders_differ():
    assert adopted(RAIN._replace(order=""), RAIN).order == ""
    assert adopted(RAIN, RAIN._replace(order="")).order == "1"
    assert adopted(SNOW._replace(order=""), RAIN).order == "1"  # reworded: the order of the other stands beside it
    assert adopted(SNOW, None) == SNOW


def test_the_remark_says_what_reconciliation_changed():
    for a, b, fields, remark in [
        (RAIN, RAIN, {}, ""),
        (RAIN, RAIN, {"belief": "It pours"}, "revised"),
        (RAIN, RAIN, {"order": "2"}, "revised"),
        (RAIN._replace(order=""), RAIN._replace(order=""), {}, ""),
        (RAIN, RAIN._replace(order=""), {}, "revised"),
        (RAIN, RAIN._replace(order=""), {"order": ""}, "revised"),
        (RAIN, RAIN, {"status": "dropped"}, "removed"),
        (RAIN, RAIN._replace(order="2"), {"order": "2"}, "revised"),
        (RAIN, SNOW, {}, "revised"),
        (RAIN, None, {}, "added"),
        (None, SNOW, {"belief": "It hails"}, "revised"),
        (None, None, {"belief": "It hails"}, "added"),
        (RAIN, None, {"status": "dropped"}, "removed"),
    ]:
        state = replace(proposed(a, b, 1), **{"status": "kept"} | fields)
        assert remark_of(a, b, state) == remark
