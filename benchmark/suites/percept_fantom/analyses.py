"""Figures of questions and perceptions in both scenarios, of one parse, with intervals over conversations."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.suites.fantom_questions.analyses import (
    Questions,
    all_right,
    metrics_of,
    of_scenario,
    orders_of,
    reasons_of,
)
from benchmark.suites.fantom_questions.question_types import SCENARIOS
from benchmark.suites.fantom_questions.rows import ACCESSIBLE
from benchmark.suites.fantom_questions.units import Read, Wholes, estimate_of, in_scenario
from benchmark.suites.figures import Unit
from benchmark.suites.percept_fantom.samples import SCENARIO_NAMES

_OF_FREE_ANSWERS = ("all_star", "distance", "distance_f1")


def questions_of(reads: Sequence[Read], wholes: Wholes, parse: str, seed: int) -> Questions:
    """Return the figures of the answers of a parse; `wholes` are the questions of all sets. A set counts for true
    belief where all its questions do, in both parses; officially the other metrics take what is of any set."""
    parts = {scenario: of_scenario(reads, scenario, parse) for scenario in SCENARIOS}
    scenarios = {}
    for scenario, part in parts.items():
        metrics = metrics_of(part, in_scenario(wholes, scenario), seed)
        if scenario == ACCESSIBLE and parse == "official":
            metrics["all"] = all_right(of_scenario(part, scenario, "repaired"), in_scenario(wholes, scenario), seed)
        scenarios[scenario] = {name: metric for name, metric in metrics.items() if name not in _OF_FREE_ANSWERS}
    return Questions(
        scenarios=scenarios,
        orders={scenario: orders_of(part, seed) for scenario, part in parts.items()},
        reasons={scenario: reasons_of(part, parse) for scenario, part in parts.items()},
    )


def perceptions_of(reads: Sequence[Read], share: str, seed: int) -> dict[str, BoundedEstimate]:
    """Return {scenario: estimate} of a share of perceptions over sets; a set with beliefs of both scenarios is in both.
    `reads` has one of each set."""
    return {
        name: estimate_of([_unit(read, share) for read in reads if scenario in read.sample.content["scenarios"]], seed)
        for scenario, name in SCENARIO_NAMES.items()
    }


def _unit(read: Read, share: str) -> Unit:
    return Unit(read.sample.cluster, None if read.parse is None else read.parse.get(share))
