"""Methods of prompting that any suite of questions can use.

- plain: the question as it is; `in_session` asks a first question before it in the same session.
- cot: chain of thought (Wei et al. 2022, "Chain-of-Thought Prompting").
- self-ask: the model asks itself smaller questions (Press et al. 2023, "Measuring and Narrowing the Compositionality
  Gap").
- s2a: System 2 Attention, the relevant part of the story first (Weston and Sukhbaatar 2023).
- simtom: SimToM, what a person knows of the story first (Wilf et al. 2023, "Think Twice").
"""

import re
from collections.abc import Sequence

from benchmark.controls.contract import CHINESE, ENGLISH
from benchmark.methods.contract import PEOPLE, Earlier, Method, Put
from benchmark.suites.questions import Step
from core.messages import gettext_noop
from workers.providers.contract import Message

FIRST = "asked-first"


def _answer_in_session(put: Put, earlier: Earlier) -> Sequence[Message]:
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
        _answer_in_session,
        steps=(
            Step(
                FIRST,
                gettext_noop("Asking the first question"),
                task=task,
                answers=(gettext_noop("first answer"), gettext_noop("first answers")),
            ),
        ),
        ask=lambda step, put, earlier: put.messages(prompt(put.before or put)),
    )


def prompt(put: Put, story: str | None = None) -> str:
    """Return the question after its story, or after another text that takes its place."""
    return f"{put.laid_out(story)}\n{put.how}".rstrip()


PLAIN = Method(
    "plain",
    gettext_noop("plain"),
    gettext_noop("The story, the question, nothing else."),
    lambda put, earlier: put.asked(prompt(put)),
)


MARK = "Final answer:"
_MARK = re.compile(r"\**(?:final answer|最终答案)\**\s*[:：]\**", re.IGNORECASE)


def final_answer(text: str) -> str:
    """Return what follows the last "Final answer:", also in Chinese, without brackets and emphasis around it; of a text
    without it the last line that says something."""
    marks = list(_MARK.finditer(text))
    lines = [line for line in text.strip().splitlines() if line.strip()]
    answer = text[marks[-1].end() :] if marks else lines[-1] if lines else ""
    return answer.strip().strip("*[]").strip()


def _answer_cot(put: Put, earlier: Earlier) -> Sequence[Message]:
    if put.reasoning:
        return put.messages(put.laid_out(), system=put.reasoning)
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
    _answer_cot,
    read=final_answer,
)


_SELF_ASK_HOW = {
    ENGLISH: "Break the question into smaller ones. Write each as “Follow-up:” and answer it as “Intermediate answer:” "
    f"before you go on. Then write a last line that begins with “{MARK}”. ",
    CHINESE: "把这个问题拆成几个小问题。每个小问题写成“追问：”，先用“中间答案：”作答，再继续下一个。"
    "最后单独写一行，以“最终答案：”开头。",
}


SELF_ASK = Method(
    "self-ask",
    "Self-Ask",
    gettext_noop("Smaller questions that the model asks and answers itself, then the answer."),
    lambda put, earlier: put.messages(
        f"{put.laid_out()}\n{_SELF_ASK_HOW[put.language]}{put.how_after or put.how}".rstrip()
    ),
    read=final_answer,
)


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
_YOU = {ENGLISH: "You are {person}. This is what you know:\n\n", CHINESE: "你是{person}。以下是你所知道的：\n\n"}


def _ask_simtom(step: str, put: Put, earlier: Earlier) -> Sequence[Message]:
    instruction = _KNOWN_EVENTS[put.language].format(person=put.people[0]) if put.people else _RETELL[put.language]
    return put.messages(f"{put.story}\n\n{instruction}")


def _answer_simtom(put: Put, earlier: Earlier) -> Sequence[Message]:
    perspective = earlier[PERSPECTIVE].strip()
    whose = _YOU[put.language].format(person=put.people[0]) if put.people else ""
    return put.asked(prompt(put, f"{whose}{perspective}"))


SIMTOM = Method(
    "simtom",
    "SimToM",
    gettext_noop("First what the person knows, then the question about that alone."),
    _answer_simtom,
    steps=(
        Step(
            PERSPECTIVE,
            gettext_noop("Taking the perspective"),
            answers=(gettext_noop("perspective"), gettext_noop("perspectives")),
        ),
    ),
    ask=_ask_simtom,
    needs=frozenset({PEOPLE}),
)


EXTRACT = "s2a-extract"
_EXTRACT_HOW = {
    ENGLISH: "Copy out of the text above what matters for this question, and nothing else, so that somebody who reads "
    "only that can answer it. Do not answer the question, and do not explain.",
    CHINESE: "从上面的文字中摘抄与这个问题有关的内容，其他的都不要写，让只读摘抄的人也能回答。"
    "不要回答问题，也不要解释。",
}


S2A = Method(
    "s2a",
    "System 2 Attention",
    gettext_noop("The relevant part of the story is extracted, then the question is asked about it."),
    lambda put, earlier: put.asked(prompt(put, earlier[EXTRACT].strip())),
    steps=(Step(EXTRACT, gettext_noop("Extracting"), answers=(gettext_noop("extract"), gettext_noop("extracts"))),),
    ask=lambda step, put, earlier: put.messages(f"{put.laid_out()}\n\n{_EXTRACT_HOW[put.language]}"),
)
