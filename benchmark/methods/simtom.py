"""SimToM: what a person knows of the story is told first, and the question is asked of that person (Wilf et al. 2023,
"Think Twice")."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.controls.contract import CHINESE, ENGLISH
from benchmark.methods.contract import PEOPLE, Earlier, Method, Put
from benchmark.methods.plain import prompt
from benchmark.suites.questions import Step
from core.messages import gettext_noop
from workers.providers.contract import Message

PERSPECTIVE = "simtom-perspective"
_RETELL = {
    ENGLISH: "Retell all of the text above, sentence by sentence, and add nothing.",
    CHINESE: "把上面的文字逐句复述一遍，什么都不要添加。",
}
_KNOWN_EVENTS = {
    ENGLISH: "Which of these events does {person} know about? A person knows what they do and what happens where they "
    "are, and nothing that happens elsewhere or after they have left. List the events in their order, and nothing "
    "else.",
    CHINESE: "{person}知道其中的哪些事情？一个人知道自己做的事和自己所在之处发生的事，不知道别处发生的事，"
    "也不知道自己离开之后发生的事。按先后顺序列出这些事情，其他的都不要写。",
}
_YOU = {
    ENGLISH: "You are {person}. This is what you know:\n\n",
    CHINESE: "你是{person}。以下是你所知道的：\n\n",
}


def _ask(step: str, put: Put, earlier: Earlier) -> Sequence[Message]:
    instruction = _KNOWN_EVENTS[put.language].format(person=put.people[0]) if put.people else _RETELL[put.language]
    return put.messages(f"{put.story}\n\n{instruction}")


def _answer(put: Put, earlier: Earlier) -> Sequence[Message]:
    perspective = earlier[PERSPECTIVE].strip()
    whose = _YOU[put.language].format(person=put.people[0]) if put.people else ""
    return put.asked(prompt(put, f"{whose}{perspective}"))


SIMTOM = Method(
    "simtom",
    "SimToM",
    gettext_noop("First what the person knows, then the question about that alone."),
    _answer,
    steps=(
        Step(
            PERSPECTIVE,
            gettext_noop("Taking the perspective"),
            answers=(gettext_noop("perspective"), gettext_noop("perspectives")),
        ),
    ),
    ask=_ask,
    needs=frozenset({PEOPLE}),
)
