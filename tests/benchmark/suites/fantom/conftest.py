"""A small copy in the shape of the benchmark's file, in words of our own: three sets on two conversations."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.suites.fantom_questions import data

COUNTS = dict(zip(data.COUNTS, (3, 3, 3, 4, 6, 18), strict=True))
"""How many sets, parts, facts, beliefs, lists and yes or no questions the copy holds."""
_GARDEN = (
    "Bea: I must fetch my bike.\nIda: See you, Bea!\nOle: The pears in my garden are ripe.\nIda: I will bring a ladder."
)
_HARBOUR = "Tom: The ferry is late today.\nUna: It waits for the tide.\nVic: I saw it behind the pier."


def belief(question: str, right: str, wrong: str, scenario: str, order: str = "first-order") -> dict[str, str]:
    asked = {"question": question, "question_type": f"tom:belief:{scenario}", "tom_type": order}
    return {**asked, "correct_answer": right, "wrong_answer": wrong, "missed_info_accessibility": scenario}


def _knowing(topic: str, key: str, right: list[str], wrong: list[str], absent: list[str]) -> dict[str, Any]:
    about = "this question" if topic == "answerability" else "this"

    def asked(form: str, question: str, answer: Any) -> dict[str, Any]:
        scenario = "inaccessible" if wrong else "accessible"
        told = {"question": question, "question_type": f"tom:{topic}:{form}", "correct_answer": answer}
        return {**told, "missed_info_accessibility": scenario}

    said = [(name, "yes") for name in right] + [(name, "no") for name in wrong] + [(name, "no:long") for name in absent]
    return {
        f"{key}_list": asked("list", f"Who knows {about}?", right) | {"wrong_answer": [*wrong, *absent]},
        f"{key}s_binary": [asked("binary", f"Does {name} know {about}?", answer) for name, answer in said],
    }


def record(set_id: str, text: str, fact: tuple[str, str], beliefs: list[dict[str, str]], *people: list[str]) -> dict:
    """A set; `people` are those who know, those who do not, and those who came later."""
    return {
        "conv_id": int(set_id.split("-")[0]),
        "part_id": set_id.rpartition("-")[0],
        "set_id": set_id,
        "short_context": text,
        "full_context": f"{text}\nPia: Good evening to all of you.",
        "factQA": {"question": fact[0], "question_type": "fact", "correct_answer": fact[1], "wrong_answer": ""},
        "beliefQAs": beliefs,
        **_knowing("answerability", "answerabilityQA", *people),
        **_knowing("info_accessibility", "infoAccessibilityQA", *people),
    }


def records() -> list[dict[str, Any]]:
    """One set with a false belief alone, one of which a belief is accessible, one that is accessible as a whole."""
    unaware = belief(
        "What does Bea believe about the pears of Ole?",
        "Bea has heard nothing of the pears, for she was away.",
        "Bea believes that the pears of Ole are ripe.",
        "inaccessible",
    )
    nested = belief(
        "What does Ida believe that Bea thinks about the ladder?",
        "Ida believes that Bea does not know of any ladder.",
        "Ida believes that Bea thinks a ladder will be brought.",
        "inaccessible",
        "second-order:acyclic",
    )
    shared = belief(
        "What does Ole believe about the ladder?",
        "Ole believes that Ida will bring it.",
        "Ole is not aware that somebody will bring one.",
        "accessible",
    )
    aware = belief(
        "What does Una believe about the ferry?",
        "Una believes that it waits for the tide.",
        "Una does not know why it is late.",
        "accessible",
    )
    return [
        record("1-0-0", _GARDEN, ("What is ripe?", "The pears are ripe."), [unaware], ["Ole", "Ida"], ["Bea"], []),
        record("1-1-0", _GARDEN, ("Who brings a ladder?", "Ida does."), [nested, shared], ["Ole", "Ida"], ["Bea"], []),
        record("2-0-0", _HARBOUR, ("What is late?", "The ferry is late."), [aware], ["Tom", "Una", "Vic"], [], []),
    ]


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Write the copy, or other records, into a folder with a licence and return the folder; its counts are taken for
    those of the released file."""
    monkeypatch.setattr(data, "COUNTS", COUNTS)

    def write(value: Any = None, *, licence: str | None = "For evaluation only.") -> Path:
        folder = tmp_path / "fantom"
        folder.mkdir(exist_ok=True)
        (folder / "fantom_v1.json").write_text(json.dumps(records() if value is None else value))
        if licence is not None:
            (folder / "LICENSE").write_text(licence)
        return folder

    return write
