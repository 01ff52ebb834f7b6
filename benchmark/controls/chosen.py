"""All controls, and which of them a run is under."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from benchmark.controls.contract import Control, Controllable
from benchmark.controls.distracting import DISTRACTED
from benchmark.controls.renaming import RENAMED
from benchmark.controls.shuffling import SHUFFLED
from benchmark.controls.storyless import STORYLESS
from benchmark.suites.questions import BadQuestion, Sample
from benchmark.suites.settings import Settings

CONTROLS = {control.name: control for control in (RENAMED, SHUFFLED, STORYLESS, DISTRACTED)}
CONTROL = "control"
"""Name of the control of a run among its settings."""
LISTS_VERSION = 2
"""The version of the name lists, and of the rules that draw from them.

Raise it with every change of what a seed gives, and `Control.since` of whatever gives something else: an answer is read
with the sample that was asked about. A test holds a digest of what it gives.
"""


def controls_of(controllable: Controllable | None) -> list[Control]:
    """Return the controls that go with samples of a suite."""
    return [control for control in CONTROLS.values() if "" not in senseless(controllable, control.name)]


def senseless(controllable: Controllable | None, name: str) -> Mapping[str, str]:
    """Return at which steps of a suite a control makes no sense, and why; under an empty step for all of them."""
    if controllable is None:
        return {"": "It does not say what a control may change."}
    control = CONTROLS[name]
    declared = controllable.senseless.get(name, {})
    return declared if "" in declared or control.applies(controllable) else {"": control.without}


def refused(controllable: Controllable | None, name: str, method: str) -> str:
    """Return why a control makes no sense where questions are asked by a method, as a sentence; empty where it does."""
    return controllable.refused.get(name, {}).get(method, "") if controllable else ""


def outdated(settings: Settings) -> str:
    """Return why samples of a run with these settings cannot be made again as they were asked, as a sentence; empty
    where they can."""
    control = CONTROLS.get(settings.control)
    version = LISTS_VERSION if settings.control_lists is None else settings.control_lists
    if control is None or control.since <= version <= LISTS_VERSION:
        return ""
    return (
        f"The run was asked with version {version} of the name lists of controls, and this program has version "
        f"{LISTS_VERSION}: its samples cannot be made again as they were asked."
    )


def controlled(sample: Sample, controllable: Controllable | None, settings: Settings) -> Sample:
    """Return the sample as a run with these settings asks it, with what it was where that changed. Raises BadQuestion
    where lists of names were others."""
    control = CONTROLS.get(settings.control)
    if control is None or controllable is None:
        return sample
    if why := outdated(settings):
        raise BadQuestion(why)
    changed = control.apply(sample, controllable, settings.seed)
    return sample if changed == sample else replace(changed, published=sample)
