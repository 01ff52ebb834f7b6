"""Weighted F1 by hand, with bounds for what is not known."""

from __future__ import annotations

import pytest

from benchmark.suites.fantom_questions.metrics import weighted_f1


def test_bounds_take_an_answer_that_is_not_known_for_wrong_and_for_right():
    known = [("a", 1, 1), ("b", 0, 0), ("c", 1, -1)]
    # yes: 1 hit, 2 in gold, 1 answered: 2/3; no: 1
    assert weighted_f1(known, seed=1).value == pytest.approx((2 * 2 / 3 + 1) / 3)
    found = weighted_f1([*known, ("d", 0, None)], seed=1)
    assert found.n == 3 and found.value == weighted_f1(known, seed=1).value
    # as a yes: yes 2/4, no 2/3; as a no: yes 2/3, no 1
    assert found.bounds == pytest.approx([(2 * 2 / 4 + 2 * 2 / 3) / 4, (2 * 2 / 3 + 2 * 1) / 4])
    nothing = weighted_f1([("a", 1, None)], seed=1)
    assert nothing.value is None and nothing.bounds == [0, 1] and weighted_f1(known, seed=1).bounds is None
