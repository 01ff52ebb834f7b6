"""Two questions in one session: the one that a suite asks first, the model's answer to it, then the question itself."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.methods.contract import Earlier, Method, Put
from benchmark.methods.plain import prompt
from benchmark.suites.questions import Step
from core.messages import gettext_noop
from workers.providers.contract import Message

FIRST = "asked-first"


def _ask(step: str, put: Put, earlier: Earlier) -> Sequence[Message]:
    return put.messages(prompt(put.before or put))


def _answer(put: Put, earlier: Earlier) -> Sequence[Message]:
    if put.before is None:
        return put.messages(prompt(put))
    return put.messages(prompt(put.before), earlier[FIRST], f"Question: {put.question}\n{put.how}")


def in_session(task: str) -> Method:
    """Return the method, whose first question baselines answer by `task`. A question that nothing is asked before is
    asked as it is, by one call for both steps."""
    return Method(
        "joint",
        "joint",
        gettext_noop("Questions that go together in one session: the one, its answer, then the other."),
        _answer,
        steps=(
            Step(
                FIRST,
                gettext_noop("Asking the first question"),
                task=task,
                answers=(gettext_noop("first answer"), gettext_noop("first answers")),
            ),
        ),
        ask=_ask,
    )
