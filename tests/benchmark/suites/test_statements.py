"""What answers say, whatever names stand in them, why one is unreadable, and why a model has no figures."""

import re
from datetime import UTC, datetime

import pytest
from django.utils import translation

from benchmark.domain.report_rows import BothParses, ParseRows, ReportRow
from benchmark.methods.contract import NothingToAsk
from benchmark.methods.perceptom import perceptions_in
from benchmark.services.absences import without_metrics
from benchmark.suites import reasons
from benchmark.suites.fantom.metrics import FALSE_BELIEF
from benchmark.suites.fantom_questions import parsing as fantom
from benchmark.suites.omnitom.data import STAGE1
from benchmark.suites.omnitom.measure import statement_of
from benchmark.suites.opentom.measure import GROUP
from benchmark.suites.opentom.parsing import NOTHING_READ
from benchmark.suites.opentom.parsing import SEVERAL as SEVERAL_ANSWERS
from benchmark.suites.perceiving.asking import UNREADABLE, perceptions_stated
from benchmark.suites.percept_tomi.metrics import place_stated
from benchmark.suites.percept_tomi.parsing import NONE, SEVERAL
from benchmark.suites.questions import UNREADABLE_ANSWER, Outcome, Sample
from benchmark.suites.reasons import JUDGE_S, NOT_WHOLE, OF_JUDGE, REFUSED, TRUNCATED, UNKNOWING, note_of, sentence_of
from benchmark.suites.reports import GroupMetrics
from benchmark.suites.results import EntrantResults
from benchmark.suites.tombench.data import NO_OPTION
from benchmark.suites.tombench.data import SEVERAL as SEVERAL_OPTIONS
from core.catalogues.sentences import translated
from core.messages import word, worded

OF_ANSWERS = [*fantom.UNREADABLE.values(), fantom.NEITHER, SEVERAL, NONE, NOTHING_READ, NO_OPTION, UNKNOWING]
OF_ANSWERS += [
    SEVERAL_ANSWERS,
    SEVERAL_OPTIONS,
    *(UNREADABLE.format(kind=word(kind)) for kind in ("sentence", "utterance")),
]
SHARED = {text for name, text in vars(reasons).items() if name.isupper() and isinstance(text, str)} - {OF_JUDGE}


def test_why_an_answer_cannot_be_read_is_a_sentence_in_both_languages():
    for reason in OF_ANSWERS:
        assert note_of(reason) == sentence_of(reason) == f"The answer {reason}."
        with translation.override("zh-hans"):
            assert not re.search("[A-Za-z]{2}", translated(note_of(reason))), reason
    for reason, note, chinese in (
        (REFUSED, "The model refused.", "模型拒绝回答。"),
        (TRUNCATED, "The answer was cut off.", "回答被截断。"),
        (NOT_WHOLE, "The answer is not whole.", "回答不完整。"),
        ("another reason", "Unreadable: another reason.", "无法解析：another reason。"),
        ("", "", ""),
    ):
        assert note_of(reason) == note
        with translation.override("zh-hans"):
            assert translated(note_of(reason)) == chinese
    assert sentence_of("the model refused") == "the model refused" and sentence_of("") == ""
    with pytest.raises(NothingToAsk) as caught:
        perceptions_in("nothing to read")
    assert note_of(str(caught.value)) == "The answer was not asked for, as who perceives what cannot be read."
    with translation.override("zh-hans"):
        for reason in SHARED | {*JUDGE_S.values()}:  # alone, counted and in a sentence
            for text in (reason, worded(reason, "1,002"), note_of(reason)):
                assert not re.search("[A-Za-z]{2}", translated(text)), text


def test_who_has_no_figures_lacks_what_these_count():
    row = ReportRow(stories=0, unreadable=2, unreadable_reasons={"no readable row": 2})
    metrics = GroupMetrics(parses=BothParses(repaired=ParseRows(overall=row)))
    of_run = {"run": "r", "run_title": "R", "at": datetime.now(UTC), "entrant": 1, "own": ""}
    mute = EntrantResults(key="1", name="m", model="m", kind="model", metrics=metrics, **of_run)
    for group, noun, chinese in (
        (STAGE1, "story", "没有可用的故事：没有可解析的行 2"),
        (GROUP.key, "question", "没有可用的问题：没有可解析的行 2"),
        (FALSE_BELIEF.key, "set", "没有可用的组：没有可解析的行 2"),
    ):
        [absent] = without_metrics([mute], group, "repaired")
        assert absent.why == f"no usable {noun}: no readable row 2"
        with translation.override("zh-hans"):
            assert translated(absent.why) == chinese


def test_perceivers_and_containers_are_the_same_in_another_order_and_under_other_names():
    said = perceptions_stated([(0, ["Una", "Vic"]), (1, [])], ["Una", "Vic"])
    assert said == perceptions_stated([(1, []), (0, ["vic", "UNA", "Una"])], ["Una", "Vic"])
    assert said == perceptions_stated([(0, ["Ines", "Bo"]), (1, [])], ["Ines", "Bo"])
    others = [[(0, ["Una"]), (1, [])], [(0, ["Una", "Vic"])], [(0, ["Una", "Vic"]), (1, None)], [(None, ["Una"])]]
    assert len({said, *(perceptions_stated(other, ["Una", "Vic"]) for other in others)}) == 5
    for first, second in [("box", "bin"), ("crate", "jar")]:
        story = Sample("q", "c", {"containers": [first, second]}, {"candidates": [first, second, "hall"]})
        said = [place_stated(story, {"place": place}) for place in (first, second, "hall", "sky")]
        assert said == ["0", "1", "4", "sky"]


def told(**outcomes) -> dict[str, str | None]:
    by_step = {step: Outcome(step, None, *how) for step, how in outcomes.items()}
    return {group: statement_of(group, Sample("q", "c", {}, {}), by_step) for group in ("stage1", "stage2")}


def test_of_a_table_the_labels_and_of_extracted_rows_those_of_gold_that_they_match():
    judged = {"extract": ({"rows": 2},), "judge": ({"pred": [1, 0], "gold": [1, 0, None]},)}
    said = told(**judged, label=({"predicted": [["First", "True"], None]},))
    assert None not in said.values()
    # how often a row is matched is the judge's count, which row is what the model says
    assert told(extract=({},), judge=({"pred": [0, 2], "gold": [3, 0, 0]},))["stage1"] == said["stage1"]
    for other in ({"pred": [1, 1], "gold": [1, 0, 0]}, {"pred": [1, 0], "gold": [0, 1, 0]}):
        assert told(extract=({},), judge=(other,))["stage1"] not in (None, said["stage1"])
    assert told(label=({"predicted": [["First", "False"], None]},))["stage2"] not in (None, said["stage2"])
    # what cannot be read is another answer, what nobody judged is none
    unread, nothing = (dict.fromkeys(("stage1", "stage2"), what) for what in (UNREADABLE_ANSWER, None))
    assert told(extract=(None, "holds no table"), label=({}, "holds no table")) == unread
    assert told(extract=({},), judge=({}, "no judgement"), label=(None, "", "failed")) == told() == nothing
