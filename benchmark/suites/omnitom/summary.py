"""Both readings of one model's outcomes in the form of score_outputs."""

from __future__ import annotations

from typing import Any

from benchmark.suites.contract import Entered
from benchmark.suites.omnitom.measure import Results, measure, results_of
from benchmark.suites.omnitom.metrics import stage1_metrics, stage2_metrics
from benchmark.suites.omnitom.repaired import stage1_report, stage2_report
from benchmark.suites.story_scores import READINGS


def scores(entered: Entered) -> dict[str, Any]:
    """{official, repaired} in the form of score_outputs; a stage without figures is None, with its sentence in the reading's `reason`. Of
    one that was asked several times, figures alone, without stories."""
    if any(one.repetition for outcomes in entered.outcomes.values() for one in outcomes):
        found = measure(entered)
        return {name: {stage: one and one[0][name] for stage, one in found.items()} for name in READINGS}
    return _scores(results_of(entered), int(entered.settings.get("seed", 1)))


def _scores(held: Results, seed: int) -> dict[str, Any]:
    official: dict[str, Any] = {
        "stage1": None if "stage1" in held.lacking else stage1_metrics(held.official1),
        "stage2": None if "stage2" in held.lacking else stage2_metrics(held.official2),
    }
    repaired: dict[str, Any] = {
        "stage1": stage1_report(held.repaired1, seed=seed) if held.repaired1 else None,
        "stage2": stage2_report(held.repaired2, seed=seed) if held.repaired2 else None,
    }
    if held.lacking:
        official["reason"] = held.lacking
    if unasked := {stage: held.lacking[stage] for stage, report in repaired.items() if report is None}:
        repaired["reason"] = unasked
    return {"official": official, "repaired": repaired}
