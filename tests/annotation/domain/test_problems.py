from __future__ import annotations

from annotation.domain import problems
from annotation.domain.problems import Problem, Problems


def test_the_first_problems_are_listed_and_the_others_counted(monkeypatch):
    monkeypatch.setattr(problems, "MAX_LISTED_PROBLEMS", 3)
    found = Problems()
    for line in range(1, 11):
        found.add(Problem("a.csv", line, "It is broken."))
    assert (len(found), found.total) == (3, 10)
    told = found.as_dicts()
    assert [one["line"] for one in told] == [1, 2, 3, 10]
    assert told[-1]["message"] == "7 more problems are not listed."


def test_no_problem_is_an_empty_list():
    assert Problems() == [] == Problems().as_dicts()
