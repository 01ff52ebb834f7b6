from __future__ import annotations

from annotation.domain import problems
from annotation.domain.problems import Problem, Problems


def test_the_first_problems_are_listed_and_the_others_counted(monkeypatch):
    monkeypatch.setattr(problems, "MAX_LISTED_PROBLEMS", 3)
    found = Problems()
    for line in range(1, 11):
        found.add(Problem("a.csv", line, f"Cell {line} is broken."))
    assert (len(found), found.total) == (3, 10)
    told = found.listed()
    assert [one.line for one in told] == [1, 2, 3, 10]
    assert told[-1].message == "7 more problems are not listed."


def test_what_is_wrong_with_many_lines_is_listed_once_at_the_first(monkeypatch):
    monkeypatch.setattr(problems, "MAX_LISTED_PROBLEMS", 2)
    found = Problems()
    for line, words in enumerate(("Full.", "Broken.", "Full.", "Late.", "Full.", "Broken."), 2):
        found.add(Problem("a.csv", line, words), once=True)
    assert (len(found), found.total) == (2, 6)
    assert [(one.line, one.message) for one in found.listed()] == [
        (2, "Full. (2 more lines like it.)"),
        (3, "Broken. (1 more line like it.)"),
        (5, "1 more problem is not listed."),
    ]


def test_what_is_said_of_a_line_is_listed_of_each():
    found = Problems()
    for line in (2, 3):
        found.add(Problem("a.csv", line, "Here stands another vote."))
    assert [(one.line, one.message) for one in found.listed()] == [
        (2, "Here stands another vote."),
        (3, "Here stands another vote."),
    ]


def test_no_problem_is_an_empty_list():
    assert Problems() == [] == Problems().listed()
