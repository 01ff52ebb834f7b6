"""What a run has of a setting that there was not yet when it was launched, wherever runs keep the setting."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmark.models import Run
from benchmark.services.asking import chosen_of, settings_of
from benchmark.services.conditions import parameters_of, settings_in_words
from benchmark.suites import registry
from benchmark.suites.contract import Suite
from benchmark.suites.omnitom.judgements import Judging
from benchmark.suites.registry import suite_named, suites
from benchmark.suites.settings import COLUMN, PARAMETER, Setting

pytestmark = pytest.mark.once
TONE = Setting("tone", "Tone", "polite", choices=(("polite", "Polite"), ("rude", "Rude")), lacking="rude")
PACE = Setting("pace", "Pace", 3, stored=PARAMETER, lacking=1)
MOOD = Setting("mood", "Mood", "calm", stored=PARAMETER, steps=("judge",))
LEVEL = Setting("level", "Level", 2, stored=COLUMN)


def before(suite: str) -> Run:
    """A run that keeps nothing of the settings of its suite but what a column has by itself."""
    return Run(suite=suite, level=4, control="", params={"seed": 1, "max_tokens": 50}, steps=["answer"])


@pytest.fixture
def later(monkeypatch) -> Suite:
    """A suite to which a setting of each kind was added after the run."""
    suite = replace(suite_named("fantom"), name="later", settings=(TONE, PACE, MOOD, LEVEL))
    monkeypatch.setitem(registry._suites, suite.name, suite)
    return suite


def test_a_run_of_before_has_of_each_setting_what_was_then(later):
    run = before(later.name)
    assert chosen_of(run) == {"tone": "rude", "pace": 1, "mood": "calm", "level": 4}
    assert settings_of(run).options == chosen_of(run)
    assert settings_in_words(run) == {"tone": "Rude", "pace": "1"}, "what only a judge uses stands with the judge"
    assert parameters_of(run) == {"tone": "rude", "pace": 1, "seed": 1, "max_tokens": 50}
    run.steps.append("judge")
    assert parameters_of(run)["mood"] == "calm"
    run.params |= {"options": {"tone": "polite"}, "pace": 7}
    assert settings_in_words(run) == {"tone": "Polite", "pace": "7"}
    assert settings_of(run).options == {"tone": "polite", "pace": 7, "mood": "calm", "level": 4}


@pytest.mark.parametrize("name", sorted(suites()))
def test_no_suite_lacks_a_setting_of_a_run_of_before(name):
    settings = {setting.name: setting for setting in suite_named(name).settings if setting.stored != COLUMN}
    kept = settings_of(before(name)).options
    assert {setting: kept[setting] for setting in settings} == {
        setting.name: setting.before_it_was for setting in settings.values()
    }


def test_judges_of_runs_of_before_were_asked_once_about_all_rows():
    assert Judging.of(settings_of(before("omnitom"))) == Judging()
    judge = suite_named("fantom").judge
    settings = replace(settings_of(before("fantom")), judge_reads_prompts=True)
    assert judge.instrument(settings) == {"answers": "text"} and judge.passes(settings) == ()
