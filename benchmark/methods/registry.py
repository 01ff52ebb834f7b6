"""The registry of methods: all that any suite may take, in the order in which launches offer them. A new one is its
file and its place here."""

from __future__ import annotations

from benchmark.methods.contract import Method
from benchmark.methods.cot import COT
from benchmark.methods.perceptom import ORACLE_PERCEPTION, PERCEPTOM
from benchmark.methods.plain import PLAIN
from benchmark.methods.s2a import S2A
from benchmark.methods.self_ask import SELF_ASK
from benchmark.methods.simtom import SIMTOM

METHODS = (PLAIN, COT, SELF_ASK, S2A, SIMTOM, PERCEPTOM, ORACLE_PERCEPTION)


def methods_for(*offers: str) -> tuple[Method, ...]:
    """Return the methods that go with the questions of a suite, by what its `Put` offers: `PEOPLE`, `PERCEIVERS`."""
    return tuple(method for method in METHODS if method.needs <= {*offers})
