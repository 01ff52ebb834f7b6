"""Answers of several shares each, over repetitions."""

from __future__ import annotations

from benchmark.suites.measuring import scored_shares
from benchmark.suites.questions import Outcome, Sample
from benchmark.suites.reasons import questions_unanswered

SAMPLE = Sample("1", "1", {}, {}, category="c")
SCORED = scored_shares(("a", "b"), lambda outcome, parse: getattr(outcome, parse))


def answer(a, b, official=True) -> Outcome:
    return Outcome("step", {"a": a, "b": b} if official else None, {"a": a, "b": b})


def test_shares_are_means_over_repetitions_and_bounds_take_in_what_is_missing():
    # read: a = 1 and 0.5, b = 0 and undefined; unreadable: 0 to 1
    unreadable = Outcome("step", None, None, unreadable="unreadable")
    result = SCORED(SAMPLE, [answer(1.0, 0.0), answer(0.5, None, official=False), unreadable])
    assert result.official == {"a": 1.0, "b": 0.0} and not result.reason
    assert result.repaired.estimate == {"a": 0.75, "b": 0.0}
    assert result.repaired.worst == {"a": 0.5, "b": 0.0} and result.repaired.best == {"a": 2.5 / 3, "b": 0.5}


def test_a_missing_answer_leaves_no_official_shares_and_a_whole_range():
    missing = Outcome("step", None, None, without="the call failed")
    result = SCORED(SAMPLE, [missing])
    assert result.official is None and result.reason == "its only question has no answer"
    assert (result.repaired.worst, result.repaired.best) == ({"a": 0.0, "b": 0.0}, {"a": 1.0, "b": 1.0})
    assert result.repaired.estimate is None and result.repaired.unreadable == "the call failed"
    left_out = SCORED(SAMPLE, [Outcome("step", None, None, unreadable="unreadable")])
    assert left_out.official == {"a": None, "b": None} and left_out.repaired.unreadable == "unreadable"


def test_what_has_no_answer_is_counted_in_english():
    for missing, of, reason in [
        (0, 1, ""),
        (1, 1, "its only question has no answer"),
        (1, 3, "1 of its 3 questions has no answer"),
        (2, 3, "2 of its 3 questions have no answer"),
    ]:
        assert questions_unanswered(missing, of) == reason
