"""The registry of methods, and what each needs of a suite."""

from __future__ import annotations

from benchmark.methods.contract import PEOPLE, PERCEIVERS
from benchmark.methods.registry import METHODS, methods_for


def test_the_registry_gives_the_methods_whose_needs_a_suite_meets():
    names = [method.name for method in METHODS]
    assert [method.name for method in methods_for(PEOPLE, PERCEIVERS)] == names
    assert [method.name for method in methods_for(PEOPLE)] == names[:-1]
    assert [method.name for method in methods_for()] == ["plain", "cot", "self-ask", "s2a"]
