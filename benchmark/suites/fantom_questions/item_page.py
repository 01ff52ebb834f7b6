"""The page of an item: the conversation, the question, what is right and what was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from benchmark.suites.fantom_questions.question_types import ORDERS, SCENARIOS
from benchmark.suites.fantom_questions.rows import ANSWERABILITY, CHOICE, DISTANCE, FACT, INFORMATION, LIST, YES
from benchmark.suites.questions import Beside, ItemContext, ItemView, Sample, SuiteData
from benchmark.suites.reasons import note_of

_ANSWERS = {1: "yes", 0: "no", -1: "neither yes nor no"}
_LONGEST_IN_A_SET, _LONGEST_ANSWER = 80, 300
"""Characters of a right text and of an answer in the table of a set."""


def item_of(view: ItemView, *steps: str, scenarios: Mapping[str, str] = SCENARIOS) -> ItemContext:
    """Return what the page of an item shows; at `steps` questions are answered, and the others of the set stand in a
    table. `scenarios` is what scenarios are called."""
    sample = view.question.sample
    content = sample.content
    answered = view.answer is not None and view.question.step in steps
    parses = {"Official": view.official, "Repaired": None if view.unreadable else view.repaired}
    return {
        "conversation": content["conversation"],
        "question": content["question"],
        "about": _about(content),
        "options": [f"({letter}) {text}" for letter, text in zip("ab", content["options"], strict=False)],
        "type": sample.category,
        "scenario": scenarios.get(content["scenario"], ""),
        "order": ORDERS.get(content["order"], ""),
        "right": right_of(sample),
        "wrong": _wrong(sample),
        "parses": [_parse(name, sample, parse) for name, parse in parses.items()] if answered else [],
        "unreadable": note_of(view.unreadable) if answered else "",
        "outside": _outside(sample, parses["Repaired"]) if answered else "",
        "fact": f"{content['fact_question']} {content['fact_answer']}",
        "questions": _questions(view, scenarios) if view.question.step in steps else [],
    }


def _outside(sample: Sample, parse: SuiteData | None) -> str:
    """The part of an answer that is none of the possible answers, empty without one."""
    if not parse:
        return ""
    names = sample.content["names"]
    return str(parse.get("outside") or ", ".join(name for name in parse.get("named", ()) if name not in names))


def _questions(view: ItemView, scenarios: Mapping[str, str]) -> Sequence[ItemContext]:
    """The questions of the set with their answers, that of the page among them; none where it is alone."""
    here = view.question.sample.key
    return (
        [_row(beside, beside.sample.key == here, scenarios) for beside in view.beside] if len(view.beside) > 1 else []
    )


def _row(beside: Beside, here: bool, scenarios: Mapping[str, str]) -> ItemContext:
    sample, answer = beside.sample, beside.answer
    official = _parse("official", sample, beside.official) if answer is not None else None
    repaired = (
        _parse("repaired", sample, None if beside.unreadable else beside.repaired) if answer is not None else None
    )
    return {
        "item": beside.item,
        "here": here,
        "type": sample.category,
        "question": sample.content["question"],
        "scenario": scenarios.get(sample.content["scenario"], ""),
        "right": _shortened(right_of(sample), _LONGEST_IN_A_SET),
        "answer": answer if answer is None else _shortened(answer, _LONGEST_ANSWER),
        "official": official,
        "repaired": replace(repaired, verdict="unreadable") if repaired and beside.unreadable else repaired,
    }


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most].rstrip()} …"


def _about(content: SuiteData) -> str:
    """The subject of a question on who knows."""
    if content["topic"] == ANSWERABILITY:
        return str(content["fact_question"])
    return f"{content['fact_question']} {content['fact_answer']}" if content["topic"] == INFORMATION else ""


def right_of(sample: Sample) -> str:
    """Return the right answer to a question, in words."""
    kind, right = sample.content["kind"], sample.gold["right"]
    if kind == CHOICE:
        return f"({'ab'[sample.gold['key']]}) {right[0]}"
    if kind == LIST or kind in (FACT, DISTANCE):
        return ", ".join(right) or "nobody"
    return "yes" if right[0] == YES else "no"


def _wrong(sample: Sample) -> str:
    return ", ".join(sample.gold["wrong"]) if sample.content["kind"] in (LIST, DISTANCE) else ""


@dataclass(frozen=True, slots=True)
class ShownParse:
    """What the parse `name` read in an answer, and its verdict, both in words."""

    name: str
    read: str
    verdict: str
    wrong: bool = False


def _parse(name: str, sample: Sample, parse: SuiteData | None) -> ShownParse:
    if not parse:
        return ShownParse(name, "nothing", "–")
    if "right" not in parse:
        return ShownParse(name, "the answer", f"token F1 {parse['f1']:.2f}")
    verdict = "right" if parse["right"] else "wrong"
    return ShownParse(name, parse_text(sample.content["kind"], parse), verdict, wrong=not parse["right"])


def says(sample: Sample, parse: SuiteData) -> str:
    """Return what an answer says, alike under controls: names by their place among those of the set, of two options or
    texts which."""
    kind = sample.content["kind"]
    if kind == LIST:
        names = list(sample.content["names"])
        return (
            ",".join(sorted(str(names.index(name)) if name in names else name for name in parse["named"])) or "nobody"
        )
    if parse.get("outside"):
        return str(parse["outside"]).casefold()
    if kind in (CHOICE, DISTANCE):
        return "right" if parse["right"] else "wrong"
    return f"{parse['f1']:.6g}" if "f1" in parse else parse_text(kind, parse)


def parse_text(kind: str, parse: SuiteData) -> str:
    """Return what a parse with a verdict takes an answer for, in words."""
    if kind == DISTANCE:
        right, wrong = parse["near"]
        return f"cosine with the right text {right:.3f}, with the wrong one {wrong:.3f}"
    if kind == LIST:
        return ", ".join(parse["named"]) or "nobody"
    if parse.get("outside"):
        return f"“{parse['outside']}”"
    if kind == CHOICE:
        return "whether it names the right option" if parse["said"] is None else f"({'ab'[parse['said']]})"
    return _ANSWERS[parse["said"]]
