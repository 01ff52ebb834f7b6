"""Analyses as reports keep them: what earlier versions did not keep reads as nothing, and nothing else changes."""

from __future__ import annotations

import json

from benchmark.domain.flips import Flips
from benchmark.suites.analyses import Analysis, KeptAnalysis, Repetitions, SameAnswers, Spread
from benchmark.suites.fantom.free_beliefs import FreeBeliefs, StatedBeliefs
from benchmark.suites.omnitom.analyses import MatchCounts, Stage2Analyses
from benchmark.suites.opentom.measure import Analyses

HALF = {"value": 0.5, "n": 4, "interval": None}
SPREAD = Spread(repetitions=2, mean=0.5, spread=0.1, lowest=0.4, highest=0.6, same_score=0.9)


def test_repetitions_keep_same_answers_and_same_scores_apart():
    both = Repetitions(SPREAD, SameAnswers(0.25, [Flips("s1", 4, 3)]))
    kept = both.as_json()
    assert list(kept)[5:] == ["same_score", "of_samples", "of_repetitions", "same_answer", "stories"]
    assert (kept["same_score"], kept["same_answer"]) == (0.9, 0.25)
    assert (json.loads(json.dumps(kept))["stories"]) == [["s1", 4, 3]]
    read = Repetitions.from_json(json.loads(json.dumps(kept)))
    assert (read.answers, read.as_json()) == (both.answers, kept)
    alone = Repetitions.from_json(Repetitions(SPREAD).as_json())
    assert (alone.scores.same_score, alone.answers) == (0.9, None)
    assert Repetitions.from_json({}) == Repetitions() and Repetitions().as_json() == {}


def test_an_analysis_is_read_from_what_was_kept_of_it():
    beliefs = FreeBeliefs({"inaccessible": StatedBeliefs({"right": 3}, both=3, near=2, alike=1)})
    kept = KeptAnalysis(Analysis({}, Repetitions(SPREAD), incomplete=2, finding=beliefs).as_json())
    assert list(kept.as_json()) == ["facets", "repetitions", "incomplete", "told"]
    assert (kept.repetitions, kept.incomplete) == (Repetitions(SPREAD), 2)
    assert kept.finding(FreeBeliefs) == beliefs and kept.finding(FreeBeliefs) is kept.finding(FreeBeliefs)
    assert kept.finding(Analyses) is None
    before = KeptAnalysis({"facets": {"kind": {"coarse": HALF}}})
    assert (before.facets["kind"]["coarse"].n, before.repetitions, before.incomplete) == (4, None, 0)


def test_what_earlier_versions_did_not_keep_is_read_as_nothing():
    assert MatchCounts.from_json({"rows": {"0": 1}, "shares": {"0": HALF}}).unjudged == 0
    labels = {"labels": ["Yes"], "gold": [1], "gold_ends": [None], "predicted": [2], "ends": [None]}
    table = {"gold": ["Yes"], "said": ["Yes"], "rows": [[1]], "ends": [[None]]}
    read = Stage2Analyses.from_json({"kinds": {}, "confusion": {"order": table}, "labels": {"order": labels}})
    assert (read.outputs, read.confusion["order"].reasons) == (None, ())
    assert (read.labels["order"].in_gold.gold_reasons, read.labels["order"].in_answers.predicted) == ((), [2])
    batches = {"f1": 0.5, "deviation": 0.1, "accuracy": 0.5, "corrupted": 0.0}
    rates = {"pairs": 2, "unread": 0, "unfaithful": 1, "of_all": HALF, "of_valid": HALF}
    found = Analyses.from_json(
        {"f1": {}, "kinds": {}, "gap": {}, "unread": {}, "batches": {"A": batches}, "unfaithful": {"first": rates}}
    )
    assert (found.batches["A"].worst, list(found.batches["A"].narratives), found.batches["A"].overlapping) == (
        None,
        [],
        False,
    )
    assert (found.unfaithful["first"].missing, found.unfaithful["first"].of_all.value) == (None, 0.5)


def test_rates_of_opentom_that_were_kept_as_numbers_leave_the_other_figures_there():
    """Its first version gave the rates of unread and unfaithful answers no interval."""
    rates = {"pairs": 3, "unread": 1, "unfaithful": 1, "of_all": 0.25, "of_valid": None}
    kept = {"f1": {"A": HALF}, "kinds": {}, "gap": {}, "unread": {"A": 0.1}, "batches": {}}
    read = Analyses.from_json({**kept, "unfaithful": {"first": rates}})
    assert (read.f1["A"].value, read.unread["A"].value, read.unread["A"].interval) == (0.5, 0.1, None)
    assert (read.unfaithful["first"].of_all.value, read.unfaithful["first"].of_valid.value) == (0.25, None)
