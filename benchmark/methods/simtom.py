"""SimToM: what a person knows of the story is told first, and the question is asked of that person (Wilf et al. 2023,
"Think Twice")."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.methods.contract import PEOPLE, Earlier, Method, Put
from benchmark.methods.plain import prompt
from benchmark.suites.asked import Step
from core.language import gettext_noop
from workers.providers.contract import Message

PERSPECTIVE = "simtom-perspective"


def _ask(step: str, put: Put, earlier: Earlier) -> Sequence[Message]:
    if not put.people:
        return put.messages(f"{put.story}\n\nRetell all of the text above, sentence by sentence, and add nothing.")
    return put.messages(
        f"{put.story}\n\nWhich of these events does {put.people[0]} know about? A person knows what they do and what "
        "happens where they are, and nothing that happens elsewhere or after they have left. List the events in "
        "their order, and nothing else."
    )


def _answer(put: Put, earlier: Earlier) -> Sequence[Message]:
    perspective = earlier[PERSPECTIVE].strip()
    return put.messages(
        prompt(put, f"You are {put.people[0]}. This is what you know:\n\n{perspective}" if put.people else perspective)
    )


SIMTOM = Method(
    "simtom",
    "SimToM",
    gettext_noop("First what the person knows, then the question about that alone."),
    _answer,
    steps=(Step(PERSPECTIVE, "Taking the perspective", answers=("perspective", "perspectives")),),
    ask=_ask,
    needs=frozenset({PEOPLE}),
)
