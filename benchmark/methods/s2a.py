"""System 2 Attention: the part of the story that matters is written out first, and the answer rests on it alone (Weston
and Sukhbaatar 2023)."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.controls.contract import CHINESE, ENGLISH
from benchmark.methods.contract import Earlier, Method, Put
from benchmark.methods.plain import prompt
from benchmark.suites.questions import Step
from core.messages import gettext_noop
from workers.providers.contract import Message

EXTRACT = "s2a-extract"
_ASKED = {
    ENGLISH: "Copy out of the text above what matters for this question, and nothing else, so that somebody who reads "
    "only that can answer it. Do not answer the question, and do not explain.",
    CHINESE: "从上面的文字中摘抄与这个问题有关的内容，其他的都不要写，让只读摘抄的人也能回答。"
    "不要回答问题，也不要解释。",
}


def _ask(step: str, put: Put, earlier: Earlier) -> Sequence[Message]:
    return put.messages(f"{put.laid_out()}\n\n{_ASKED[put.language]}")


def _answer(put: Put, earlier: Earlier) -> Sequence[Message]:
    return put.asked(prompt(put, earlier[EXTRACT].strip()))


S2A = Method(
    "s2a",
    "System 2 Attention",
    gettext_noop("The relevant part of the story is extracted, then the question is asked about it."),
    _answer,
    steps=(Step(EXTRACT, gettext_noop("Extracting"), answers=(gettext_noop("extract"), gettext_noop("extracts"))),),
    ask=_ask,
)
