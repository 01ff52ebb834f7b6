"""Both parses of one model's outcomes in the form of score_outputs."""

from __future__ import annotations

from typing import Any

from benchmark.suites.contract import Entered
from benchmark.suites.omnitom.collecting import Results, results_of
from benchmark.suites.omnitom.measure import measure
from benchmark.suites.omnitom.metrics import stage1_metrics, stage2_metrics
from benchmark.suites.omnitom.repaired import stage1_report, stage2_report
from benchmark.suites.story_scores import PARSES


def scores(entered: Entered) -> dict[str, Any]:
    """Return {official, repaired} in the form of score_outputs; a stage without figures is None, with its sentence in
    the parse's `reason`. Of one that was asked several times, figures alone, without stories."""
    if any(outcome.repetition for outcomes in entered.outcomes.values() for outcome in outcomes):
        measured = measure(entered)
        return {
            name: {stage: measurement and measurement[0][name] for stage, measurement in measured.items()}
            for name in PARSES
        }
    return _scores(results_of(entered), int(entered.settings.get("seed", 1)))


def _scores(results: Results, seed: int) -> dict[str, Any]:
    official: dict[str, Any] = {
        "stage1": None if "stage1" in results.lacking else stage1_metrics(results.official1),
        "stage2": None if "stage2" in results.lacking else stage2_metrics(results.official2),
    }
    repaired: dict[str, Any] = {
        "stage1": stage1_report(results.repaired1, seed=seed) if results.repaired1 else None,
        "stage2": stage2_report(results.repaired2, seed=seed) if results.repaired2 else None,
    }
    if results.lacking:
        official["reason"] = results.lacking
    if unasked := {stage: results.lacking[stage] for stage, report in repaired.items() if report is None}:
        repaired["reason"] = unasked
    return {"official": official, "repaired": repaired}
