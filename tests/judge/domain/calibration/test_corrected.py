"""Corrected scores: by hand, beside a bootstrap, whether their intervals hold a truth that the judge misses, whether it
is said where the judge errs otherwise on another model, and samples that were drawn within categories."""

from dataclasses import replace

import numpy as np
import pytest

from core.statistics import SHARE, estimate_of, first_by_second
from judge.domain.calibration.agreement import agreement
from judge.domain.calibration.corrected import corrected, difference, foreseen, needed, reach, unseen_p
from judge.domain.calibration.means import ONE_MODEL, Strata, differing, mean_error, mean_judged
from judge.domain.calibration.tables import Averaging, JudgedStory, Matches, Metric
from tests.judge.domain.calibration.worlds import judged_stories, row, table

pytestmark = pytest.mark.once


def one(name, said, true=None, category="c", probability=None, rows=10, stratum=""):
    human = None if true is None else Matches(rows, true, rows, true)
    return JudgedStory(name, category, Matches(rows, said, rows, said), human, probability, stratum=stratum)


def width(interval) -> float:
    return interval[1] - interval[0]


def test_the_corrected_score_by_hand():
    # judged .6 .8 .4 .6, a mean of .6; people looked at the first two and say .4 and .8: the judge is .1 too high there
    stories = [one("a", 6, 4, probability=0.5), one("b", 8, 8, probability=0.5), one("c", 4), one("d", 6)]
    found = corrected(stories, Metric.F1, tuning=1)
    assert found.judged == pytest.approx(0.6) and found.value == pytest.approx(0.5)
    # with λ = ½: ½ · .6 + mean(.4 − .3, .8 − .4) = .3 + .25; with λ = 0 people alone
    assert corrected(stories, Metric.F1, tuning=0.5).value == pytest.approx(0.55)
    assert corrected(stories, Metric.F1, tuning=0).value == pytest.approx(0.6) == found.human
    assert found.interval is None and found.reason == "an interval needs at least 5 aligned stories"
    # probabilities and categories count
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
                assert foreseen(found, 8) == pytest.approx((1 - 0.05 ** (1 / 8)) / 2)
                assert needed(found, 0.02, 12) is None


def test_ends_of_what_is_aligned():
    """Everything aligned is what people say, nothing is no score; tables without rows are 0 without anybody looking."""
    stories = judged_stories(np.random.default_rng(1), stories=30, aligned=30)
    for averaging in Averaging:
        found = corrected(stories, Metric.F1, averaging)
        assert found.value == pytest.approx(found.human) and found.interval[0] < found.value < found.interval[1]
    found, alone = corrected([*stories, one("empty", 0, rows=0)], Metric.F1), corrected(stories, Metric.F1)
    assert found.value == pytest.approx(alone.value * 30 / 31) and found.aligned == 30
    found = corrected([replace(story, human=None) for story in stories], Metric.F1)
    assert found.value is None and found.reason == "no story was aligned" and found.judged > 0.5
    assert corrected([], Metric.F1).reason == "no story was judged"


def test_rows_that_nobody_could_tell_bound_the_score():
    for metric in Metric:
        stories = judged_stories(np.random.default_rng(1))
        aligned = [at for at, story in enumerate(stories) if story.human]
        stories[aligned[0]] = replace(stories[aligned[0]], human=Matches(25, 10, 25, 10, 5, 5))
        found = corrected(stories, metric)
        assert found.bounds[0] < found.value < found.bounds[1]
        assert found.spanned[0] <= found.interval[0] and found.interval[1] <= found.spanned[1]
        # a table of which nobody could tell anything is no table without a match
        unclear = Matches(25, 0, 25, 0, 25, 25)
        stories[aligned[0]] = replace(stories[aligned[0]], human=unclear)
        without = [replace(one, human=None) if at == aligned[0] else one for at, one in enumerate(stories)]
        found, beside = corrected(stories, metric), corrected(without, metric)
        assert (found.value, found.human, found.aligned) == (beside.value, beside.human, len(aligned) - 1)
        assert found.bounds[0] < found.value < found.bounds[1]
        nothing = corrected([replace(one, human=unclear) if one.human else one for one in stories], metric)
        assert nothing.value is None and nothing.human is None and nothing.reason == "no story was aligned"


def covered(samples, truth):
    return np.mean([found.interval[0] <= truth <= found.interval[1] for found in samples])


def widths(samples) -> tuple[float, float]:
    """How wide the corrected intervals are, and those of what people say alone."""
    return tuple(np.mean([[width(one.interval), width(one.human_interval)] for one in samples], axis=0))


def test_the_corrected_interval_holds_what_the_naive_one_misses():
    for aligned in [8, 30]:
        rng = np.random.default_rng(aligned)
        samples = [corrected(judged_stories(rng, aligned=aligned), Metric.F1) for _ in range(150)]
        # the truth is .55; the standard error of a share of 95 % of 150 is 1.8 points
        assert 0.91 <= covered(samples, 0.55) <= 1
        assert np.mean([found.judged for found in samples]) == pytest.approx(0.611, abs=0.005)
        corrected_width, alone = widths(samples)
        assert corrected_width < 0.85 * alone and np.mean([found.effective / aligned for found in samples]) > 1.3
    # a useless judge does no harm
    rng = np.random.default_rng(4)
    samples = [corrected(judged_stories(rng, sensitivity=0.5, specificity=0.5), Metric.F1) for _ in range(40)]
    assert np.mean([s.tuning for s in samples]) < 0.4
    assert all(width(s.interval) <= 1.02 * width(s.human_interval) for s in samples)


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
    assert sum(p < 0.05 for (_, p, _), _ in found) <= 7
    assert np.mean([p < 0.05 for _, (_, p, _) in found]) > 0.9
    for pair in found:
        for gap, p, _ in pair:
            assert (p < 0.05) == (gap.interval[0] > 0 or gap.interval[1] < 0)


def test_what_more_stories_would_give_is_what_they_give():
    rng = np.random.default_rng(6)
    some = [corrected(judged_stories(rng, stories=400, aligned=40), Metric.F1) for _ in range(20)]
    more = [corrected(judged_stories(rng, stories=400, aligned=80), Metric.F1) for _ in range(20)]
    half = np.mean([np.diff(found.interval)[0] / 2 for found in more])
    assert np.mean([foreseen(found, 80) for found in some]) == pytest.approx(half, rel=0.08)
    least = needed(some[0], 0.03, 400)
    assert foreseen(some[0], least) <= 0.03 < foreseen(some[0], least - 1)
    assert needed(some[0], 0.001, 400) is None and foreseen(some[0], 4) is None


def test_the_interval_holds_the_truth_where_the_judge_seldom_fails_on_a_whole_story():
    """It gets 98 % of rows right, but for one story in twenty, of which it finds or says nothing. Most samples of few
    stories show no such failure: an interval of what they show holds 82 to 89 % of truths where the judge finds
    nothing. The standard error of 95 % of 120 is 2 points."""
    for aligned in [6, 10, 20]:
        for failure, open_ in [("finds nothing", 0), ("says nothing", 25)]:
            rng, samples = np.random.default_rng((aligned, len(failure))), []
            for _ in range(120):
                drawn = judged_stories(rng, stories=300, aligned=aligned, sensitivity=0.98, specificity=0.98)
                nothing = Matches(25, 0, 25, 0, open_, open_)
                stories = [replace(at, judged=nothing) if rng.random() < 0.05 else at for at in drawn]
                samples.append(corrected(stories, Metric.F1))
            assert covered(samples, 0.55) >= 0.925
            corrected_width, alone = widths(samples)
            assert corrected_width < 0.75 * alone


def test_what_the_judge_does_not_say_is_missing_and_no_nought():
    """.5 and .7 of two stories, nothing of the third and half of the fourth: its other rows are in no figure."""
    silent = JudgedStory("c", "c", Matches(10, 0, 10, 0, 10, 10), Matches(10, 6, 10, 6), 0.5)
    half = JudgedStory("d", "c", Matches(10, 3, 10, 3, 5, 5))
    found = corrected([one("a", 5, 5, probability=0.5), one("b", 7), silent, half], Metric.F1, tuning=1)
    assert found.judged == pytest.approx((0.5 + 0.7 + 0.6) / 3) and found.unjudged == 1
    # the third stands for .6, the mean: people are 0 and 0 above on the two that they aligned
    assert found.value == pytest.approx(0.6)
    # a judge without a verdict counts for nothing and people alone remain
    stories = judged_stories(np.random.default_rng(9))
    silent = [replace(story, judged=Matches(25, 0, 25, 0, 25, 25)) for story in stories]
    for averaging in Averaging:
        found = corrected(silent, Metric.F1, averaging)
        assert found.judged is None and found.tuning == 0 and found.unjudged == 120
        assert found.value == pytest.approx(found.human) and found.interval == pytest.approx(found.human_interval)
    assert mean_judged(silent).estimate.value is None
    assert mean_error(silent).estimate.value is None


def test_errors_that_were_not_seen_reach_as_far_as_the_stories_furthest_from_the_mean():
    # of 10 stories 5 are aligned: 1 − .05^(1/5) = .451 of all, 4.51 stories, may be judged wrongly without being among
    # them. Furthest up pull .04, .03, .02, .01 and .51 of 0; furthest down .05, .04, .03, .02 and .51 of .01
    pulls = [0.01 * (at - 5) for at in range(10)]
    down, up = reach(pulls, 5)
    assert (down, up) == pytest.approx((0.1, 0.05 + 0.04 + 0.03 + 0.02 + 0.01 * (10 * (1 - 0.05**0.2) - 4)))
    assert reach(pulls, 10) == (0, 0), "nothing is left that nobody looked at"
    # .05 is undone by one story of ten, which five random ones miss in .9^5 of samples
    assert unseen_p(-0.05, pulls, 5) == pytest.approx(0.9**5) and unseen_p(-0.2, pulls, 5) == 0


# --- several models
def three(rng, last=0.62):
    """Three models on the same 40 aligned stories; the judge's specificity on the third is `last`."""
    ease = rng.beta(3.6, 3, 40)
    return {
        name: judged_stories(rng, stories=40, aligned=40, ease=ease, specificity=specificity)
        for name, specificity in (("a", 0.62), ("b", 0.62), ("c", last))
    }


def test_the_warning_of_another_model_keeps_its_rate_and_fires_where_it_must():
    rng = np.random.default_rng(1)
    # .05 of 150 is 7.5; the .99 quantile is 14. On the third model the judge errs by .1 more: (.82 − .62) · .45
    assert sum(differing(three(rng)).warns for _ in range(150)) <= 14
    assert sum(differing(three(rng, 0.82)).warns for _ in range(60)) >= 57
    found = differing({"a": judged_stories(rng, aligned=4), "b": judged_stories(rng)})
    why = "each model needs at least 5 aligned stories, and all together more stories than models"
    assert found.p is None and found.reason == why and not found.warns
    assert found.by_model["a"].n == 4 and found.by_model["b"].value == pytest.approx(0.06, abs=0.1)
    assert differing({"a": judged_stories(rng)}).reason == ONE_MODEL


def pooled_error(models, name):
    """How far the score with the error of the other models is from what people say."""
    others = [one for other, part in models.items() if other != name for one in part]
    unaligned = [replace(one, human=None, probability=None) for one in models[name]]
    found = corrected(unaligned, Metric.F1, others=others)
    assert found.aligned == 40 and found.tuning == 1 and found.human is None
    return found.value - corrected(models[name], Metric.F1).human


def test_pooled_calibration_is_off_exactly_where_it_warns():
    rng = np.random.default_rng(2)
    unlike, alike = [three(rng, 0.9) for _ in range(15)], [three(rng) for _ in range(15)]
    assert all(differing(models).warns for models in unlike)
    # the third model's rows are invented less often by .28 of the .45 that nobody matches
    assert np.mean([pooled_error(models, "c") for models in unlike]) == pytest.approx(-0.126, abs=0.03)
    assert np.mean([pooled_error(models, "c") for models in alike]) == pytest.approx(0, abs=0.03)


# --- strata
def test_strata_of_one_story_are_put_together():
    strata = Strata({"1": "a", "2": "a", "3": "b", "4": "c", "5": "d", "6": "d", "7": "d"})
    assert strata.count == 3 and strata.numbers(["b", "c", "nobody aligned", "a"]).tolist() == [2, 2, 2, 0]
    # a single one left is of the smallest stratum, and so is a stratum that nobody aligned
    strata = Strata({"1": "a", "2": "a", "3": "b", "5": "d", "6": "d", "7": "d"})
    assert strata.count == 2 and strata.numbers(["b", "a", "x", "d"]).tolist() == [0, 0, 0, 1]
    assert (Strata({"1": "a"}).count, Strata({}).count) == (1, 1)


def test_a_bootstrap_within_strata_knows_nothing_of_what_they_differ_by():
    rng = np.random.default_rng(3)
    shares = np.concatenate([rng.normal(0.3, 0.05, 20), rng.normal(0.8, 0.05, 20)])
    sums, strata = np.stack([shares, np.ones(40)], axis=1), np.repeat([0, 1], 20)
    rules = {"n": 40, "scale": SHARE, "unit": "stories", "empty": "", "seed": 1}
    plain = estimate_of(sums, first_by_second, **rules)
    within = estimate_of(sums, first_by_second, strata=strata, **rules)
    assert plain.value == within.value
    # by hand: variances of both parts over 20, a quarter of each; t of about 38 degrees is 2.02
    error = (0.25 * (shares[:20].var(ddof=1) + shares[20:].var(ddof=1)) / 20) ** 0.5
    assert width(within.interval) == pytest.approx(2 * 2.024 * error, rel=0.06)
    assert width(plain.interval) > 4 * width(within.interval)
    # so is agreement, which is over stories
    tables = [
        replace(table([row(1, int(place < right - at % 2)) for place in range(10)], story=f"{at}"), stratum=of)
        for of, right, places in (("a", 9, range(8)), ("b", 3, range(8, 16)))
        for at in places
    ]
    found = agreement(tables, seed=1).by_story
    simple = agreement([replace(one, stratum="") for one in tables], seed=1).by_story
    assert found.value == simple.value == pytest.approx(0.55)
    assert width(found.interval) < 0.3 * width(simple.interval)


def test_intervals_of_a_stratified_sample_hold_the_truth():
    """Five categories that lie far apart; two in five stories are aligned in each. As a simple random sample nearly all
    intervals would hold the truth, as they are far too wide."""
    rng, held, narrower = np.random.default_rng(4), 0, []
    for _ in range(200):
        stories = []
        for at in range(100):
            stratum = at % 5
            true = int(rng.binomial(20, (0.2, 0.4, 0.5, 0.6, 0.8)[stratum]))
            said = int(rng.binomial(true, 0.9) + rng.binomial(20 - true, 0.1 + 0.1 * stratum))
            drawn = (true, f"{stratum}", 0.4) if at < 40 else (None, f"{stratum}", None)
            stories.append(one(f"{at}", said, *drawn, rows=20, stratum=f"{stratum}"))
        found = corrected(stories, Metric.F1)
        simple = corrected([replace(one, stratum="") for one in stories], Metric.F1)
        held += found.interval[0] <= 0.5 <= found.interval[1]
        narrower.append(width(found.interval) / width(simple.interval))
    assert 0.91 <= held / 200 <= 0.985 and np.mean(narrower) < 0.8
