"""Orders, letters, paired differences and the smallest difference to plan for: by hand, against their definitions, and
so that refusing improves nothing and missing answers alone show nothing."""

import json
from itertools import combinations, pairwise
from re import findall

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from bench import controls
from benchmark.domain.asked_again import (
    Difference,
    MissingShares,
    answered_difference,
    repeated_scores,
    repeated_statements,
)
from benchmark.domain.inference import Answered, Case, Cases, Ranking, leaderboard, letters, paired_differences, power
from benchmark.domain.inference.cases import MOST_LOST, NEVER_ASKED
from benchmark.domain.inference.leaderboard import ALONE, RANKS_FROM
from benchmark.domain.inference.power import smallest_difference
from core.plain import plain
from core.statistics import few, holm, sign_flip_p, spanning, unseen_share
from core.statistics.sign_flips import FLIPS

REFUSED = Case(0.0, 1.0, None)
LOST = Case(0.0, 1.0, None, outside=True)

Scores = dict[str, dict[int, Case]]


def scored(**rows) -> Scores:
    """None is a refusal."""

    def case(score) -> Case:
        return score if isinstance(score, Case) else REFUSED if score is None else Case.scored(score)

    return {model: {at: case(one) for at, one in enumerate(row)} for model, row in rows.items()}


def cases(*rows, names: str = "ABCDEFGH", clusters: list[str] | None = None) -> Cases:
    held = scored(**dict(zip(names, rows, strict=False)))
    return Cases.of(held, set(range(len(rows[0]))), dict(enumerate(clusters)) if clusters else None)


def found_of(scores: Scores, **rules) -> Ranking:
    stories = {story for held in scores.values() for story in held}
    return leaderboard(Cases.of(scores, stories), **{"seed": 1, "resamples": 200} | rules)


def ranks(found: Ranking) -> list[tuple[str, int | None]]:
    return [(one.model, one.rank) for one in found.models]


def groups(found: Ranking) -> list[str | None]:
    return [one.group for one in found.models]


def letters_in(group: str | None) -> set[int]:
    """The places of the letters of a group: `b–d` are three."""
    names = findall(r"([a-z])(\d*)", group or "")
    at = [26 * (int(turn or 1) - 1) + ord(letter) - ord("a") for letter, turn in names]
    return set(range(at[0], at[-1] + 1)) if at else set()


# --- paired differences, and letters
def test_pairs_are_compared_on_the_same_stories_with_missing_answers_at_their_worst():
    found = paired_differences(cases([0.9, 0.8, None], [0.5, 0.2, 1.0], [None, None, 0.1]), seed=1)
    by_pair = {one.first + one.second: one for one in found}
    # A − B: (0.4 + 0.6 − 1) / 3 = 0; both answered two stories: (0.4 + 0.6) / 2
    assert by_pair["AB"].value == pytest.approx(0) and (by_pair["AB"].n, by_pair["AB"].p) == (3, 1.0)
    assert by_pair["AB"].answered == Answered(pytest.approx(0.5), 2)
    # B − C: (0.5 + 0.2 + 0.9) / 3; signs: +++ and −−− of 8 → 1/4. A and C answered no story both
    assert by_pair["BC"].value == pytest.approx(1.6 / 3) and by_pair["BC"].p == 0.25
    assert by_pair["AC"].answered == Answered(None, 0)
    # A − C: 0.9, 0.8, −0.1 → |1.6|; +++ 1.8, ++− 1.6 and their mirrors → 4/8. Holm over three: 3 · 0.25, then 1
    assert by_pair["AC"].value == pytest.approx(1.6 / 3) and by_pair["AC"].p == 0.5
    assert [by_pair[pair].p_adjusted for pair in ("BC", "AC", "AB")] == [0.75, 1.0, 1.0]
    assert paired_differences(cases([0.1, 0.2]), seed=1) == []


def test_each_category_is_compared_on_its_own_stories_and_adjusted_with_all():
    # A − B is 0.5 on stories 0 and 1 of category x, −0.3 on 2 of y: overall (0.5 + 0.5 − 0.3) / 3
    rows = cases([0.9, 0.8, 0.1], [0.4, 0.3, 0.4])
    found = paired_differences(rows, seed=1, categories={0: "x", 1: "x", 2: "y"})
    assert [(one.category, one.n) for one in found] == [("", 3), ("x", 2), ("y", 1)]
    assert [one.value for one in found] == pytest.approx([0.7 / 3, 0.5, -0.3])
    # signs: overall |0.7| by +++, ++− (1.3, 0.7) and their mirrors → 4/8; x by ++ and −− → 2/4; y by both → 1
    assert [one.p for one in found] == [0.5, 0.5, 1.0]
    assert [one.p_adjusted for one in found] == [1.0, 1.0, 1.0]  # Holm over three tests: 3 · 0.5 → 1
    assert found[2].interval is None and found[2].reason == few("stories")
    # one category is all stories once more, and no second test
    assert len(paired_differences(rows, seed=1, categories=dict.fromkeys(range(3), "x"))) == 1
    # 40 stories in two categories: the patterns of the categories add up to those of all, so that each drawn p is near
    # that of a test of its stories alone
    rng = np.random.default_rng(4)
    rows = cases(*(rng.normal(shift, 1, 40) for shift in (0.3, 0.0, 0.1)))
    categories = {story: "x" if story < 25 else "y" for story in range(40)}
    found = paired_differences(rows, seed=2, categories=categories)
    assert len(found) == 3 * 3
    for one in found:
        held = [story for story in rows.stories if one.category in ("", categories[story])]
        a, b = (rows.worst[rows.models.index(side)][held] for side in (one.first, one.second))
        [alone] = sign_flip_p((a - b)[None], seed=9)
        # two shares of 9,999 drawn patterns each, four standard errors
        near = 4 * (max(alone, 1e-3) * (1 - alone) * 2 / FLIPS) ** 0.5
        assert one.p == pytest.approx(alone, abs=near) and one.value == pytest.approx((a - b).mean())
    np.testing.assert_allclose([one.p_adjusted for one in found], holm([one.p for one in found]))


def test_letters_rest_on_tests_that_are_adjusted_over_the_categories_too():
    # 9 stories on which A is better by 0.1 to 0.18: p = 2/2⁹ = 1/256 overall. Alone it is below 0.05. With a test of
    # each of 9 categories of one story, whose p is 1, Holm takes 10 · 1/256 = 0.039; with a third model like B there
    # are 3 · 10 tests, and 30 · 1/256 = 0.117 shows nothing any more
    rows = [[0.5 + 0.01 * at for at in range(9)], [0.4] * 9, [0.4] * 9]
    categories = {story: f"c{story}" for story in range(9)}
    two = leaderboard(cases(*rows[:2]), seed=1, categories=categories)
    assert two.pairs[0].p_adjusted == pytest.approx(10 / 256) and two.tests == 10
    assert groups(two) == ["a", "b"] and not two.no_letters
    three = leaderboard(cases(*rows), seed=1, categories=categories)
    assert three.pairs[0].p_adjusted == pytest.approx(30 / 256) and three.tests == 30
    assert groups(three) == [None, None, None] and three.no_letters
    assert groups(leaderboard(cases(*rows), seed=1)) == ["a", "b", "b"]
    # six stories: 2^-5 = 0.031 is the smallest p; two categories make three tests, 0.094
    rows = scored(perfect=[1.0] * 6, random=[0.1] * 6)
    alone = found_of(rows)
    assert groups(alone) == ["a", "b"] and alone.no_letters == ""
    categories = {at: "x" if at < 3 else "y" for at in range(6)}
    for unit in ("stories", "narratives"):
        found = found_of(rows, categories=categories, unit=unit)
        assert groups(found) == [None, None]
        assert found.no_letters == f"6 {unit} can show no difference in 3 tests at once, however large it is"
    one = found_of(scored(A=[0.5] * 9))
    assert groups(one) == [None] and one.no_letters == ALONE
    # the caution about few units says of which tests it is
    for count, parted, caution in ((17, None, ""), (17, 20, "; in categories with"), (9, None, "; with")):
        rows = scored(A=[0.9, 0.8] * count, B=[0.4, 0.5] * count)
        categories = parted and {at: "x" if at < parted else "y" for at in range(2 * count)}
        method = found_of(rows, categories=categories).method
        assert f"{caution} fewer than 30 stories" in method if caution else "fewer than 30" not in method


def apart(named: dict, first, second) -> bool:
    """Whether two models share no letter."""
    return not letters_in(named[first]) & letters_in(named[second])


def test_letters_by_hand():
    # each differs from those three places on: A to C, B to D, C to E
    wide = [(a, b) for a, b in combinations("ABCDE", 2) if ord(b) - ord(a) > 2]
    for models, different, wanted in [
        ("ABC", [("C", "A")], ["a", "ab", "b"]),
        ("ABC", [], ["a", "a", "a"]),
        ("ABC", combinations("ABC", 2), ["a", "b", "c"]),
        # B differs from A and from C, which do not differ: no letter skips B, so that the three share one
        ("ABC", [("A", "B"), ("B", "C")], ["a", "a", "a"]),
        ("ABCDE", wide, ["a", "ab", "a–c", "bc", "c"]),
        ("A", [], ["a"]),
        ("", [], []),
    ]:
        assert letters(models, different) == dict(zip(models, wanted, strict=True))
    # 30 models that all differ: the 27th starts the alphabet again
    many = letters(range(30), combinations(range(30), 2))
    assert (many[25], many[26]) == ("z", "a2") and apart(many, 0, 26)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(2, 8).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.sampled_from([*combinations(range(n), 2)]))))
)
def test_models_without_a_common_letter_differ_and_so_does_every_pair_around_them(case):
    n, different = case
    named = letters(range(n), different)
    around = {
        (a, b) for a, b in combinations(range(n), 2) if {(i, j) for i in range(a + 1) for j in range(b, n)} <= different
    }
    assert {pair for pair in combinations(range(n), 2) if apart(named, *pair)} == around
    used = [letters_in(one) for one in named.values()]
    assert all(used) and set().union(*used) == set(range(max(map(max, used)) + 1))


def test_the_leaderboard_puts_all_together():
    rng = np.random.default_rng(8)
    hard = rng.normal(0, 0.15, 200)
    rows = [mean + hard + rng.normal(0, 0.1, 200) for mean in (0.6, 0.6, 0.3)] + [[None] * 200]
    found = leaderboard(cases(*rows), seed=3)
    json.dumps(plain(found), allow_nan=False)
    assert groups(found) == ["a", "a", "b", "c"]
    assert plain(found.models[-1]) == {
        "model": "D", "value": 0.0, "n": 200, "interval": [0.0, unseen_share(200)], "best": 1.0, "missing": 200,
        "lost": 0, "rank": 4, "ranks": None, "group": "c", "against": {},
    }  # fmt: skip
    # the stories' difficulty (0.15) is common: a paired difference has a standard deviation of 0.1·√2, not 0.18·√2
    ends = (found.models[0].model, found.models[2].model)
    pair = next(one for one in found.pairs if (one.first, one.second) == ends)
    assert np.diff(pair.interval) == pytest.approx(2 * 1.96 * 0.1 * 2**0.5 / 200**0.5, rel=0.15)
    assert (found.seed, found.flips) == (3, FLIPS) and "seed 3" in found.method and "Holm" in found.method
    assert leaderboard(cases(*rows[::-1], names="DCBA"), seed=3) == found
    # models of one score come by name
    assert ranks(found_of(scored(Z=[0.5, 0.5], Y=[0.5, 0.5], X=[0.7, 0.7]))) == [("X", 1), ("Y", 2), ("Z", 2)]


def many(models: int, stories: int, *, step: float = 0.02) -> Scores:
    """Models of falling skill, with the same hard stories."""
    rng = np.random.default_rng(models * stories)
    hard = rng.normal(0, 0.1, stories)
    means = {f"m{at:02}": 0.9 - step * at for at in range(models)}
    return scored(**{name: np.clip(mean + hard + rng.normal(0, 0.08, stories), 0, 1) for name, mean in means.items()})


def test_letters_of_twenty_models_are_short_and_contiguous():
    found = groups(found_of(many(20, 100)))
    assert max(map(len, found)) <= 3 and len(set(found)) > 5
    held = [letters_in(one) for one in found]
    for letter in set().union(*held):
        having = [at for at, letters in enumerate(held) if letter in letters]
        assert having == list(range(having[0], having[-1] + 1))
    assert all(min(a) <= min(b) and max(a) <= max(b) for a, b in pairwise(held))


def test_ranks_have_intervals_from_eight_models_on_which_hold_the_true_rank():
    found = found_of(many(RANKS_FROM, 30)).models
    assert all(low <= one.rank <= high for one in found for low, high in [one.ranks])
    for models, stories in ((RANKS_FROM - 1, 30), (RANKS_FROM, 4)):  # of four stories there is no interval
        assert all(one.ranks is None for one in found_of(many(models, stories)).models)
    # ten models a step of 3 points apart, 30 stories, 40 data sets: 92 % of the 400 intervals hold the true rank
    rng, held = np.random.default_rng(2), []
    for _ in range(40):
        skill, hard = 0.8 - 0.03 * np.arange(10), rng.normal(0, 0.1, 30)
        rows = skill[:, None] + hard + rng.normal(0, 0.1, (10, 30))
        found = found_of(scored(**{f"m{at}": row for at, row in enumerate(rows)}), resamples=400)
        held += [one.ranks[0] <= 1 + int(one.model[1:]) <= one.ranks[1] for one in found.models]
    assert np.mean(held) >= 0.92


# --- what is missing
def test_who_refuses_the_hard_stories_does_not_come_first():
    """30 stories, the longest last: the longer, the harder. `honest` answers all; `refuser` is 10 points worse on every
    story, and refuses the 15 longest: its own mean is the higher, its paired difference on common stories is negative
    and shown."""
    rng = np.random.default_rng(9)
    easiness = np.linspace(0.98, 0.5, 30) + rng.normal(0, 0.03, 30)
    worse = easiness - 0.1 + rng.normal(0, 0.04, 30)
    rows = scored(honest=easiness, refuser=[*worse[:15], *[REFUSED] * 15])
    mean = np.mean(worse[:15])
    assert mean > easiness.mean() + 0.01  # by the means of what each answered the refuser would be first
    common = found_of({model: dict(list(held.items())[:15]) for model, held in rows.items()}).pairs[0]
    assert (common.first, common.n) == ("honest", 15) and common.value > 0.08 and common.p_adjusted < 0.001
    found = found_of(rows)
    assert ranks(found) == [("honest", 1), ("refuser", 2)] and groups(found) == ["a", "b"]
    [pair] = found.pairs
    assert pair.value > 0 and pair.differs()
    assert pair.answered.n == 15 and pair.answered.value == pytest.approx(common.value)
    last = found.models[1]
    # 15 refusals at 0: half of the mean of what was answered; at best 1: that and a half
    assert (last.value, last.best) == (pytest.approx(mean / 2), pytest.approx(mean / 2 + 0.5))
    assert (last.missing, last.lost) == (15, 0)


cells = st.one_of(
    st.floats(0, 1).map(lambda one: Case.scored(round(one, 3))),
    st.sampled_from([REFUSED, LOST, Case(0.2, 0.6, 0.4, outside=True)]),
)


@st.composite
def leaderboards(draw) -> Scores:
    stories = draw(st.integers(1, 24))
    models = "ABCDE"[: draw(st.integers(2, 5))]
    return {model: {at: draw(cells) for at in range(stories)} for model in models}


@settings(max_examples=150, deadline=None)
@given(leaderboards(), st.data())
def test_refusing_never_raises_a_rank_and_order_and_letters_contradict_no_paired_difference(scores, data):
    """Whatever scored answer a model turns into a refusal, alone or with others, and whatever was lost elsewhere."""
    model = data.draw(st.sampled_from(sorted(scores)))
    answered = [story for story, case in scores[model].items() if case.answered is not None]
    refused = data.draw(st.lists(st.sampled_from(answered), unique=True)) if answered else []
    before = found_of(scores, resamples=20)
    after = found_of(scores | {model: scores[model] | dict.fromkeys(refused, REFUSED)}, resamples=20)
    rank, later = (dict(ranks(found))[model] for found in (before, after))
    if rank is not None and later is not None:
        assert later >= rank
        places = [[one.model for one in found.models if one.rank].index(model) for found in (before, after)]
        assert places[1] >= places[0] or later == rank
    by_rank, order = dict(ranks(before)), [one.model for one in before.models]
    named = {one.model: letters_in(one.group) for one in before.models}
    for pair in before.pairs:
        assert order.index(pair.first) < order.index(pair.second) and by_rank[pair.first] <= by_rank[pair.second]
        assert pair.value > -1e-9
        if not (named[pair.first] & named[pair.second]) and not before.no_letters:
            assert pair.differs() and pair.value > 0 and (pair.answered.value or 0) > -1e-9


def test_what_is_missing_shows_a_difference_only_where_it_is_the_models_doing():
    # why the order is not that of common stories: A and B are even; on the story that is left when A refuses the
    # second, A leads by half
    assert ranks(found_of(scored(A=[1.0, 0.0], B=[0.5, 0.5]))) == [("A", 1), ("B", 1)]
    refusing = found_of(scored(A=[1.0, REFUSED], B=[0.5, 0.5]))
    assert ranks(refusing) == [("A", 1), ("B", 1)]
    assert refusing.pairs[0].answered == Answered(0.5, 1) and refusing.pairs[0].value == 0
    # B equal to A, two of its stories lost: the order counts them at their worst, the test at their best, where the
    # two speak for B by 2 · 0.2
    found = found_of(scored(A=[0.8] * 20, B=[*[0.8] * 18, LOST, LOST]))
    [pair] = found.pairs
    assert pair.first == "A" and pair.value == pytest.approx(2 * 0.8 / 20) and pair.p == 1.0 and not pair.differs()
    assert found_of(scored(A=[0.8] * 20, B=[*[0.8] * 10, *[REFUSED] * 10])).pairs[0].differs()
    # A refuses half and is better where both answered: B stands first, and nothing is announced
    found = found_of(scored(A=[*[0.9] * 10, *[REFUSED] * 10], B=[0.8] * 20))
    [pair] = found.pairs
    assert pair.first == "B" and pair.answered.value == pytest.approx(-0.1) and not pair.differs()
    assert groups(found) == ["a", "a"]
    # one row lost in every story moves the score little, however many stories that are
    partly = found_of(scored(A=[0.6] * 20, B=[Case(0.7, 0.75, 0.72, outside=True)] * 20))
    assert [(one.model, one.rank, one.lost, one.missing) for one in partly.models] == [("B", 1, 20, 0), ("A", 2, 0, 0)]
    assert partly.models[0].value == pytest.approx(0.7) and partly.pairs[0].differs()
    # a story that was never asked is not the model's doing, and one without a score by definition is nobody's
    held = Cases.of({"A": {1: Case.scored(0.5), 2: Case.scored(1.0)}, "B": {1: Case.scored(0.7)}}, {1, 2, 3})
    np.testing.assert_array_equal(held.worst, [[0.5, 1.0, 0.0], [0.7, 0.0, 0.0]])
    assert held.lost.tolist() == [1, 2] and NEVER_ASKED.outside
    assert Cases.of({"A": {1: None, 2: Case.scored(1.0)}, "B": {}}, {1, 2}).stories == (2,)


def test_a_model_whose_score_judges_could_move_by_more_than_a_tenth_has_no_rank():
    assert MOST_LOST == 0.1
    held = scored(A=[0.5] * 20, B=[*[0.9] * 17, *[LOST] * 3], C=[*[0.9] * 18, *[LOST] * 2])
    assert "in 3 of 20 questions, is worth" in found_of(held, samples="questions").models[-1].reason
    found = found_of(held)
    assert ranks(found) == [("C", 1), ("A", 2), ("B", None)]
    assert found.models[-1].reason == (
        "not ranked: what judges or providers lost, in 3 of 20 stories, is worth up to 15.0 points; ask for it again"
    )
    assert {one.first for one in found.pairs} == {"C"} and found.models[-1].group is None


# --- interpreted differences: over the pairs that were answered on both sides
def difference(first, second, clusters: list[str] | None = None) -> Difference:
    return answered_difference(cases(first, second, clusters=clusters), seed=1)[1]


def test_only_pairs_with_both_scores_are_in_the_difference():
    sides = cases([1, 1, 0, 0.5, None, 1], [0, 1, 0, 1, 1, None])
    means, found = answered_difference(sides, seed=1)
    # pairs 0 to 3: differences 1, 0, 0 and -.5, so (1 - .5) / 4
    assert (found.value, found.n, found.asked) == (0.125, 4, 6)
    # (1 + 1 + 0 + .5) / 4 and (0 + 1 + 0 + 1) / 4
    assert means == (0.625, 0.5)
    assert found.missing == [1, 1] and (found.shares.first, found.shares.second) == (1 / 6, 1 / 6)
    # of six: .5 from the pairs, pair 4 between 0 - 1 and 1 - 1, pair 5 between 1 - 1 and 1 - 0
    assert found.bounds == pytest.approx([(0.5 - 1) / 6, (0.5 + 1) / 6])
    # four pairs, of which two differ: 2 of the 4 sign patterns reach |.5|, all of them do
    assert found.interval is None and found.p == 1.0
    # nothing in common is no difference, and stays a row
    found = difference([1, None, 1], [None, 1, None])
    assert (found.value, found.n, found.asked, found.p) == (None, 0, 3, None)
    assert (found.missing, found.verdict) == ([1, 2], "–") and found.bounds == pytest.approx([-1 / 3, 2 / 3])
    assert answered_difference(Cases.of({"a": {}, "b": {}}, set()), seed=1)[1].asked == 0
    # a part that is missing counts as that part
    found = difference([Case(0.25, 0.75, 0.5)] * 8, [0.5] * 8)
    assert found.shares.difference == 0.5 and not found.shares.alike and found.missing == [0, 0]
    assert found.value == 0.0 and found.open_bounds == [-0.25, 0.25]
    # clusters are flipped whole: ten stories of three questions, all of a story one way, are ten signs, not thirty
    first, second = [1.0] * 30, [0.0] * 18 + [1.0] * 12
    assert difference(first, second, [str(at // 3) for at in range(30)]).p == 2 / 2**6
    assert difference(first, second).p < 0.001


def test_unlike_missing_shares_need_a_significant_sign_at_both_bounds():
    # the case that was misread: a model answers alike both ways, and a fifth of it is unreadable under the control
    published = [float(at % 2) for at in range(200)]
    found = difference(published, [None if at % 5 == 1 else score for at, score in enumerate(published)])
    assert found.value == 0.0 and found.n == 160 and found.shares.second == 0.2
    assert not found.shares.alike and found.p == 1.0
    assert found.bounds == pytest.approx([-0.1, 0.1])  # at its worst it would have been 20 of 200 lower
    published = [1.0] * 60
    for lost, shown in ((6, True), (50, True), (56, False)):
        found = difference(published, [None if at < lost else 0.0 for at in range(60)])
        assert found.value == 1.0 and not found.shares.alike
        assert found.bounds == pytest.approx([1 - lost / 60, 1.0])
        # at the lower bound 60 - lost differences of 1 are left: 2 / 2^4 is no proof of anything
        assert (found.p < 0.05) is shown, lost
    # two thirds right instead of all, at least a quarter lower whatever was lost
    found = difference(published, [None if at < 14 else float(at % 3 > 0) for at in range(60)])
    assert found.value > 0.3 and found.bounds[0] > 0.2 and found.p < 0.05
    # of unlike signs at the bounds nothing is shown, whatever the pairs say
    found = difference([0.0] * 25 + [1.0] * 35, [None if at < 45 else 0.0 for at in range(60)])
    assert found.value == 1.0 and found.bounds[0] < 0 < found.bounds[1] and found.p == 1.0
    # an interval over both bounds needs both
    assert spanning(([0.1, 0.2], ""), ([0.3, 0.6], "")) == ([0.1, 0.6], "")
    assert spanning(([0.1, 0.2], ""), (None, "few stories")) == (None, "few stories")
    assert spanning((None, "few stories"), ([0.3, 0.6], "")) == (None, "few stories")


def test_missing_shares_are_alike_within_their_interval_and_ten_points():
    for share, interval, alike in (
        (0.0, [0.0, 0.0], True), (0.04, [-0.02, 0.1], True), (0.04, [0.01, 0.07], False),
        (-0.12, [-0.3, 0.05], False), (0.1, [0.0, 0.2], True), (0.0, None, False),
    ):  # fmt: skip
        assert MissingShares(0.1 + share, 0.1, share, interval).alike is alike, (share, interval)
    # below five stories there is no interval: only what lacks as much on both sides is alike
    few_shares = difference([1, None, 0], [1, None, 0]).shares
    assert few_shares.alike and few_shares.difference == 0
    assert not difference([1, None, 0], [None, 1, 0]).shares.alike


def test_memory_is_shown_where_there_is_some_and_seldom_where_there_is_none():
    for world in controls.MISSING:
        none = world._replace(stories=60, questions=3, remembered=0.0)
        # of 40 data sets 2 are expected at most; 7 are beyond chance (p below .004)
        assert controls.found(none, repetitions=40, seed=1, flips=999).shown <= 6, world
    for missing, least in ((0.1, 16), (0.0, 18)):
        world = controls.World(100, 5, 0.4, missing=(missing, missing))
        assert controls.found(world, repetitions=20, seed=1, flips=999).shown >= least
    _, _, clusters = controls.World(40, 4, 0.0).draw(np.random.default_rng(1))
    sizes = np.bincount(clusters)
    assert len(sizes) == 40 and sizes.min() < 3 < sizes.max(), "clusters of unequal sizes"


def test_answers_and_scores_that_flip_are_two_measures():
    first = {1: 1.0, 2: 1.0, 3: 0.0, 4: 0.5, 5: None, 6: 1.0}
    # four have both scores, two of them the same; the largest difference comes first
    assert repeated_scores(first, {1: 0.0, 2: 1.0, 3: 0.0, 4: 1.0, 5: 1.0}) == (0.5, [1, 4], [1, 2, 3, 4])
    # two wrong answers are another answer with the same score
    by_answer = repeated_statements({1: "A", 3: "B", 4: "C"}, {1: "D", 3: "C", 4: "C"}, {1, 3, 4, 5})
    assert by_answer[0] == pytest.approx(1 / 3) and by_answer[1] == [1, 3]
    assert repeated_scores({1: None}, {1: 1.0})[0] is None


# --- the smallest difference that a run can show
def test_the_smallest_difference_is_that_of_the_paired_t_test():
    for stories, tests in ((10, 1), (100, 1), (895, 1), (895, 190)):
        wanted = TTestPower().solve_power(nobs=stories, power=0.8, alpha=0.05 / tests) * 0.3
        assert smallest_difference(stories, 0.3, tests=tests).difference == pytest.approx(wanted, rel=1e-3)
    # a stated default without earlier runs: a third at 0, the rest even on [0, 1]: E x² = 2/3 · 1/3, (E x)² = (1/3)² →
    # 2/9 − 1/9 = 1/9 each, √(2/9) for two
    assert pytest.approx((2 / 9) ** 0.5) == power.DEFAULT_SD
    found = smallest_difference(895)
    assert found.sd_is_default and found.sd == power.DEFAULT_SD
    # (1.9600 + 0.8416) · 0.4714 / √895 = 0.0441, a trifle more by t
    assert found.difference == pytest.approx(0.0441, abs=1e-4)
    assert smallest_difference(1).reason == power.TOO_FEW and smallest_difference(1).difference is None
    assert smallest_difference(50, 0.0).reason == power.NO_SPREAD
    # twelve stories of one sign: p = 2/4,096; times 102 tests that is 0.0498, times 103 tests 0.0503
    assert smallest_difference(12, 0.3, tests=102).difference > 0
    assert smallest_difference(12, 0.3, tests=103).reason == power.TOO_MANY_TESTS
    with pytest.raises(ValueError, match="cannot be planned"):
        smallest_difference(50, 0.3, power=1.0)
    # the spread of earlier differences is pooled: A − B: 0, 0.2, 0.4 → squares 0.08 of 2 degrees; A − C: −0.1, 0.1,
    # missing → 0.02 of 1; B − C: −0.1, −0.1 → 0 of 1; √((0.08 + 0.02 + 0) / 4) = √0.025
    first, second = {1: 0.4, 2: 0.6, 3: 0.8}, {3: 0.4, 2: 0.4, 1: 0.4}
    assert power.difference_sd({"A": first, "B": second, "C": {1: 0.5, 2: 0.5, 3: None}}) == pytest.approx(0.025**0.5)
    assert power.difference_sd({"A": first}) is None and power.difference_sd({"A": first, "B": {1: 0.1}}) is None


def test_a_story_with_one_question_is_right_or_wrong():
    for questions, sd in (
        ([1] * 40, 0.5),  # 0 or 1 with even chances: a variance of 1/4 each, 1/2 for two models, more than 2/9
        # chances spread evenly, 1/12, and a half of 1/4 − 1/12 left to chance; or 1/9 + 1/18: both 1/6
        ([2, 2], 2 / 6),
        # 1/m is 2/3 on average, so that it is the larger of 1/12 + 1/9 = 7/36 and 1/9 + 2/27 = 5/27
        ([1, 3], 2 * 7 / 36),
    ):
        assert power.right_or_wrong_sd(questions) == pytest.approx(sd**0.5)
    assert power.right_or_wrong_sd([10_000]) == pytest.approx(power.DEFAULT_SD, abs=1e-3)
    found = smallest_difference(400, default_sd=power.right_or_wrong_sd([1] * 400))
    # (1.9600 + 0.8416) · 0.7071 / √400 = 0.0991, a trifle more by t
    assert found.sd_is_default and found.difference == pytest.approx(0.0992, abs=2e-4)
    assert smallest_difference(400, 0.3, default_sd=0.7) == smallest_difference(400, 0.3)


def test_the_smallest_difference_is_found_four_times_in_five():
    for stories, skewed in [(25, False), (60, False), (895, True)]:
        rng = np.random.default_rng(stories)
        shift = smallest_difference(stories, 0.3).difference
        # an exponential less its mean has a standard deviation of 1, as the normal has
        noise = rng.exponential(size=(1500, stories)) - 1 if skewed else rng.normal(size=(1500, stories))
        p = np.array(sign_flip_p(shift + 0.3 * noise, seed=1, flips=1999))
        # the standard error of a share of 0.8 in 1,500 is 0.01
        assert (p <= 0.05).mean() == pytest.approx(0.8, abs=0.04)
        # and without a difference the test says so: 0.05, standard error 0.006
        null = np.array(sign_flip_p(0.3 * noise, seed=1, flips=1999))
        assert (null <= 0.05).mean() == pytest.approx(0.05, abs=0.02)
    for stories in [60, 400]:  # one question a story
        rng, asked = np.random.default_rng(stories), power.right_or_wrong_sd([1] * stories)
        # four in five, or a few less: sums of whole numbers come in steps; the default of shares, which are unimodal,
        # names a difference that is found in less than every second run
        for sd, low, high in ((asked, 0.7, 0.86), (power.DEFAULT_SD, 0, 0.55)):
            named = smallest_difference(stories, default_sd=sd).difference
            first, second = (rng.binomial(1, 0.5 + side * named / 2, (1000, stories)) for side in (1, -1))
            p = np.array(sign_flip_p((first - second).astype(float), seed=1, flips=999))
            assert low <= (p <= 0.05).mean() <= high
