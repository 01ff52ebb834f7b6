"""Agreement of annotators and of experts: coefficients by hand and by definition, their intervals, and annotators one
by one."""

from itertools import combinations, zip_longest

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa

from annotation.domain.agreement import annotators, coefficients
from annotation.domain.agreement.aggregation import dawid_skene, mace
from annotation.domain.agreement.annotators import Matches, MatchesWithout, Settled, against_others
from annotation.domain.agreement.report import (
    MEASURES,
    f1_estimate,
    measure,
    overlap_estimate,
    reconciliation_overlap,
    table_f1,
)
from annotation.domain.agreement.votes import Votes
from annotation.domain.resolution import By, Cell, Rule, gold_without
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from core.plain import plain
from tests.annotation.domain.crowd_kit import LABELS, SKILLS, simulated_votes


def of_cells(name: str, counts) -> float:
    """The product's coefficient of cells, from the label counts of each."""
    coefficient = coefficients.COEFFICIENTS[name]
    return float(coefficient.value_of(coefficient.sums(np.asarray(counts)).sum(axis=0)))


def test_coefficients_by_hand():
    for counts, expected in (
        (
            # pairs that agree: 3/3, 1/3, 3/3, 1/3, in the mean 2/3; label shares 6/12 and 6/12, so Pe = 1/2, and
            # π = (1/2, 1/2), pe = (1/(2−1)) Σ π(1−π) = 1/2. Alpha's coincidences: diagonal per cell Σ n(n−1)/(m−1) =
            # 3, 1, 3, 1, 8 of n = 12, so Do = 4/12; De = (12² − 6² − 6²) / (12·11) = 72/132; 1 − (1/3)/(72/132)
            [[3, 0], [2, 1], [0, 3], [1, 2]],
            {
                "strict": 1 / 2, "pairwise": 2 / 3, "fleiss_kappa": 1 / 3, "gwet_ac1": 1 / 3,
                "krippendorff_alpha": 7 / 18,
            },
        ),
        # a a b | a a b b | b b: pairs that agree 1/3, (1 + 1)/6 = 1/3, 1 → P̄ = 5/9; label shares a (2/3 + 1/2 + 0)/3
        # = 7/18, b 11/18 → Pe = (49 + 121)/324 = 85/162; κ = (90 − 85)/(162 − 85)
        ([[2, 1], [2, 2], [0, 2]], {"fleiss_kappa": 5 / 77}),
        # 9 cells all "a", one cell a/a/b: pa = (9 + 1/3) / 10 = 14/15; shares 29/30, 1/30: Fleiss' Pe = (29² + 1)/900
        # = 842/900 → κ = (840 − 842)/(900 − 842), which prevalence makes collapse; pe = 2·(29/30)(1/30) = 58/900 → AC1
        # = (840 − 58)/(900 − 58)
        ([[3, 0]] * 9 + [[2, 1]], {"fleiss_kappa": -2 / 58, "gwet_ac1": 782 / 842}),
        # a a b | a a | b | –: pairs 1/3 and 1 → pa = 2/3; shares over cells with a vote: a (2/3 + 1 + 0)/3 = 5/9, b
        # 4/9; pe = 2 · 5/9 · 4/9 = 40/81; AC1 = (54/81 − 40/81) / (41/81). Alpha: pairable votes a 4, b 1, n = 5;
        # diagonal 2·1/2 + 2·1/1 = 3 → Do = 2/5; De = (25 − 16 − 1)/20 = 2/5
        ([[2, 1], [2, 0], [0, 1], [0, 0]], {"gwet_ac1": 14 / 41, "krippendorff_alpha": 0}),
    ):  # fmt: skip
        assert {name: of_cells(name, counts) for name in expected} == pytest.approx(expected), counts
    # 20 both a, 15 both b, 5 and 10 apart: po = 35/50; pe = (25·30 + 25·20)/2500 = 1/2; κ = (0.7 − 0.5)/0.5
    assert coefficients.cohens_kappa(np.array([[20, 5], [10, 15]])) == pytest.approx(0.4)
    assert coefficients.cohens_kappa(np.array([[4, 0], [0, 0]])) is None
    even = np.random.default_rng(4).multinomial(3, [0.5, 0.3, 0.2], 60)
    assert of_cells("fleiss_kappa", even) == pytest.approx(fleiss_kappa(even, method="fleiss"))


def defined(counts) -> dict[str, float]:
    """Each coefficient by its definition, vote by vote; alpha as evalica has it."""
    cells = [np.repeat(np.arange(len(cell)), cell) for cell in counts]
    agreeing = np.mean([np.mean([a == b for a, b in combinations(cell, 2)]) for cell in cells if len(cell) > 1])
    shares = np.mean([cell / cell.sum() for cell in counts if cell.sum()], axis=0)
    slots = pd.DataFrame([*zip_longest(*cells, fillvalue=np.nan)])
    kappa, ac1 = (shares**2).sum(), (shares * (1 - shares)).sum() / (len(shares) - 1)
    return {
        "strict": np.mean([len(set(cell)) < 2 for cell in cells]),
        "pairwise": agreeing,
        "fleiss_kappa": (agreeing - kappa) / (1 - kappa),
        "krippendorff_alpha": evalica.alpha(slots, distance="nominal").alpha,
        "gwet_ac1": (agreeing - ac1) / (1 - ac1),
    }


count_tables = st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=2, max_size=12).map(np.array)


@settings(max_examples=60, deadline=None)
@given(count_tables, st.permutations(range(3)), st.randoms())
def test_coefficients_equal_their_definitions_and_forget_names_and_order(counts, relabelled, random):
    if ((counts[counts.sum(axis=1) > 1] > 0).any(axis=0)).sum() < 2:
        return  # where they are not defined
    expected = pytest.approx(defined(counts))
    shuffled = counts[random.sample(range(len(counts)), len(counts))][:, relabelled]
    for given_counts in (counts, shuffled):
        assert {name: of_cells(name, given_counts) for name in MEASURES} == expected


def test_a_report_has_each_coefficient_or_why_it_has_none():
    label = ("True", "False", "Unknown")
    for counts, expected, reason in (
        ([[3, 0, 0]] * 8, [1, 1, None, None, 1], coefficients.ONE_LABEL),
        ([[1, 0, 0]] * 8, [1, None, None, None, None], coefficients.NO_PAIRS),
        ([[0, 0, 0]], [None] * 5, coefficients.NO_CELLS),
        ([[3, 0, 0], [0, 3, 0]] * 4, [1, 1, 1, 1, 1], None),
        ([[3, 0, 0]] * 7 + [[2, 1, 0]], None, None),
    ):
        rows = [
            (at, at, f"annotator {at}.{k}.{turn}", label[k])
            for at, cell in enumerate(counts) for k, count in enumerate(cell) for turn in range(count)
        ]  # fmt: skip
        [found], _ = measure([Votes.of("truth_status", label, rows).tally], overlap=1, seed=1)
        values = [*defined(np.array(counts)).values()] if expected is None else expected
        assert [found.estimates[name].value for name in MEASURES] == pytest.approx(values), counts
        assert reason is None or plain(found)["reasons"]["fleiss_kappa"] == reason


def _votes_with_agreement(agree: int, cells: int = 390, stories: int = 21) -> Votes:
    rows = []
    for cell in range(cells):
        labels = ("True", "True", "True" if cell < agree else "False")
        rows += [(cell % stories, cell, name, label) for name, label in zip("abc", labels, strict=True)]
    return Votes.of("truth_status", ("True", "False", "Unknown"), rows)


def test_the_published_figures():
    # OmniToM, table 6
    agree = [382, 338, 335, 380, 346, 368, 369]
    printed = ["97.95", "86.67", "85.90", "97.44", "88.72", "94.36", "94.62"]
    dimensions = [_votes_with_agreement(number) for number in agree]
    rows, overall = measure([votes.tally for votes in dimensions], overlap=3, seed=1)
    assert [row.agree for row in rows] == agree
    assert [f"{100 * row.estimates['strict'].value:.2f}" for row in rows] == printed
    assert (overall.agree, overall.cells, f"{100 * overall.estimates['strict'].value:.2f}") == (2518, 2730, "92.23")
    low, high = overall.estimates["strict"].interval
    assert low < overall.estimates["strict"].value < high
    # appendix B.4: 360 of 430 reviewed propositions needed no remark; the estimate is of ten stories here
    assert reconciliation_overlap(430, 360) == pytest.approx(0.8372, abs=5e-5)
    estimate = overlap_estimate([(43, 36)] * 5 + [(43, 34), (43, 38)] + [(43, 36)] * 3)
    assert round(100 * estimate.value, 2) == 83.72 and estimate.n == 430
    low, high = estimate.interval
    assert low < estimate.value < high


def test_tables_of_two_experts_are_compared_row_by_row():
    # tables of 10 and 14 rows with 9 pairs in common: 18 / 24
    assert table_f1(10, 14, 9) == 0.75
    with pytest.raises(ValueError, match="11 matched rows"):
        table_f1(10, 14, 11)
    # 2·2 / (3 + 5) = 0.5 and 2·3 / (3 + 3) = 1: the mean of stories is 0.75
    estimate = f1_estimate([(3, 5, 2), (3, 3, 3)])
    assert estimate.value == pytest.approx(0.75)
    assert estimate.interval is None and "at least 5 stories" in estimate.reason
    assert overlap_estimate([]).value is f1_estimate([]).value is reconciliation_overlap(0, 0) is None


def test_cells_that_wait_for_votes_and_intervals_of_few_stories_are_left_out():
    votes = Votes.of("order", ("0", "1"), [(1, 1, "a", "0"), (1, 1, "b", "0"), (1, 2, "a", "1"), (2, 3, "a", "0")])
    assert votes.complete(2).counts.tolist() == [[2, 0]]
    assert measure([votes.tally], overlap=2, seed=0)[1].cells == 1
    [row], _ = measure([_votes_with_agreement(7, cells=8, stories=4).tally], overlap=3, seed=1)
    assert row.estimates["strict"].value == 7 / 8
    lacking = {name: (estimate.interval, estimate.reason) for name, estimate in row.estimates.items()}
    assert lacking == dict.fromkeys(MEASURES, (None, "an interval needs at least 5 stories"))


def test_the_story_interval_holds_the_truth_about_as_often_as_it_says():
    # 60 seeded worlds of 40 stories; strict agreement has the true value 0.8 on average over stories
    held = 0
    for world in range(60):
        rng = np.random.default_rng(world)
        agree = rng.binomial(25, rng.beta(8, 2, size=40))
        sums = np.column_stack([agree, np.full(40, 25)]).astype(float)
        part = coefficients.Resampled.of(sums, seed=world, resamples=400)
        (low, high), _ = coefficients.mean_interval([part], coefficients.COEFFICIENTS["strict"])
        held += low <= 0.8 <= high
    assert held >= 52  # 95 % of 60 is 57; below 52 has a probability of less than one in a hundred


def test_perfect_agreement_is_not_certain():
    # 10 stories of two cells, "True" and "False", all three annotators agreeing: with 95 % confidence at most 1 −
    # .05^(1/10) of all stories are of a kind that was not seen; strict, pairwise ≥ .05^.1 = .741; labels are even, Pe =
    # 1/2: κ ≥ (.741 − .5)/.5
    rows = [
        (s, 2 * s + c, name, label) for s in range(10) for c, label in enumerate(("True", "False")) for name in "abc"
    ]
    [found], overall = measure([Votes.of("truth_status", ("True", "False"), rows).tally], overlap=3, seed=1)
    least, ends = 0.05**0.1, plain(found)["interval"]
    assert [found.estimates[name].value for name in MEASURES] == [1.0] * 5
    assert ends["strict"] == ends["pairwise"] == pytest.approx([least, 1])
    assert ends["fleiss_kappa"] == ends["gwet_ac1"] == pytest.approx([2 * least - 1, 1])
    # alpha's expected disagreement is 60² − 2·30² over 60·59: 1 − Do/De = 1 − (1 − least) · 59/30
    assert ends["krippendorff_alpha"] == pytest.approx([1 - (1 - least) * 59 / 30, 1])
    assert overall.estimates == found.estimates


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
    assert (pair["cells"], pair["agree"], pair["cohens_kappa"]) == (3, 2, pytest.approx(0.4))


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


# printed by tests/annotation/domain/crowd_kit.py with crowd-kit 1.4.2
DIAGONALS = (
    (0.9788, 0.9367, 0.932, 0.7669),
    (0.9213, 0.9698, 1.0, 0.9439),
    (0.9473, 0.8664, 0.95, 0.7246),
    (0.7573, 0.6289, 0.8496, 0.5289),
    (0.4607, 0.4774, 0.4158, 0.5967),
)
CELL_7 = (0.0001, 0.9987, 0.0, 0.0012)
EARNEST = (0.8782, 0.9452, 0.8788, 0.6161, 0.2979)


def test_skills_are_those_of_crowd_kit_whatever_the_order_of_rows():
    votes, truth = simulated_votes()
    for rows in (votes, votes[:, np.random.default_rng(3).permutation(votes.shape[1])]):
        labels, confusion = dawid_skene(*rows, LABELS)
        assert np.diagonal(confusion, axis1=1, axis2=2) == pytest.approx(np.array(DIAGONALS), abs=2e-4)
        assert labels[7] == pytest.approx(CELL_7, abs=2e-4)
        assert confusion.sum(axis=2) == pytest.approx(np.ones((len(SKILLS), LABELS)))
        assert mace(*rows, LABELS) == pytest.approx(np.array(EARNEST), abs=2e-4)
    counts = np.zeros((300, LABELS))
    np.add.at(counts, (votes[0], votes[2]), 1)
    majority = (counts.argmax(axis=1) == truth).mean()
    assert (labels.argmax(axis=1) == truth).mean() > majority  # whom to trust is learnt without gold
    one = np.array([[0, 0], [0, 1], [0, 0]])  # one label, two people, one cell
    labels, confusion = dawid_skene(*one, 1)
    assert (labels.tolist(), confusion.tolist()) == ([[1]], [[[1]], [[1]]])
    assert np.isfinite(mace(*one, 1)).all()


# --- gold without one person

THREE, STRICT = Rule("1", 3), Rule("1", 3, demand_unanimity=True)


def voted(gold: str, *labels: str, **more) -> Cell:
    return Cell(gold, dict(zip("abcdefghi", labels, strict=False)), more.pop("decisions", {}), **more)


def test_a_cell_without_a():
    for cell, rule, expected in [
        # a says X with the others: they are two of two, unanimous without a
        (voted("X", "X", "X", "X"), THREE, ("X", By.VOTES)),
        # a against both others: their Y stands
        (voted("Y", "X", "Y", "Y"), THREE, ("Y", By.VOTES)),
        # a made the majority: the others are one to one
        (voted("X", "X", "X", "Y"), THREE, ("", By.NOTHING)),
        # five votes, four without a: Y has 2 of 4, no majority; with three Y it has 3 of 4
        (voted("X", "X", "X", "X", "Y", "Y"), Rule("1", 5), ("", By.NOTHING)),
        (voted("Y", "X", "X", "Y", "Y", "Y"), Rule("1", 5), ("Y", By.VOTES)),
        # the same with unanimity demanded, where an expert had to decide: the expert's label is gold
        (voted("Z", "X", "X", "Y", decided=True, decisions={"e": "Z"}), STRICT, ("Z", By.EXPERT)),
        # two votes a cell: one is left, which settles nothing
        (voted("X", "X", "X"), Rule("1", 2), ("", By.NOTHING)),
        # a record's label rests on nobody's vote
        (voted("X", "Y", recorded=True), THREE, ("X", By.RECORD)),
        # a decided the cell alone: nothing but a's word; with votes that settle it, those
        (Cell("X", {}, {"a": "X"}, decided=True), THREE, ("", By.NOTHING)),
        (Cell("X", {"b": "Y", "c": "Y", "d": "Y"}, {"a": "X"}, decided=True), THREE, ("Y", By.VOTES)),
        (Cell("X", {"b": "Y", "c": "Y", "d": "X"}, {"a": "X"}, decided=True), STRICT, ("", By.NOTHING)),
        # a overruled e: e's decision takes its place; e overruled a: gold is e's anyway
        (Cell("X", {}, {"a": "X", "e": "Y"}, decided=True), THREE, ("Y", By.EXPERT)),
        (Cell("Y", {}, {"a": "X", "e": "Y"}, decided=True), THREE, ("Y", By.EXPERT)),
        # two others decided differently: nobody knows which of them would stand
        (Cell("X", {}, {"a": "X", "e": "Y", "f": "Z"}, decided=True), THREE, ("", By.NOTHING)),
    ]:
        assert gold_without("a", cell, rule) == expected
    # who had nothing to do with the cell leaves gold as it is
    assert gold_without("z", voted("X", "X", "X", "Y"), THREE) == ("X", By.VOTES)
    assert gold_without("z", Cell("X", {}, {"a": "X"}, decided=True), THREE) == ("X", By.EXPERT)
