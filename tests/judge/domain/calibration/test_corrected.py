"""Corrected scores: by hand, beside a bootstrap, and whether their intervals hold a truth that the judge misses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from judge.domain.calibration.corrected import corrected, difference, foreseen, needed, reach, unseen_p
from judge.domain.calibration.means import mean_error, mean_judged
from judge.domain.calibration.tables import Averaging, JudgedStory, Matches, Metric
from tests.judge.domain.calibration.worlds import judged_stories

pytestmark = pytest.mark.once


def one(name, said, true=None, category="c", probability=None, rows=10):
    human = None if true is None else Matches(rows, true, rows, true)
    return JudgedStory(name, category, Matches(rows, said, rows, said), human, probability)


def test_the_corrected_score_by_hand():
    # judged .6 .8 .4 .6, a mean of .6; people looked at the first two and say .4 and .8: the judge is .1 too high there
    stories = [one("a", 6, 4, probability=0.5), one("b", 8, 8, probability=0.5), one("c", 4), one("d", 6)]
    found = corrected(stories, Metric.F1, tuning=1)
    assert found.judged == pytest.approx(0.6) and found.value == pytest.approx(0.5)
    # with λ = ½: ½ · .6 + mean(.4 − .3, .8 − .4) = .3 + .25; with λ = 0 people alone
    assert corrected(stories, Metric.F1, tuning=0.5).value == pytest.approx(0.55)
    assert corrected(stories, Metric.F1, tuning=0).value == pytest.approx(0.6) == found.human
    assert found.interval is None and found.reason == "an interval needs at least 5 aligned stories"


def test_probabilities_and_categories_count():
    stories = [one("a", 6, 4, "x", 1.0), one("b", 8, 8, "y", 1 / 3), one("c", 4, None, "y"), one("d", 6, None, "y")]
    # over stories: residuals −.2 with weight ¼ · 1, 0 with weight ¼ · 3: −.05. Over categories: ½ each: judged is
    # (.6 + .6) / 2, the correction −.2/2
    assert corrected(stories, Metric.F1, tuning=1).value == pytest.approx(0.55)
    by_category = corrected(stories, Metric.F1, Averaging.CATEGORIES, tuning=1)
    assert by_category.judged == pytest.approx(0.6) and by_category.value == pytest.approx(0.5)
    assert corrected(stories[:1] + stories[2:], Metric.F1, tuning=1).unseen == pytest.approx(2 / 3)


def test_a_score_on_which_all_aligned_stories_agree_has_an_interval_by_the_rule_of_three():
    for probability in [0.5, 0.7]:
        for true in [10, 0]:
            # eight aligned stories are alike, at an end of the range: 1 − .05^(1/8) = 31.2 % of all may be of another
            # kind
            stories = [one(f"s{at}", 5 + at % 4, true if at < 8 else None, probability=probability) for at in range(12)]
            for averaging in Averaging:
                found = corrected(stories, Metric.F1, averaging)
                expected = [0.05 ** (1 / 8), 1] if true else [0, 1 - 0.05 ** (1 / 8)]
                assert found.value == pytest.approx(true / 10) and found.interval == pytest.approx(expected), averaging
                assert found.effective is None and found.reason == ""
                assert (
                    foreseen(found, 8) == pytest.approx((1 - 0.05 ** (1 / 8)) / 2) and needed(found, 0.02, 12) is None
                )


def test_everything_aligned_is_what_people_say():
    stories = judged_stories(np.random.default_rng(1), stories=21, aligned=21)
    for averaging in Averaging:
        found = corrected(stories, Metric.F1, averaging)
        assert found.value == pytest.approx(found.human) and found.interval[0] < found.value < found.interval[1]


def test_tables_without_rows_are_nought_without_anybody_looking():
    stories = [*judged_stories(np.random.default_rng(1), stories=30, aligned=30), one("empty", 0, rows=0)]
    found, alone = corrected(stories, Metric.F1), corrected(stories[:-1], Metric.F1)
    assert found.value == pytest.approx(alone.value * 30 / 31) and found.aligned == 30


def test_rows_that_nobody_could_tell_bound_the_score():
    stories = judged_stories(np.random.default_rng(1))
    at = next(at for at, story in enumerate(stories) if story.human)
    stories[at] = replace(stories[at], human=Matches(25, 10, 25, 10, 5, 5))
    found = corrected(stories, Metric.F1)
    assert found.bounds[0] < found.value < found.bounds[1]
    assert found.spanned[0] <= found.interval[0] and found.interval[1] <= found.spanned[1]


def test_a_table_of_which_nobody_could_tell_anything_is_no_table_without_a_match():
    for metric in list(Metric):
        stories = judged_stories(np.random.default_rng(1))
        aligned = [at for at, story in enumerate(stories) if story.human]
        unclear = Matches(25, 0, 25, 0, 25, 25)
        stories[aligned[0]] = replace(stories[aligned[0]], human=unclear)
        without = [replace(one, human=None) if at == aligned[0] else one for at, one in enumerate(stories)]
        found, beside = corrected(stories, metric), corrected(without, metric)
        assert (found.value, found.human, found.aligned) == (beside.value, beside.human, len(aligned) - 1)
        assert found.bounds[0] < found.value < found.bounds[1]
        nothing = corrected([replace(one, human=unclear) if one.human else one for one in stories], metric)
        assert nothing.value is None and nothing.human is None and nothing.reason == "no story was aligned"


def test_no_story_aligned_is_no_corrected_score():
    found = corrected(judged_stories(np.random.default_rng(1), aligned=0), Metric.F1)
    assert found.value is None and found.reason == "no story was aligned" and found.judged > 0.5
    assert corrected([], Metric.F1).reason == "no story was judged"


def test_the_standard_error_is_that_of_a_bootstrap():
    # a second derivation: aligned and other stories resampled apart, λ tuned anew by its closed form for simple random
    # samples, Cov(human, judged) / Var(judged); no code is shared
    rng = np.random.default_rng(3)
    stories = judged_stories(rng, stories=300, aligned=80, sensitivity=0.85)
    found = corrected(stories, Metric.F1)
    human, said = np.array([[s.human.f1, s.judged.f1] for s in stories if s.human]).T
    rest = np.array([s.judged.f1 for s in stories if not s.human])

    def score(human, said, rest):
        tuned = np.clip(np.cov(human, said)[0, 1] / said.var(ddof=1), 0, 1)
        return tuned * np.concatenate([said, rest]).mean() + (human - tuned * said).mean()

    drawn = [
        score(human[at], said[at], rest[rng.integers(220, size=220)])
        for at in (rng.integers(80, size=80) for _ in range(2000))
    ]
    assert found.value == pytest.approx(score(human, said, rest), abs=1e-3)
    assert found.error == pytest.approx(np.std(drawn), rel=0.07)


def covered(samples, truth):
    return np.mean([found.interval[0] <= truth <= found.interval[1] for found in samples])


def test_the_corrected_interval_holds_what_the_naive_one_misses():
    for aligned in [8, 30]:
        rng = np.random.default_rng(aligned)
        samples = [corrected(judged_stories(rng, aligned=aligned), Metric.F1) for _ in range(150)]
        # the truth is .55; the standard error of a share of 95 % of 150 is 1.8 points
        assert 0.91 <= covered(samples, 0.55) <= 1
        assert np.mean([found.judged for found in samples]) == pytest.approx(0.611, abs=0.005)
        width, alone = (
            np.mean([ends[1] - ends[0] for ends in each])
            for each in ([s.interval for s in samples], [s.human_interval for s in samples])
        )
        assert width < 0.85 * alone and np.mean([found.effective / aligned for found in samples]) > 1.3


def test_a_useless_judge_does_no_harm():
    rng = np.random.default_rng(4)
    samples = [corrected(judged_stories(rng, sensitivity=0.5, specificity=0.5), Metric.F1) for _ in range(40)]
    widths = np.array([[np.diff(s.interval)[0], np.diff(s.human_interval)[0]] for s in samples])
    assert np.mean([s.tuning for s in samples]) < 0.4 and (widths[:, 0] <= 1.02 * widths[:, 1]).all()


def test_paired_differences_keep_their_level_and_find_what_is_there():
    rng = np.random.default_rng(5)
    found = []
    for _ in range(60):
        ease = rng.beta(3.6, 3, 100)
        first = corrected(judged_stories(rng, stories=100, ease=ease), Metric.F1)
        alike = corrected(judged_stories(rng, stories=100, ease=ease, sensitivity=0.95), Metric.F1)
        worse = corrected(judged_stories(rng, stories=100, ease=ease * 0.6), Metric.F1)
        found.append((difference(first, alike), difference(first, worse)))
    # the judge favours the second model by .08; a test of 5 % is allowed 7 of 60 (its .98 quantile)
    assert sum(same.p < 0.05 for same, _ in found) <= 7
    assert np.mean([other.p < 0.05 for _, other in found]) > 0.9
    for pair in found:
        for one_ in pair:
            assert (one_.p < 0.05) == (one_.interval[0] > 0 or one_.interval[1] < 0)


def test_what_more_stories_would_give_is_what_they_give():
    rng = np.random.default_rng(6)
    some = [corrected(judged_stories(rng, stories=400, aligned=40), Metric.F1) for _ in range(20)]
    more = [corrected(judged_stories(rng, stories=400, aligned=80), Metric.F1) for _ in range(20)]
    half = np.mean([np.diff(found.interval)[0] / 2 for found in more])
    assert np.mean([foreseen(found, 80) for found in some]) == pytest.approx(half, rel=0.08)
    least = needed(some[0], 0.03, 400)
    assert foreseen(some[0], least) <= 0.03 < foreseen(some[0], least - 1)
    assert needed(some[0], 0.001, 400) is None and foreseen(some[0], 4) is None


def failing(rng, *, aligned, failure="finds nothing", stories=300, seldom=0.05):
    """Stories that the judge gets right on 98 % of rows, but for one in twenty, of which it finds or says nothing."""
    found = []
    for at in judged_stories(rng, stories=stories, aligned=aligned, sensitivity=0.98, specificity=0.98):
        open_ = 25 if failure == "says nothing" else 0
        nothing = Matches(25, 0, 25, 0, open_, open_)
        found.append(replace(at, judged=nothing) if rng.random() < seldom else at)
    return found


def test_the_interval_holds_the_truth_where_the_judge_seldom_fails_on_a_whole_story():
    """Most samples of so few stories show no such failure: an interval of what they show holds 82 to 89 % of truths
    where the judge finds nothing. The standard error of 95 % of 120 is 2 points."""
    for aligned in [6, 10, 20]:
        for failure in ["finds nothing", "says nothing"]:
            rng = np.random.default_rng((aligned, len(failure)))
            samples = [corrected(failing(rng, aligned=aligned, failure=failure), Metric.F1) for _ in range(120)]
            assert covered(samples, 0.55) >= 0.925
            width, alone = (np.mean([high - low for low, high in each]) for each in zip(*_ends(samples), strict=True))
            assert width < 0.75 * alone


def _ends(samples):
    return [(found.interval, found.human_interval) for found in samples]


def test_what_the_judge_does_not_say_is_missing_and_no_nought():
    """.5 and .7 of two stories, nothing of the third and half of the fourth: its other rows are in no figure."""
    silent = JudgedStory("c", "c", Matches(10, 0, 10, 0, 10, 10), Matches(10, 6, 10, 6), 0.5)
    half = JudgedStory("d", "c", Matches(10, 3, 10, 3, 5, 5))
    found = corrected([one("a", 5, 5, probability=0.5), one("b", 7), silent, half], Metric.F1, tuning=1)
    assert found.judged == pytest.approx((0.5 + 0.7 + 0.6) / 3) and found.unjudged == 1
    # the third stands for .6, the mean: people are 0 and 0 above on the two that they aligned
    assert found.value == pytest.approx(0.6)


def test_a_judge_without_a_verdict_counts_for_nothing_and_people_alone_remain():
    rng = np.random.default_rng(9)
    silent = [replace(one_, judged=Matches(25, 0, 25, 0, 25, 25)) for one_ in judged_stories(rng)]
    for averaging in Averaging:
        found = corrected(silent, Metric.F1, averaging)
        assert found.judged is None and found.tuning == 0 and found.unjudged == 120
        assert found.value == pytest.approx(found.human) and found.interval == pytest.approx(found.human_interval)
    assert mean_judged(silent, Metric.F1).estimate.value is None
    assert mean_error(silent, Metric.F1).estimate.value is None


def test_errors_that_were_not_seen_reach_as_far_as_the_stories_furthest_from_the_mean():
    # of 10 stories 5 are aligned: 1 − .05^(1/5) = .451 of all, 4.51 stories, may be judged wrongly without being among
    # them. Furthest up pull .04, .03, .02, .01 and .51 of 0; furthest down .05, .04, .03, .02 and .51 of .01
    pulls = [0.01 * (at - 5) for at in range(10)]
    down, up = reach(pulls, 5)
    assert down == pytest.approx(0.1) and up == pytest.approx(
        0.05 + 0.04 + 0.03 + 0.02 + 0.01 * (10 * (1 - 0.05**0.2) - 4)
    )
    assert reach(pulls, 10) == (0, 0), "nothing is left that nobody looked at"
    # .05 is undone by one story of ten, which five random ones miss in .9^5 of samples
    assert unseen_p(-0.05, pulls, 5) == pytest.approx(0.9**5) and unseen_p(-0.2, pulls, 5) == 0
