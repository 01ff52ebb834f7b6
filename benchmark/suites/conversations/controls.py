"""What controls may change of questions about conversations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from benchmark.controls.contract import Controllable
from benchmark.suites.asked import Sample

_SPEAKER = re.compile(r"^(\w[\w’' -]*):", re.MULTILINE)


def named_in(sample: Sample) -> list[str]:
    """Those who speak, and those whom the questions are about."""
    return list(dict.fromkeys([*_SPEAKER.findall(sample.content["conversation"]), *sample.content["names"]]))


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
    texts=(
        "content.conversation", "content.question", "content.options", "content.fact_question", "content.fact_answer", "content.character",
        "content.people", "content.names", "gold.right", "gold.wrong",
    ),
    named=named_in,
    reordered=_reordered,
)  # fmt: skip
