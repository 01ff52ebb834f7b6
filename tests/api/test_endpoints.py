"""Models over the API: the site admin's, checked as on the page, and never with a key."""

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
TRY = f"{LIST}small/try/"
PLAIN = {"name": "small", "provider": "openai", "model": "small-1"}


@pytest.fixture
def admin(cast, api):
    cast.charlie.is_superuser = True
    cast.charlie.save()
    return api(cast.charlie)


@pytest.fixture
def register(admin):
    """As JSON that may hold half of a surrogate pair, which the client would not encode."""
    return lambda **more: admin.post(LIST, json.dumps(PLAIN | more), content_type="application/json")


@pytest.fixture
def asked(monkeypatch) -> list[str]:
    """The endpoints that workers were asked to try; no broker can be reached once "broken" is among them."""
    held: list[str] = []
    monkeypatch.setattr("workers.tasks.ask_to_try", lambda one: "broken" not in held and not held.append(one.name))
    return held


def test_registering_answers_with_what_was_saved_and_never_with_a_key(register, admin, monkeypatch):
    monkeypatch.setenv("GPU_KEY", "sk-very-secret")
    options = {"extra_body": {"a": 1}}
    address = "http://gpu-box:8000/v1"
    response = register(base_url=address, price_input="0.15", api_key_env="GPU_KEY", options=options)
    assert response.status_code == 201
    body = response.json()
    assert (body["name"], body["price_input"], body["api_key_env"]) == ("small", "0.150000", "GPU_KEY")
    assert (body["options"], body["created_by"], body["tried_at"]) == (options, "charlie", None)
    one = admin.get(f"{LIST}small/")
    assert one.json() == body
    assert not any(b"sk-very-secret" in answer.content for answer in (response, one, admin.get(LIST)))
    assert EndpointRateLimit.objects.filter(endpoint__name="small").exists()
    # what is left out is as on a new page: of anthropic no temperature, batches; the limits are the model's own
    body = register(name="other", provider="anthropic").json()
    assert (body["sets_temperature"], body["batches"], body["max_concurrency"]) == (False, True, 16)
    taken = register(model="another")
    assert taken.status_code == 422
    told = "There is a model of this name already; another name is expected."
    assert taken.json()["error"]["fields"] == {"name": [told]}
    assert Endpoint.objects.get(name="small").model == "small-1"
    for method in (admin.put, admin.patch, admin.delete):
        assert method(f"{LIST}small/", {}, format="json").status_code == 405


def test_only_the_site_admin_sees_registers_and_tries(cast, api, asked, client):
    assert client.get(LIST).status_code == 401
    assert client.post(LIST, PLAIN, content_type="application/json").status_code == 401
    Endpoint.objects.create(**PLAIN)
    for person in (cast.bob, cast.esi, cast.alice):
        api_of = api(person)
        answers = [*map(api_of.get, (LIST, f"{LIST}small/", f"{LIST}other/")), api_of.post(TRY, {}, format="json")]
        for response in [*answers, api_of.post(LIST, PLAIN | {"name": "two"}, format="json")]:
            assert response.status_code == 403
            assert response.json()["error"]["message"] == "Only the site admin sees models, calls and workers."
    cast.charlie.is_superuser = True
    cast.charlie.save()
    reader = APIClient()
    reader.credentials(HTTP_AUTHORIZATION=f"Token {token_of(cast.charlie, Scope.READ)}")
    assert reader.post(TRY, {}, format="json").status_code == 403
    assert asked == [] and Endpoint.objects.get().tried_at is None


def test_what_is_wrong_is_said_at_its_field(register, settings):
    """400 where it is not as described, 422 where it is refused."""
    for status, field, values in (
        (400, "api_key_env", ["sk-proj-a1B2c3D4", "hf_a1B2c3D4"]),
        (400, "api_key", ["sk-proj-a1B2c3D4"]),
        (400, "base_url", ["ftp://models.example/", "file:///etc/passwd"]),
        (400, "price_input", ["-1", 0.15]),
        (400, "price_batch", ["NaN"]),
        (400, "max_concurrency", [0]),
        (400, "max_attempts", [101]),
        (400, "timeout_seconds", [86_401]),
        (400, "name", ["two words"]),
        (400, "model", ["", "a\x00b"]),
        (400, "options", [[]]),
        (422, "base_url", ["http://user:secret@models.example/v1", "http://169.254.169.254/latest/"]),
        (422, "base_url", ["http://models.example:99999/"]),
        (422, "options", [{"a": "\x00"}, {"a": "\ud800"}, {"top_p": 1}]),
        (422, "api_key_env", ["SECRET_KEY"]),
        (422, "family", ["hf_secretA1b2C3d4E5f6"]),
        (422, "price_batch", ["1.5"]),
    ):
        for value in values:
            response = register(**{field: value})
            assert response.status_code == status, (field, value)
            sentences = response.json()["error"]["fields"][field]
            assert all(one.endswith(".") for one in sentences), sentences
            assert not any(hidden in " ".join(sentences) for hidden in ("a1B2c3D4", "secret", "A1b2C3d4")), sentences
    settings.ENDPOINT_HOSTS = ["models.example"]
    response = register(provider="baseline", model="nonsense", base_url="http://other.example/")
    fields = response.json()["error"]["fields"]
    assert (response.status_code, set(fields)) == (422, {"base_url", "model"})
    assert fields["base_url"] == ["This site allows only models.example (ENDPOINT_HOSTS)."]
    assert fields["model"][0].startswith("There is no baseline 'nonsense'; there are majority, random, ")
    assert not Endpoint.objects.exists()


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


def test_one_call_is_tried_at_a_time(register, admin, asked, monkeypatch):
    def try_it(body=None, path: str = TRY):
        return admin.post(path, body or {}, format="json")

    def state() -> str:
        return admin.get(f"{LIST}small/").json()["try_state"]

    register(provider="scripted")
    assert state() == "never"
    answer = try_it()
    assert (answer.status_code, answer.json()["try_state"], answer.json()["tried"]) == (200, "waiting", {})
    assert try_it().json()["try_state"] == "waiting" and asked == ["small"], "one try at a time"
    try_endpoint(endpoint=Endpoint.objects.get())
    assert state() == "done" and admin.get(f"{LIST}small/").json()["tried"]["ok"]
    Endpoint.objects.update(tried={}, tried_at=timezone.now() - timedelta(seconds=91))
    assert state() == "no worker"
    assert try_it().json()["try_state"] == "waiting" and asked == ["small"] * 2
    assert (try_it(path=f"{LIST}none/try/").status_code, try_it({"times": 9}).status_code) == (404, 400)
    asked.append("broken")
    Endpoint.objects.update(tried={}, tried_at=None)
    answer = try_it()
    assert answer.status_code == 422 and answer.json()["error"]["message"].startswith("No worker can be asked: ")
    rates = {"user": "2/min", "anon": None}
    monkeypatch.setattr("rest_framework.throttling.SimpleRateThrottle.THROTTLE_RATES", rates)
    cache.clear()
    assert [try_it().status_code for _ in range(3)] == [200, 200, 429], "tries count in the limit of requests"
