"""Analyses as reports keep them."""

import json

from benchmark.suites.fantom.metrics import FreeBeliefs
from benchmark.suites.opentom.measure import Analyses
from benchmark.suites.reports import Analysis, Repetitions, SameAnswers, Spread

SPREAD = Spread(repetitions=2, mean=0.5, spread=0.1, lowest=0.4, highest=0.6, same_score=0.9)


def test_repetitions_keep_same_answers_and_same_scores_apart():
    both = Repetitions(SPREAD, SameAnswers(0.25, [("s1", 4, 3)]))
    kept = json.loads(json.dumps(both.as_json()))
    assert list(kept)[5:] == ["same_score", "of_samples", "of_repetitions", "same_answer", "stories"]
    assert (kept["same_score"], kept["same_answer"], kept["stories"]) == (0.9, 0.25, [["s1", 4, 3]])
    assert Repetitions.from_json(kept).answers == both.answers
    alone = Repetitions.from_json(Repetitions(SPREAD).as_json())
    assert (alone.scores.same_score, alone.answers) == (0.9, None)
    assert Repetitions.from_json({}) == Repetitions() and Repetitions().as_json() == {}


def test_an_analysis_is_read_from_what_was_kept_of_it():
    beliefs = FreeBeliefs({"inaccessible": {"verdicts": {"right": 3}, "both": 3, "near": 2, "alike": 1}})
    kept = Analysis().with_parts(facets={}, repetitions=Repetitions(SPREAD), incomplete=2, finding=beliefs)
    assert (kept.repetitions, kept.incomplete) == (Repetitions(SPREAD), 2)
    assert kept.finding(FreeBeliefs) == beliefs and kept.finding(Analyses) is None
    before = Analysis({"facets": {"kind": {"coarse": {"value": 0.5, "n": 4, "interval": None}}}})
    assert (before.facets["kind"]["coarse"].n, before.repetitions, before.incomplete) == (4, None, 0)
