"""Runs launched and steered over the API: as the pages do, with their forms, refusals and estimates."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from annotation.models import Scope
from benchmark.models import Run
from tests.api.conftest import token_of
from tests.benchmark.methods.world import STEADY, opentom
from tests.benchmark.settled import baselines, make_endpoint, published, work_off

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
RUNS = "/api/v1/projects/minds/runs/"
PLAN = {"dataset": 1, "endpoints": ["majority", "random"], "steps": ["label"]}


@pytest.fixture
def alice(cast, api, make_story):
    published(cast, make_story, count=3)
    baselines()
    return api(cast.alice)


def fields_of(response, status: int = 422) -> dict[str, list[str]]:
    assert response.status_code == status, response.content
    return response.json()["error"]["fields"]


def test_what_is_left_out_is_as_on_a_new_page(alice):
    body = alice.post(RUNS, PLAN, format="json")
    assert body.status_code == 201, body.content
    run = Run.objects.get()
    assert (body.json()["run"], body.json()["models"], run.created_by.username) == (
        run.uid,
        ["majority", "random"],
        "alice",
    )
    chosen = {name: run.params[name] for name in ("seed", "repetitions", "max_tokens", "limit", "batch")}
    assert chosen == {"seed": 1, "repetitions": 1, "max_tokens": 6000, "limit": 0, "batch": False}
    assert (run.steps, run.level, run.judge) == (["label"], 3, None)
    work_off(run)
    assert alice.get(f"{RUNS}{run.uid}/").json()["state"] == "finished"


def test_what_is_given_is_followed(alice):
    options = {"level": 4, "examples": 2}
    more = {
        "limit": 2,
        "seed": 7,
        "repetitions": 2,
        "temperature": 0.5,
        "budget": "1.50",
        "title": "Mine",
        "options": options,
    }
    body = alice.post(RUNS, PLAN | more, format="json").json()
    run = Run.objects.get()
    assert (body["title"], body["budget"], run.level, run.params["examples"]) == ("Mine", "1.5000", 4, 2)
    assert (run.params["limit"], run.params["seed"], run.params["repetitions"], run.params["temperature"]) == (
        2,
        7,
        2,
        0.5,
    )
    assert body["open"] == 8


@pytest.mark.parametrize(
    ("more", "field", "said"),
    [
        ({"dataset": 9}, "dataset", "valid choice"),
        ({"endpoints": ["nobody"]}, "endpoints", "nobody"),
        ({"steps": ["guess"]}, "steps", "guess"),
        ({"steps": ["judge"]}, "steps", ""),
        ({"category": "No such"}, "category", "valid choice"),
        ({"options": {"level": 9}}, "options.level", "valid choice"),
        ({"options": {"levle": 3}}, "options.levle", "There is no such setting; expected"),
        ({"temperature": 3.0}, "temperature", "less than or equal to 2"),
    ],
)
def test_what_is_refused_is_said_at_its_field(alice, more, field, said):
    found = fields_of(alice.post(RUNS, PLAN | more, format="json"))
    assert list(found) == [field] and said in found[field][0]
    assert not Run.objects.exists()


def test_what_is_not_as_described_is_400(alice):
    assert set(fields_of(alice.post(RUNS, {"dataset": "1"}, format="json"), 400)) == {"dataset", "endpoints"}
    assert set(fields_of(alice.post(RUNS, PLAN | {"budget": 5}, format="json"), 400)) == {"budget"}
    long = fields_of(alice.post(RUNS, PLAN | {"max_tokens": 0}, format="json"), 400)
    assert long == {"max_tokens": ["It is 0; expected a whole number from 1 to 200000."]}, "as on the page"


def test_an_estimate_makes_nothing(alice):
    make_endpoint("priced", price_input="1", price_output="2")
    told = alice.post(
        f"{RUNS}estimate/", PLAN | {"endpoints": ["priced", "majority"], "budget": "0.0001"}, format="json"
    )
    estimate = told.json()
    assert (told.status_code, estimate["samples"], estimate["calls"], estimate["in_ledger"]) == (200, 3, 6, None)
    assert estimate["over_budget"] and 0 < estimate["cost"] <= estimate["most"]
    free, priced = estimate["lines"]
    assert (priced["model"], priced["step"], priced["calls"]) == ("priced", "label", 3)
    assert (free["cost"], free["tokens"]) == (0, {"input": 0, "output": 0})
    assert estimate["can_show"][0]["score"] and not Run.objects.exists()
    looked = alice.post(f"{RUNS}estimate/", PLAN | {"ledger": True}, format="json").json()
    assert (looked["in_ledger"], looked["to_make"]) == (0, 6)
    assert "steps" in fields_of(alice.post(f"{RUNS}estimate/", PLAN | {"steps": ["judge"]}, format="json"))


def test_methods_and_controls_are_launched_together(cast, api, tmp_path):
    opentom(cast, tmp_path)
    alice = api(cast.alice)
    launch = {"dataset": 1, "endpoints": [STEADY], "limit": 3, "methods": ["cot", "plain"], "controls": ["renamed"]}
    estimate = alice.post(f"{RUNS}estimate/", launch, format="json").json()
    assert estimate["calls"] == 3 * 2 * 2 and not Run.objects.exists()
    assert [(line["method"], line["control"], line["in_common"]) for line in estimate["lines"]] == [
        ("plain", "", 0), ("plain", "other names", 0), ("chain of thought", "", 0),
        ("chain of thought", "other names", 0),
    ]  # fmt: skip
    body = alice.post(RUNS, launch, format="json").json()
    plain, cot = Run.objects.originals().order_by("pk")
    assert body["run"] == plain.uid and body["settings"]["method"] == "plain"
    assert [(one["name"], one["run"], one["state"]) for one in body["methods"]] == [
        ("plain", plain.uid, "running"), ("cot", cot.uid, "running"),
    ]  # fmt: skip
    assert [(one["name"], one["run"]) for one in body["controls"]] == [("renamed", plain.controls.get().uid)]
    for more, field, said in (
        ({"methods": ["guess"]}, "methods", "guess"),
        ({"controls": ["shuffled"]}, "controls", "shuffled"),
        ({"options": {"method": "cot"}}, "methods", "options.method says the same"),
    ):
        found = fields_of(alice.post(RUNS, launch | more, format="json"))
        assert list(found) == [field] and said in found[field][0], found
    assert Run.objects.originals().count() == 2


def test_a_suite_without_methods_has_none_to_launch(alice):
    assert list(fields_of(alice.post(RUNS, PLAN | {"methods": ["plain"]}, format="json"))) == ["methods"]


def test_a_run_is_steered_as_on_its_page(alice):
    uid = alice.post(RUNS, PLAN, format="json").json()["run"]
    for action, state in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        body = alice.post(f"{RUNS}{uid}/actions/{action}/", {}, format="json")
        assert (body.status_code, body.json()["state"]) == (200, state)
    refused = alice.post(f"{RUNS}{uid}/actions/pause/", {}, format="json")
    assert refused.status_code == 422 and "The run is cancelled; expected running" in refused.json()["error"]["message"]
    assert set(fields_of(alice.post(f"{RUNS}{uid}/actions/pause/", {"budget": "1.00"}, format="json"))) == {"budget"}
    assert alice.post(f"{RUNS}{uid}/actions/dance/", {}, format="json").status_code == 404


def test_a_run_is_extended_and_repeated(alice):
    uid = alice.post(RUNS, PLAN | {"endpoints": ["majority"], "limit": 2}, format="json").json()["run"]
    assert (
        alice.post(f"{RUNS}{uid}/extend/", {"endpoints": ["random"], "more": True}, format="json").json()["open"] == 6
    )
    assert (
        "random"
        in fields_of(alice.post(f"{RUNS}{uid}/extend/", {"endpoints": ["random"]}, format="json"))["endpoints"][0]
    )
    assert "Tick a model" in fields_of(alice.post(f"{RUNS}{uid}/extend/", {}, format="json"))["body"][0]
    again = alice.post(f"{RUNS}{uid}/again/", {}, format="json")
    assert again.status_code == 201 and again.json()["run"] != uid and again.json()["open"] == 6
    assert fields_of(alice.post(f"{RUNS}{uid}/judge/", {"judge": "nobody"}, format="json"))["judge"]


@pytest.mark.parametrize("name", ["bob", "esi"])
def test_only_admins_launch_and_steer(alice, cast, api, name):
    uid = alice.post(RUNS, PLAN, format="json").json()["run"]
    for path in ("", "estimate/", f"{uid}/actions/pause/", f"{uid}/extend/", f"{uid}/again/", f"{uid}/judge/"):
        assert api(getattr(cast, name)).post(f"{RUNS}{path}", PLAN, format="json").status_code == 403
    reader = APIClient()
    reader.credentials(HTTP_AUTHORIZATION=f"Token {token_of(cast.alice, Scope.READ)}")
    assert reader.get(RUNS).status_code == 200 and reader.post(RUNS, PLAN, format="json").status_code == 403
    assert Run.objects.count() == 1
