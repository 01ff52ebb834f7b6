"""What answers say, whatever names stand in them."""

from __future__ import annotations

from benchmark.suites.fantom_questions import parsing as fantom_parses
from benchmark.suites.omnitom.measure import statement_of
from benchmark.suites.opentom.parsing import NOTHING_READ
from benchmark.suites.perceiving import asking
from benchmark.suites.perceiving.asking import perceptions_stated
from benchmark.suites.percept_tomi.metrics import place_stated
from benchmark.suites.questions import UNREADABLE_ANSWER, Outcome
from benchmark.suites.reasons import sentence_of
from benchmark.suites.tombench.data import NO_OPTION
from tests.benchmark.suites.test_by_chance import sample


def test_perceivers_are_the_same_in_another_order_and_under_other_names():
    said = perceptions_stated([(0, ["Una", "Vic"]), (1, [])], ["Una", "Vic"])
    assert said == perceptions_stated([(1, []), (0, ["vic", "UNA", "Una"])], ["Una", "Vic"])
    assert said == perceptions_stated([(0, ["Ines", "Bo"]), (1, [])], ["Ines", "Bo"])
    others = [[(0, ["Una"]), (1, [])], [(0, ["Una", "Vic"])], [(0, ["Una", "Vic"]), (1, None)], [(None, ["Una"])]]
    assert len({said, *(perceptions_stated(other, ["Una", "Vic"]) for other in others)}) == 5


def test_a_container_is_its_place_in_the_story():
    of_names = [("box", "bin"), ("crate", "jar")]
    for first, second in of_names:
        story = sample({"containers": [first, second]}, {"candidates": [first, second, "hall"]})
        said = [place_stated(story, {"place": place}) for place in (first, second, "hall", "sky")]
        assert said == ["0", "1", "4", "sky"]


def told(**outcomes) -> dict[str, str | None]:
    by_step = {step: Outcome(step, None, *how) for step, how in outcomes.items()}
    return {group: statement_of(group, sample({}), by_step) for group in ("stage1", "stage2")}


def test_of_a_table_the_labels_and_of_extracted_rows_those_of_gold_that_they_match():
    judged = {"extract": ({"rows": 2},), "judge": ({"pred": [1, 0], "gold": [1, 0, None]},)}
    labelled = {"label": ({"predicted": [["First", "True"], None]},)}
    said = told(**judged, **labelled)
    assert None not in said.values()
    # how often a row is matched is the judge's count, which row is what the model says
    assert told(extract=({},), judge=({"pred": [0, 2], "gold": [3, 0, 0]},))["stage1"] == said["stage1"]
    for other in ({"pred": [1, 1], "gold": [1, 0, 0]}, {"pred": [1, 0], "gold": [0, 1, 0]}):
        assert told(extract=({},), judge=(other,))["stage1"] not in (None, said["stage1"])
    assert told(label=({"predicted": [["First", "False"], None]},))["stage2"] not in (None, said["stage2"])


def test_what_cannot_be_read_is_another_answer_and_what_nobody_judged_is_none():
    assert told(extract=(None, "holds no table"), label=({}, "holds no table")) == dict.fromkeys(
        ("stage1", "stage2"), UNREADABLE_ANSWER
    )
    assert told(extract=({},), judge=({}, "no judgement"), label=(None, "", "failed")) == dict.fromkeys(
        ("stage1", "stage2")
    )
    assert told() == dict.fromkeys(("stage1", "stage2"))


def test_why_an_answer_cannot_be_read_is_a_sentence_in_the_list_of_runs():
    of_answers = [*fantom_parses.UNREADABLE.values(), fantom_parses.NEITHER, NO_OPTION, NOTHING_READ, asking.UNREADABLE]
    assert [sentence_of(why) for why in of_answers] == [f"The answer {why}." for why in of_answers]
    assert sentence_of("the model refused") == "the model refused" and sentence_of("") == ""
