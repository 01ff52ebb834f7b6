"""Why an answer is unusable, as a sentence beside what was read of it."""

from __future__ import annotations

import re

import pytest
from django.utils import translation

from benchmark.methods.contract import NothingToAsk
from benchmark.methods.perceptom import perceptions_in
from benchmark.suites.fantom_questions.parses import NEITHER, UNREAD
from benchmark.suites.opentom.steps import NOTHING_READ
from benchmark.suites.perceiving.asking import UNREADABLE
from benchmark.suites.percept_tomi.places import NONE, SEVERAL
from benchmark.suites.reasons import NOT_WHOLE, REFUSED, TRUNCATED, note_of
from benchmark.suites.tombench.steps import NO_OPTION
from core.catalogues.patterns import translated

OF_ANSWERS = (
    *UNREAD.values(), NEITHER, SEVERAL, NONE, NOTHING_READ, NO_OPTION,
    *(UNREADABLE.format(kind=kind) for kind in ("sentence", "utterance")),
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
        ("another reason", "Unusable: another reason.", "不可用：another reason。"),
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
