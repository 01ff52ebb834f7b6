"""The contract of methods: the question as a suite puts it to them, and the requests that they make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmark.controls.contract import ENGLISH
from benchmark.suites.questions import Step
from workers.providers.contract import Message


@dataclass(frozen=True, slots=True)
class Scene:
    """A sentence or an utterance of a story, and who perceives it by the data, None where they do not say."""

    text: str
    perceivers: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Put:
    """A question as a suite puts it.

    `story` and `question` are texts, `how` says how to answer where nothing but the answer is wanted, and `how_after`
    where reasoning comes before it. `people` are those through whose eyes the question looks: none for the facts, one
    for what somebody thinks, two for what the first thinks that the second thinks. `scenes` are the parts of the story
    that one can perceive, `joined` is what stands between them, and `kind` what one of them is called. `system` is a
    system prompt, if any. `before` is a question on the same story that can be asked before it in one session, if any.
    What a method adds is in the `language` of the question. `frame` is what stands before the story and behind it, the
    question in it, where a suite has a layout of its own. A suite's own system prompts for the answer take the place
    of `how`: `alone` wants nothing but the answer, `reasoning` step by step before it, in place of a chain of thought's
    own words.
    """

    story: str
    question: str
    how: str
    how_after: str = ""
    people: tuple[str, ...] = ()
    scenes: tuple[Scene, ...] = ()
    joined: str = " "
    kind: str = "sentence"
    system: str = ""
    before: Put | None = None
    language: str = ENGLISH
    frame: tuple[str, str] | None = None
    alone: str = ""
    reasoning: str = ""

    def laid_out(self, story: str | None = None) -> str:
        """Return the question after its story, or after another text that takes its place."""
        before, behind = self.frame or ("", f"\n\nQuestion: {self.question}")
        return f"{before}{self.story if story is None else story}{behind}"

    def messages(self, *texts: str, system: str | None = None) -> tuple[Message, ...]:
        """Return the prompt: turns of user and model that take turns, after the system prompt or another one."""
        system_prompt = self.system if system is None else system
        roles = ("user", "assistant")
        first = (Message("system", system_prompt),) if system_prompt else ()
        return (*first, *(Message(roles[at % 2], text) for at, text in enumerate(texts)))

    def asked(self, *texts: str) -> tuple[Message, ...]:
        """Return the prompt that wants the answer and nothing else."""
        return self.messages(*texts, system=self.alone or None)


class NothingToAsk(ValueError):
    """Reason why a method cannot put a question after what the model answered before, as the end of a sentence about
    the answer; `answer` is what the method's released code takes for that answer."""

    def __init__(self, why: str, answer: str) -> None:
        super().__init__(why)
        self.answer = answer


PEOPLE, PERCEIVERS = "people", "perceivers"
"""What a method may need of the questions of a suite: through whose eyes they look (`Put.people`), and who perceives
which part of the story by the data (`Scene.perceivers`)."""
Earlier = Mapping[str, str]
"""Raw answers to earlier steps, by step."""


@dataclass(frozen=True, slots=True)
class Method:
    """A way to put a question.

    `steps` come before the answer, in order; `ask(step, put, earlier)` returns the prompt of one of them, `answer(put,
    earlier)` that of the answer, both raise NothingToAsk. `read(text)` returns the part of a raw answer that holds the
    answer itself. It makes no sense in a suite whose questions lack one of its `needs`.
    """

    name: str
    title: str
    help: str
    answer: Callable[[Put, Earlier], Sequence[Message]]
    steps: tuple[Step, ...] = ()
    ask: Callable[[str, Put, Earlier], Sequence[Message]] | None = None
    read: Callable[[str], str] = str.strip
    needs: frozenset[str] = frozenset()
