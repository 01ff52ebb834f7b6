"""Gold follows what a control changes: a perfect model is as right under each control as on the samples as published,
in every suite."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmark.controls.chosen import controlled, controls_of, senseless
from benchmark.suites.questions import Question, Sample
from benchmark.suites.registry import suite_named
from tests.benchmark.methods.test_matrix import COPIES
from tests.benchmark.suites.phrasings import Resources as Dataset
from tests.benchmark.suites.phrasings import settings_of


def _load(name: str) -> Callable[[Path, pytest.MonkeyPatch], Sequence[Sample]]:
    return lambda folder, patch: suite_named(name).copied.load(COPIES[name].write(patch, folder)).samples


LOADED = {name: _load(name) for name in COPIES}
"""How the samples of a small copy of each suite are had: `LOADED["opentom"](folder, patch)`."""


@pytest.mark.parametrize("name", LOADED)
def test_a_perfect_model_is_as_right_under_a_control(name, tmp_path, monkeypatch):
    suite = suite_named(name)
    samples = LOADED[name](tmp_path, monkeypatch)
    settings, dataset = settings_of(suite), Dataset(samples)

    def score(sample: Sample, step: str) -> tuple[float | None, float | None]:
        question = Question(sample, step, settings, dataset)
        assert not isinstance(suite.request(question), str)
        parsed = suite.parse(question, suite.expected(question))
        return parsed.score, parsed.repaired_score

    scored = [step.key for step in suite.launched if step.key in ("answer", "belief", "perceptions")]
    for control in controls_of(suite.controls):
        under = replace(settings, control=control.name)
        changed = [controlled(sample, suite.controls, under) for sample in samples]
        assert any(sample.published for sample in changed), control.name
        for step in scored:
            if step not in senseless(suite.controls, control.name):
                for sample, other in zip(samples, changed, strict=True):
                    assert score(other, step) == score(sample, step), (control.name, step, sample.key)
