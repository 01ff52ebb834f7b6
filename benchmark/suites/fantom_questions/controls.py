"""The parts of questions about conversations that controls may change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from benchmark.controls.contract import Controllable, Spellings
from benchmark.controls.places import texts_at
from benchmark.controls.spellings import single_names, spelled
from benchmark.methods.perceptom import NOTHING_PERCEIVED, PERCEPTOM
from benchmark.suites.questions import Sample

_SPEAKER = re.compile(r"^(\w[\w’',& -]*):", re.MULTILINE)
TEXTS = (
    "content.conversation", "content.question", "content.options", "content.fact_question", "content.fact_answer",
    "content.character", "content.people",
    "content.names", "gold.right", "gold.wrong",
)  # fmt: skip


def named_in(sample: Sample) -> list[str]:
    """Return those who speak, and those whom the questions are about."""
    return single_names([*_SPEAKER.findall(sample.content["conversation"]), *sample.content["names"]])


def people_of(sample: Sample) -> list[Spellings]:
    """Return those who speak and those whom the questions are about, with the spellings that conversation and questions
    have of their names."""
    return spelled(named_in(sample), sample.content["names"], texts_at(sample, TEXTS))


def _reordered(sample: Sample, order: Sequence[int]) -> Sample:
    """The sample with its options in another order."""
    options = sample.content["options"]
    return replace(
        sample,
        content={**sample.content, "options": [options[place] for place in order]},
        gold={**sample.gold, "key": order.index(sample.gold["key"])},
    )


CONTROLS = Controllable(
    story="conversation",
    texts=TEXTS,
    named=people_of,
    reordered=_reordered,
    refused={"storyless": {PERCEPTOM.name: NOTHING_PERCEIVED}},
)  # fmt: skip
