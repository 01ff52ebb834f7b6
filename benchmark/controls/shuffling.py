"""Options in another order: what hangs on the place of the right one is not understanding."""

from __future__ import annotations

from benchmark.controls.contract import Control, Controllable
from benchmark.controls.drawing import drawn_order
from benchmark.suites.questions import Sample
from core.messages import gettext_noop

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
