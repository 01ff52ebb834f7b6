"""Sums: a question has a number as its answer, and a step before it repeats the question."""

import re
from pathlib import Path

from benchmark.suites.copies import BadImport, Imported
from benchmark.suites.questions import Parsed, Question, Sample, Step
from workers.providers.contract import Message, Request

STEPS = (Step("repeat", "Repeating", task="tiny-repeat"), Step("sum", "Adding", needs=("repeat",), task="tiny-sum"))


def load(folder: Path, *, most: int = 99) -> Imported:
    try:
        lines = (folder / "sums.txt").read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadImport(f"sums.txt cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise BadImport(f"sums.txt is not UTF-8 (byte {error.start}).") from error
    numbers = [_numbers(at, line) for at, line in enumerate(lines, start=1)]
    return Imported("Sums", [_sample(at, *pair) for at, pair in enumerate(numbers) if pair[0] <= most])


def _numbers(line: int, text: str) -> tuple[int, int]:
    try:
        first, second = map(int, text.split())
    except ValueError as error:
        raise BadImport(f"sums.txt, line {line}: {text[:80]!r}; expected two whole numbers.") from error
    return first, second


def _sample(at: int, first: int, second: int) -> Sample:
    kind = "small" if first + second < 10 else "large"
    content = {"text": f"{first} + {second}", "parity": "even" if (first + second) % 2 == 0 else "odd"}
    return Sample(f"sum-{at}", f"cluster-{at // 2}", content, {"sum": first + second}, category=kind)


def request(question: Question) -> Request:
    text = question.sample.content["text"]
    if question.step == "sum":
        text = f"{question.settings.options['politeness']}: {question.answers['repeat']} = ?"
    kind = "tiny-repeat" if question.step == "repeat" else "tiny-sum"
    return Request(
        messages=(Message("user", text),), max_tokens=20, seed=question.settings.seed, task={"kind": kind, "text": text}
    )


def parse(question: Question, answer: str) -> Parsed:
    if question.step == "repeat":
        return Parsed(None, {"text": answer}, None, None)
    found = re.findall(r"-?\d+", answer)
    said = int(found[-1]) if found else None
    right = None if said is None else float(said == question.sample.gold["sum"])
    return Parsed({"said": said or 0}, {"said": said}, right or 0.0, right, "" if found else "no number")


def expected(question: Question) -> str:
    return str(question.sample.content["text"] if question.step == "repeat" else question.sample.gold["sum"])
