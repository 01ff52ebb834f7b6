"""The calls of Percept-FANToM: who hears what, the questions by the true perceivers, and the questions themselves by a
method."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from benchmark.methods.answering import prompt
from benchmark.methods.contract import Earlier, Method, Put, Scene
from benchmark.methods.perceptom import ORACLE_PERCEPTION, PERCEIVE, PERCEPTOM, Perceived, perceived_by, perceptions_in
from benchmark.methods.program import method_named, parsed_by
from benchmark.suites.fantom_questions.asking import TELL, answer_in, put_of, right_answer, task_of
from benchmark.suites.fantom_questions.data import LIST
from benchmark.suites.perceiving.asking import (
    ANSWER,
    BELIEF,
    METHODS,
    PERCEPTIONS,
    Levels,
    Unit,
    array_of,
    mostly_perceived,
    parsed_perceptions,
    request_of_step,
    steps_telling,
)
from benchmark.suites.percept_fantom.data import part_of, utterances_of
from benchmark.suites.percept_fantom.parsing import (
    official_shares,
    parsed_answer,
    repaired_scenes,
    repaired_shares,
    speakers_of,
)
from benchmark.suites.questions import Parsed, Question, Sample
from workers.providers.contract import Message, Request


def speakers_in(conversation: str) -> list[str]:
    """Return who speaks in a conversation, groups among them, in the order in which they first do."""
    return list(dict.fromkeys(line.partition(": ")[0] for line in conversation.split("\n") if ": " in line))


def about_everybody(put: Put, heard: Callable[[str], Sequence[str]]) -> str:
    """Return the question after what each speaker has `heard`."""
    blocks = [
        f"This is what {name} knows about, in order:\n\n{put.joined.join(heard(name))}"
        for name in speakers_in(put.story)
    ]
    return prompt(put, "\n\n".join(blocks))


def _answer(put: Put, earlier: Earlier) -> Sequence[Message]:
    perceptions: Perceived = perceptions_in(earlier[PERCEIVE])
    return put.messages(about_everybody(put, lambda name: perceived_by(perceptions, [name])))


def _oracle(put: Put, earlier: Earlier) -> Sequence[Message]:
    return put.messages(
        about_everybody(put, lambda name: [scene.text for scene in put.scenes if name in (scene.perceivers or ())])
    )


FOR_LISTS: Mapping[str, Method] = {
    PERCEPTOM.name: replace(PERCEPTOM, answer=_answer),
    ORACLE_PERCEPTION.name: replace(ORACLE_PERCEPTION, answer=_oracle),
}
"""The methods that put such a question in a way of their own, by name."""


STEPS = steps_telling(TELL)


def annotated_put(sample: Sample) -> Put:
    """Return the question as methods put it, with the utterances and who hears them."""
    scenes = zip(utterances_of(sample), sample.gold["perceivers"], strict=True)
    return replace(put_of(sample), scenes=tuple(Scene(text, tuple(names)) for text, names in scenes))


def request(question: Question) -> Request | str:
    """Return the request of one step."""
    sample = question.sample
    put, utterances = annotated_put(sample), utterances_of(sample)
    method, task = _method(question), task_of(question)
    return request_of_step(question, put, utterances, LEVELS, method, task, story="conversation")


def _method(question: Question) -> Method:
    """The method of the run, in its own way for a list."""
    method = method_named(METHODS, question.settings)
    return FOR_LISTS.get(method.name, method) if question.sample.content["kind"] == LIST else method


def _units(sample: Sample) -> list[Unit]:
    heard = zip(utterances_of(sample), sample.gold["perceivers"], strict=True)
    return [({*names}, speakers_of(utterance, names)) for utterance, names in heard]


LEVELS = Levels(
    "percept-fantom perceived",
    # over conversations, of each of which some questions are
    lambda samples: mostly_perceived({part_of(sample.group): sample.gold["perceivers"] for sample in samples}.values()),
    _units,
)


def parse(question: Question, answer: str) -> Parsed:
    """Return what the released code and a careful reader read in an answer; of an earlier step of a method the text as
    it is."""
    sample = question.sample
    if question.step == PERCEPTIONS:
        utterances = utterances_of(sample)
        annotated = (answer, utterances, sample.gold["perceivers"])
        scenes = repaired_scenes(answer, utterances)
        return parsed_perceptions(official_shares(*annotated), repaired_shares(*annotated), scenes, "utterance")
    if question.step == BELIEF:
        return parsed_answer(sample, answer)
    if question.step != ANSWER:
        return Parsed(None, {"text": answer}, None, None)
    method = _method(question)
    parsed = parsed_answer(sample, answer_in(method, answer))
    return parsed_by(method, partial(annotated_put, sample), question.answers, parsed)


def expected(question: Question) -> str:
    """Return what a perfect model would answer."""
    sample = question.sample
    if question.step in (PERCEPTIONS, PERCEIVE):
        return array_of(utterances_of(sample), sample.gold["perceivers"])
    if question.step in (BELIEF, ANSWER):
        return right_answer(sample)
    return str(sample.content["conversation"])
