"""How far judges agree with people, alone, in a panel and in another version: published figures from counts, tables by
hand, bounds for what is missing."""

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
from judge.domain.calibration.panels import (
    JudgedTwice,
    Skill,
    bridge,
    majority,
    panel,
    self_preference,
    skill,
    weighted,
)
from judge.domain.calibration.tables import Unknown
from tests.judge.domain.calibration.worlds import judged_stories, row, table

pytestmark = pytest.mark.once
MISSING, UNCLEAR = Unknown.MISSING, Unknown.UNCLEAR
# weighted sums are of counts times 2: [tp, fn, fp, tn] of the first table, [..] of the second
FIRST = [*[row(1, 1)] * 4, *[row(1, 0)] * 1, *[row(0, 1)] * 2, *[row(0, 0)] * 3]
SECOND = [row(2, 1), row(0, 0)]


def dealt(rows):
    """The rows dealt to tables of 126 stories."""
    return [table(rows[at::126], story=f"s{at}") for at in range(126)]


def test_published_figures_follow_from_published_counts():
    people = dealt([row(1, 1)] * 2300 + [row(0, 0)] * 1655 + [row(1, 0)] * 300 + [row(0, 1)] * 196)
    found = agreement(people, seed=1)
    assert (found.by_row.n, round(100 * found.by_row.value, 2)) == (4451, 88.86)
    low, high = found.by_row.interval
    assert 0.87 < low < 0.8886 < high < 0.91
    rows = [row(0)] * 2002 + [row(1)] * 2651 + [row(2)] * 61 + [row(3)]
    shares = match_counts(dealt(rows), lambda one: one.human, seed=1)
    told = [(row["count"], row["rows"], round(100 * row["share"].value, 2)) for row in shares]
    assert told == [("0", 2002, 42.46), ("1", 2651, 56.22), ("2", 61, 1.29), ("3", 1, 0.02)]


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
    # where people match every row nothing is told beyond chance
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


# --- several judges
def test_the_majority_of_counts():
    assert majority([1, 2, 0]) == 1 and majority([2, 2, 1, 0]) == 2 and majority([0, 0, 3]) == 0
    assert majority([1, 0]) == UNCLEAR and majority([1, 1, MISSING]) == 1
    # one voice is no majority, whatever keeps the others silent; nobody's is missing
    assert majority([MISSING, 1]) == majority([UNCLEAR, 0, MISSING]) == UNCLEAR
    assert majority([MISSING, MISSING]) == MISSING and majority([MISSING, UNCLEAR]) == UNCLEAR
    # rows of which no judge could tell are unclear and not missing
    skills = {"a": Skill(0.8, 0.9), "b": Skill(0.8, 0.9)}
    assert weighted({"a": UNCLEAR, "b": MISSING}, skills) == majority([UNCLEAR, MISSING]) == UNCLEAR
    assert weighted({"a": MISSING, "b": MISSING}, skills) == MISSING


def test_skill_by_hand_and_what_it_weighs():
    rows = [*[row(1, 1)] * 4, row(1, 0), *[row(0, 0)] * 3, row(0, 1), row(0, MISSING)]
    found = skill([table(rows)])
    # half an observation in each cell: 4.5 of 6, 3.5 of 5
    assert (found.sensitivity, found.specificity) == pytest.approx((4.5 / 6, 3.5 / 5))
    assert skill([table(rows)], leave_out="s") == Skill(0.5, 0.5)
    good, bad = Skill(0.95, 0.95), Skill(0.6, 0.6)
    # log odds: 2.94 for, twice .41 against
    assert weighted({"good": 2, "x": 0, "y": 0}, {"good": good, "x": bad, "y": bad}) == 2
    assert weighted({"good": 0, "x": 1, "y": 1}, {"good": good, "x": bad, "y": bad}) == 0
    # of rows that are seldom matched (1 in 100: log odds −4.6) one good judge does not convince
    assert weighted({"good": 1}, {"good": good}, share=0.01) == 0 and weighted({}, {}) == MISSING


def voting(rng, right, humans):
    """What a judge that is right on so many rows says of two models' tables in turn."""
    return [
        table(
            [row(int(true), int(true == (rng.random() < right))) for true in of],
            story=f"s{at}", model=("gpt-4", "qwen-3")[at % 2],
        )
        for at, of in enumerate(humans)
    ]  # fmt: skip


def test_a_panel_is_better_than_its_judges_and_leaves_out_the_own_family():
    rng = np.random.default_rng(7)
    humans = [rng.random(40) < 0.5 for _ in range(40)]
    quality = {"gpt-5": 0.75, "claude": 0.75, "gemini": 0.75, "guess": 0.5}
    judges = {name: voting(rng, right, humans) for name, right in quality.items()}
    found = panel(judges, seed=1, family_of={"gpt-5": "openai", "gpt-4": "openai"})
    # three judges that err apart on a quarter of rows: their majority on .84, and a guesser only costs without weights
    alone = max(one.by_row.value for one in found.columns.values())
    assert found.weighted.by_row.value > alone + 0.02 and found.weighted.known == found.weighted.rows
    # the majority leaves two against two open: it is worse also where a coin decides these, halfway between its bounds
    assert found.majority.known < found.majority.rows
    assert found.weighted.by_row.value > np.mean(found.majority.by_row.bounds) + 0.02
    assert found.without_family == {"gpt-5": 20, "claude": 0, "gemini": 0, "guess": 0}
    assert found.majority.tables == 40 and found.columns["guess"].by_row.value == pytest.approx(0.5, abs=0.05)
    # where all judges are of a model's family its rows have no verdict
    humans = [rng.random(10) < 0.5 for _ in range(10)]
    judges = {name: voting(rng, 0.9, humans) for name in ("gpt-5", "gpt-6")}
    found = panel(judges, seed=1, family_of={name: "openai" for name in ("gpt-4", "gpt-5", "gpt-6")})
    assert found.without_family == {"gpt-5": 5, "gpt-6": 5}
    assert found.weighted.known == 50 and found.weighted.rows == 100 and found.weighted.missing == (0, 50)
    assert found.majority.missing == (0, 50)


def test_self_preference_is_an_estimate_with_an_interval():
    rng = np.random.default_rng(8)
    ease = rng.beta(3.6, 3, 60)
    models = {
        name: judged_stories(rng, stories=60, aligned=60, ease=ease, specificity=specificity)
        for name, specificity in (("gpt-4", 0.52), ("qwen", 0.62), ("llama", 0.62))
    }
    found = self_preference(models, "openai", {"gpt-4": "openai", "qwen": "alibaba"})
    # its own invents 48 % of .45 instead of 38 %: .045 above the others
    assert found["preference"].interval[0] < 0.045 < found["preference"].interval[1]
    assert found["own"].value - found["others"].value == pytest.approx(found["preference"].value)
    nobody = self_preference(models, "meta", {})
    assert nobody["preference"].value is None and nobody["preference"].reason


# --- two versions of one judge
def judged(story, old, new, silent=0):
    """Ten rows on either side, of which the versions match so many; beside them `silent` ones of which the new version
    says nothing, and the old one that they are matched."""
    pairs = [(int(at < old), int(at < new)) for at in range(10)] + [(1, MISSING)] * silent
    return JudgedTwice(story, "c", tuple(pairs), tuple(pairs))


def test_a_bridge_says_what_the_new_version_does_to_every_score():
    models = {
        "a": [judged(f"s{at}", 5 + at % 2, 6 + at % 2 + (at % 4 > 1) * 2, silent=5) for at in range(12)],
        "b": [judged(f"s{at}", 6 + at % 3 % 2, 6 + at % 3 % 2) for at in range(12)],
    }
    found = bridge(models)
    a, b = found["models"]
    # what the new version is silent on counts for neither: of the ten others the old one matches 5.5, the new one 7.5
    assert (a["old"].value, a["new"].value) == pytest.approx((0.55, 0.75)) and a["change"].value == pytest.approx(0.2)
    assert (a["rows"], a["silent"], b["silent"]) == (12 * 30, (0, 120), (0, 0))
    assert b["change"].value == 0 and b["p"] == 1 and a["p"] < 0.001
    assert (a["places"], b["places"]) == ((2, 1), (1, 2)) and found["reordered"] and found["compared"] == 2
    # 240 rows of each; of those of a every table gains 1 or 3 on either side, 24 a table on average
    assert [found[name] for name in ("rows", "gained", "lost")] == [480, 48, 0]
    assert found["same"].value == pytest.approx(432 / 480)


def test_a_version_without_a_verdict_changes_nothing_that_can_be_told():
    silent = [JudgedTwice(f"s{at}", "c", ((1, MISSING), (0, MISSING)), ((1, UNCLEAR),)) for at in range(8)]
    found = bridge({"a": silent, "b": silent})
    assert found["reordered"] is None and (found["rows"], found["compared"], found["same"].value) == (0, 0, None)
    why = "no story has rows of either table of which both have a verdict"
    for one in found["models"]:
        assert {one["old"].value, one["new"].value, one["change"].value, one["p"]} == {None}
        assert one["places"] == (None, None) and one["silent"] == (0, 24) and one["change"].reason == why
    known = [judged(f"s{at}", 5, 6) for at in range(8)]
    half = bridge({"a": silent, "b": known})
    assert half["reordered"] is None and half["compared"] == 1 and half["models"][1]["places"] == (1, 1)
