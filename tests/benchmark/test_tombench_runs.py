"""ToMBench from a user's copy to the leaderboard: every figure follows from the raw answers, as scored apart from the
product."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone

from benchmark.models import Dataset, Run, RunItem
from benchmark.services.launches import start_run
from benchmark.services.plan_checks import check
from benchmark.services.plans import Plan, RunRefused
from benchmark.services.reports import report_of
from benchmark.suites.copies import BadImport
from benchmark.suites.registry import suite_named
from benchmark.suites.tombench.metrics import VotedItem, official_accuracies
from tests.benchmark.importing import import_benchmark
from tests.benchmark.settled import make_endpoint, work_off
from tests.cast import Cast, new_cast
from tests.copies import copied

pytestmark = [pytest.mark.django_db(transaction=True)]
TASK = "Hinting Task Test"


@pytest.fixture
def world(shared, db) -> tuple[Cast, Dataset]:
    """The whole of a user's copy, imported once."""
    return copied("tombench", lambda: _imported(shared / "data" / "ToMBench"))


def _imported(folder: Path) -> tuple[Cast, Dataset]:
    cast, suite = new_cast(), suite_named("tombench")
    dataset, fresh = import_benchmark(by=cast.alice, project=cast.project, suite=suite, folder=folder, options={})
    assert fresh and dataset.stories_count == 5720 and dataset.samples.values("cluster").distinct().count() == 1383
    return cast, dataset


@pytest.fixture
def cast(world) -> Cast:
    return world[0]


@pytest.fixture
def copy(world) -> Dataset:
    return world[1]


def asked(cast, copy, *models: str, **plan) -> Run:
    endpoints = [make_endpoint(name, provider="baseline", model=name) for name in models]
    held = {"category": TASK, "split": "en", "limit": 40, "options": {"method": "direct"}, "repetitions": 3} | plan
    made = Plan(dataset=copy, endpoints=endpoints, steps=["answer"], suite="tombench", **held)
    return work_off(start_run(by=cast.alice, plan=made, now=timezone.now()))


def votes_of(run: Run, model: str) -> list[VotedItem]:
    """The choices of a model, from the letter of each raw answer and the order in which the options were shown."""
    places = RunItem.objects.filter(entrant__run=run, entrant__name=model).select_related("sample", "call")
    found: dict[int, list[RunItem]] = {}
    for place in places.order_by("sample__position", "repetition"):
        found.setdefault(place.sample_id, []).append(place)
    voted = []
    for tries in found.values():
        choices = []
        for one in tries:
            task = json.loads(one.call.body)["task"]
            choices.append(task["originals"][task["letters"].index(one.call.answer.strip("[]"))])
        gold = tries[0].sample.gold
        voted.append(VotedItem(tries[0].sample.category, gold["ability"], gold["cell"], tuple(choices)))
    return voted


def test_every_figure_follows_from_the_raw_answers_and_pages_say_what_was_asked(cast, copy, client):
    run = asked(cast, copy, "random", "first-option", "majority")
    held = {row.name: row.groups["tombench"] for row in report_of(run).entrants}
    for model, metrics in held.items():
        expected = official_accuracies(votes_of(run, model))
        for parse in ("official", "repaired"):
            accuracy = metrics.parses.overall(parse).number_of("accuracy")
            assert accuracy == pytest.approx(expected.overall.value, abs=1e-6)
            told = metrics.analysed(parse).kept["facets"]["ability"]
            abilities = {name.strip(): one for name, one in expected.abilities.items()}
            assert {name: one["n"] for name, one in told.items()} == {
                name: one.items for name, one in abilities.items()
            }
            for name, one in abilities.items():
                assert told[name]["value"] == pytest.approx(one.value)
        spread = metrics.analysed("repaired").kept["repetitions"]
        assert spread["repetitions"] == 3 and spread["lowest"] <= spread["mean"] <= spread["highest"]
    assert held["majority"].analysed("repaired").kept["repetitions"]["same_answer"] == 1.0  # the order does not move it
    client.force_login(cast.alice)
    page = client.get(reverse("benchmark:leaderboard", args=[cast.project.slug])).content.decode()
    assert "ToMBench (English and Chinese), version 1" in page and "Questions" in page
    page = client.get(reverse("benchmark:run_report", args=[cast.project.slug, run.uid])).content.decode()
    assert "Accuracy by task" in page and "Single repetitions" in page and "tombench-1" in page


@pytest.mark.once
def test_what_cannot_be_is_refused_in_one_sentence(cast, copy, tmp_path):
    endpoint = make_endpoint("random", provider="baseline", model="random")
    plan = Plan(copy, [endpoint], ["answer"], "tombench")
    for changed, sentence in (
        ({"steps": ["label"]}, "expected some of s2a-extract, simtom-perspective and answer"),
        ({"options": {"method": "loud"}}, "expected direct or cot or self-ask or s2a or simtom"),
        ({"options": {"tone": 1}}, "it has: method"),
        ({"options": {"answer_format": "structured"}}, "free text alone"),
        ({"repetitions": 0}, "expected 1 to 100"),
        ({"steps": ["label"], "suite": "omnitom"}, "needs a version of the project's own gold"),
    ):
        with pytest.raises(RunRefused, match=sentence):
            check(replace(plan, **changed))
    imported = {"by": None, "project": cast.project, "suite": suite_named("tombench"), "folder": tmp_path}
    for options, sentence in (({}, "is missing"), ({"languages": "fr"}, "expected both or en or zh")):
        with pytest.raises(BadImport, match=sentence):
            import_benchmark(**imported, options=options)
