from __future__ import annotations

import pytest

from workers.domain.outcomes import Outcome, Policy, commonest, decide, outcome_of
from workers.providers.errors import Forbidden, Lost, Overloaded, Rejected, Throttled, Unreachable, Unreadable
from workers.templatetags.money import LEAST, segments_of


def test_the_outcome_of_a_job():
    for done, unreadable, failed, outcome in [
        (3, 0, 0, Outcome.FINISHED),
        (0, 0, 0, Outcome.FINISHED),
        (1, 2, 0, Outcome.UNREADABLE),
        (1, 0, 2, Outcome.PARTLY),
        (1, 2, 1, Outcome.PARTLY),
        (0, 2, 0, Outcome.USELESS),
        (0, 1, 2, Outcome.USELESS),
        (0, 0, 2, Outcome.FAILED),
    ]:
        assert outcome_of(done=done, unreadable=unreadable, failed=failed) == outcome


def test_the_commonest_problem_counts_sentences_that_differ_in_numbers_and_ids_as_one():
    # 2 + 3 + 1 of the slow ones are more than the 5 refusals; "in 7 s" occurs most often of their forms
    problems = [
        ("Slow down, try again in 2 s (req_a1b2c3).", 2),
        ("Slow down, try again in 7 s (req_ffff00).", 3),
        ("The model does not exist.", 5),
        ("Slow down, try again in 1.5 s (req_9).", 1),
    ]
    assert commonest(problems) == ("Slow down, try again in 7 s (req_ffff00).", 6)
    assert commonest([]) == ("", 0)


def test_the_parts_of_a_bar_fill_it_and_a_single_failure_is_seen():
    parts = segments_of({"done": 9_990, "unreadable": 0, "failed": 1, "waiting": 9})
    assert [part.state for part in parts] == ["done", "failed", "waiting"]
    assert parts[1].width == LEAST and parts[0].width == pytest.approx(100 - 2 * LEAST)
    assert parts[0].start == 0 and parts[-1].end == pytest.approx(100)
    assert segments_of({"done": 0}) == []
    assert [part.width for part in segments_of({"done": 1, "failed": 3})] == [25, 75]


POLICY = Policy(attempts=6, unknown=1, cap=60.0)


def after(error, *, attempts=1, unknowns=0, policy=POLICY, jitter=0.0):
    return decide(error, attempts=attempts, unknowns=unknowns, policy=policy, jitter=jitter)


def test_what_can_never_work_is_not_sent_again():
    for kind in [Rejected, Forbidden]:
        decision = after(kind("No such model."))
        assert (decision.again, decision.reason) == (False, "No such model.")


def test_pauses_double_up_to_a_minute():
    for kind in [Throttled, Overloaded, Unreachable]:
        # 1 · 2^(n−1) seconds: 1, 2, 4, … 32, then 64 is cut to 60
        policy = Policy(attempts=20)
        pauses = [after(kind("Busy."), attempts=at, policy=policy).pause for at in (1, 2, 3, 6, 7, 12)]
        assert pauses == [1, 2, 4, 32, 60, 60]


def test_jitter_spreads_over_a_quarter_of_the_pause():
    # 4 s · (1 + 1/4)
    assert after(Overloaded("Busy."), attempts=3, jitter=1.0).pause == 5
    assert after(Overloaded("Busy."), attempts=3, jitter=0.5).pause == 4.5


def test_retry_after_is_obeyed_where_it_is_longer():
    assert after(Throttled("Slow down.", retry_after=10)).pause == 10
    assert after(Throttled("Slow down.", retry_after=10), attempts=5).pause == 16
    assert after(Throttled("Slow down.", retry_after=0)).pause == 1


def test_a_retry_after_above_the_cap_is_cut_and_says_so():
    decision = after(Throttled("Slow down.", retry_after=3600))
    assert (decision.again, decision.pause) == (True, 60)
    assert decision.reason == ("Slow down. The provider asks to wait 3600 s; waiting 60 s, the cap of this endpoint.")
    assert after(Throttled("Slow down.", retry_after=60)).reason == "Slow down."


def test_the_last_attempt_gives_up():
    for attempts, policy, sentence in [
        (6, POLICY, "Busy. Given up after 6 attempts."),
        (1, Policy(attempts=1), "Busy. Given up after one attempt."),
    ]:
        decision = after(Throttled("Busy.", retry_after=5), attempts=attempts, policy=policy)
        assert (decision.again, decision.pause, decision.reason) == (False, 0, sentence)


def test_what_a_server_said_ends_before_the_next_sentence():
    for sentence in ["HTTP 501: no", "HTTP 501: no.", "HTTP 501: no\n"]:
        assert after(Overloaded(sentence), attempts=6).reason == "HTTP 501: no. Given up after 6 attempts."


def test_an_unknown_outcome_is_repeated_as_often_as_the_policy_says():
    for kind in [Lost, Unreadable]:
        assert after(kind("Gone."), attempts=1, unknowns=1).again
        ended = after(kind("Gone."), attempts=2, unknowns=2)
        assert (ended.again, ended.reason) == (
            False,
            "Gone. The outcome of 2 attempts is unknown; it may have been paid.",
        )
        never = after(kind("Gone."), unknowns=1, policy=Policy(unknown=0))
        assert never.reason == "Gone. The outcome of one attempt is unknown; it may have been paid."


def test_unknown_outcomes_count_as_attempts_too():
    decision = after(Lost("Gone."), attempts=6, unknowns=1)
    maybe = "The outcome of one attempt is unknown; it may have been paid."
    assert (decision.again, decision.reason) == (False, f"Gone. Given up after 6 attempts. {maybe}")


def test_a_lost_answer_is_told_of_however_the_call_ends():
    """Lost once, then refused until nobody asks any more, or for good."""
    maybe = "The outcome of one attempt is unknown; it may have been paid."
    given_up = after(Overloaded("Busy."), attempts=6, unknowns=1)
    assert (given_up.again, given_up.reason) == (False, f"Busy. Given up after 6 attempts. {maybe}")
    refused = after(Rejected("No such model."), attempts=2, unknowns=1)
    assert (refused.again, refused.reason) == (False, f"No such model. {maybe}")
    assert after(Rejected("No such model."), attempts=2, unknowns=0).reason == "No such model."
