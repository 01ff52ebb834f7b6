"""Questions without their story: what cues in the question and the options give by themselves."""

from __future__ import annotations

from dataclasses import replace

from benchmark.controls.contract import Control, Controllable
from benchmark.suites.questions import Sample
from core.messages import gettext_noop

INSTEAD = {
    "en": "(The text is left out. Answer as best you can without it.)",
    "zh": "（原文已略去，请在没有原文的情况下尽量作答。）",
}
"""The text in the place of a story."""


def storyless(sample: Sample, controllable: Controllable, seed: int) -> Sample:
    """Return the sample with a sentence in the place of its story that says that it is left out."""
    if not sample.content.get(controllable.story):
        return sample
    instead = INSTEAD[controllable.language(sample)]
    if controllable.relined:
        return controllable.relined(sample, [instead], [None])
    return replace(sample, content={**sample.content, controllable.story: instead})


STORYLESS = Control(
    "storyless",
    gettext_noop("question without its story"),
    gettext_noop("A question is asked without its story."),
    gettext_noop("what is left without the story is what cues in the question alone give, or what was remembered"),
    gettext_noop("It has no story."),
    gettext_noop("Its questions have no story."),
    storyless,
    lambda controllable: bool(controllable.story),
)
