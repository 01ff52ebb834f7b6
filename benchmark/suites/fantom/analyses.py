"""The metrics of the paper and its released code, of one parse, with intervals over conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.suites.fantom_questions.analyses import (
    Questions,
    f1_of,
    metrics_of,
    of_scenario,
    orders_of,
    read_questions,
    reasons_of,
)
from benchmark.suites.fantom_questions.question_types import SCENARIOS
from benchmark.suites.fantom_questions.rows import FACT
from benchmark.suites.fantom_questions.units import Read, Wholes, in_scenario


@dataclass(frozen=True, slots=True)
class Analyses(Questions):
    """The figures of questions, of the facts, and the name of the embedder that they rest on."""

    kept_as: ClassVar[str] = "fantom"
    embedder: str
    fact: BoundedEstimate

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Analyses:
        return read_questions(cls, kept, fact=BoundedEstimate.from_json(kept["fact"]))


def analyses_of(reads: Sequence[Read], wholes: Wholes, parse: str, embedder: str, seed: int) -> Analyses:
    """Return the figures of the answers of a parse.

    Repaired figures of the control are of the sets that are wholly accessible; official ones take what is accessible of
    any set, as the released code does.
    """
    parts = {scenario: of_scenario(reads, scenario, parse) for scenario in SCENARIOS}
    return Analyses(
        scenarios={scenario: metrics_of(part, in_scenario(wholes, scenario), seed) for scenario, part in parts.items()},
        orders={scenario: orders_of(part, seed) for scenario, part in parts.items()},
        reasons={scenario: reasons_of(part, parse) for scenario, part in parts.items()},
        embedder=embedder,
        fact=f1_of([read for read in reads if read.sample.content["kind"] == FACT], seed),
    )
