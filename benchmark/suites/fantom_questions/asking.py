"""A question about a conversation as it is put, and the answer that is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmark.methods.contract import Method, Put
from benchmark.suites.fantom_questions.parses import Parse
from benchmark.suites.fantom_questions.rows import ANSWERABILITY, CHOICE, DISTANCE, FACT, INFORMATION, LIST, YES, YES_NO
from benchmark.suites.questions import Sample

_HOW: Mapping[str, str] = {
    FACT: "Answer in one sentence",
    DISTANCE: "Answer in one sentence",
    CHOICE: "Answer with (a) or (b)",
    LIST: "Answer with their names, separated by commas",
    YES_NO: "Answer yes or no",
}


def put_of(sample: Sample) -> Put:
    """Return the question as methods put it."""
    content = sample.content
    how = _HOW[content["kind"]]
    return Put(
        story=content["conversation"],
        question=_asked(content),
        how=f"{how}, and nothing else.",
        how_after=f"{how} there.",
        people=tuple(content["people"]),
        joined="\n",
        kind="utterance",
    )


def _asked(content: Mapping[str, Any]) -> str:
    """The question with what it is about, or with its options."""
    if content["topic"] == ANSWERABILITY:
        return f"{content['question']}\nThe question meant is: {content['fact_question']}"
    if content["topic"] == INFORMATION:
        return f"{content['question']}\nThe information meant is: {content['fact_question']} {content['fact_answer']}"
    options = [f"({letter}) {text}" for letter, text in zip("ab", content["options"], strict=False)]
    return "\n".join([content["question"], *options])


def answer_in(method: Method, answer: str) -> str:
    """Return the part of an answer that holds the answer itself; where that is all of it as it came, since the released
    code strips nothing."""
    return answer if method.read is str.strip else method.read(answer)


def score_of(parse: Parse) -> float:
    """Return 1 for right and 0 for wrong, of a fact its F1."""
    return float(parse["right"] if "right" in parse else parse["f1"])


def right_answer(sample: Sample) -> str:
    """Return what a perfect model would answer."""
    kind, right = sample.content["kind"], sample.gold["right"]
    if kind == CHOICE:
        return f"({'ab'[sample.gold['key']]})"
    if kind == YES_NO:
        return "yes" if right[0] == YES else "no"
    return ", ".join(right) or "Nobody"
