"""The registry of methods: all that any suite may take, in the order in which launches offer them. A new one is its
file and its place here."""

from benchmark.methods.answering import COT, PLAIN, S2A, SELF_ASK, SIMTOM
from benchmark.methods.contract import Method
from benchmark.methods.perceptom import ORACLE_PERCEPTION, PERCEPTOM

METHODS = (PLAIN, COT, SELF_ASK, S2A, SIMTOM, PERCEPTOM, ORACLE_PERCEPTION)


def methods_for(*offers: str) -> tuple[Method, ...]:
    """Return the methods that go with the questions of a suite, by what its `Put` offers: `PEOPLE`, `PERCEIVERS`."""
    return tuple(method for method in METHODS if method.needs <= {*offers})
