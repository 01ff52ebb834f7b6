"""Estimates as reports keep them, key by key."""

from __future__ import annotations

from benchmark.domain.asked_again import AskedAgain
from benchmark.domain.bounded_estimates import BoundedEstimate, kept_estimates
from core.plain import plain, read_as
from core.statistics import Estimate
from judge.domain.corrections import CorrectedRow, CorrectedScore, Correction

MODEL = {"key": "m", "model": "m", "kind": "model", "entrant": 1, "run": "r"}


def test_an_estimate_with_bounds_has_them_behind_the_rest():
    kept = {"value": None, "n": 0, "interval": None, "clusters": 2, "reason": "few", "bounds": [0.0, 1.0]}
    whole = BoundedEstimate(0.5, 4, (0.4, 0.6), incomplete=3)
    assert [*plain(BoundedEstimate.from_json(kept)).items()] == [*kept.items()]
    assert [*plain(whole).items()] == [("value", 0.5), ("n", 4), ("interval", [0.4, 0.6]), ("incomplete", 3)]
    assert kept_estimates({"f1": plain(whole)}) == {"f1": BoundedEstimate.from_json(plain(whole))}


def test_corrected_scores_are_kept_with_their_reason_also_where_there_is_none():
    kept = {"value": 0.5, "interval": [0.4, 0.6], "reason": None, "n": 4}
    correction = Correction(study="s", scores={"f1": CorrectedScore(0.5, (0.4, 0.6), None, 4)})
    assert [*plain(correction)["scores"]["f1"].items()] == [*kept.items()]
    assert plain(Correction.from_json(plain(correction))) == plain(correction)
    row = CorrectedRow.from_json(MODEL | {"corrected": {"f1": kept}})
    assert plain(row.corrected["f1"]) == kept


def test_rows_of_methods_are_read_with_their_score_or_without():
    row = AskedAgain(**MODEL, title="plain", way="plain", score=Estimate(0.5, 4, [0.4, 0.6]))
    assert plain(row)["score"] == {"value": 0.5, "n": 4, "interval": [0.4, 0.6]}
    assert read_as(AskedAgain, plain(row)).score == row.score
    assert read_as(AskedAgain, plain(row) | {"score": None}).score is None
