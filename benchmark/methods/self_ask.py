"""Self-Ask: the model puts smaller questions to itself before it answers (Press et al. 2023, "Measuring and Narrowing
the Compositionality Gap")."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.controls.contract import CHINESE, ENGLISH
from benchmark.methods.contract import Earlier, Method, Put
from benchmark.methods.reasoning import MARK, final_answer
from core.messages import gettext_noop
from workers.providers.contract import Message

_ASKED = {
    ENGLISH: "Break the question into smaller ones. Write each as “Follow-up:” and answer it as “Intermediate answer:” "
    f"before you go on. Then write a last line that begins with “{MARK}”. ",
    CHINESE: "把这个问题拆成几个小问题。每个小问题写成“追问：”，先用“中间答案：”作答，再继续下一个。"
    "最后单独写一行，以“最终答案：”开头。",
}


def _answer(put: Put, earlier: Earlier) -> Sequence[Message]:
    return put.messages(f"{put.laid_out()}\n{_ASKED[put.language]}{put.how_after or put.how}".rstrip())


SELF_ASK = Method(
    "self-ask",
    "Self-Ask",
    gettext_noop("Smaller questions that the model asks and answers itself, then the answer."),
    _answer,
    read=final_answer,
)
