"""The metrics of the paper and its released code, of one parse, with intervals over conversations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmark.suites.conversations.analyses import f1_of, metrics_of, of_scenario, orders_of, reasons_of
from benchmark.suites.conversations.question_types import SCENARIOS
from benchmark.suites.conversations.rows import FACT
from benchmark.suites.conversations.units import Read, Wholes, in_scenario


def analyses_of(reads: Sequence[Read], wholes: Wholes, parse: str, embedder: str, seed: int) -> dict[str, Any]:
    """Return {"embedder", "fact": estimate, "scenarios": {scenario: {metric: estimate}}, "orders": {scenario: {order:
    {kind: estimate}}}, "reasons": {scenario: {"lists": …, "single": counts}}} of the answers of a parse.

    Repaired figures of the control are of the sets that are wholly accessible; official ones take what is accessible of
    any set, as the released code does.
    """
    parts = {scenario: of_scenario(reads, scenario, parse) for scenario in SCENARIOS}
    return {
        "embedder": embedder,
        "fact": f1_of([read for read in reads if read.sample.content["kind"] == FACT], seed),
        "scenarios": {
            scenario: metrics_of(part, in_scenario(wholes, scenario), seed) for scenario, part in parts.items()
        },
        "orders": {scenario: orders_of(part, seed) for scenario, part in parts.items()},
        "reasons": {scenario: reasons_of(part, parse) for scenario, part in parts.items()},
    }
