from __future__ import annotations

from annotation.domain.reconciliation import DraftRow, Lane, lanes

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


def test_rows_fall_into_four_lanes():
    found = [(pair.lane, pair.a and pair.a.belief, pair.b and pair.b.belief) for pair in lanes(A, B)]
    assert found == [
        (Lane.SAME, "The key is in the bag", "the key is in  the bag."),
        (Lane.REWORDED, "The key is still in the bag", "The key is still lying in the bag"),
        (Lane.ONLY_A, "Ines is at work", None),  # Petra's row is equal, but another actor's
        (Lane.ONLY_A, "Nobody has moved anything", None),
        (Lane.ONLY_B, None, "Tomas likes plums"),
        (Lane.ONLY_B, None, "Ines is at work"),
    ]


def test_every_row_occurs_once_also_among_equal_ones():
    row = DraftRow("Ines", "It rains")
    found = lanes([row, row, row], [row, row])
    assert [pair.lane for pair in found] == [Lane.SAME, Lane.SAME, Lane.ONLY_A]


def test_the_most_similar_rows_pair_first():
    a = [DraftRow("Ines", "The key is in the blue bag"), DraftRow("Ines", "The key is in the old blue bag")]
    b = [DraftRow("Ines", "The key is in the old blue bags")]
    assert [pair.lane for pair in lanes(a, b)] == [Lane.ONLY_A, Lane.REWORDED]


def test_an_empty_table_leaves_one_lane():
    assert {pair.lane for pair in lanes([], B)} == {Lane.ONLY_B}
    assert lanes([], []) == []
