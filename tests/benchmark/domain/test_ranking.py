"""The order of models is one that refusing cannot improve, and order, letters and paired differences agree."""

from __future__ import annotations

from itertools import pairwise
from re import findall

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.domain.inference import Answered, Case, Cases, Ranking, leaderboard
from benchmark.domain.inference.cases import MOST_LOST, NEVER_ASKED
from benchmark.domain.inference.leaderboard import ALONE, RANKS_FROM

REFUSED = Case(0.0, 1.0, None)
LOST = Case(0.0, 1.0, None, outside=True)

Scores = dict[str, dict[int, Case]]


def found_of(scores: Scores, **rules) -> Ranking:
    stories = {story for held in scores.values() for story in held}
    return leaderboard(Cases.of(scores, stories), **{"seed": 1, "resamples": 200} | rules)


def scored(**rows: list[float | Case]) -> Scores:
    return {
        model: {at: one if isinstance(one, Case) else Case.scored(one) for at, one in enumerate(row)}
        for model, row in rows.items()
    }


def rank_of(found: Ranking, model: str) -> int:
    return next(one.rank for one in found.models if one.model == model)


def refuser() -> tuple[Scores, np.ndarray]:
    """30 stories, the longest last: the longer, the harder. `honest` answers all; `refuser` is 10 points worse on every
    story, and refuses the 15 longest."""
    rng = np.random.default_rng(9)
    easiness = np.linspace(0.98, 0.5, 30) + rng.normal(0, 0.03, 30)
    worse = easiness - 0.1 + rng.normal(0, 0.04, 30)
    rows = scored(honest=easiness.tolist(), refuser=[*worse[:15].tolist(), *[REFUSED] * 15])
    return rows, easiness


def test_who_refuses_the_hard_stories_does_not_come_first():
    """Reproduced: the refuser's own mean is the higher, its paired difference on common stories is negative and
    shown."""
    rows, easiness = refuser()
    answered = [case.answered for case in rows["refuser"].values() if case.answered is not None]
    assert np.mean(answered) > easiness.mean() + 0.01  # by the means of what each answered the refuser would be first
    common = found_of({model: dict(list(held.items())[:15]) for model, held in rows.items()}).pairs[0]
    assert (common.first, common.n) == ("honest", 15) and common.value > 0.08 and common.p_adjusted < 0.001

    found = found_of(rows)
    assert [(one.model, one.rank, one.group) for one in found.models] == [("honest", 1, "a"), ("refuser", 2, "b")]
    [pair] = found.pairs
    assert pair.value > 0 and pair.differs()
    assert pair.answered.n == 15 and pair.answered.value == pytest.approx(common.value)
    last = found.models[1]
    # 15 refusals at 0: half of the mean of what was answered; at best 1: that and a half
    assert last.value == pytest.approx(np.mean(answered) / 2) and last.best == pytest.approx(
        np.mean(answered) / 2 + 0.5
    )
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
def test_refusing_never_raises_a_rank(leaderboard, data):
    """Whatever scored answer a model turns into a refusal, alone or with others, and whatever was lost elsewhere."""
    model = data.draw(st.sampled_from(sorted(leaderboard)))
    scored = [story for story, case in leaderboard[model].items() if case.answered is not None]
    refused = data.draw(st.lists(st.sampled_from(scored), unique=True)) if scored else []
    before = found_of(leaderboard, resamples=20)
    after = found_of(leaderboard | {model: leaderboard[model] | dict.fromkeys(refused, REFUSED)}, resamples=20)
    if rank_of(before, model) is not None and rank_of(after, model) is not None:
        assert rank_of(after, model) >= rank_of(before, model)
        places = [[one.model for one in found.models if one.rank].index(model) for found in (before, after)]
        assert places[1] >= places[0] or rank_of(after, model) == rank_of(before, model)


@settings(max_examples=150, deadline=None)
@given(leaderboards())
def test_order_and_letters_never_contradict_a_paired_difference(leaderboard):
    found = found_of(leaderboard, resamples=20)
    ranks = {one.model: one.rank for one in found.models}
    letters = {one.model: letters_in(one.group) for one in found.models}
    order = [one.model for one in found.models]
    for pair in found.pairs:
        assert order.index(pair.first) < order.index(pair.second) and ranks[pair.first] <= ranks[pair.second]
        assert pair.value > -1e-9
        if not (letters[pair.first] & letters[pair.second]) and not found.no_letters:
            assert pair.differs() and pair.value > 0 and (pair.answered.value or 0) > -1e-9


def letters_in(group: str | None) -> set[int]:
    """The places of the letters of a group: `b–d` are three."""
    names = findall(r"([a-z])(\d*)", group or "")
    at = [26 * (int(turn or 1) - 1) + ord(letter) - ord("a") for letter, turn in names]
    return set(range(at[0], at[-1] + 1)) if at else set()


def test_common_stories_would_reward_refusing():
    """Why the order is not that of common stories: A = (1, 0) and B = (.5, .5) are even; on the story that is left when
    A refuses the second, A leads by half."""
    even = found_of(scored(A=[1.0, 0.0], B=[0.5, 0.5]))
    assert [one.rank for one in even.models] == [1, 1]
    refusing = found_of(scored(A=[1.0, REFUSED], B=[0.5, 0.5]))
    assert [(one.model, one.rank) for one in refusing.models] == [("A", 1), ("B", 1)]
    assert refusing.pairs[0].answered == Answered(0.5, 1) and refusing.pairs[0].value == 0


def test_what_a_judge_lost_shows_no_difference():
    """20 stories, B equal to A: two of B's are lost. The order counts them at their worst, the test at their best."""
    found = found_of(scored(A=[0.8] * 20, B=[*[0.8] * 18, LOST, LOST]))
    assert [one.model for one in found.models] == ["A", "B"]
    [pair] = found.pairs
    # 2 · 0.8 / 20 = 0.08 in the order; at their best the two stories speak for B by 2 · 0.2
    assert pair.value == pytest.approx(0.08) and pair.p == 1.0 and not pair.differs()
    refused = found_of(scored(A=[0.8] * 20, B=[*[0.8] * 10, *[REFUSED] * 10]))
    assert refused.pairs[0].differs()  # the model's own doing does show


def test_a_difference_that_only_missing_answers_make_is_not_shown():
    """A refuses half and is better where both answered: B stands first, and nothing is announced."""
    found = found_of(scored(A=[*[0.9] * 10, *[REFUSED] * 10], B=[0.8] * 20))
    assert [one.model for one in found.models] == ["B", "A"]
    [pair] = found.pairs
    assert pair.p_adjusted > 0.05 or not pair.differs()
    assert pair.answered.value == pytest.approx(-0.1) and not pair.differs()
    assert {one.group for one in found.models} == {"a"}


def test_a_model_whose_score_judges_could_move_by_more_than_a_tenth_has_no_rank():
    assert MOST_LOST == 0.1
    held = scored(A=[0.5] * 20, B=[*[0.9] * 17, *[LOST] * 3], C=[*[0.9] * 18, *[LOST] * 2])
    assert "in 3 of 20 questions, is worth" in found_of(held, samples="questions").models[-1].reason
    found = found_of(held)
    assert [(one.model, one.rank) for one in found.models] == [("C", 1), ("A", 2), ("B", None)]
    assert found.models[-1].reason == (
        "not ranked: what judges or providers lost, in 3 of 20 stories, is worth up to 15.0 points; ask for it again"
    )
    assert {one.first for one in found.pairs} == {"C"} and found.models[-1].group is None


def test_rows_that_a_judge_left_out_do_not_cost_the_rank():
    """One row lost in every story moves the score little, however many stories that are."""
    partly = Case(0.7, 0.75, 0.72, outside=True)
    found = found_of(scored(A=[0.6] * 20, B=[partly] * 20))
    assert [(one.model, one.rank, one.lost, one.missing) for one in found.models] == [("B", 1, 20, 0), ("A", 2, 0, 0)]
    assert found.models[0].value == pytest.approx(0.7) and found.pairs[0].differs()


def test_a_story_that_was_never_asked_is_not_the_models_doing():
    held = Cases.of({"A": {1: Case.scored(0.5), 2: Case.scored(1.0)}, "B": {1: Case.scored(0.7)}}, {1, 2, 3})
    np.testing.assert_array_equal(held.worst, [[0.5, 1.0, 0.0], [0.7, 0.0, 0.0]])
    assert held.lost.tolist() == [1, 2] and NEVER_ASKED.outside
    # a story that has no score by definition is nobody's
    assert Cases.of({"A": {1: None, 2: Case.scored(1.0)}, "B": {}}, {1, 2}).stories == (2,)


def test_the_caution_about_few_units_says_of_which_tests_it_is():
    rows = scored(A=[0.9, 0.8] * 17, B=[0.4, 0.5] * 17)
    assert "fewer than 30" not in found_of(rows).method
    parted = found_of(rows, categories={at: "x" if at < 20 else "y" for at in range(34)}).method
    assert "; in categories with fewer than 30 stories the sign-flip test" in parted
    assert "; with fewer than 30 stories" in found_of(scored(A=[0.9, 0.8] * 9, B=[0.4, 0.5] * 9)).method


def test_where_no_test_can_pass_there_are_no_letters():
    # six stories: 2^-5 = 0.031 is the smallest p; two categories make three tests, 0.094
    rows = scored(perfect=[1.0] * 6, random=[0.1] * 6)
    alone = found_of(rows)
    assert [one.group for one in alone.models] == ["a", "b"] and alone.no_letters == ""
    found = found_of(rows, categories={at: "x" if at < 3 else "y" for at in range(6)})
    assert [one.group for one in found.models] == [None, None]
    assert found.no_letters == "6 stories can show no difference in 3 tests at once, however large it is"
    of_narratives = found_of(rows, categories={at: "x" if at < 3 else "y" for at in range(6)}, unit="narratives")
    assert of_narratives.no_letters.startswith("6 narratives can show no difference")
    one = found_of(scored(A=[0.5] * 9))
    assert one.models[0].group is None and one.no_letters == ALONE


def many(models: int, stories: int, *, step: float = 0.02) -> tuple[Scores, dict[str, int]]:
    """Models of falling skill, with the same hard stories, and their true ranks."""
    rng = np.random.default_rng(models * stories)
    hard = rng.normal(0, 0.1, stories)
    names = [f"m{at:02}" for at in range(models)]
    rows = {
        name: np.clip(0.9 - step * at + hard + rng.normal(0, 0.08, stories), 0, 1).tolist()
        for at, name in enumerate(names)
    }
    return scored(**rows), {name: at for at, name in enumerate(names, 1)}


def test_letters_of_twenty_models_are_short_and_contiguous():
    leaderboard, _ = many(20, 100)
    found = found_of(leaderboard)
    groups = [one.group for one in found.models]
    assert max(map(len, groups)) <= 3 and len(set(groups)) > 5
    held = [letters_in(one) for one in groups]
    for letter in set().union(*held):
        having = [at for at, letters in enumerate(held) if letter in letters]
        assert having == list(range(having[0], having[-1] + 1))
    assert all(min(a) <= min(b) and max(a) <= max(b) for a, b in pairwise(held))


def test_ranks_have_intervals_from_eight_models_on():
    leaderboard, _ = many(RANKS_FROM - 1, 30)
    assert all(one.ranks is None for one in found_of(leaderboard).models)
    leaderboard, _ = many(RANKS_FROM, 30)
    found = found_of(leaderboard).models
    assert all(low <= one.rank <= high for one in found for low, high in [one.ranks])
    few, _ = many(RANKS_FROM, 4)
    assert all(one.ranks is None for one in found_of(few).models)  # of four stories there is no interval


def test_rank_intervals_hold_the_true_rank():
    """Ten models a step of 3 points apart, 30 stories, 40 data sets: at least 92 % of the 400 intervals hold the true
    rank."""
    rng = np.random.default_rng(2)
    held = []
    for _ in range(40):
        skill, hard = 0.8 - 0.03 * np.arange(10), rng.normal(0, 0.1, 30)
        rows = skill[:, None] + hard + rng.normal(0, 0.1, (10, 30))
        found = found_of(scored(**{f"m{at}": row.tolist() for at, row in enumerate(rows)}), resamples=400)
        true = {f"m{at}": at + 1 for at in range(10)}
        held += [one.ranks[0] <= true[one.model] <= one.ranks[1] for one in found.models]
    assert np.mean(held) >= 0.92
