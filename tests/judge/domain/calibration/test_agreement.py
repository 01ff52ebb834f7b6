"""How far a judge agrees with people: published figures from counts, tables by hand, bounds for what is missing."""

from __future__ import annotations

import numpy as np
import pytest

from judge.domain.calibration.agreement import (
    ALL_MATCHED,
    NO_MATCH,
    NOTHING,
    ONE_VERDICT,
    agreement,
    calibration,
    match_counts,
)
from judge.domain.calibration.tables import Unknown
from tests.judge.domain.calibration.worlds import row, table

pytestmark = pytest.mark.once
MISSING, UNCLEAR = Unknown.MISSING, Unknown.UNCLEAR
# weighted sums are of counts times 2: [tp, fn, fp, tn] of the first table, [..] of the second
FIRST = [*[row(1, 1)] * 4, *[row(1, 0)] * 1, *[row(0, 1)] * 2, *[row(0, 0)] * 3]
SECOND = [row(2, 1), row(0, 0)]


def dealt(rows, tables):
    """The rows dealt to so many tables of as many stories."""
    return [table(rows[at::tables], story=f"s{at}") for at in range(tables)]


def test_people_who_agree_on_3955_of_4451_rows_agree_on_88_86_percent():
    people = dealt([row(1, 1)] * 2300 + [row(0, 0)] * 1655 + [row(1, 0)] * 300 + [row(0, 1)] * 196, 126)
    found = agreement(people, seed=1)
    assert (found.by_row.n, round(100 * found.by_row.value, 2)) == (4451, 88.86)
    low, high = found.by_row.interval
    assert 0.87 < low < 0.8886 < high < 0.91


def test_the_shares_of_match_counts_of_4715_rows_are_the_published_ones():
    rows = [row(0)] * 2002 + [row(1)] * 2651 + [row(2)] * 61 + [row(3)]
    shares = match_counts(dealt(rows, 126), lambda one: one.human, seed=1)
    assert [(row["count"], row["rows"], round(100 * row["share"].value, 2)) for row in shares] == [
        ("0", 2002, 42.46),
        ("1", 2651, 56.22),
        ("2", 61, 1.29),
        ("3", 1, 0.02),
    ]


def test_figures_of_two_tables_by_hand():
    found = agreement([table(FIRST, story="a"), table(SECOND, story="b", probability=0.5)], seed=1)
    # the second table stands for two: [tp, fn, fp, tn] = [4, 1, 2, 3] + 2 · [1, 0, 0, 1] = [6, 1, 2, 5] of 14
    assert found.by_story.value == pytest.approx((0.7 + 2 * 1) / 3)
    assert found.by_row.value == pytest.approx(11 / 14)
    assert found.sensitivity.value == pytest.approx(6 / 7) and found.specificity.value == pytest.approx(5 / 7)
    # chance: 7/14 · 8/14 + 7/14 · 6/14 = 1/2; kappa = (11/14 − 1/2) / (1/2) = 4/7
    assert found.kappa.value == pytest.approx(4 / 7)
    assert found.by_row.interval is None and found.by_row.reason == "an interval needs at least 5 stories"
    assert (found.tables, found.stories, found.rows, found.known) == (2, 2, 12, 12)
    # of 4 + 1 + 1 rows that people match, and of 2 + 3 + 1 that they do not, uncounted by weight
    assert (found.by_row.n, found.sensitivity.n, found.specificity.n, found.kappa.n) == (12, 6, 6, 12)


def test_rows_without_a_verdict_are_counted_and_bound_the_figures():
    rows = [*FIRST, row(1, MISSING), row(UNCLEAR, 0), row(MISSING, UNCLEAR), row(0)]
    found = agreement([table(rows)], seed=1)
    assert (found.rows, found.known, found.missing, found.unclear) == (14, 10, (1, 2), (1, 1))
    assert found.by_row.value == pytest.approx(7 / 10)
    assert (found.by_row.n, found.sensitivity.n, found.specificity.n) == (10, 5, 5)
    # all four differ, or all four agree
    assert found.by_row.bounds == pytest.approx((7 / 14, 11 / 14)) == found.by_story.bounds
    # sensitivity 4/5: each of three is missed (the unmatched one says nothing of it), or two found
    assert found.sensitivity.bounds == pytest.approx((4 / 8, 6 / 7))
    # specificity 3/5: (UNCLEAR, 0) is matched and left, two are invented; or three are spared
    assert found.specificity.bounds == pytest.approx((3 / 7, 6 / 8))
    assert found.kappa.bounds is None


def test_what_is_undefined_says_why():
    nothing = agreement([table([row(1, MISSING)])], seed=1)
    assert nothing.by_story.value is None and nothing.by_story.reason == NOTHING and nothing.kappa.reason == NOTHING
    assert agreement([], seed=1).by_row.reason == NOTHING
    assert agreement([table([row(0, 0)])], seed=1).sensitivity.reason == NO_MATCH
    assert agreement([table([row(1, 1)])], seed=1).specificity.reason == ALL_MATCHED


def test_where_people_match_every_row_nothing_is_told_beyond_chance():
    every = agreement([table([row(1, 1), row(1, 0)], story=f"s{at}") for at in range(6)], seed=1)
    assert (every.by_row.value, every.kappa.value, every.kappa.reason) == (0.5, None, ONE_VERDICT)
    assert every.specificity.value is None  # a judge that says one thing of all is no better than chance, and told so
    blind = agreement([table([row(1, 1), row(0, 1)], story=f"s{at}") for at in range(6)], seed=1)
    assert blind.kappa.value == 0


def test_the_interval_is_over_stories_and_not_over_rows():
    rng = np.random.default_rng(2)
    right = np.repeat(rng.beta(2, 1, 20), 20) > rng.random(400)
    rows = [row(1, int(one)) for one in right]
    by_story = agreement([table(rows[at * 20 :][:20], story=f"s{at}") for at in range(20)], seed=1).by_row
    as_one = agreement([table([one], story=f"s{at}") for at, one in enumerate(rows)], seed=1).by_row
    assert by_story.interval[1] - by_story.interval[0] > 2 * (as_one.interval[1] - as_one.interval[0])


def test_the_report_has_groups_confusion_and_flips():
    tables = [
        table([row(1, 1, 1, name="p1", shape="long"), row(0, 1, 0, name="p2", shape="short")], story="a"),
        table([row(2, 1, 2, name="g1"), row(UNCLEAR, 5, MISSING, name="g2")], story="b", model="n", category="d"),
    ]
    found = calibration(tables, seed=1, groupings=["shape"])
    assert found.confusion == {("1", "1"): 1, ("0", "1"): 1, ("2", "1"): 1, ("unclear", "4+"): 1}
    assert [(name, of.rows) for name, of in found.by["shape"].items()] == [("", 2), ("long", 1), ("short", 1)]
    document = found.as_json()
    assert [name for name in document if name.startswith("by_")] == ["by_category", "by_model", "by_shape", "by_side"]
    assert document["confusion"][0] == {"people": "1", "judge": "1", "rows": 1}
    assert calibration(tables, seed=1).as_json().keys() == document.keys() - {"by_shape"}
    assert found.by["model"]["n"].known == 1 and found.by["category"]["c"].by_row.value == 0.5
    assert found.by["side"]["gold"].unclear == (1, 0)
    # of three rows with two verdicts one is turned, and two have another MatchCount
    assert (found.flips.passes, found.flips.rows, found.flips.unanswered) == (2, 3, 1)
    assert found.flips.doubtful.value == pytest.approx(1 / 3) and found.flips.counts.value == pytest.approx(2 / 3)
    assert found.flips.names == (("m/a", "p2"),)
    assert [row["count"] for row in found.judge_counts] == ["0", "1", "2", "3", "4+"]
    assert (found.human_counts[-1]["count"], found.human_counts[-1]["rows"]) == ("unclear", 1)
