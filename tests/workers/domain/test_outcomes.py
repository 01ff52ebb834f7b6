from __future__ import annotations

import pytest

from workers.domain.outcomes import Outcome, commonest, outcome_of
from workers.templatetags.money import LEAST, segments_of


@pytest.mark.parametrize(
    ("done", "unreadable", "failed", "outcome"),
    [
        (3, 0, 0, Outcome.FINISHED),
        (0, 0, 0, Outcome.FINISHED),
        (1, 2, 0, Outcome.UNREADABLE),
        (1, 0, 2, Outcome.PARTLY),
        (1, 2, 1, Outcome.PARTLY),
        (0, 2, 0, Outcome.USELESS),
        (0, 1, 2, Outcome.USELESS),
        (0, 0, 2, Outcome.FAILED),
    ],
)
def test_the_outcome_of_a_job(done, unreadable, failed, outcome):
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
