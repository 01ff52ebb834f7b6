"""All controls, and the setting of a run that chooses one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from benchmark.controls.contract import Control, Controllable
from benchmark.controls.distracting import DISTRACTED
from benchmark.controls.renaming import RENAMED
from benchmark.controls.shuffling import SHUFFLED
from benchmark.controls.storyless import STORYLESS
from benchmark.suites.asked import Sample
from benchmark.suites.settings import Setting

CONTROLS = {control.name: control for control in (RENAMED, SHUFFLED, STORYLESS, DISTRACTED)}
CONTROL, NONE = "control", "none"
"""The name of the setting, and its value for samples as they are."""


def controls_of(controllable: Controllable) -> list[Control]:
    """Return the controls that go with samples of a suite."""
    return [control for control in CONTROLS.values() if control.applies(controllable)]


def control_setting(controllable: Controllable) -> Setting:
    """Return the setting that chooses one of them; none by default."""
    controls = controls_of(controllable)
    return Setting(
        CONTROL,
        "Control",
        NONE,
        help=" ".join(f"{control.title.capitalize()}: {control.help}" for control in controls),
        choices=((NONE, "none: as published"), *((control.name, control.title) for control in controls)),
    )


def controlled(sample: Sample, controllable: Controllable | None, settings: Mapping[str, Any]) -> Sample:
    """Return the sample as a run with these settings asks it, with what it was where that changed."""
    control = CONTROLS.get(settings.get(CONTROL, NONE))
    if control is None or controllable is None:
        return sample
    changed = control.apply(sample, controllable, settings.get("seed", 1))
    return sample if changed == sample else replace(changed, published=sample)
