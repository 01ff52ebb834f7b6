"""What answers drawn among all that may be answered come to, in each suite."""

from dataclasses import replace
from itertools import product
from statistics import fmean

from pytest import approx

from benchmark.suites.fantom_questions.asking import by_chance as of_conversation
from benchmark.suites.fantom_questions.data import CHOICE, DISTANCE, FACT, LIST, YES_NO
from benchmark.suites.opentom.measure import by_chance as of_narrative
from benchmark.suites.opentom.parsing import ATTITUDE, COARSE, FINE
from benchmark.suites.perceiving.asking import Levels
from benchmark.suites.perceiving.perceptions import RECALL
from benchmark.suites.percept_fantom.parsing import repaired_shares
from benchmark.suites.percept_fantom.steps import LEVELS
from benchmark.suites.percept_tomi.metrics import by_chance as of_container
from benchmark.suites.questions import Sample
from benchmark.suites.tombench.metrics import by_chance as of_options
from tests.benchmark.suites.percept_fantom.test_parses import HEARD, UTTERANCES


def sample(content: dict, gold: dict | None = None) -> Sample:
    return Sample("q", "c", content, gold or {})


def test_questions_with_options():
    boxes = {"containers": ["box", "bin"]}
    for by_chance, content, gold, chance in (
        *((of_conversation, {"kind": kind}, {}, 0.5) for kind in (CHOICE, YES_NO, DISTANCE)),
        (of_conversation, {"kind": FACT}, {}, None),
        (of_narrative, {"kind": COARSE}, {"label": 1}, 0.5),
        (of_narrative, {"kind": FINE}, {"label": 2, "places": ["box", "jar"]}, 0.5),
        (of_narrative, {"kind": ATTITUDE}, {"label": 3}, approx(1 / 3)),
        (of_options, {"options": ["a", "b", "c", "d"]}, {}, 0.25),
        (of_container, boxes, {"answer": "bin"}, 0.5),
        (of_container, boxes, {"answer": "hall"}, 0),
    ):
        assert by_chance(sample(content, gold)) == chance, content


def draws(names: list[str]) -> list[list[str]]:
    return [
        [name for name, is_in in zip(names, each, strict=True) if is_in] for each in product((1, 0), repeat=len(names))
    ]


def test_a_list_is_right_with_all_who_know_and_nobody_who_does_not():
    gold = {"right": ["Bea", "Ines"], "wrong": ["Bo"]}
    names = ["Bea", "Bo", "Ines", "Rui"]
    hits = sum({"Bea", "Ines"} <= {*named} and "Bo" not in named for named in draws(names))
    assert of_conversation(sample({"kind": LIST, "names": names}, gold)) == hits / 16 == 0.125
    assert of_conversation(sample({"kind": LIST, "names": ["Bo"]}, gold)) == 0


def test_of_perceivers_a_coin_falls_right_for_everybody_who_is_not_left_out():
    people = sample({}, {"perceivers": [["Una"], ["Una", "Vic"]]})
    levels = Levels("levels", bool, lambda _: [({"Una"}, set()), ({"Una", "Vic"}, {"Una"})])
    # right of the first with both names, of the second with that of Vic: (1/4 + 1/2) / 2
    assert levels.chance(people) == 0.375 and replace(levels, units=lambda _: []).chance(people) is None
    # utterances are drawn apart, so that the mean over answers of one draw for all is the mean over all draws
    answers = [
        str([{utterance: named} for utterance in UTTERANCES])
        for named in draws(sorted({name for names in HEARD for name in names}))
    ]
    recalls = [repaired_shares(answer, UTTERANCES, HEARD)[RECALL] for answer in answers]
    conversation = sample({"conversation": "\n".join(UTTERANCES)}, {"perceivers": HEARD})
    assert LEVELS.chance(conversation) == approx(fmean(recalls))
