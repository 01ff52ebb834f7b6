"""Macro F1 by hand, alone, as a difference and as a mean of two kinds; rates, and what tables make of them."""

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

from pytest import approx

from benchmark.domain.report_rows import BothParses, ParseRows, ReportRow
from benchmark.domain.tables import Cell, Table
from benchmark.suites.opentom import tables
from benchmark.suites.opentom.measure import Analyses, gap_of, narratives_asked, unreadable_share
from benchmark.suites.opentom.metrics import (
    Answer,
    agreement,
    full_precision,
    macro_bounds,
    macro_difference,
    macro_estimate,
    macro_mean,
    mean_and_deviation,
    metrics,
    printed,
    unfaithful_rates,
)
from benchmark.suites.opentom.parsing import COARSE, FINE, OUTSIDE, UNREADABLE
from benchmark.suites.questions import Sample
from benchmark.suites.reports import Analysis, GroupMetrics
from benchmark.suites.results import EntrantResults, ParseResults
from tests.benchmark.suites.opentom.small import answers_of as told
from tests.benchmark.suites.opentom.small import asked

PAIRS = [(1, 1), (1, 1), (1, 2), (2, 2), (2, 1), (2, 3)]
# label 1: 2 hits, 3 in gold, 3 answered: 4/6; label 2: 1 hit, 3 in gold, 2 answered: 2/5; label 3: no hit, none in
# gold: 0
F1 = float((Fraction(4, 6) + Fraction(2, 5) + 0) / 3)
GENRE = "Coarse location, first order"


def test_what_is_not_read_or_has_no_gold_is_left_out_of_an_f1_with_bounds():
    estimate = macro_estimate(told(*PAIRS, (1, UNREADABLE), (2, None), (None, 1)), seed=1)
    assert estimate.value == approx(F1) and estimate.n == 6 and estimate.clusters == 6
    low, high = estimate.interval
    assert low < F1 < high
    # label 1: 1 hit, 2 in gold, 1 answered; label 2: 1 hit, 1 in gold, 1 answered. The unreadable one is of label 1: as
    # an answer 2 it leaves 2/3 and 2/3
    found = macro_estimate(told((1, 1), (2, 2), (1, UNREADABLE)), seed=1)
    assert found.value == 1 and found.n == 2 and found.bounds == approx([2 / 3, 1])
    assert macro_estimate(told(*PAIRS), seed=1).bounds is None and macro_bounds(told((None, 1))) is None
    nothing = macro_estimate(told((1, None), (2, UNREADABLE)), seed=1)
    assert nothing.value is None and nothing.bounds == [0, 1]
    both = macro_mean([told((1, 1)), told((1, UNREADABLE), (1, 1))], seed=1)
    assert both.value == 1 and both.bounds == approx([(1 + 2 / 4) / 2, 1])


def test_an_answer_outside_the_labels_is_a_miss_and_no_label_of_its_own():
    # label 1: 1 of 2 found, nothing else answered so: 2 * 1 / (2 + 1) = 2/3; label 2: 1; their mean is 5/6
    pairs = (1, 1), (1, OUTSIDE), (2, 2)
    assert macro_estimate(told(*pairs), seed=1).value == approx(5 / 6) == agreement([*pairs])[0]
    assert macro_bounds(told(*pairs)) == approx((5 / 6, 5 / 6))


def test_a_difference_and_a_mean_are_of_two_f1s():
    # all six right: F1 1; both answered with the commoner label of 4 to 2: 8/10 and 0
    right, common = told(*[(1, 1)] * 3, *[(2, 2)] * 3), told(*[(1, 1)] * 4, *[(2, 1)] * 2)
    assert macro_estimate(common, seed=1).value == approx(0.4)
    assert macro_difference(common, right, seed=1).value == approx(-0.6)
    mean = macro_mean([right, common], seed=1)
    assert mean.value == approx(0.7) and mean.n == 12 and mean.clusters == 6
    assert macro_mean([right, []], seed=1).value is None
    # labels 1 and 2 mean other things in each kind: pooled, hits of the one make up for the other
    fullness, accessibility = told((1, 1), (2, 1)), told((1, 2), (2, 2))
    # each: labels 1 and 2 with 2/3 and 0, so 1/3; pooled: each label 1 hit of 2 in gold and 2 answered, so 1/2
    assert macro_mean([fullness, accessibility], seed=1).value == approx(1 / 3)
    assert macro_estimate([*fullness, *accessibility], seed=1).value == approx(1 / 2)


def test_pairs_that_are_not_read_or_missing_are_bounds_of_the_unfaithful_rate():
    def pairs(first: int, count: int, coarse: int | None, fine: int | None, missing: bool = False) -> list[Answer]:
        labels = ((COARSE, coarse, False), (FINE, fine, missing))
        each = range(first, first + count)
        return [Answer(asked(at, kind), 1, label, lacking) for at in each for kind, label, lacking in labels]

    # a yes and the original place, a yes and the other one, one half that is not read, one half without an answer
    given = [*pairs(0, 6, 1, 1), *pairs(6, 2, 1, 2), *pairs(8, 1, UNREADABLE, 1), *pairs(9, 1, 1, None, True)]
    first = unfaithful_rates(given, 1)["first"]
    assert [first.pairs, first.unreadable, first.unfaithful, first.missing] == [9, 1, 2, 1]
    assert first.of_all.value == approx(2 / 9) and first.of_all.bounds == [0.2, 0.4]
    assert first.of_valid.value == 0.25 and first.of_valid.bounds == [0.2, 0.4]
    low, high = first.of_all.interval
    assert low < 2 / 9 < high and first.of_valid.interval


def test_a_sample_of_narratives_without_an_answer_leaves_no_share_of_what_was_left_out():
    """As a run of the first narratives makes it: no question of the genre is asked of some sample."""
    sample = asked(0, "attitude", type="attitude")
    answers = [(0, Answer(sample, 1, 1)), (0, Answer(sample, 1, UNREADABLE))]
    by_genre = metrics([*answers, (1, Answer(asked(1, COARSE), 1, 1))])
    assert by_genre["attitude"].corrupted is None and mean_and_deviation(by_genre["attitude"].f1) == (None, None)
    assert printed(by_genre)["attitude"]["corrupted_percent"] is None
    assert full_precision(by_genre)["attitude"]["corrupted_rate"] is None
    assert metrics(answers)["attitude"].corrupted == 0.5


def test_the_gap_counts_each_question_once_whoever_it_is_of_and_however_often_it_was_asked():
    views = [
        Sample(key=f"{at}/{who}", cluster=str(at), content={"perspective": who}, gold={})
        for at in range(6)
        for who in ("mover", "observer", "narrator")
    ]
    answers = [Answer(sample, at % 2, turn) for at, sample in enumerate(views) for turn in range(2)]
    assert gap_of(answers, seed=1).n == 18
    assert gap_of([*answers, Answer(replace(views[0], key="unreadable"), 1, None)], seed=1).n == 18


def entrant(name: str, labels: list[int | None], **others) -> EntrantResults:
    """A model with these labels of as many questions, of which 1 is right, in both kinds."""
    answers = told(*((1, label) for label in labels))
    both = [Answer(asked(at, kind), 1, label) for kind in (COARSE, FINE) for at, label in enumerate(labels)]
    found = Analyses(
        f1={GENRE: macro_estimate(answers, 1)},
        gap={GENRE: macro_difference(answers, answers, 1)},
        kinds={},
        batches={},
        unreadable={GENRE: unreadable_share(answers, 1)},
        unfaithful=unfaithful_rates(both, 1),
    )
    left = labels.count(None)
    overall = ReportRow(stories=len(labels) - left, unreadable=left, cells={"accuracy": Cell(bounds=[0.0, 1.0])})
    kept = Analysis().with_parts(finding=replace(found, **others))
    figures = GroupMetrics(analyses={"repaired": kept}, parses=BothParses(repaired=ParseRows(overall=overall)))
    of_run = {"run": "r", "run_title": "R", "at": datetime.now(UTC), "entrant": 1}
    return EntrantResults(key=name, name=name, model=name, kind="model", metrics=figures, **of_run)


def shown(*entrants: EntrantResults) -> dict[str, Table]:
    made = tables.tables(ParseResults("repaired", {}, {}, {"opentom": [*entrants]}))
    return {name: table.make() for name, table in made.items()}


def test_a_model_of_whose_answers_none_can_be_read_is_nowhere_the_best():
    one, hostile = entrant("one", [1, *[None] * 5]), entrant("hostile", [None] * 6)
    made = shown(entrant("fair", [1, 1, 1, 1, 0, 0]), one, hostile)
    for name in ("genres", "unfaithful"):
        table = made[name]
        marks = {(table.rows[at]["model"], mark) for (at, _), mark in table.marks().items()}
        assert marks == {("fair", "best"), ("one", "second")}, (
            "one right answer of six has an F1 of 100 % of what was read"
        )
    assert not made["unreadable"].marks() and not made["gap"].marks()
    assert "count them at their worst" in made["genres"].lead[0] and "bold" in made["genres"].lead[0]
    assert "bold" not in made["unreadable"].lead[0] and made["unreadable"].rows[2][GENRE].value == 1
    assert made["unreadable"].rows[0][GENRE].interval and made["unfaithful"].rows[0]["first of_all"].interval


def test_samples_that_are_not_whole_are_said_before_figures_over_them():
    fewer = "its samples are of 50 narratives, those here of 3 to 5, as no others were asked about."
    means = {"f1": 0.5, "deviation": 0.1, "accuracy": 0.5, "corrupted": 0.0, "bounds": None, "overlapping": False}
    for narratives, said in (([50, 50], []), ([3, 5], [f"Not the benchmark’s protocol: {fewer}"])):
        model = entrant("fair", [1, 1, 1, 1, 0, 0], batches={GENRE: means | {"narratives": narratives}})
        assert list(shown(model)["batches"].lead) == said
    # of the first sample two narratives were asked about, one of them twice; of the second one
    rows = [("n0", 0), ("n0", 0), ("n1", 0), ("n2", 1)]
    answers = [
        Answer(Sample(key=f"{at}", cluster=cluster, content={}, gold={"batches": {"coarse": batch}}), 1, 1)
        for at, (cluster, batch) in enumerate(rows)
    ]
    assert narratives_asked(answers, "coarse") == (1, 2) and narratives_asked([], "coarse") == (0, 0)
