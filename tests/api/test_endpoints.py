"""Models over the API: the site admin's, checked as on the page, and never with a key."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.models import Scope
from tests.api.conftest import token_of
from workers.models import Endpoint, EndpointRateLimit
from workers.services.endpoints import try_endpoint

LIST = "/api/v1/endpoints/"
PLAIN = {"name": "small", "provider": "openai", "model": "small-1"}


@pytest.fixture
def admin(cast, api):
    cast.charlie.is_superuser = True
    cast.charlie.save()
    return api(cast.charlie)


@pytest.fixture
def register(admin):
    def make(**more):
        return admin.post(LIST, PLAIN | more, format="json")

    return make


def _refused(response, status: int) -> dict[str, list[str]]:
    assert response.status_code == status
    assert Endpoint.objects.count() == 0
    return response.json()["error"]["fields"]


def test_registering_answers_with_what_was_saved(register, admin):
    response = register(
        base_url="http://gpu-box:8000/v1", price_input="0.15", api_key_env="GPU_KEY", options={"extra_body": {"a": 1}}
    )
    assert response.status_code == 201
    body = response.json()
    assert (body["name"], body["price_input"], body["api_key_env"]) == ("small", "0.150000", "GPU_KEY")
    assert (body["options"], body["created_by"], body["tried_at"]) == ({"extra_body": {"a": 1}}, "charlie", None)
    assert admin.get(f"{LIST}small/").json() == body
    assert EndpointRateLimit.objects.filter(endpoint__name="small").exists()


def test_what_is_left_out_is_as_on_a_new_page(register):
    # anthropic: no temperature, batches; the limits are the model's own
    body = register(provider="anthropic").json()
    assert (body["sets_temperature"], body["batches"], body["max_concurrency"]) == (False, True, 16)


@pytest.mark.parametrize("name", ["bob", "esi", "alice"])
def test_only_the_site_admin(cast, api, name):
    Endpoint.objects.create(**PLAIN)
    client = api(getattr(cast, name))
    asked = [client.get(LIST), client.get(f"{LIST}small/"), client.get(f"{LIST}other/")]
    for response in [*asked, client.post(LIST, PLAIN | {"name": "two"}, format="json")]:
        assert response.status_code == 403
        assert response.json()["error"]["message"] == "Only the site admin sees models, calls and workers."
    assert Endpoint.objects.count() == 1


def test_without_a_log_in(client, db):
    assert client.get(LIST).status_code == 401
    assert client.post(LIST, PLAIN, content_type="application/json").status_code == 401


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("api_key_env", "sk-proj-a1B2c3D4"),
        ("api_key_env", "hf_a1B2c3D4"),
        ("base_url", "ftp://models.example/"),
        ("base_url", "file:///etc/passwd"),
        ("price_input", "-1"),
        ("price_input", 0.15),
        ("price_batch", "NaN"),
        ("max_concurrency", 0),
        ("max_attempts", 101),
        ("timeout_seconds", 86_401),
        ("name", "two words"),
        ("model", ""),
        ("model", "a\x00b"),
        ("options", []),
        ("api_key", "sk-proj-a1B2c3D4"),
    ],
)
def test_what_is_not_as_described_is_400_at_its_field(register, field, value):
    response = register(**{field: value})
    sentences = _refused(response, 400)[field]
    assert all(one.endswith(".") for one in sentences)
    assert "a1B2c3D4" not in response.content.decode()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("base_url", "http://user:secret@models.example/v1"),
        ("base_url", "http://169.254.169.254/latest/"),
        ("base_url", "http://models.example:99999/"),
        ("options", {"a": "\x00"}),
        ("options", {"a": "\ud800"}),
        ("options", {"top_p": 1}),
        ("api_key_env", "SECRET_KEY"),
        ("family", "hf_secretA1b2C3d4E5f6"),
        ("price_batch", "1.5"),
    ],
)
def test_what_is_refused_is_422_at_its_field(admin, field, value):
    body = json.dumps(PLAIN | {field: value})
    (sentence,) = _refused(admin.post(LIST, body, content_type="application/json"), 422)[field]
    assert sentence.endswith(".") and "secret" not in sentence


def test_each_wrong_field_gets_its_sentence(register, settings):
    settings.ENDPOINT_HOSTS = ["models.example"]
    fields = _refused(register(provider="baseline", model="nonsense", base_url="http://other.example/"), 422)
    assert fields == {
        "base_url": ["This site allows only models.example (ENDPOINT_HOSTS)."],
        "model": [
            (
                "There is no baseline 'nonsense'; there are majority, random, omniscient, lexical-judge, "
                "first-option, tracker."
            )
        ],
    }


def test_a_name_that_is_taken(register):
    assert register().status_code == 201
    response = register(model="another")
    assert response.status_code == 422
    assert response.json()["error"]["fields"] == {
        "name": ["There is a model of this name already; another name is expected."]
    }
    assert Endpoint.objects.get().model == "small-1"


def test_the_list_is_paged_by_name_in_few_statements(admin):
    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert admin.get(LIST).status_code == 200
        return len(captured)

    Endpoint.objects.create(**PLAIN)
    few = statements()
    for at in range(10):
        Endpoint.objects.create(**PLAIN | {"name": f"m{at}"})
    assert statements() == few <= 4
    page = admin.get(LIST, {"page_size": 2}).json()
    assert (page["count"], [row["name"] for row in page["results"]]) == (11, ["m0", "m1"])
    assert admin.get(LIST, {"provder": "openai"}).status_code == 400


def test_no_answer_holds_a_key(register, admin, monkeypatch):
    monkeypatch.setenv("SMALL_KEY", "sk-very-secret")
    answers = [register(api_key_env="SMALL_KEY"), admin.get(LIST), admin.get(f"{LIST}small/")]
    assert all("SMALL_KEY" in one.content.decode() for one in answers)
    assert not any("sk-very-secret" in one.content.decode() for one in answers)


@pytest.fixture
def asked(monkeypatch) -> list[str]:
    """The endpoints that workers were asked to try; no broker can be reached once "broken" is among them."""
    held: list[str] = []
    monkeypatch.setattr("workers.tasks.ask_to_try", lambda one: "broken" not in held and not held.append(one.name))
    return held


def test_trying_one_call(register, admin, asked):
    register(provider="scripted")
    assert admin.get(f"{LIST}small/").json()["try_state"] == "never"
    answer = admin.post(f"{LIST}small/try/", {}, format="json")
    assert (answer.status_code, answer.json()["try_state"], answer.json()["tried"]) == (200, "waiting", {})
    assert admin.post(f"{LIST}small/try/", {}, format="json").json()["try_state"] == "waiting"
    assert asked == ["small"], "one try at a time"
    try_endpoint(endpoint=Endpoint.objects.get())
    body = admin.get(f"{LIST}small/").json()
    assert (body["try_state"], body["tried"]["ok"]) == ("done", True)
    Endpoint.objects.update(tried={}, tried_at=timezone.now() - timedelta(seconds=91))
    assert admin.get(f"{LIST}small/").json()["try_state"] == "no worker"
    assert admin.post(f"{LIST}small/try/", {}, format="json").json()["try_state"] == "waiting"
    assert asked == ["small"] * 2


def test_what_trying_refuses(register, admin, asked):
    register()
    assert admin.post(f"{LIST}none/try/", {}, format="json").status_code == 404
    assert admin.post(f"{LIST}small/try/", {"times": 9}, format="json").status_code == 400
    asked.append("broken")
    answer = admin.post(f"{LIST}small/try/", {}, format="json")
    assert answer.status_code == 422 and answer.json()["error"]["message"].startswith("No worker can be asked: ")


@pytest.mark.parametrize("name", ["bob", "esi", "alice"])
def test_only_the_site_admin_tries(cast, api, asked, name):
    Endpoint.objects.create(**PLAIN)
    assert api(getattr(cast, name)).post(f"{LIST}small/try/", {}, format="json").status_code == 403
    assert asked == [] and Endpoint.objects.get().tried_at is None


def test_a_token_that_may_only_read_tries_nothing(cast, asked):
    cast.charlie.is_superuser = True
    cast.charlie.save()
    Endpoint.objects.create(**PLAIN)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token_of(cast.charlie, Scope.READ)}")
    assert client.post(f"{LIST}small/try/", {}, format="json").status_code == 403 and asked == []


def test_tries_count_in_the_limit_of_requests(register, admin, asked, monkeypatch):
    rates = {"user": "3/min", "anon": None}
    monkeypatch.setattr("rest_framework.throttling.SimpleRateThrottle.THROTTLE_RATES", rates)
    cache.clear()
    register()
    answers = [admin.post(f"{LIST}small/try/", {}, format="json").status_code for _ in range(3)]
    assert answers == [200, 200, 429] and asked == ["small"]


def test_there_is_no_changing_and_no_removing(admin):
    Endpoint.objects.create(**PLAIN)
    for method in (admin.put, admin.patch, admin.delete):
        assert method(f"{LIST}small/", {}, format="json").status_code == 405
