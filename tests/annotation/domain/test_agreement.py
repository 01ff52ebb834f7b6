from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_kappa

from annotation.domain.agreement import annotators, intervals
from annotation.domain.agreement.annotators import Matches, MatchesWithout, Settled, against_others
from annotation.domain.agreement.extraction import reconciliation_overlap, table_f1
from annotation.domain.agreement.report import MEASURES, measure
from annotation.domain.agreement.votes import Votes
from annotation.domain.leave_one_out import Cell, Rule, gold_without
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from core.plain import plain
from tests.annotation.domain import cell_coefficients

COUNTS = np.array([[3, 0], [2, 1], [0, 3], [1, 2]])


def _from_sums(name, counts) -> float:
    coefficient = intervals.COEFFICIENTS[name]
    return float(coefficient.value_of(coefficient.sums(counts).sum(axis=0)))


def test_strict_and_pairwise_by_hand():
    # cells 1 and 3 agree wholly: 2 of 4
    assert cell_coefficients.strict(COUNTS) == 0.5
    # pairs that agree: 3/3, 1/3, 3/3, 1/3 → mean (1 + 1/3 + 1 + 1/3) / 4 = 2/3
    assert cell_coefficients.pairwise(COUNTS) == pytest.approx(2 / 3)


def test_fleiss_kappa_by_hand():
    # P̄ = 2/3 (above); label shares 6/12 and 6/12 → Pe = 1/2; κ = (2/3 − 1/2) / (1 − 1/2) = 1/3
    assert cell_coefficients.fleiss_kappa(COUNTS) == pytest.approx(1 / 3)


def test_fleiss_kappa_of_uneven_votes_by_hand_leaves_no_cell_out():
    # a a b | a a b b | b b: pairs that agree 1/3, (1 + 1)/6 = 1/3, 1 → P̄ = 5/9
    # label shares a (2/3 + 1/2 + 0)/3 = 7/18, b 11/18 → Pe = (49 + 121)/324 = 85/162; κ = (90 − 85)/(162 − 85) = 5/77
    uneven = np.array([[2, 1], [2, 2], [0, 2]])
    assert cell_coefficients.fleiss_kappa(uneven) == pytest.approx(5 / 77)
    # of the one commonest number of votes there would be nothing but a single cell, on which all agree or none
    assert cell_coefficients.fleiss_kappa(uneven[:1]) == pytest.approx((1 / 3 - 5 / 9) / (1 - 5 / 9))


def test_fleiss_kappa_of_even_votes_is_that_of_statsmodels():
    counts = np.random.default_rng(4).multinomial(3, [0.5, 0.3, 0.2], 60)
    assert cell_coefficients.fleiss_kappa(counts) == pytest.approx(statsmodels_kappa(counts, method="fleiss"))


def test_a_coefficient_of_story_sums_is_that_of_its_cells():
    for name in MEASURES:
        votes = np.random.default_rng(5).integers(2, 5, 80)
        counts = np.array([np.random.default_rng(n).multinomial(n, [0.6, 0.3, 0.1]) for n in votes])
        assert _from_sums(name, counts) == pytest.approx(getattr(cell_coefficients, name)(counts))


def test_krippendorff_alpha_by_hand():
    # coincidences: diagonal per cell Σ n(n−1)/(m−1) = 3, 1, 3, 1 → 8 of n = 12, so Do = 4/12
    # De = (12² − 6² − 6²) / (12·11) = 72/132; α = 1 − (1/3)/(72/132) = 1 − 11/18 = 7/18
    assert cell_coefficients.krippendorff_alpha(COUNTS) == pytest.approx(7 / 18)
    assert _from_sums("krippendorff_alpha", COUNTS) == pytest.approx(7 / 18)


def test_gwet_ac1_by_hand():
    # pa = 2/3; π = (1/2, 1/2); pe = (1/(2−1)) Σ π(1−π) = 1/2; AC1 = (2/3 − 1/2) / (1/2) = 1/3
    assert cell_coefficients.gwet_ac1(COUNTS) == pytest.approx(1 / 3)


def test_ac1_survives_the_prevalence_that_makes_kappa_collapse():
    # 9 cells all "a", one cell a/a/b. pa = (9 + 1/3) / 10 = 14/15
    counts = np.array([[3, 0]] * 9 + [[2, 1]])
    # shares 29/30, 1/30: Fleiss Pe = (29² + 1)/900 = 842/900 → κ = (840 − 842)/(900 − 842) = −2/58
    assert cell_coefficients.fleiss_kappa(counts) == pytest.approx(-2 / 58)
    # pe = 2·(29/30)(1/30) = 58/900 → AC1 = (840 − 58)/(900 − 58) = 782/842
    assert cell_coefficients.gwet_ac1(counts) == pytest.approx(782 / 842)


def test_missing_votes_by_hand():
    # cells with 3, 2, 1, 0 votes: a a b | a a | b | –
    counts = np.array([[2, 1], [2, 0], [0, 1], [0, 0]])
    # pairs: 1/3 and 1 → pa = 2/3; shares over cells with a vote: a (2/3 + 1 + 0)/3 = 5/9, b 4/9
    # pe = 2 · 5/9 · 4/9 = 40/81; AC1 = (54/81 − 40/81) / (41/81) = 14/41
    assert cell_coefficients.gwet_ac1(counts) == pytest.approx(14 / 41)
    # alpha: pairable votes a 4, b 1, n = 5; diagonal 2·1/2 + 2·1/1 = 3 → Do = 2/5; De = (25 − 16 − 1)/20 = 2/5; α = 0
    assert cell_coefficients.krippendorff_alpha(counts) == pytest.approx(0)


def test_cohens_kappa_by_hand():
    # 20 both a, 15 both b, 5 and 10 apart: po = 35/50; pe = (25·30 + 25·20)/2500 = 1/2; κ = (0.7 − 0.5)/0.5
    assert intervals.cohens_kappa(np.array([[20, 5], [10, 15]])) == pytest.approx(0.4)


def test_the_undefined_is_none_with_a_reason():
    assert cell_coefficients.undefined(np.zeros((0, 3), dtype=int)) == intervals.NO_CELLS
    one_label = np.array([[3, 0], [3, 0]])
    assert cell_coefficients.undefined(one_label) == intervals.ONE_LABEL
    assert cell_coefficients.krippendorff_alpha(one_label) is cell_coefficients.fleiss_kappa(one_label) is None
    assert cell_coefficients.strict(one_label) == 1
    assert intervals.cohens_kappa(np.array([[4, 0], [0, 0]])) is None


def _alpha_from_definition(counts):
    """Krippendorff's alpha from all pairs of values, without a coincidence matrix."""
    units = [np.repeat(np.arange(counts.shape[1]), row) for row in counts if row.sum() >= 2]
    values = np.concatenate(units)
    observed = sum(2 * sum(a != b for a, b in combinations(unit, 2)) / (len(unit) - 1) for unit in units) / len(values)
    expected = 2 * sum(a != b for a, b in combinations(values, 2)) / (len(values) * (len(values) - 1))
    return 1 - observed / expected


count_tables = st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=2, max_size=12).map(np.array)


@settings(max_examples=60, deadline=None)
@given(count_tables, st.permutations(range(3)), st.randoms())
def test_alpha_equals_its_definition_and_forgets_names_and_order(counts, relabelled, random):
    if cell_coefficients.undefined(counts):
        return
    alpha = cell_coefficients.krippendorff_alpha(counts)
    assert alpha == pytest.approx(_alpha_from_definition(counts))
    assert alpha == pytest.approx(_from_sums("krippendorff_alpha", counts))
    shuffled = counts[random.sample(range(len(counts)), len(counts))][:, relabelled]
    assert cell_coefficients.krippendorff_alpha(shuffled) == pytest.approx(alpha)
    assert cell_coefficients.gwet_ac1(shuffled) == pytest.approx(cell_coefficients.gwet_ac1(counts))


def _votes_with_agreement(agree: int, cells: int = 390, stories: int = 21) -> Votes:
    rows = []
    for cell in range(cells):
        labels = ("True", "True", "True" if cell < agree else "False")
        rows += [(cell % stories, cell, name, label) for name, label in zip("abc", labels, strict=True)]
    return Votes.of("truth_status", ("True", "False", "Unknown"), rows)


def test_the_published_reliability_table():
    # OmniToM, table 6
    agree = [382, 338, 335, 380, 346, 368, 369]
    printed = ["97.95", "86.67", "85.90", "97.44", "88.72", "94.36", "94.62"]
    dimensions = [_votes_with_agreement(number) for number in agree]
    rows, overall = measure([votes.tally for votes in dimensions], overlap=3, seed=1)
    assert [row.agree for row in rows] == agree
    assert [f"{100 * row.values['strict']:.2f}" for row in rows] == printed
    assert (overall.agree, overall.cells, f"{100 * overall.values['strict']:.2f}") == (2518, 2730, "92.23")
    (low, high), _ = overall.intervals["strict"]
    assert low < overall.values["strict"] < high


def test_cells_that_wait_for_votes_are_left_out():
    votes = Votes.of("order", ("0", "1"), [(1, 1, "a", "0"), (1, 1, "b", "0"), (1, 2, "a", "1"), (2, 3, "a", "0")])
    assert votes.complete(2).counts.tolist() == [[2, 0]]
    assert measure([votes.tally], overlap=2, seed=0)[1].cells == 1


def test_resampling_stories_is_wider_than_resampling_cells_where_stories_cluster():
    # the specification's grid: 40 stories × 25 propositions; each story has its own rate of disagreement
    rng = np.random.default_rng(3)
    rate = np.repeat(rng.beta(1, 6, size=40), 25)
    truth = rng.integers(0, 4, size=1000)
    votes = np.where(rng.random((1000, 3)) < rate[:, None], rng.integers(0, 4, size=(1000, 3)), truth[:, None])
    counts = (votes[:, :, None] == np.arange(4)).sum(axis=1)
    story = np.repeat(np.arange(40), 25)
    widths = []
    for unit in (story, np.arange(1000)):
        alpha = intervals.COEFFICIENTS["krippendorff_alpha"]
        sums = np.add.reduceat(alpha.sums(counts), np.flatnonzero(np.diff(unit, prepend=-1)))
        (low, high), _ = intervals.mean_interval([intervals.Resampled.of(sums, seed=5)], alpha)
        widths.append(high - low)
    assert widths[0] > 1.8 * widths[1]


def test_the_story_interval_holds_the_truth_about_as_often_as_it_says():
    # 60 seeded worlds of 40 stories; strict agreement has the true value 0.8 on average over stories
    held = 0
    for world in range(60):
        rng = np.random.default_rng(world)
        agree = rng.binomial(25, rng.beta(8, 2, size=40))
        sums = np.column_stack([agree, np.full(40, 25)]).astype(float)
        part = intervals.Resampled.of(sums, seed=world, resamples=400)
        (low, high), _ = intervals.mean_interval([part], intervals.COEFFICIENTS["strict"])
        held += low <= 0.8 <= high
    assert held >= 52  # 95 % of 60 is 57; below 52 has a probability of less than one in a hundred


def test_below_five_stories_there_is_no_interval():
    [row], _ = measure([_votes_with_agreement(7, cells=8, stories=4).tally], overlap=3, seed=1)
    assert row.values["strict"] == 7 / 8
    assert row.intervals == dict.fromkeys(MEASURES, (None, "an interval needs at least 5 stories"))


def test_perfect_agreement_is_not_certain():
    # 10 stories of two cells, "True" and "False", all three annotators agreeing: with 95 % confidence at most 1 −
    # .05^(1/10) of all stories are of a kind that was not seen; strict, pairwise ≥ .05^.1 = .741; labels are even, Pe =
    # 1/2: κ ≥ (.741 − .5)/.5
    rows = [
        (s, 2 * s + c, name, label) for s in range(10) for c, label in enumerate(("True", "False")) for name in "abc"
    ]
    [found], overall = measure([Votes.of("truth_status", ("True", "False"), rows).tally], overlap=3, seed=1)
    least, ends = 0.05**0.1, plain(found)["interval"]
    assert [found.values[name] for name in MEASURES] == [1.0] * 5
    assert ends["strict"] == ends["pairwise"] == pytest.approx([least, 1])
    assert ends["fleiss_kappa"] == ends["gwet_ac1"] == pytest.approx([2 * least - 1, 1])
    # alpha's expected disagreement is 60² − 2·30² over 60·59: 1 − Do/De = 1 − (1 − least) · 59/30
    assert ends["krippendorff_alpha"] == pytest.approx([1 - (1 - least) * 59 / 30, 1])
    assert overall.intervals == found.intervals


def test_every_coefficient_of_a_report_is_that_of_its_cells():
    for counts in [
        [[3, 0, 0]] * 8,
        [[3, 0, 0]] * 7 + [[2, 1, 0]],
        [[1, 0, 0]] * 8,
        [[0, 0, 0]],
        [[3, 0, 0], [0, 3, 0]] * 4,
    ]:
        label = ("True", "False", "Unknown")
        rows = [
            (at, at, f"annotator {at}.{k}.{turn}", label[k])
            for at, cell in enumerate(counts) for k, count in enumerate(cell) for turn in range(count)
        ]  # fmt: skip
        [found], _ = measure([Votes.of("truth_status", label, rows).tally], overlap=1, seed=1)
        cells = np.array([cell for cell in counts if sum(cell)]).reshape(-1, 3)
        expected = [getattr(cell_coefficients, name)(cells) for name in MEASURES]
        assert [found.values[name] for name in MEASURES] == pytest.approx(expected)


def test_confusion_against_resolved_and_pairs():
    rows = [(1, 1, "a", "x"), (1, 1, "b", "y"), (1, 2, "a", "x"), (1, 2, "b", "x"), (2, 3, "a", "y"), (2, 3, "b", "y")]
    votes = Votes.of("d", ("x", "y"), rows)
    assert annotators.label_confusion(votes).tolist() == [[1, 1], [1, 1]]
    assert annotators.pair_confusion(votes, 0, 1).tolist() == [[1, 1], [0, 1]]
    assert annotators.against_resolved(votes, np.array([0, 0, -1])) == [
        Matches(annotator="a", cells=2, agree=2),
        Matches(annotator="b", cells=2, agree=1),
    ]
    (pair,) = annotators.pairs([votes])
    # po = 2/3; a: x 2, y 1; b: x 1, y 2 → pe = (2·1 + 1·2)/9 = 4/9; κ = (6/9 − 4/9)/(5/9) = 2/5
    assert (pair.cells, pair.agree, pair.cohens_kappa) == (3, 2, pytest.approx(0.4))


def test_second_opinions_rank_a_careful_annotator_above_a_guesser():
    rng = np.random.default_rng(2)
    labels = DEFAULT_SCHEMA["knowledge_access"].values
    truth = rng.integers(0, 3, size=300)
    rows = []
    for cell, right in enumerate(truth):
        for name in ("guesser", "ada", "bo", "cy"):  # the guesser comes first: order of appearance must not matter
            code = right if name != "guesser" and rng.random() < 0.95 else rng.integers(0, 3)
            rows.append((cell // 10, cell, name, labels[code]))
    votes = Votes.of("knowledge_access", labels, rows)
    skill = annotators.second_opinions(votes)
    assert min(skill[name].dawid_skene for name in ("ada", "bo", "cy")) > skill["guesser"].dawid_skene + 0.3
    assert min(skill[name].mace for name in ("ada", "bo", "cy")) > skill["guesser"].mace + 0.3


def test_stage_one():
    assert reconciliation_overlap(430, 360) == pytest.approx(0.8372, abs=5e-5)  # the published figure
    assert reconciliation_overlap(0, 0) is None
    # tables of 10 and 14 rows with 9 pairs in common: 18 / 24
    assert table_f1(10, 14, 9) == 0.75
    with pytest.raises(ValueError, match="11 matched rows"):
        table_f1(10, 14, 11)


def test_against_the_others_an_own_decision_does_not_count():
    """Two cells of three votes, A A B each; the first was decided C by the second annotator, who voted A, the second by
    somebody else."""
    rows = [(1, cell, name, label) for cell in (1, 2) for name, label in (("ann", "A"), ("ben", "A"), ("cyd", "B"))]
    votes = Votes.of("order", ("A", "B", "C"), rows)
    settled = Settled(np.array([2, 2]), np.array([True, True]), {0: {"ben": "C"}, 1: {"esi": "C"}})
    found = {row.annotator: row for row in against_others(votes, settled, Rule("1", overlap=3))}
    # ann and cyd: C by an expert in both. ben: in the first A and B are left, which settle nothing
    assert found["ann"] == MatchesWithout(annotator="ann", cells=2, agree=0, votes=0, expert=2, open=0)
    assert found["ben"] == MatchesWithout(annotator="ben", cells=1, agree=0, votes=0, expert=1, open=1)
    assert found["cyd"].cells == 2


def test_against_the_others_follows_the_rule_cell_by_cell():
    """What the patterns count is what `gold_without` says of every single vote."""
    rng = np.random.default_rng(3)
    labels, people = ("A", "B", "C"), ("ann", "ben", "cyd", "dan")
    rows = [(c % 7, c, name, labels[rng.integers(3)]) for c in range(60) for name in people if rng.random() < 0.8]
    votes = Votes.of("order", labels, rows)
    gold = np.array([rng.integers(-1, 3) for _ in votes.story])
    decided = np.array([rng.random() < 0.3 for _ in votes.story]) & (gold >= 0)
    decisions = {
        int(at): {people[rng.integers(4)]: labels[gold[at]]} for at in np.flatnonzero(decided) if rng.random() < 0.5
    }
    for rule in (Rule("1", 3), Rule("1", 3, demand_unanimity=True)):
        found = {row.annotator: row for row in against_others(votes, Settled(gold, decided, decisions), rule)}
        for person, name in enumerate(votes.annotators):
            counts = dict.fromkeys(("cells", "agree", "votes", "expert", "open"), 0)
            for at in np.flatnonzero((votes.by_annotator[:, person] >= 0) & (gold >= 0)):
                said = {
                    who: labels[code]
                    for who, code in zip(votes.annotators, votes.by_annotator[at], strict=True)
                    if code >= 0
                }
                cell = Cell(labels[gold[at]], said, decisions.get(int(at), {}), decided=bool(decided[at]))
                label, by = gold_without(name, cell, rule)
                counts[by.value or "open"] += 1
                counts["cells"] += bool(label)
                counts["agree"] += label == said[name]
            assert found[name] == MatchesWithout(annotator=name, **counts)
