"""Questions that a model's own earlier answer leaves nothing to ask of, in every suite that has PercepToM."""

from __future__ import annotations

import pytest

from benchmark.methods.perceptom import INVALID, PERCEIVE
from benchmark.suites.percept_tomi.parsing import NO_OUTPUT
from benchmark.suites.questions import Question
from benchmark.suites.registry import suite_named
from benchmark.suites.settings import Settings
from tests.benchmark.controls.test_gold_follows import LOADED, Dataset

SUITES = ("opentom", "fantom", "percept-tomi", "percept-fantom")
UNASKED = "was not asked for, as who perceives what cannot be read"


@pytest.mark.parametrize("name", SUITES)
def test_nothing_is_sent_and_the_repaired_parse_says_why(name, tmp_path, monkeypatch):
    suite = suite_named(name)
    samples = LOADED[name](tmp_path, monkeypatch)
    options = {setting.name: setting.default for setting in suite.settings} | {"method": "perceptom"}
    settings = Settings(options, seed=3, max_tokens=50)
    for sample in samples:
        question = Question(sample, "answer", settings, Dataset(samples), {PERCEIVE: "Everybody."})
        request = suite.request(question)
        assert request.preset_answer == (NO_OUTPUT if name == "percept-tomi" else INVALID)
        assert sample.content["question"] not in request.messages[-1].content  # no other question has these words
        parsed = suite.parse(question, request.preset_answer)
        assert (parsed.unreadable, parsed.repaired_score, parsed.repaired) == (UNASKED, None, {})
        readable = Question(sample, "answer", settings, Dataset(samples), {PERCEIVE: "[]"})
        assert suite.request(readable).preset_answer is None
        assert suite.parse(readable, suite.expected(readable)).unreadable == ""
