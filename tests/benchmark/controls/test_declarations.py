"""What every suite of the registry that has controls says of them."""

from __future__ import annotations

import pytest

from benchmark.controls.chosen import CONTROLS, controls_of, refused, senseless
from benchmark.suites.registry import suites

SUITES = [suite for suite in suites().values() if suite.controls]


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_every_suite_has_each_control_or_says_why_not(suite):
    assert {control.name for control in controls_of(suite.controls)} >= {"renamed", "storyless", "distracted"}
    for name in CONTROLS:
        left_out = senseless(suite.controls, name)
        assert set(left_out) <= {"", *(step.key for step in suite.launched)}
        assert all(why[0].isupper() and why.endswith(".") for why in left_out.values())
        kept = [step for step in suite.launched if step.key not in left_out]
        assert "" in left_out or kept
        for step in kept:
            assert not set(step.needs) & set(left_out), f"{step.key} is asked without what it needs"


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_names_are_replaced_in_gold_too(suite):
    places = suite.controls.texts
    assert len(places) == len(set(places)) and {place.partition(".")[0] for place in places} <= {"content", "gold"}
    assert places[0] == f"content.{suite.controls.story}"  # names of the story are found first


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_methods_that_ask_what_people_perceive_have_no_control_that_leaves_nothing_to_perceive(suite):
    methods = {name for name, _ in suite.method.choices} if suite.method else set()
    for name, whys in suite.controls.refused.items():
        assert name in CONTROLS and set(whys) <= methods
        assert all(why[0].isupper() and why.endswith(".") for why in whys.values())
    for method in methods & {"perceptom", "oracle-perception"}:
        assert refused(suite.controls, "storyless", method)
    assert not refused(suite.controls, "storyless", "plain") and not refused(None, "storyless", "plain")
