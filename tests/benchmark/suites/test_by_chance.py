"""What answers drawn among all that may be answered come to, in each suite."""

from __future__ import annotations

from itertools import product

import pytest

from benchmark.suites.fantom_questions.asking import by_chance as of_conversation
from benchmark.suites.fantom_questions.data import CHOICE, DISTANCE, FACT, LIST, YES_NO
from benchmark.suites.opentom.measure import by_chance as of_narrative
from benchmark.suites.opentom.parsing import ATTITUDE, COARSE, FINE
from benchmark.suites.percept_tomi.metrics import by_chance as of_container
from benchmark.suites.questions import Sample
from benchmark.suites.tombench.metrics import by_chance as of_options


def sample(content: dict, gold: dict | None = None) -> Sample:
    return Sample("q", "c", content, gold or {})


def test_conversations():
    for kind, chance in ((CHOICE, 0.5), (YES_NO, 0.5), (DISTANCE, 0.5), (FACT, None)):
        assert of_conversation(sample({"kind": kind})) == chance
    names, right, wrong = ["Bea", "Bo", "Ines", "Rui"], ["Bea", "Ines"], ["Bo"]
    drawn = [
        {name for name, is_in in zip(names, each, strict=True) if is_in} for each in product((True, False), repeat=4)
    ]
    hits = sum({*right} <= named and not named & {*wrong} for named in drawn)
    listing = sample({"kind": LIST, "names": names}, {"right": right, "wrong": wrong})
    assert of_conversation(listing) == hits / len(drawn) == 0.125
    assert of_conversation(sample({"kind": LIST, "names": ["Bo"]}, {"right": right, "wrong": wrong})) == 0


def test_questions_with_options():
    assert (
        of_narrative(sample({"kind": COARSE}, {"label": 1}))
        == of_narrative(sample({"kind": FINE}, {"label": 2, "places": ["box", "jar"]}))
        == 0.5
    )
    assert of_narrative(sample({"kind": ATTITUDE}, {"label": 3})) == pytest.approx(1 / 3)
    assert of_options(sample({"options": ["a", "b", "c", "d"]})) == 0.25
    assert of_container(sample({"containers": ["box", "bin"]}, {"answer": "bin"})) == 0.5
    assert of_container(sample({"containers": ["box", "bin"]}, {"answer": "hall"})) == 0
