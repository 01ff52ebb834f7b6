"""A run as the methods section of a suite tells of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmark.suites.settings import Settings


@dataclass(frozen=True, slots=True)
class Reported:
    """The outcome of a run, in the terms of its suite.

    `settings` are as `Question.settings`; `groups` are the metric groups that have figures, `kinds` what their rows are
    ("model", "baseline", "person"). `prompted` says whether a model read prompts, `judge` who judged, empty for nobody,
    with `judge_notes` on its self-test. `examples` are how many solved samples the prompts of a step showed, in words.
    `schema` says which endpoints ignored it, empty for free text. `asking` and `uncertainty` are the paragraphs that
    every suite has.
    """

    settings: Settings
    groups: frozenset[str]
    kinds: frozenset[str]
    prompted: bool
    judge: str
    asking: str
    uncertainty: str
    judge_notes: Sequence[str] = ()
    examples: Mapping[str, str] = field(default_factory=dict)
    schema: str = ""


Sections = Sequence[tuple[str, str]]
"""(heading, text) in the order of a methods section; a section without a text is left out."""

PROMPTS, ASKING, UNCERTAINTY = "Prompts", "Asking", "Uncertainty"
"""Headings of the paragraphs that every suite has; a suite that does not place them itself has them at the end."""


def asked_by(method: str, prompt_set: str, presentation: str = "") -> tuple[str, str]:
    """Return the section on the prompts of a question suite: its method, and the `presentation` of what it is
    about, both in words."""
    how = f"{method}, {presentation}" if presentation else method
    return PROMPTS, f"Questions were asked by the method {how}; the wording is Credence’s own (set {prompt_set})."
