"""Self-Ask: the model puts smaller questions to itself before it answers (Press et al. 2023, "Measuring and Narrowing
the Compositionality Gap")."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.methods.contract import Earlier, Method, Put
from benchmark.methods.reasoning import MARK, final_answer
from core.language import gettext_noop
from workers.providers.contract import Message


def _answer(put: Put, earlier: Earlier) -> Sequence[Message]:
    how = put.how_after or put.how
    return put.messages(
        f"{put.story}\n\nQuestion: {put.question}\nBreak the question into smaller ones. Write each as “Follow-up:” "
        f"and answer it as “Intermediate answer:” before you go on. Then write a last line that begins with “{MARK}”. "
        f"{how}".rstrip()
    )


SELF_ASK = Method(
    "self-ask",
    "Self-Ask",
    gettext_noop("Smaller questions that the model asks and answers itself, then the answer."),
    _answer,
    read=final_answer,
)
