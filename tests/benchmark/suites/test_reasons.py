"""Why an answer is unreadable, as a sentence beside what was read of it, and why a model has no figures."""

from __future__ import annotations

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
from benchmark.suites.fantom_questions.parsing import NEITHER
from benchmark.suites.fantom_questions.parsing import UNREADABLE as UNREADABLE_BY_KIND
from benchmark.suites.omnitom.data import STAGE1
from benchmark.suites.opentom.measure import GROUP
from benchmark.suites.opentom.parsing import NOTHING_READ
from benchmark.suites.opentom.parsing import SEVERAL as SEVERAL_ANSWERS
from benchmark.suites.perceiving.asking import UNREADABLE
from benchmark.suites.percept_tomi.parsing import NONE, SEVERAL
from benchmark.suites.reasons import JUDGE_S, NOT_WHOLE, OF_JUDGE, REFUSED, TRUNCATED, UNKNOWING, note_of
from benchmark.suites.reports import GroupMetrics
from benchmark.suites.results import EntrantResults
from benchmark.suites.tombench.data import NO_OPTION
from benchmark.suites.tombench.data import SEVERAL as SEVERAL_OPTIONS
from core.catalogues.sentences import translated
from core.messages import word, worded

OF_ANSWERS = (
    *UNREADABLE_BY_KIND.values(), NEITHER, SEVERAL, NONE, NOTHING_READ, NO_OPTION, UNKNOWING, SEVERAL_ANSWERS,
    SEVERAL_OPTIONS,
    *(UNREADABLE.format(kind=word(kind)) for kind in ("sentence", "utterance")),
)  # fmt: skip


@pytest.mark.parametrize("reason", OF_ANSWERS)
def test_what_is_said_of_an_answer_is_a_sentence_in_both_languages(reason):
    assert note_of(reason) == f"The answer {reason}."
    with translation.override("zh-hans"):
        assert not re.search("[A-Za-z]{2}", translated(note_of(reason)))


@pytest.mark.parametrize(
    ("reason", "note", "chinese"),
    [
        (REFUSED, "The model refused.", "模型拒绝回答。"),
        (TRUNCATED, "The answer was cut off.", "回答被截断。"),
        (NOT_WHOLE, "The answer is not whole.", "回答不完整。"),
        ("another reason", "Unreadable: another reason.", "无法解析：another reason。"),
        ("", "", ""),
    ],
)
def test_what_is_no_predicate_of_an_answer_is_a_sentence_by_itself(reason, note, chinese):
    assert note_of(reason) == note
    with translation.override("zh-hans"):
        assert translated(note_of(reason)) == chinese


def test_what_a_method_left_unasked_is_said_of_the_answer():
    with pytest.raises(NothingToAsk) as caught:
        perceptions_in("nothing to read")
    assert note_of(str(caught.value)) == "The answer was not asked for, as who perceives what cannot be read."


SHARED = {text for name, text in vars(reasons).items() if name.isupper() and isinstance(text, str)} - {OF_JUDGE}


@pytest.mark.parametrize("reason", sorted(SHARED | {*JUDGE_S.values()}))
def test_every_reason_is_chinese_alone_counted_and_in_a_sentence(reason):
    with translation.override("zh-hans"):
        for text in (reason, worded(reason, "1,002"), note_of(reason)):
            assert not re.search("[A-Za-z]{2}", translated(text)), text


@pytest.mark.parametrize(
    ("group", "why", "chinese"),
    [
        (STAGE1, "no usable story: no readable row 2", "没有可用的故事：没有可解析的行 2"),
        (GROUP.key, "no usable question: no readable row 2", "没有可用的问题：没有可解析的行 2"),
        (FALSE_BELIEF.key, "no usable set: no readable row 2", "没有可用的组：没有可解析的行 2"),
    ],
)
def test_who_has_no_figures_lacks_what_these_count(group, why, chinese):
    row = ReportRow(stories=0, unreadable=2, unreadable_reasons={"no readable row": 2})
    metrics = GroupMetrics(parses=BothParses(repaired=ParseRows(overall=row)))
    mute = EntrantResults(
        key="1", name="m", model="m", kind="model", run="r", run_title="R", at=datetime.now(UTC), entrant=1, own="",
        metrics=metrics,
    )  # fmt: skip
    [absent] = without_metrics([mute], group, "repaired")
    assert absent.why == why
    with translation.override("zh-hans"):
        assert translated(absent.why) == chinese
