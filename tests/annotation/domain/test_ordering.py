from annotation.domain.ordering import plurality, shuffled


def test_the_order_depends_on_the_cell_and_the_labels_only():
    votes = ["Inference", "Testimony", "Memory"]
    orders = {
        tuple(shuffled([votes[i], votes[j], votes[k]], "abc:order")) for i, j, k in [(0, 1, 2), (2, 0, 1), (1, 2, 0)]
    }
    assert len(orders) == 1
    assert sorted(orders.pop()) == sorted(votes)


def test_different_cells_are_shuffled_differently():
    orders = {tuple(shuffled(["A", "B", "C"], f"cell-{at}")) for at in range(60)}
    assert len(orders) == 6  # all 3! orders turn up: no label is always first


def test_repeated_labels_are_all_kept():
    assert sorted(shuffled(["A", "A", "B"], "x")) == ["A", "A", "B"]


def test_plurality_is_strict():
    assert plurality(["A", "A", "B", "C", "D"]) == "A"  # 2 of 5 leads without being a majority
    assert plurality(["A", "A", "B", "B", "C"]) is None
    assert plurality(["A", "B", "C"]) is None
    assert plurality(["A"]) == "A"
    assert plurality([]) is None
