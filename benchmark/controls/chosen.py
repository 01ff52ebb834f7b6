"""All controls, and which of them a run is under."""

import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

from benchmark.controls.contract import CHINESE, Control, Controllable, drawn_number, drawn_order
from benchmark.controls.lists import SENTENCES
from benchmark.controls.renaming import RENAMED
from benchmark.suites.questions import BadQuestion, Sample
from benchmark.suites.settings import Settings
from core.messages import gettext_noop
from core.plain import Json

Parts = list[tuple[str, bool]]
"""Pieces of a text in their order, each with whether the control changed it."""
_TOKEN = re.compile(r"\s+|[^\W_]+|[\W_]")


def changes_of(sample: Sample, controllable: Controllable) -> list[Json]:
    """Return the texts of a sample's content that its control changed, the story first; none where it changed none:
    {name, published, controlled}, both as Parts, for a reader who holds both against each other."""
    if sample.published is None:
        return []
    names = dict.fromkeys([controllable.story, *sample.content])
    pairs = ((name, _text(sample.published.content, name), _text(sample.content, name)) for name in names)
    changes: list[Json] = []
    for name, before, after in pairs:
        if before != after:
            published, controlled = marked(before, after)
            changes.append({"name": name, "published": published, "controlled": controlled})
    return changes


def _text(content: Mapping[str, Any], name: str) -> str:
    value = content.get(name, "")
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def marked(before: str, after: str) -> tuple[Parts, Parts]:
    """Return both texts in pieces, with what the other has not marked."""
    first, second = _TOKEN.findall(before), _TOKEN.findall(after)
    same = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    sides = (
        [("".join(first[start:end]), tag != "equal") for tag, start, end, _, _ in same],
        [("".join(second[start:end]), tag != "equal") for tag, _, _, start, end in same],
    )
    one, other = ([piece for piece in side if piece[0]] for side in sides)
    return one, other


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
    ends = []
    for match in _END[language].finditer(story):
        before = story[: match.start()]
        if before.count('"') % 2 == 0 and before.count("“") == before.count("”"):  # outside of quotes
            ends.append(match.start())
    space = "" if language == CHINESE else " "
    told = f"{story.rstrip()}{space}{sentence}"
    if ends:
        at = ends[drawn_number(len(ends), *drawn, "place")]
        told = f"{story[:at]}{space}{sentence}{story[at:]}"
    return replace(sample, content={**sample.content, controllable.story: told})


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


OPTIONS = "options"


def shuffled(sample: Sample, controllable: Controllable, seed: int) -> Sample:
    """Return the sample with its options in another order than they were in, where it has two or more."""
    count = len(sample.content.get(OPTIONS, ()))
    if count < 2 or controllable.reordered is None:
        return sample
    places = [*map(str, range(count))]
    order = drawn_order(places, seed, sample.key, OPTIONS)
    order = order if order != places else [*order[1:], order[0]]
    return controllable.reordered(sample, [*map(int, order)])


SHUFFLED = Control(
    "shuffled",
    gettext_noop("shuffled options"),
    gettext_noop("The options stand in another order."),
    gettext_noop("what was better in the order as published hung on the place of the right option"),
    gettext_noop("It has no options to be shuffled."),
    gettext_noop("Its questions have no options to be shuffled."),
    shuffled,
    lambda controllable: controllable.reordered is not None,
)


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
