"""The recall of perceivers that no model gave."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from statistics import fmean

import pytest

from benchmark.suites.perceiving.asking import Levels
from benchmark.suites.perceiving.perceptions import RECALL
from benchmark.suites.percept_fantom.parsing import repaired_shares
from benchmark.suites.percept_fantom.steps import LEVELS
from tests.benchmark.suites.percept_fantom.test_parses import HEARD, UTTERANCES
from tests.benchmark.suites.test_by_chance import sample


def test_a_coin_falls_right_for_everybody_who_is_not_left_out():
    people = sample({}, {"perceivers": [["Una"], ["Una", "Vic"]]})
    levels = Levels("levels", bool, lambda _: [({"Una"}, set()), ({"Una", "Vic"}, {"Una"})])
    # right of the first with both names, of the second with that of Vic: (1/4 + 1/2) / 2
    assert levels.chance(people) == 0.375 and replace(levels, units=lambda _: []).chance(people) is None


def test_of_a_conversation_it_is_the_mean_over_all_that_coins_can_give():
    people = sorted({name for names in HEARD for name in names})
    drawn = [[name for name, falls in zip(people, each, strict=True) if falls] for each in product((0, 1), repeat=3)]
    # utterances are drawn apart, so that the mean over answers of one draw for all is the mean over all draws
    recalls = [repaired_shares(_answer(names), UTTERANCES, HEARD)[RECALL] for names in drawn]
    conversation = sample({"conversation": "\n".join(UTTERANCES)}, {"perceivers": HEARD})
    assert LEVELS.chance(conversation) == pytest.approx(fmean(recalls))


def _answer(names: list[str]) -> str:
    return str([{utterance: names} for utterance in UTTERANCES])
