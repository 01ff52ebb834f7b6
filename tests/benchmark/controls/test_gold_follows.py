"""Gold follows what a control changes: a perfect model is as right under each control as on the samples as published,
in every suite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmark.controls.chosen import controlled, controls_of, senseless
from benchmark.suites.opentom import data as opentom_data
from benchmark.suites.questions import Question, Sample
from benchmark.suites.registry import suite_named
from benchmark.suites.settings import Settings
from tests.benchmark.suites.opentom import small as opentom
from tests.benchmark.suites.percept_fantom import own as percept_fantom
from tests.benchmark.suites.percept_tomi import own as percept_tomi

Load = Callable[[Path, pytest.MonkeyPatch], Sequence[Sample]]


class Dataset:
    """What questions may need besides their sample."""

    prompts = schema = None

    def __init__(self, samples: Sequence[Sample]) -> None:
        self.samples = samples

    def derived(self, name, compute):
        return compute(self.samples)


def _opentom(folder: Path, patch: pytest.MonkeyPatch) -> Sequence[Sample]:
    files = opentom.small()
    patch.setattr(opentom_data, "COUNTS", {"meta_data.json": 10, "meta_data_long.json": 2})
    patch.setattr(opentom_data, "DIGESTS", opentom.digests(files))
    return suite_named("opentom").copied.load(opentom.write(folder / "OpenToM", files)).samples


def _percept(name: str, own) -> Load:
    def load(folder: Path, patch: pytest.MonkeyPatch) -> Sequence[Sample]:
        own.released(patch, own.write(folder))
        return suite_named(name).copied.load(folder).samples

    return load


def _fantom(folder: Path, patch: pytest.MonkeyPatch) -> Sequence[Sample]:
    percept_fantom.released(patch, percept_fantom.write(folder))
    return suite_named("fantom").copied.load(folder / "fantom_v1.json").samples


def _tombench(folder: Path, patch: pytest.MonkeyPatch) -> Sequence[Sample]:
    told = {
        "en": (
            "Anna put the apple into the box. Then Boris left the kitchen.",
            "Where does Boris think the apple is?",
            ("In the box", "In the basket"),
        ),
        "zh": ("小明把苹果放进盒子。小红走了。", "小红认为苹果在哪里？", ("盒子里", "篮子里")),
    }
    gold = {"answer": "A", "cell": "A", "ability": "Belief: Location"}
    return [
        Sample(
            f"false-belief-task:1:{language}",
            "c",
            {"story": story, "question": question, "options": options},
            gold,
            category="False Belief Task",
            split=language,
        )
        for language, (story, question, options) in told.items()
    ]


LOADED: dict[str, Load] = {
    "tombench": _tombench,
    "opentom": _opentom,
    "fantom": _fantom,
    "percept-tomi": _percept("percept-tomi", percept_tomi),
    "percept-fantom": _percept("percept-fantom", percept_fantom),
}


@pytest.mark.parametrize("name", LOADED)
def test_a_perfect_model_is_as_right_under_a_control(name, tmp_path, monkeypatch):
    suite = suite_named(name)
    samples = LOADED[name](tmp_path, monkeypatch)
    settings = Settings({setting.name: setting.default for setting in suite.settings}, seed=3, max_tokens=50)
    dataset = Dataset(samples)

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
