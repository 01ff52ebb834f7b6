"""A sentence in the story that bears on nothing: what reads a story does not mind it."""

from __future__ import annotations

import re
from dataclasses import replace

from benchmark.controls.contract import CHINESE, Control, Controllable
from benchmark.controls.drawing import drawn_number
from benchmark.controls.lists.sentences import SENTENCES
from benchmark.suites.questions import Sample
from core.messages import gettext_noop

_END = {"en": re.compile(r"(?<=[a-z]{2}[.!?])[ \n]+(?=[A-Z])"), "zh": re.compile(r"(?<=[。！？])(?=[^”’」』\s])")}


def distracted(sample: Sample, controllable: Controllable, seed: int) -> Sample:
    """Return the sample with a sentence more in its story, between two others or, of a story of one sentence, at its
    end; the same for all samples of a cluster."""
    story = sample.content.get(controllable.story)
    if not story:
        return sample
    language = controllable.language(sample)
    drawn = (seed, sample.cluster, language)
    sentence = SENTENCES[language][drawn_number(len(SENTENCES[language]), *drawn, "sentence")]
    if controllable.relined and isinstance(story, list):
        at = 1 + drawn_number(len(story) - 1, *drawn, "place") if story[1:] else 1
        origins = [*range(at), None, *range(at, len(story))]
        return controllable.relined(sample, [*story[:at], sentence, *story[at:]], origins)
    content = {**sample.content, controllable.story: _with(story, sentence, language, drawn)}
    return replace(sample, content=content)


def _with(story: str, sentence: str, language: str, drawn: tuple[object, ...]) -> str:
    space = "" if language == CHINESE else " "
    ends = [match.start() for match in _END[language].finditer(story) if _outside_quotes(story[: match.start()])]
    if not ends:
        return f"{story.rstrip()}{space}{sentence}"
    at = ends[drawn_number(len(ends), *drawn, "place")]
    return f"{story[:at]}{space}{sentence}{story[at:]}"


def _outside_quotes(before: str) -> bool:
    return before.count('"') % 2 == 0 and before.count("“") == before.count("”")


DISTRACTED = Control(
    "distracted",
    gettext_noop("an irrelevant sentence"),
    gettext_noop("The story has a sentence more, which bears on nothing."),
    gettext_noop("what was better without it hung on the wording of the story"),
    gettext_noop("It has no story."),
    gettext_noop("Its questions have no story."),
    distracted,
    lambda controllable: bool(controllable.story),
)
