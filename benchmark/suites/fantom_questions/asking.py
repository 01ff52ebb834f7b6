"""A question about a conversation as it is put, and the answer that is right."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmark.controls.contract import Controllable, Spellings
from benchmark.controls.renaming import single_names, spelled, texts_at
from benchmark.methods.contract import Method, Put
from benchmark.methods.perceptom import NOTHING_PERCEIVED, PERCEPTOM
from benchmark.suites.fantom_questions.data import ANSWERABILITY, CHOICE, DISTANCE, FACT, INFORMATION, LIST, YES, YES_NO
from benchmark.suites.questions import Question, Resources, Sample
from core.plain import Json
from workers.providers.baseline.baseline import Baseline, generator, seeded
from workers.providers.contract import Body

_HOW: Mapping[str, str] = {
    FACT: "Answer in one sentence",
    DISTANCE: "Answer in one sentence",
    CHOICE: "Answer with (a) or (b)",
    LIST: "Answer with their names, separated by commas",
    YES_NO: "Answer yes or no",
}


def put_of(sample: Sample) -> Put:
    """Return the question as methods put it, with what it is about, or with its options."""
    content = sample.content
    how, question = _HOW[content["kind"]], content["question"]
    if content["topic"] == ANSWERABILITY:
        question += f"\nThe question meant is: {content['fact_question']}"
    elif content["topic"] == INFORMATION:
        question += f"\nThe information meant is: {content['fact_question']} {content['fact_answer']}"
    else:
        options = [f"({letter}) {text}" for letter, text in zip("ab", content["options"], strict=False)]
        question = "\n".join([question, *options])
    return Put(
        story=content["conversation"],
        question=question,
        how=f"{how}, and nothing else.",
        how_after=f"{how} there.",
        people=tuple(content["people"]),
        joined="\n",
        kind="utterance",
    )


def answer_in(method: Method, answer: str) -> str:
    """Return the part of an answer that holds the answer itself; where that is all of it as it came, since the released
    code strips nothing."""
    return answer if method.read is str.strip else method.read(answer)


def right_answer(sample: Sample) -> str:
    """Return what a perfect model would answer."""
    kind, right = sample.content["kind"], sample.gold["right"]
    if kind == CHOICE:
        return f"({'ab'[sample.gold['key']]})"
    if kind == YES_NO:
        return "yes" if right[0] == YES else "no"
    return ", ".join(right) or "Nobody"


TELL = "fantom"
"""The kind of task: {"key", "form" (the kind of question), "choices" (what may be answered, of a list each name),
"majority" (the answer that is right most often of its kind and topic)}."""
MAJORITY = "fantom majority"
"""The name under which `majority_answers` are derived."""
UNKNOWING = "I do not know."
"""The answer where nothing is to choose from."""


def task_of(question: Question) -> Json:
    """Return the question as data."""
    sample, kind = question.sample, question.sample.content["kind"]
    names = list(sample.content["names"])
    # the order of both texts of a belief says nothing of which is right
    texts = sorted([*sample.gold["right"], *sample.gold["wrong"]])
    choices = {DISTANCE: texts, CHOICE: ["(a)", "(b)"], YES_NO: ["yes", "no"], LIST: names}.get(kind, [])
    majority = _majority(sample, question.resources)
    return {"kind": TELL, "key": sample.key, "form": kind, "choices": choices, "majority": majority}


def _majority(sample: Sample, resources: Resources) -> str:
    most = resources.derived(MAJORITY, majority_answers)[sample.category]
    return ", ".join(sample.content["names"]) if most == "everybody" else most


def majority_answers(samples: Sequence[Sample]) -> dict[str, str]:
    """Return the answer that is right most often, by type of question; of a list "everybody" where most characters
    know, else that nobody does."""
    counts: dict[str, Counter[str]] = {}
    for sample in samples:
        kind, right = sample.content["kind"], sample.gold["right"]
        votes = {right_answer(sample) if kind in (CHOICE, YES_NO) else UNKNOWING: 1}
        if kind == LIST:
            votes = {"everybody": len(right), "Nobody": len(sample.content["names"]) - len(right)}
        counts.setdefault(sample.category, Counter()).update(votes)
    return {name: max(sorted(answers), key=answers.__getitem__) for name, answers in sorted(counts.items())}


def by_majority(sample: Sample, resources: Resources) -> float | None:
    """Return whether the answer that is right most often of its type is right; None of one in free words, of which
    there is none. Of a list who knows has to be named, and nobody who does not."""
    kind, gold, answer = sample.content["kind"], sample.gold, _majority(sample, resources)
    if kind == LIST:
        named = set() if answer == "Nobody" else {*sample.content["names"]}
        return float({*gold["right"]} <= named and named.isdisjoint(gold["wrong"]))
    return float(answer == right_answer(sample)) if kind in (CHOICE, YES_NO) else None


def _random(body: Body) -> str:
    task = body["task"]
    drawn = generator(body, task["key"])
    if task["form"] == LIST:
        return ", ".join(name for name in task["choices"] if drawn.random() < 0.5) or "Nobody"
    return str(drawn.choice(task["choices"])) if task["choices"] else UNKNOWING


_TASK = {"key": "x", "form": YES_NO, "choices": ["yes", "no"], "majority": "no"}
BASELINES = (
    Baseline(name="random", task=TELL, answer=_random, sample=_TASK, settings=seeded),
    Baseline(name="majority", task=TELL, answer=lambda body: str(body["task"]["majority"]), sample=_TASK),
)


def by_chance(sample: Sample) -> float | None:
    """Return one half of a choice, of yes or no, and of both texts of a belief in free words; of a list, each name
    being named or not, one half to the power of the names that have to be told apart. None of a fact, where nothing is
    to choose from."""
    kind = sample.content["kind"]
    if kind != LIST:
        return 0.5 if kind in (CHOICE, YES_NO, DISTANCE) else None
    names, right = {*sample.content["names"]}, {*sample.gold["right"]}
    return 0.5 ** len(names & (right | {*sample.gold["wrong"]})) if right <= names else 0.0


_SPEAKER = re.compile(r"^(\w[\w’',& -]*):", re.MULTILINE)
TEXTS = (
    "content.conversation", "content.question", "content.options", "content.fact_question", "content.fact_answer",
    "content.character", "content.people",
    "content.names", "gold.right", "gold.wrong",
)  # fmt: skip


def named_in(sample: Sample) -> list[str]:
    """Return those who speak, and those whom the questions are about."""
    return single_names([*_SPEAKER.findall(sample.content["conversation"]), *sample.content["names"]])


def people_of(sample: Sample) -> list[Spellings]:
    """Return those who speak and those whom the questions are about, with the spellings that conversation and questions
    have of their names."""
    return spelled(named_in(sample), sample.content["names"], texts_at(sample, TEXTS))


def _reordered(sample: Sample, order: Sequence[int]) -> Sample:
    """The sample with its options in another order."""
    options = sample.content["options"]
    return replace(
        sample,
        content={**sample.content, "options": [options[place] for place in order]},
        gold={**sample.gold, "key": order.index(sample.gold["key"])},
    )


CONTROLS = Controllable(
    story="conversation",
    texts=TEXTS,
    named=people_of,
    reordered=_reordered,
    refused={"storyless": {PERCEPTOM.name: NOTHING_PERCEIVED}},
)  # fmt: skip
