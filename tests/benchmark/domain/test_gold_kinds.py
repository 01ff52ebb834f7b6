"""Scores by kind of gold, the order of models, moves of labels, the ceiling and doubts, by hand and against scipy."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from annotation.domain.anchoring.alternative_annotator import wins
from benchmark.domain import gold_kinds
from benchmark.domain.doubtful_gold import Doubt, agreement_elsewhere, doubts, usual_label
from benchmark.domain.gold_kinds import NOTHING, UNLABELLED, Cells, Kind, Move, ceiling, moves, order, standing_in
from core.statistics import Estimate

pytestmark = pytest.mark.once


def cells_of(story, gold, votes, *, blind=None, unknown=None, suggested=None, method=None) -> Cells:
    """Cells of one dimension, one a proposition."""
    story, gold, votes = np.array(story), np.array(gold), np.array(votes)
    n = len(story)
    return Cells(
        story=story, row=np.arange(n), dimension=np.zeros(n, dtype=int), gold=gold,
        method=np.array(["unanimous"] * n if method is None else method),
        suggested=np.full(n, NOTHING) if suggested is None else np.array(suggested),
        votes=votes, blind_votes=votes if blind is None else np.array(blind),
        unknown_votes=np.full(votes.shape, NOTHING) if unknown is None else np.array(unknown),
        stories=tuple(range(story.max() + 1)), dimensions=("truth",), annotators=tuple("abc"[: votes.shape[1]]),
    )  # fmt: skip


def test_votes_of_which_it_is_not_known_whether_they_are_blind_make_gold_of_their_own():
    votes, blind = [[1, 1, 0], [1, 1, 1], [0, 0, 1]], [[1, -1, -1], [1, 1, -1], [-1, -1, -1]]
    unknown = [[-1, 1, 0], [-1, -1, 1], [0, 0, -1]]
    golds = cells_of([0, 0, 1], [1, 1, 1], votes, blind=blind, unknown=unknown).by_kind()
    assert list(golds[Kind.BLIND]) == [-1, 1, -1]  # one blind vote alone, two alike, none
    assert list(golds[Kind.UNKNOWN]) == [1, 1, 0]  # 1 1 0, 1 1 1 and 0 0 with the others
    assert list(golds[Kind.BESIDE_UNKNOWN]) == [1, 1, 1]
    known = cells_of([0], [1], [[1, 1, 1]])
    assert known.is_all_known and list(known.by_kind()[Kind.UNKNOWN]) == [-1]


def test_scores_by_kind_count_by_hand():
    # Two stories of four cells, settled in all three ways; gold is 1 everywhere but for the adjudicated cells (2).
    votes = [[1, 1, 1], [1, 1, 0], [0, 1, 2], [1, 1, 1]] * 2
    blind = [[1, -1, 1], [0, -1, 0], [0, -1, 2], [1, -1, -1]] * 2  # gold from blind votes: 1, 0, none, none
    method = ["unanimous", "majority", "adjudicated", "unanimous"] * 2
    cells = cells_of(np.repeat([0, 1], 4), [1, 1, 2, 1] * 2, votes, blind=blind, method=method)
    golds = cells.by_kind()
    assert list(golds[Kind.BLIND]) == [1, 0, -1, -1] * 2
    assert list(golds[Kind.BESIDE]) == [1, 1, -1, -1] * 2
    assert list(golds[Kind.ADJUDICATED]) == [-1, -1, 2, -1] * 2
    # "a" says 1 everywhere; "b" is unreadable in story 1 and leaves the first cell of story 0 without a label.
    models = {"a": np.ones((1, 8), dtype=int), "b": np.array([[UNLABELLED, 0, 2, 1, *[NOTHING] * 4]])}
    scores = gold_kinds.kind_scores(cells, models, golds, None, seed=1)
    kinds = (Kind.ALL, Kind.BLIND, Kind.BESIDE, Kind.UNANIMOUS, Kind.MAJORITY, Kind.ADJUDICATED)
    for model, shares in {"a": (0.75, 0.5, 1, 1, 1, 0), "b": (0.5, 0.5, 0, 0.5, 0, 1)}.items():
        unasked = dict.fromkeys((Kind.IMPORTED, Kind.UNKNOWN, Kind.BESIDE_UNKNOWN))
        found = {kind: of.value for kind, of in scores[model].items()}
        assert found == dict(zip(kinds, shares, strict=True)) | unasked, model
    assert scores["b"][Kind.ALL].bounds == [0.25, 0.75]  # the story without an answer wrong, and right
    assert scores["a"][Kind.ALL].bounds is None
    assert scores["a"][Kind.IMPORTED].reason
    assert "stories" in scores["a"][Kind.ALL].reason  # two stories have no interval
    assert (gold_kinds.in_order(scores), gold_kinds.in_order(scores, Kind.ADJUDICATED)) == (["a", "b"], ["b", "a"])


def test_repetitions_count_as_their_mean_and_their_usual_label():
    # Right in one of two repetitions; the second cell was answered once, and rightly; the third has no gold.
    found = gold_kinds.right(np.array([[1, 1, 0], [0, NOTHING, 0]]), np.array([1, 1, NOTHING]))
    assert found[:2].tolist() == [0.5, 1.0] and np.isnan(found[2])
    open_, no = UNLABELLED, NOTHING
    said = np.array([[2, 0, open_, no, open_], [1, 1, open_, no, 3], [1, no, 4, no, 0]])
    assert list(usual_label(said)) == [1, 0, 4, no, 3]


def test_tau_is_that_of_scipy_with_and_without_ties():
    for levels in [3, 50]:
        rng = np.random.default_rng(levels)
        first, second = (rng.integers(levels, size=(40, 6)).astype(float) for _ in range(2))
        expected = [kendalltau(a, b, variant="b").statistic for a, b in zip(first, second, strict=True)]
        assert gold_kinds.tau_b(first, second) == pytest.approx(expected, nan_ok=True)


def test_pairs_that_swap_are_named_with_how_far_they_moved():
    # On all gold a leads b by .2; on the other kind b leads a by .1 in each of 10 stories; c is last on both.
    before = {"a": np.full(10, 0.8), "b": np.full(10, 0.6), "c": np.full(10, 0.1)}
    tau, [swap] = order(before, before | {"a": np.full(10, 0.5)}, seed=1)
    assert tau.value == pytest.approx(1 / 3)  # of three pairs two keep their order, one does not
    assert tau.interval == pytest.approx([1 / 3, 1 / 3])
    assert (swap["first"], swap["second"]) == ("a", "b")
    assert (swap["lead"], swap["behind"]) == pytest.approx((0.2, 0.1))
    shift = swap["shift"]
    assert shift.value == pytest.approx(-0.3) and shift.interval[0] < -0.3 < shift.interval[1]
    # an order that cannot be told says why
    ten, none = np.full(10, 0.5), np.full(10, np.nan)
    two = {"a": ten, "b": ten}
    assert order({"a": ten}, {"a": ten}, seed=1)[0].reason == gold_kinds.FEWEST_MODELS
    assert order(two, two, seed=1)[0].reason == gold_kinds.ALL_TIED
    assert "no model" in order(two, {"a": none, "b": none}, seed=1)[0].reason
    four = {"a": np.full(4, 0.5), "b": np.full(4, 0.6)}
    assert order(four, four, seed=1)[0] == Estimate(1.0, 2, clusters=4, reason="an interval needs at least 5 stories")


def test_intervals_of_the_order_and_of_the_ceiling_hold_the_truth():
    """Four models, 20 stories; on the second kind of gold two of them swap. And three annotators who are right with
    .85, each cell of two labels: the two others agree with chance .85² + .15² = .745; then the left-out one agrees with
    them with (.85³ + .15³) / .745."""
    means = np.array([0.8, 0.7, 0.6, 0.4]), np.array([0.8, 0.6, 0.7, 0.4])
    tau, worth = kendalltau(*means).statistic, (0.85**3 + 0.15**3) / 0.745
    rng, others = np.random.default_rng(5), np.random.default_rng(3)
    held = held_worth = 0
    for _ in range(60):
        ease = rng.normal(0, 0.1, 20)
        sides = [
            {str(at): np.clip(rng.normal(mean, 0.1, 20) + ease, 0, 1) for at, mean in enumerate(of)} for of in means
        ]
        low, high = order(*sides, seed=1, resamples=400)[0].interval
        held += low - 1e-9 <= tau <= high + 1e-9
        skill = np.repeat(others.normal(0, 0.02, 20), 12)[:, None]
        votes = (others.random((240, 3)) < 0.85 + skill).astype(int)
        cells = cells_of(np.repeat(np.arange(20), 12), np.ones(240, dtype=int), votes)
        low, high = ceiling(cells, votes, {}, None, seed=1).people.interval
        held_worth += low <= worth <= high
    assert held >= 55  # 92 of 100; the standard error of 95 % is 2.8
    assert held_worth >= 53  # 95 % of 60 is 57, its standard error 1.7


def test_moves_of_labels_count_by_hand():
    # Four cells a story in five stories. Suggested 1 1 1 -; majority 1 0 none 1; gold 1 0 2 0.
    story = np.repeat(np.arange(5), 4)
    suggested, gold = [1, 1, 1, NOTHING] * 5, [1, 0, 2, 0] * 5
    votes = [[1, 1, 1], [0, 0, 1], [0, 1, 2], [1, 1, 0]] * 5
    blind = [[1, 0, -1], [0, 0, -1], [-1, 1, -1], [1, 1, -1]] * 5  # gold of blind votes: none, 0, none, 1
    found = moves(cells_of(story, gold, votes, blind=blind, suggested=suggested), None, seed=1)
    assert {move: (round(of.value * of.n), of.n) for move, of in found.items()} == {
        Move.TO_MAJORITY: (5, 10),  # 1 → 1, 1 → 0
        Move.TO_BLIND: (5, 5),  # 1 → 0
        Move.UNDECIDED: (5, 20),  # 0 1 2
        Move.TO_GOLD: (5, 15),  # 1 → 1, 0 → 0, 1 → 0
        Move.ALL_THE_WAY: (10, 15),  # 1 → 1, 1 → 0, 1 → 2
    }
    assert found[Move.ALL_THE_WAY].interval[0] < found[Move.ALL_THE_WAY].value == pytest.approx(2 / 3)
    nothing = moves(cells_of(story, gold, votes), None, seed=1)[Move.TO_MAJORITY]
    assert nothing.value is None and nothing.reason


def test_a_left_out_annotator_is_scored_by_the_others():
    # Three annotators, four cells in one story:
    #   1 1 1: each is right by the two others; 1 1 0: a and b have no gold (1, 0 are split), c is wrong by 1 1;
    #   0 0 -: two votes, one other each, no gold; 2 1 1: a is wrong by 1 1, b and c have none.
    cells = cells_of([0, 0, 0, 0], [1, 1, 0, 1], [[1, 1, 1], [1, 1, 0], [0, 0, NOTHING], [2, 1, 1]])
    # m says 1 to all: right in all five places; n leaves the last cell without an answer: 3 of 4 right.
    models = {"m": np.ones((1, 4), dtype=int), "n": np.array([[1, 0, 0, NOTHING]])}
    found = ceiling(cells, cells.votes, models, None, seed=1)
    assert found.cells == 5 and found.people.value == pytest.approx(3 / 5)
    assert {name: one.value for name, one in found.annotators.items()} == {"a": 0.5, "b": 1.0, "c": 0.5}
    score, difference = found.models["m"]
    assert score.value == 1.0 and difference.value == pytest.approx(0.4)
    assert found.models["n"][0].value == pytest.approx(3 / 4)
    nobody = ceiling(cells, np.full((4, 3), NOTHING), models, None, seed=1)
    assert nobody.people.value is None and nobody.people.reason


def _crowd(rng, stories: int, accuracy: float, model: float, clumped: bool = False):
    """Three annotators of one accuracy and a model, 12 cells of four labels a story; the truth is 0. Where `clumped`,
    the model is right or wrong on whole stories."""
    story = np.repeat(np.arange(stories), 12)
    n = len(story)

    def said(right):
        return np.where(right, 0, rng.integers(1, 4, n))

    votes = np.stack([said(rng.random(n) < accuracy) for _ in range(3)], axis=1)
    chance = rng.random(stories)[story] if clumped else rng.random(n)
    return cells_of(story, np.zeros(n, dtype=int), votes), said(chance < model)


def test_a_model_like_the_annotators_stands_in_for_them_and_a_poor_one_does_not():
    cells, like = _crowd(np.random.default_rng(1), 30, 0.8, 0.8)
    published, found = standing_in(cells, cells.blind_votes, like, seed=1)
    assert published.winning_rate == found.winning_rate == 1.0 and found.passes
    assert found.advantage.interval[0] < found.advantage.value < found.advantage.interval[1]
    assert found.advantage.value == pytest.approx(published.advantage)
    cells, poor = _crowd(np.random.default_rng(1), 30, 0.8, 0.4)
    assert standing_in(cells, cells.blind_votes, poor, seed=1)[1].winning_rate == 0.0
    one = cells_of([0, 0], [0, 0], [[0], [0]])
    _, nobody = standing_in(one, one.blind_votes, np.zeros(2, dtype=int), seed=1)
    assert (nobody.winning_rate, nobody.passes, nobody.advantage.value) == (None, None, None)


def test_over_stories_the_test_keeps_its_level_where_a_model_fails_on_whole_stories():
    """At the edge of the hypothesis: by hand, an annotator of accuracy .9 beats the model by exactly ε on average for a
    model that is right with the chance below, on whole stories. The published test takes cells as independent."""
    rng = np.random.default_rng(2)
    cells, _ = _crowd(rng, 4000, 0.9, 1.0)
    gaps = []
    for chance in (0.0, 1.0):
        _, of_model, of_human = wins(cells.blind_votes, np.where(rng.random(len(cells)) < chance, 0, 3), 0)
        gaps.append((of_human.astype(float) - of_model).mean())
    edge = (gaps[0] - gold_kinds.EPSILON) / (gaps[0] - gaps[1])  # the gap falls in a line with the accuracy
    ours = theirs = 0
    for _ in range(60):
        cells, model = _crowd(rng, 20, 0.9, edge, clumped=True)
        published, found = standing_in(cells, cells.blind_votes, model, seed=1)
        ours, theirs = ours + (found.winning_rate > 0), theirs + (published.winning_rate > 0)
    assert ours <= 8  # 5 % of 60 is 3, its standard error 1.7
    assert theirs > ours


STORIES, CELLS, LABELS = 12, 20, 4


def doubted_cells(gold, *, stories: int = STORIES) -> Cells:
    size = len(gold)
    return cells_of(np.repeat(np.arange(stories), size // stories), gold, np.full((size, 0), NOTHING))


def world(planted: list[int], **skills: float):
    """Gold with wrong labels where `planted`, the true labels, and what a model of each skill said of them: errors are
    independent, but for those of gold, which nobody but `poor` makes."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, LABELS, STORIES * CELLS)
    gold, said = truth.copy(), {}
    gold[planted] = (gold[planted] + 1) % LABELS
    for name, skill in skills.items():
        wrong = (truth + rng.integers(1, LABELS, len(truth))) % LABELS
        said[name] = np.where(rng.random(len(truth)) < skill, truth, wrong)[None]
        if name != "poor":
            said[name][0, planted] = truth[planted]
    return gold, truth, said


def test_planted_errors_of_gold_come_first():
    planted = [3, 50, 111, 200]
    gold, truth, said = world(planted, a=0.9, b=0.85, c=0.8, d=0.75, poor=0.3)
    own = {name: name for name in said}
    listed, heard, needed = doubts(doubted_cells(gold), said, own)
    first = listed[: len(planted)]
    assert {doubt.cell for doubt in first} == set(planted)
    assert all((doubt.label, doubt.against, doubt.heard) == (truth[doubt.cell], tuple("abcd"), 4) for doubt in first)
    assert all(doubt.credible < 0.01 for doubt in first)
    assert (heard, needed) == ([4], [3])  # "poor" is heard nowhere
    # Where gold has no error, chance brings hardly any three models together.
    _, truth, said = world([], a=0.9, b=0.85, c=0.8, d=0.75, poor=0.3)
    assert len(doubts(doubted_cells(truth), said, own)[0]) <= 3


def test_a_family_is_heard_once_and_a_baseline_never():
    gold, _, said = world([7], a=0.9, b=0.9, c=0.9, majority=0.9)
    cells = doubted_cells(gold)
    [own, *_], heard, _ = doubts(cells, said, {"a": "a", "b": "b", "c": "c"})
    assert own.cell == 7 and (heard, own.heard) == ([3], 3)
    [kin, *_], heard, needed = doubts(cells, said, {"a": "x", "b": "x", "c": "y"})
    assert (heard, needed, kin.heard) == ([2], [2], 2)
    assert doubts(cells, said, {"a": "x", "b": "x", "c": "x"}) == ([], [1], [0])
    assert doubts(cells, said, {})[0] == []


def test_agreement_is_that_on_other_stories_and_most_of_those_heard_must_agree():
    cells = doubted_cells(np.array([0, 1, 2, 3, 0, 1]), stories=3)
    said = np.array([[0, 1, 2, 0, NOTHING, NOTHING]])
    assert list(agreement_elsewhere(cells, said)) == [0.5, 0.5, 1, 1, 0.75, 0.75]
    one = doubted_cells(np.array([0, 1]), stories=1)
    assert np.isnan(agreement_elsewhere(one, np.array([[0, 1]]))).all()
    assert doubts(one, {n: np.array([[1, 1]]) for n in "abc"}, {n: n for n in "abc"})[0] == []
    # gold is 0 everywhere; a, b and c say 1 of the last cell, d and e say 0 and f 2
    gold = np.zeros(30, dtype=np.int64)
    said = {name: gold[None].copy() for name in "abcdef"}
    for name, label in {"a": 1, "b": 1, "c": 1, "f": 2}.items():
        said[name][0, -1] = label
    cells = doubted_cells(gold, stories=3)
    assert doubts(cells, said, {name: name for name in said})[0] == []
    [doubt], *_ = doubts(cells, said, {name: name for name in "abcde"})
    assert doubt == Doubt(29, 1, ("a", "b", "c"), 5, doubt.credible)
