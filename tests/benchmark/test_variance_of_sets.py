"""What the variance of each score lies between where several scores are of the same answers, as those of sets are."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, variance
from typing import Any

import pytest
from django.utils import timezone

from benchmark.models import Run, RunItem
from benchmark.services.documents import document_of, tables_of
from benchmark.services.launches import start_run
from benchmark.suites.fantom_questions import data as questions
from benchmark.suites.fantom_questions.asking import TELL, right_answer
from benchmark.suites.fantom_questions.data import CHOICE, DISTANCE, FACT, INACCESSIBLE, LIST, YES_NO
from benchmark.suites.perceiving.asking import array_of
from benchmark.suites.percept_fantom import data
from benchmark.suites.percept_fantom.data import utterances_of
from benchmark.suites.questions import Sample
from benchmark.suites.registry import suite_named
from tests.benchmark.importing import import_benchmark
from tests.benchmark.planning import planned
from tests.benchmark.settled import make_endpoint, work_off
from tests.benchmark.suites.fantom.conftest import belief, record
from tests.benchmark.suites.percept_fantom import own
from workers.providers.scripted.backend import FUNCTIONS

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
TURNS, SETS = 2, 10
FIRST = 20
"""Number of the first conversation: Percept-FANToM leaves out some before."""
LOST = {2, 3, 6, 7}
"""Conversations about which it errs whenever it is asked."""
RATE = 0.08
"""How likely it errs elsewhere, in each repetition anew."""
EACH = SETS // 2
"""Sets of false belief, as many as of true belief."""


def records() -> list[dict[str, Any]]:
    """Conversations with a set of questions each, in turns on what somebody missed and on what both heard."""
    made = []
    for at in range(SETS):
        text = f"Bea: I have to go.\nIda: The lamp {at} is upstairs."
        scenario, people = (("inaccessible", (["Ida"], ["Bea"])), ("accessible", (["Ida", "Bea"], [])))[at % 2]
        asked = belief(f"What does Bea think of lamp {at}?", f"Lamp {at} is up.", f"Lamp {at} is lost.", scenario)
        fact = (f"Where is lamp {at}?", "It is upstairs.")
        made.append(record(f"{FIRST + at}-0-0", text, fact, [asked], *people, []))
    return made


def perceivers() -> list[dict[str, Any]]:
    """Who hears each utterance: Bea has left before the second where she missed it."""
    return [
        {"part_id": f"{FIRST + at}-0", "utterance": text, "utterance_symbol_removed": text, "perceivers": names}
        for at, made in enumerate(records())
        for text, names in zip(
            made["short_context"].split("\n"), (["Bea", "Ida"], ["Ida"] if at % 2 == 0 else ["Bea", "Ida"]), strict=True
        )
    ]


def wrong_answer(sample: Sample) -> str:
    kind = sample.content["kind"]
    if kind == CHOICE:
        return f"({'ba'[sample.gold['key']]})"
    if kind == YES_NO:
        return "no" if right_answer(sample) == "yes" else "yes"
    if kind == DISTANCE:
        return str(sample.gold["wrong"][0])
    return {LIST: "Bea", FACT: "It is down."}[kind]


def lapsing(data: list[Sample]) -> Callable[[Any], str]:
    """A model that errs about some conversations whenever it is asked, and about others now and then."""
    by_key = {sample.key: sample for sample in data}
    heard = {tuple(utterances_of(sample)): sample.gold.get("perceivers") for sample in data}

    def answer(body: Any) -> str:
        task, asked = body["task"], str(body["messages"])
        errs = int(re.findall(r"lamp (\d+)", asked)[-1]) in LOST
        errs = errs or random.Random(f"{asked} {body['seed']}").random() < RATE
        if task["kind"] == TELL:
            return (wrong_answer if errs else right_answer)(by_key[task["key"]])
        names = heard[tuple(task["sentences"])]
        return array_of(task["sentences"], [names[0], ["Bea"]] if errs else names)

    return answer


def run_of(suite: str, cast, folder: Path, monkeypatch) -> Run:
    """A run that asked a model everything twice."""
    counts = {"sets": SETS, "parts of conversations": SETS, "questions on facts": SETS, "questions on beliefs": SETS}
    own.write(folder, perceivers(), records=records())
    own.released(monkeypatch, folder)
    monkeypatch.setattr(questions, "COUNTS", counts | {"lists": 2 * SETS, "yes or no questions": 4 * SETS})
    monkeypatch.setattr(data, "COUNTS", dict(zip(data.COUNTS, (SETS, EACH, EACH), strict=True)))
    monkeypatch.setattr(data, "PARTS", SETS)
    monkeypatch.setattr(data, "UTTERANCES", 2 * SETS)
    definition = suite_named(suite)
    dataset = import_benchmark(by=cast.alice, project=cast.project, suite=definition, folder=folder, options={})[0]
    monkeypatch.setitem(FUNCTIONS, "lapsing", lapsing(definition.copied.load(folder).samples))
    model = make_endpoint("lapsing", model="lapsing", options={"function": "lapsing"})
    settings = {"precursors": True} if suite == "percept-fantom" else {}
    plan = planned(dataset, [model], ["answer"], suite=suite, method="plain", repetitions=TURNS, **settings)
    return work_off(start_run(by=cast.alice, plan=plan, now=timezone.now()))


@dataclass(frozen=True)
class Counted:
    """How a score is counted: at which step, of which questions, as a whole set or one by one."""

    step: str
    counts: Callable[[Mapping[str, Any]], bool]
    as_set: bool = True
    share: str = "right"


def is_false(content: Mapping[str, Any]) -> bool:
    return bool(content["scenario"] == INACCESSIBLE and content["kind"] != FACT)


def is_true(content: Mapping[str, Any]) -> bool:
    return bool(content["scenario"] != INACCESSIBLE and content["kind"] not in (FACT, DISTANCE))


def is_read(content: Mapping[str, Any]) -> bool:
    return is_false(content) and content["kind"] != DISTANCE


COUNTED = {
    "fantom": {
        "fantom": Counted("answer", is_read),
        "fantom-star-toy": Counted("answer", is_false),
        "fantom-control": Counted("answer", is_true),
        "fantom-questions": Counted("answer", lambda content: content["kind"] != FACT, as_set=False),
        "fantom-facts": Counted("answer", lambda content: content["kind"] == FACT, as_set=False, share="f1"),
    },
    "percept-fantom": {
        "percept-fantom": Counted("answer", is_false),
        "percept-fantom-true": Counted("answer", is_true),
        "percept-fantom-questions": Counted("answer", lambda content: True, as_set=False),
        "percept-fantom-perception": Counted("perceptions", lambda content: True, share="perception_recall"),
        "percept-fantom-belief": Counted("belief", is_false),
        "percept-fantom-belief-true": Counted("belief", is_true),
    },
}


def counted(run: Run, how: Counted) -> list[list[float]]:
    """The scores of each sample or set by repetition, from what was read of each answer."""
    scores: dict[str, dict[int, list[float]]] = {}
    for item in RunItem.objects.filter(entrant__run=run, step=how.step).select_related("sample"):
        if how.counts(item.sample.content):
            unit = item.sample.group if how.as_set else item.sample.key
            turns = scores.setdefault(unit, {})
            turns.setdefault(item.repetition, []).append(float(item.repaired[how.share]))
    return [[min(turns[turn]) for turn in range(TURNS)] for turns in scores.values()]


def between_units(table: list[list[float]]) -> float:
    """The share of the variance that lies between the rows: by the mean squares of the analysis of variance."""
    within = fmean([variance(row) for row in table])
    between = TURNS * variance([fmean(row) for row in table])
    component = max(0.0, (between - within) / TURNS)
    return component / (component + within) if component else 0.0


@pytest.mark.parametrize("suite", COUNTED)
def test_the_variance_of_every_score_is_split(suite, cast, tmp_path, monkeypatch):
    run = run_of(suite, cast, tmp_path, monkeypatch)
    tables = tables_of(document_of(run))
    shares = {}
    for group, how in COUNTED[suite].items():
        [row] = tables[f"repetitions-{group}-repaired"]().rows
        shares[group] = row["of_samples"].value
        assert shares[group] == pytest.approx(between_units(counted(run, how))), group
        assert row["of_repetitions"].value == pytest.approx(1 - shares[group])
    assert {group.key for group in suite_named(suite).groups if f"repetitions-{group.key}-repaired" in tables} == {
        *COUNTED[suite]
    }
    of_answers = {shares[group] for group, how in COUNTED[suite].items() if how.step == "answer"}
    assert len(of_answers) > 2, "scores of the same answers differ in it"
