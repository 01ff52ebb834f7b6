"""Both parses of one model's outcomes in the form of score_outputs."""

from __future__ import annotations

from benchmark.suites.answers import ParsedScores
from benchmark.suites.omnitom.collecting import Results, results_of
from benchmark.suites.omnitom.measure import measure
from benchmark.suites.omnitom.metrics import stage1_metrics, stage2_metrics
from benchmark.suites.omnitom.repaired import stage1_report, stage2_report
from benchmark.suites.omnitom.results import GroupScores
from benchmark.suites.omnitom.step_keys import STAGE1, STAGE2
from benchmark.suites.questions import PARSES, Entered
from core.plain import Json


def scores(entered: Entered) -> Json:
    """Return {official, repaired} in the form of score_outputs; a metric group without figures is None, with its
    sentence in the parse's `reason`. Of one that was asked several times, figures alone, without stories."""
    if any(outcome.repetition for outcomes in entered.outcomes.values() for outcome in outcomes):
        parses = {
            group: result and result.metrics.parses.reported().as_json() for group, result in measure(entered).items()
        }
        return {name: {group: rows and rows[name] for group, rows in parses.items()} for name in PARSES}
    return _scores(results_of(entered), entered.settings.seed).as_json()


def _scores(results: Results, seed: int) -> ParsedScores:
    official = {
        STAGE1: None if STAGE1 in results.lacking else stage1_metrics(results.official1),
        STAGE2: None if STAGE2 in results.lacking else stage2_metrics(results.official2),
    }
    repaired = {
        STAGE1: stage1_report(results.repaired1, seed=seed) if results.repaired1 else None,
        STAGE2: stage2_report(results.repaired2, seed=seed) if results.repaired2 else None,
    }
    unasked = {group: results.lacking[group] for group, report in repaired.items() if report is None}
    return ParsedScores(GroupScores(official, results.lacking), GroupScores(repaired, unasked))
