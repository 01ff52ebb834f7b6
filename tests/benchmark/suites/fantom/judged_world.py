"""Twelve conversations with a belief in free words each, models whose answers state the right belief, the wrong one or
neither as it is known, and judges that see that, err, or say nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmark.models import Dataset, Run
from benchmark.services.reports import report_of
from benchmark.suites.fantom_questions import data
from benchmark.suites.fantom_questions.data import DISTANCE
from benchmark.suites.registry import suite_named
from core.plain import plain
from tests.benchmark.importing import import_benchmark
from tests.benchmark.settled import make_endpoint
from tests.benchmark.suites.fantom.conftest import belief, record
from tests.cast import Cast
from workers.models import Endpoint
from workers.providers.scripted.backend import FUNCTIONS

THINGS = (
    "key", "cake", "ball", "letter", "ring", "ferry", "coin", "lamp", "book", "cap", "drum", "kite",
)  # fmt: skip


def right(thing: str) -> str:
    return f"Bea believes that the {thing} is still where it was."


def wrong(thing: str) -> str:
    return f"Bea believes that the {thing} was carried upstairs."


def said(thing: str, states: str) -> str:
    return {
        "gold": f"She thinks the {thing} has not been moved.",
        "other": f"That the {thing} was brought to the upper floor.",
        "off": f"The {thing} is made of silver.",
    }[states]


def states(model: str, at: int) -> str:
    """What a model's answer about the thing at a place states: eight of twelve right, or three."""
    if model == "careful":
        return "other" if at % 6 == 5 else "off" if at % 6 == 2 else "gold"
    return "gold" if at % 4 == 0 else "other"


def records() -> list[dict[str, Any]]:
    made = []
    for at, thing in enumerate(THINGS):
        text = f"Bea: I have to go.\nIda: Bye, Bea!\nOle: I carried the {thing} upstairs.\nIda: Thank you, Ole."
        asked = belief(f"What does Bea believe about the {thing}?", right(thing), wrong(thing), "inaccessible")
        fact = (f"Where is the {thing}?", "Upstairs.")
        made.append(record(f"{at}-0-0", text, fact, [asked], ["Ole", "Ida"], ["Bea"], []))
    return made


def imported(cast: Cast, folder: Path, monkeypatch) -> Dataset:
    many = len(THINGS)
    counts = {"sets": many, "parts of conversations": many, "questions on facts": many, "questions on beliefs": many}
    monkeypatch.setattr(data, "COUNTS", counts | {"lists": 2 * many, "yes or no questions": 6 * many})
    folder.mkdir(exist_ok=True)
    (folder / "fantom_v1.json").write_text(json.dumps(records()))
    (folder / "LICENSE").write_text("For evaluation only.")
    suite = suite_named("fantom")
    return import_benchmark(by=cast.alice, project=cast.project, suite=suite, folder=folder, options={})[0]


def thing_of(text: str) -> str:
    return next(thing for thing in THINGS if thing in text)


def model(name: str) -> Callable[[Any], str]:
    def answer(body: Any) -> str:
        task = body["task"]
        if task["form"] != DISTANCE:
            return str(task["majority"])
        at = int(task["key"].split("-")[0])
        return said(THINGS[at], states(name, at))

    return answer


def truth(task: Any) -> str:
    """What a perfect judge says of a task: the letter of the belief that the answer states, or neither."""
    thing = thing_of(task["options"][0])
    meant = {
        said(thing, "gold"): right(thing), said(thing, "other"): wrong(thing),
        right(thing): right(thing), wrong(thing): wrong(thing),
    }.get(task["said"])  # fmt: skip
    return "AB"[task["options"].index(meant)] if meant else "neither"


def written(verdict: str, task: Any) -> str:
    return json.dumps({"verdict": verdict}) if task["structured"] else f"I compared both.\nVerdict: {verdict}"


def oracle(body: Any) -> str:
    return written(truth(body["task"]), body["task"])


def blunt(body: Any) -> str:
    """Takes every third answer that states the wrong belief, and every third that states none, for the right one."""
    task, verdict = body["task"], truth(body["task"])
    thing = thing_of(task["options"][0])
    letter = "AB"[task["options"].index(right(thing))]
    return written(letter if THINGS.index(thing) % 3 == 2 else verdict, task)


def unsure(body: Any) -> str:
    """Says nothing of the first thing, cannot tell of the second, refuses to choose of the third."""
    task = body["task"]
    at = THINGS.index(thing_of(task["options"][0]))
    return ("It is a nice answer.", "Verdict: cannot tell", "Verdict: A or B")[at] if at < 3 else oracle(body)


def leaning(body: Any) -> str:
    """Says A of every third thing, whatever stands there."""
    task = body["task"]
    return written("A", task) if THINGS.index(thing_of(task["options"][0])) % 3 == 2 else oracle(body)


JUDGES = {"oracle-judge": oracle, "blunt-judge": blunt, "unsure-judge": unsure, "leaning-judge": leaning}
MODELS = ("careful", "hasty")


def answered_by_functions(monkeypatch) -> None:
    for name in MODELS:
        monkeypatch.setitem(FUNCTIONS, name, model(name))
    for name, judge in JUDGES.items():
        monkeypatch.setitem(FUNCTIONS, name, judge)


def endpoints() -> dict[str, Endpoint]:
    made = {name: make_endpoint(name, model=name, options={"function": name}) for name in (*MODELS, *JUDGES)}
    return made | {"lexical-judge": make_endpoint("lexical-judge", provider="baseline", model="lexical-judge")}


def groups_of(run: Run, model: str) -> Any:
    """The figures of a model by metric group."""
    return next(entrant for entrant in report_of(run).entrants if entrant.name == model).groups


def figures(run: Run, model: str, group: str = "fantom-told") -> Any:
    """The figures of a model in a metric group as the report keeps them."""
    metrics = groups_of(run, model)[group]
    return metrics.parses.told | {
        "analyses": plain(metrics.analyses),
        "reason": metrics.reason,
        "levels": plain(metrics.levels),
    }
