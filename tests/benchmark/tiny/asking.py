"""Sums: a question has a number as its answer, and a step before it repeats the question."""

from __future__ import annotations

import re

from benchmark.suites.contract import BadImport, Imported, Parsed, Question, Sample, Step
from workers.providers.contract import Message, Request

STEPS = (Step("repeat", "Repeating", task="tiny-repeat"), Step("sum", "Adding", needs=("repeat",), task="tiny-sum"))


def load(folder, *, most: int = 99) -> Imported:
    try:
        lines = (folder / "sums.txt").read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadImport(f"sums.txt cannot be read ({error.strerror}).") from error
    return Imported("Sums", [_sample(at, line) for at, line in enumerate(lines) if int(line.split()[0]) <= most])


def _sample(at: int, line: str) -> Sample:
    first, second = map(int, line.split())
    kind = "small" if first + second < 10 else "large"
    content = {"text": f"{first} + {second}", "parity": "even" if (first + second) % 2 == 0 else "odd"}
    return Sample(f"sum-{at}", f"cluster-{at // 2}", content, {"sum": first + second}, category=kind)


def request(question: Question) -> Request:
    text = question.sample.content["text"]
    if question.step == "sum":
        text = f"{question.settings['politeness']}: {question.answers['repeat']} = ?"
    kind = "tiny-repeat" if question.step == "repeat" else "tiny-sum"
    return Request(
        messages=(Message("user", text),),
        max_tokens=20,
        seed=question.settings["seed"],
        task={"kind": kind, "text": text},
    )


def parse(question: Question, answer: str) -> Parsed:
    if question.step == "repeat":
        return Parsed(None, {"text": answer}, None, None)
    found = re.findall(r"-?\d+", answer)
    said = int(found[-1]) if found else None
    right = None if said is None else float(said == question.sample.gold["sum"])
    return Parsed({"said": said or 0}, {"said": said}, right or 0.0, right, "" if found else "no number")


def expected(question: Question) -> str:
    return question.sample.content["text"] if question.step == "repeat" else str(question.sample.gold["sum"])
