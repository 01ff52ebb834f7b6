"""Twelve conversations with a belief in free words each, models whose answers state the right belief, the wrong one or
neither as it is known, and judges that see that, err, or say nothing."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils import timezone

from benchmark.models import Dataset, Run
from benchmark.services.launches import judging_plans, start_run
from benchmark.services.reports import report_of
from benchmark.suites.fantom_questions import data
from benchmark.suites.fantom_questions.data import DISTANCE
from benchmark.suites.registry import suite_named
from core.plain import plain
from judge.models import Alignment, AlignmentStudy
from judge.services.alignment_tables import load_tables, origin_of, units_of
from judge.services.studies import Plan, make_study
from tests.benchmark.importing import import_benchmark
from tests.benchmark.settled import make_endpoint, started, work_off
from tests.benchmark.suites.fantom.conftest import belief, record
from tests.cast import Cast, new_cast
from tests.judge.alignment_world import answer_all
from workers.models import Endpoint
from workers.providers.scripted.backend import FUNCTIONS

THINGS = ["key", "cake", "ball", "letter", "ring", "ferry", "coin", "lamp", "book", "cap", "drum", "kite"]
MANY = len(THINGS)


def right(thing: str) -> str:
    return f"Bea believes that the {thing} is still where it was."


def wrong(thing: str) -> str:
    return f"Bea believes that the {thing} was carried upstairs."


SAID = {
    "gold": "She thinks the {} has not been moved.",
    "other": "That the {} was brought to the upper floor.",
    "off": "The {} is made of silver.",
}


def states(model: str, at: int) -> str:
    """What a model's answer about the thing at a place states: eight of twelve right, or three."""
    if model == "careful":
        return "other" if at % 6 == 5 else "off" if at % 6 == 2 else "gold"
    return "gold" if at % 4 == 0 else "other"


MODELS = ("careful", "hasty")
RIGHT = {model: [states(model, at) == "gold" for at in range(MANY)] for model in MODELS}
SHARE = {model: sum(rights) / MANY for model, rights in RIGHT.items()}
"""The share of answers that state the right belief."""


def _answering(model: str):
    def answer(body: Any) -> str:
        task = body["task"]
        if task["form"] != DISTANCE:
            return str(task["majority"])
        at = int(task["key"].split("-")[0])
        return SAID[states(model, at)].format(THINGS[at])

    return answer


def thing_in(text: str) -> int:
    return next(at for at, thing in enumerate(THINGS) if thing in text)


def _judging(otherwise):
    """A judge that says what is so, the letter of the belief that an answer states or neither, unless `otherwise` says
    more: of the place of the thing, and of the letter of the right belief."""

    def answer(body: Any) -> str:
        task = body["task"]
        at, options = thing_in(task["options"][0]), task["options"]
        one, other = right(THINGS[at]), wrong(THINGS[at])
        meant = {SAID["gold"]: one, SAID["other"]: other, one: one, other: other}
        stated = {text.format(THINGS[at]): belief for text, belief in meant.items()}.get(task["said"])
        verdict = otherwise(at, "AB"[options.index(one)]) or ("AB"[options.index(stated)] if stated else "neither")
        if len(verdict) > len("neither"):
            return verdict
        return json.dumps({"verdict": verdict}) if task["structured"] else f"I compared both.\nVerdict: {verdict}"

    return answer


VAGUE = ("It is a nice answer.", "Verdict: cannot tell", "Verdict: A or B")
JUDGES = {
    "oracle-judge": lambda at, letter: "",
    "blunt-judge": lambda at, letter: letter if at % 3 == 2 else "",  # takes every third answer for right
    "unsure-judge": lambda at, letter: VAGUE[at] if at < 3 else "",
    "leaning-judge": lambda at, letter: "A" if at % 3 == 2 else "",  # whatever stands there
}


def answered_by_functions(monkeypatch) -> None:
    for name in MODELS:
        monkeypatch.setitem(FUNCTIONS, name, _answering(name))
    for name, otherwise in JUDGES.items():
        monkeypatch.setitem(FUNCTIONS, name, _judging(otherwise))


@dataclass
class World:
    cast: Cast
    dataset: Dataset
    endpoints: dict[str, Endpoint]

    def run(self, judge: str = "", **fields) -> Run:
        models = [self.endpoints[name] for name in MODELS]
        plan = {"suite": "fantom", "self_test": False} | ({"judge": self.endpoints[judge]} if judge else {}) | fields
        return work_off(started(self.cast, self.dataset, models, ["answer"], **plan))

    def judged_anew(self, run: Run, judge: str) -> Run:
        [plan] = judging_plans(run, judges=[self.endpoints[judge]], options={"self_test": False})
        return work_off(start_run(by=self.cast.alice, plan=plan, now=timezone.now()))

    def study(self, run: Run, tables: int, align: bool = True) -> AlignmentStudy:
        """A study of two people; where they `align`, they link an answer with the right text where it states that, and
        say that it has no match elsewhere."""
        study = make_study(
            by=self.cast.alice,
            project=self.cast.project,
            plan=Plan(f"Free beliefs {tables}", tables, overlap=2),
            units=units_of([run]),
            load=lambda keys: load_tables(keys, project=self.cast.project),
            annotators=[self.cast.bob, self.cast.bea],
            origin=origin_of([run]),
            now=timezone.now(),
        )
        for own in Alignment.objects.waiting().select_related("task__study").order_by("pk") if align else ():
            text = own.task.predictions[0][1]
            answer_all(own, **({"p1": "g1"} if text == SAID["gold"].format(THINGS[thing_in(text)]) else {}))
        return study


def judged_world(folder: Path, monkeypatch) -> World:
    cast = new_cast()
    counts = dict(zip(data.COUNTS, (MANY, MANY, MANY, MANY, 2 * MANY, 6 * MANY), strict=True))
    monkeypatch.setattr(data, "COUNTS", counts)
    records = []
    for at, thing in enumerate(THINGS):
        text = f"Bea: I have to go.\nIda: Bye, Bea!\nOle: I carried the {thing} upstairs.\nIda: Thank you, Ole."
        asked = belief(f"What does Bea believe about the {thing}?", right(thing), wrong(thing), "inaccessible")
        fact = (f"Where is the {thing}?", "Upstairs.")
        records.append(record(f"{at}-0-0", text, fact, [asked], ["Ole", "Ida"], ["Bea"], []))
    (folder / "fantom_v1.json").write_text(json.dumps(records))
    (folder / "LICENSE").write_text("For evaluation only.")
    suite = suite_named("fantom")
    dataset, _ = import_benchmark(by=cast.alice, project=cast.project, suite=suite, folder=folder, options={})
    endpoints = {name: make_endpoint(name, model=name, options={"function": name}) for name in (*MODELS, *JUDGES)}
    endpoints["lexical-judge"] = make_endpoint("lexical-judge", provider="baseline", model="lexical-judge")
    return World(cast, dataset, endpoints)


def groups_of(run: Run, model: str) -> Any:
    """The figures of a model by metric group."""
    return next(entrant for entrant in report_of(run).entrants if entrant.name == model).groups


def figures(run: Run, model: str, group: str = "fantom-told") -> Any:
    """The figures of a model in a metric group as the report keeps them."""
    metrics = groups_of(run, model)[group]
    told = {"analyses": plain(metrics.analyses), "reason": metrics.reason, "levels": plain(metrics.levels)}
    return metrics.parses.told | told


def overall_of(run: Run, model: str) -> Any:
    return figures(run, model)["repaired"]["overall"]
