"""Runs launched and steered over the API: as the pages do, with their forms, refusals and estimates."""

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
def minds(cast, make_story):
    published(cast, make_story, count=3)
    baselines()


@pytest.fixture
def post(cast, api):
    """`post(path, body)` as Alice."""
    alice = api(cast.alice)
    return lambda path, body: alice.post(f"{RUNS}{path}", body, format="json")


def fields_of(response, status: int = 422) -> dict[str, list[str]]:
    assert response.status_code == status, response.content
    return response.json()["error"]["fields"]


def test_a_run_is_launched_with_what_is_given_and_else_as_on_a_new_page(minds, cast, api, post):
    answer = post("", PLAN)
    assert answer.status_code == 201, answer.content
    run = Run.objects.get()
    assert (answer.json()["run"], answer.json()["models"]) == (run.uid, ["majority", "random"])
    defaults = {"seed": 1, "repetitions": 1, "max_tokens": 6000, "limit": 0, "batch": False}
    assert defaults.items() <= run.params.items()
    assert (run.created_by, run.steps, run.level, run.judge) == (cast.alice, ["label"], 3, None)
    work_off(run)
    assert api(cast.alice).get(f"{RUNS}{run.uid}/").json()["state"] == "finished"
    given = {"limit": 2, "seed": 7, "repetitions": 2, "temperature": 0.5}
    more = given | {"budget": "1.50", "title": "Mine", "options": {"level": 4, "examples": 2}}
    body = post("", PLAN | more).json()
    run = Run.objects.get(uid=body["run"])
    assert (body["title"], body["budget"], body["open"], run.level) == ("Mine", "1.5000", 8, 4)
    assert (given | {"examples": 2}).items() <= run.params.items()


def test_what_is_refused_is_said_at_its_field(minds, cast, api, post):
    for more, field, said in (
        ({"dataset": 9}, "dataset", "valid choice"),
        ({"endpoints": ["nobody"]}, "endpoints", "nobody"),
        ({"steps": ["guess"]}, "steps", "guess"),
        ({"steps": ["judge"]}, "steps", ""),
        ({"category": "No such"}, "category", "valid choice"),
        ({"options": {"level": 9}}, "options.level", "valid choice"),
        ({"options": {"levle": 3}}, "options.levle", "There is no such setting; expected"),
        ({"temperature": 3.0}, "temperature", "less than or equal to 2"),
        ({"methods": ["plain"]}, "methods", ""),  # this suite has none
    ):
        found = fields_of(post("", PLAN | more))
        assert list(found) == [field] and said in found[field][0], more
    for wrong, fields in (({"dataset": "1"}, {"dataset", "endpoints"}), (PLAN | {"budget": 5}, {"budget"})):
        assert set(fields_of(post("", wrong), 400)) == fields
    long = fields_of(post("", PLAN | {"max_tokens": 0}), 400)
    assert long == {"max_tokens": ["It is 0; expected a whole number from 1 to 200000."]}, "as on the page"
    assert not Run.objects.exists()
    uid = post("", PLAN).json()["run"]
    for name in ("bob", "esi"):
        client = api(getattr(cast, name))
        for path in ("", "estimate/", f"{uid}/actions/pause/", f"{uid}/extend/", f"{uid}/again/", f"{uid}/judge/"):
            assert client.post(f"{RUNS}{path}", PLAN, format="json").status_code == 403, (name, path)
    reader = APIClient()
    reader.credentials(HTTP_AUTHORIZATION=f"Token {token_of(cast.alice, Scope.READ)}")
    assert reader.get(RUNS).status_code == 200 and reader.post(RUNS, PLAN, format="json").status_code == 403
    assert Run.objects.count() == 1


def test_an_estimate_makes_nothing(minds, post):
    make_endpoint("priced", price_input="1", price_output="2")
    told = post("estimate/", PLAN | {"endpoints": ["priced", "majority"], "budget": "0.0001"})
    estimate = told.json()
    assert (told.status_code, estimate["samples"], estimate["calls"], estimate["in_ledger"]) == (200, 3, 6, None)
    assert estimate["over_budget"] and 0 < estimate["cost"] <= estimate["most"]
    free, priced = estimate["lines"]
    assert (priced["model"], priced["step"], priced["calls"]) == ("priced", "label", 3)
    assert (free["cost"], free["tokens"]) == (0, {"input": 0, "output": 0})
    assert estimate["can_show"][0]["score"] and not Run.objects.exists()
    looked = post("estimate/", PLAN | {"ledger": True}).json()
    assert (looked["in_ledger"], looked["to_make"]) == (0, 6)
    assert "steps" in fields_of(post("estimate/", PLAN | {"steps": ["judge"]}))


def test_methods_and_controls_are_launched_together(cast, post, tmp_path):
    opentom(cast, tmp_path)
    launch = {"dataset": 1, "endpoints": [STEADY], "limit": 3, "methods": ["cot", "plain"], "controls": ["renamed"]}
    estimate = post("estimate/", launch).json()
    assert estimate["calls"] == 3 * 2 * 2 and not Run.objects.exists()
    assert [(line["method"], line["control"], line["in_common"]) for line in estimate["lines"]] == [
        ("plain", "", 0), ("plain", "other names", 0), ("chain of thought", "", 0),
        ("chain of thought", "other names", 0),
    ]  # fmt: skip
    body = post("", launch).json()
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
        found = fields_of(post("", launch | more))
        assert list(found) == [field] and said in found[field][0], found
    assert Run.objects.originals().count() == 2


def test_a_run_is_steered_extended_and_repeated_as_on_its_page(minds, post):
    uid = post("", PLAN | {"endpoints": ["majority"], "limit": 2}).json()["run"]
    assert post(f"{uid}/extend/", {"endpoints": ["random"], "more": True}).json()["open"] == 6
    assert "random" in fields_of(post(f"{uid}/extend/", {"endpoints": ["random"]}))["endpoints"][0]
    assert "Tick a model" in fields_of(post(f"{uid}/extend/", {}))["body"][0]
    again = post(f"{uid}/again/", {})
    assert again.status_code == 201 and again.json()["run"] != uid and again.json()["open"] == 6
    assert fields_of(post(f"{uid}/judge/", {"judge": "nobody"}))["judge"]
    for action, state in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        body = post(f"{uid}/actions/{action}/", {})
        assert (body.status_code, body.json()["state"]) == (200, state)
    refused = post(f"{uid}/actions/pause/", {})
    assert refused.status_code == 422 and "The run is cancelled; expected running" in refused.json()["error"]["message"]
    assert set(fields_of(post(f"{uid}/actions/pause/", {"budget": "1.00"}))) == {"budget"}
    assert post(f"{uid}/actions/dance/", {}).status_code == 404
