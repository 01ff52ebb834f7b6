"""Chain of thought: reasoning first, then the answer, in one call (Wei et al. 2022, "Chain-of-Thought Prompting")."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.methods.contract import Earlier, Method, Put
from benchmark.methods.reasoning import MARK, final_answer
from core.messages import gettext_noop
from workers.providers.contract import Message


def _answer(put: Put, earlier: Earlier) -> Sequence[Message]:
    if put.answering:
        return put.messages(put.laid_out(), system=put.answering.reasoning)
    how = put.how_after or put.how
    return put.messages(
        (
            f"{put.laid_out()}\nThink it through step by step. Then write a last line that begins with “{MARK}”. {how}"
        ).rstrip()
    )


COT = Method(
    "cot",
    gettext_noop("chain of thought"),
    gettext_noop("Reasoning step by step, then the answer."),
    _answer,
    read=final_answer,
)
