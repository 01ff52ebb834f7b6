"""How often a judge was right, by hand."""

from __future__ import annotations

import pytest

from judge.domain.contrast import rates, summary_line


def test_rates_by_kind_with_exact_intervals():
    judged = [("identical", 1)] * 3 + [("negated", 0)] * 9 + [("negated", 2), ("negated", None), ("actor", None)]
    held = {one.kind: one for one in rates(judged)}
    # all of 3: the lower end solves p^3 = 0.025, so 0.025^(1/3) = 0.2924
    assert (held["identical"].right, held["identical"].n, held["identical"].rate) == (3, 3, 1)
    assert held["identical"].interval == [pytest.approx(0.025 ** (1 / 3)), 1.0]
    # 9 of 10 answered: [0.5550, 0.9975], the textbook's exact interval; the one without an answer counts nowhere but as
    # such
    assert (held["negated"].right, held["negated"].n, held["negated"].missing) == (9, 10, 1)
    assert held["negated"].interval == [pytest.approx(0.5550, abs=1e-4), pytest.approx(0.9975, abs=1e-4)]
    assert (held["actor"].n, held["actor"].missing, held["actor"].rate, held["actor"].interval) == (
        0,
        1,
        None,
        None,
    )
    assert summary_line(rates(judged)) == (
        "identical 3/3, paraphrase –, negated 9/10 (1 unanswered), other actor – (1 unanswered), other place "
        "or feeling –"
    )


def test_a_count_from_one_on_is_a_match():
    for count, right in [(0, 1), (1, 0), (3, 0), (-1, 1)]:
        assert next(one for one in rates([("place", count)]) if one.kind == "place").right == right
