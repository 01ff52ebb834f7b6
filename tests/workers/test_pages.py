"""Pages of the site admin: models."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

import pytest
from django.urls import reverse

from annotation.models import Prefill
from benchmark.models import Dataset, Run
from workers.models import Call, Endpoint, EndpointRateLimit, Job
from workers.services import endpoints as service

pytestmark = pytest.mark.django_db
HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
FORM = {
    "provider": "openai", "name": "small", "model": "small-1", "base_url": "", "api_key_env": "", "options": "{}",
    "active": "on", "json_schema": "on", "context_tokens": "0", "reasoning_tokens": "0", "price_input": "0.15",
    "price_cached": "0",
    "price_cache_write": "0", "price_output": "0.6", "price_batch": "0.5", "max_concurrency": "16",
    "requests_per_minute": "0", "tokens_per_minute": "0", "timeout_seconds": "300", "max_attempts": "6",
    "repeat_unknown": "1", "retry_after_cap": "60",
}  # fmt: skip


def escaped(text: str) -> bool:
    return "<script>alert" not in text and "<img src=x" not in text and "&lt;script&gt;alert(1)" in text


def test_a_model_is_registered_with_the_form(admin, page):
    response = admin.post(reverse("workers:new_endpoint") + "?provider=openai", FORM)
    assert (response.status_code, response["Location"]) == (302, reverse("workers:endpoint", args=["small"]))
    made = Endpoint.objects.get()
    assert (made.price_input, made.created_by, made.sets_temperature) == (Decimal("0.15"), "charlie", False)
    assert EndpointRateLimit.objects.filter(endpoint=made).exists()
    listed = page("workers:endpoints")
    assert "small-1" in listed and "$0.15" in listed


def test_the_form_changes_a_model_and_keeps_what_was_said(admin, page, make_endpoint):
    made = make_endpoint("openai", name="small", base_url="http://gpu-box:8000/v1", options={"reasoning_effort": "low"})
    text = page("workers:endpoint", "small")
    assert "http://gpu-box:8000/v1" in text and "reasoning_effort" in text
    changed = FORM | {"base_url": "http://gpu-box:8000/v1", "model": made.model, "price_output": "7"}
    assert admin.post(reverse("workers:endpoint", args=["small"]), changed).status_code == 302
    assert Endpoint.objects.get().price_output == 7


def _run_that_judges(endpoint, project) -> None:
    dataset = Dataset.objects.create(
        project=project, version=1, digest="0" * 64, schema_version="1", rule_version="1", stories_count=0,
        propositions_count=0,
    )  # fmt: skip
    fields = {"steps": ["judge"], "level": 1, "answer_format": "text"}
    job = Job.objects.create(handler="benchmark", title="Run")
    Run.objects.create(project=project, dataset=dataset, job=job, judge=endpoint, **fields)


def test_no_page_shows_a_key(admin, page, make_call, monkeypatch):
    monkeypatch.setenv("SMALL_KEY", "sk-very-secret")
    admin.post(reverse("workers:new_endpoint") + "?provider=openai", FORM | {"api_key_env": "SMALL_KEY"})
    endpoint = Endpoint.objects.get()
    Endpoint.objects.filter(pk=endpoint.pk).update(base_url="http://127.0.0.1:1/v1")
    endpoint.refresh_from_db()
    assert service.try_endpoint(endpoint=endpoint)["kind"] == "Unreachable"
    pages = [page("workers:endpoint", "small"), page("workers:tried", "small"), page("workers:endpoints")]
    pages += [page("workers:ledger"), page("workers:call", make_call(endpoint).uid), page("workers:work")]
    assert "SMALL_KEY" in pages[0] and not any("sk-very-secret" in text for text in pages)


def test_an_endpoint_that_has_answered_keeps_its_model(admin, make_endpoint, make_call):
    make_call(make_endpoint("openai", name="small", model="small-1"))
    address = reverse("workers:endpoint", args=["small"])
    response = admin.post(address, FORM | {"model": "another"})
    assert "has answered already" in response.content.decode()
    assert Endpoint.objects.get().model == "small-1"


def test_trying_asks_a_worker(admin, make_endpoint, monkeypatch):
    for heard in (True, False):
        endpoint, asked = make_endpoint(name=f"heard-{heard}"), []
        monkeypatch.setattr("workers.tasks.ask_to_try", partial(_asked, asked, heard))
        address = reverse("workers:try_endpoint", args=[endpoint.name])
        text = admin.post(address).content.decode()
        assert asked == [endpoint.name]
        assert ("A worker asks it" in text) is heard and ("No worker has answered" in text) is not heard
        endpoint.refresh_from_db()
        assert endpoint.tried_at is not None and endpoint.tried == {}
        assert admin.get(address).status_code == 405


def _asked(names: list[str], heard: bool, endpoint) -> bool:
    names.append(endpoint.name)
    return heard


def test_what_a_try_brought_is_shown(page, make_endpoint, monkeypatch):
    good = make_endpoint(name="good", options={"default": HOSTILE})
    bad = make_endpoint(name="bad", options={"script": [{"fail": "forbidden"}]})
    for endpoint in (good, bad):
        service.try_endpoint(endpoint=endpoint)
    assert escaped(page("workers:tried", "good")) and "answers" in page("workers:tried", "good")
    assert "Scripted to fail: forbidden." in page("workers:tried", "bad")
    assert not Call.objects.exists()


def test_models_are_listed_in_few_statements(statements, make_endpoint, make_call):
    make_call()
    few = statements("workers:endpoints")
    for _ in range(10):
        make_call(make_endpoint())
    assert statements("workers:endpoints") == few <= 6


KEY = "sk-ant-a1B2c3D4e5F6"


def sent(admin, **changed: str):
    """The answer to the form of a new model, with these fields changed."""
    return admin.post(reverse("workers:new_endpoint") + "?provider=openai", FORM | changed)


WRONG = [
    ("base_url", "ftp://a.example/", "An address that begins with http:// or https:// is expected."),
    ("base_url", "http://169.254.169.254/", "A link-local or metadata address is not a model server."),
    ("options", '{"a": NaN}', "NaN and Infinity are not valid JSON."),
    ("options", "[1]", "A JSON object is expected"),
    ("options", "{", "A JSON object is expected, such as {} for none."),
    ("options", '{"a": 1, "a": 2}', "A JSON object is expected, such as {} for none."),
    ("options", "[" * 9000, "A JSON object is expected, such as {} for none."),
    ("price_input", "1e2", "A number in digits is expected, with a point before its decimals, such as 0.15."),
    ("price_input", "-1", "A number from 0 to 100,000 is expected."),
    ("price_input", "cheap", "A number from 0 to 100,000 is expected."),
    ("name", "two words", "A name of letters, digits, hyphens and underscores is expected, such as small-2."),
    ("name", "", "Name is missing."),
    ("name", "n" * 61, "At most 60 characters are expected; these are 61."),
    ("api_key_env", "SECRET_KEY", "This variable belongs to the site itself"),
    ("api_key_env", "PATH", "The name of a key variable ends in"),
    ("api_key_env", "sk-proj-a1B2c3D4", "never the key itself"),
    ("api_key_env", "hf_a1B2c3D4", "never the key itself"),
    ("name", KEY, "This looks like a key."),
    ("model", KEY, "This looks like a key."),
    ("revision", KEY, "This looks like a key."),
    ("family", KEY, "This looks like a key."),
    ("base_url", f"http://{KEY}@models.example/v1", "This looks like a key."),
    ("options", f'{{"extra_body": {{"k": "{KEY}"}}}}', "This looks like a key."),
]


def test_what_is_wrong_is_said_and_nothing_is_saved_or_repeats_a_key(admin):
    for field, value, sentence in WRONG:
        for others in ({}, {"price_output": "-1"}):
            response = sent(admin, **{field: value}, **others)
            text = response.content.decode()
            assert response.status_code == 200 and sentence in text and "a1B2" not in text, (field, value)
            assert response.context["form"].errors[field]
    wrong = {"name": "two words", "base_url": "ftp://a.example/", "options": '{"top_p": 1}', "timeout_seconds": "86401"}
    response = sent(admin, **wrong, price_input="-1")
    assert set(response.context["form"].errors) == {*wrong, "price_input"}, "all that is wrong is said at once"
    assert "A number from 1 to 86,400 is expected." in response.content.decode()
    assert not Endpoint.objects.exists()


def test_a_used_model_stays_and_an_unused_one_is_deleted(admin, page, cast, make_endpoint, make_call, start):
    used = {name: make_endpoint(name=name) for name in ("call", "item", "prefill", "run")}
    make_call(used["call"])
    job = start(used["item"], ["a"])
    Prefill.objects.create(project=cast.project, job=job, endpoint=used["prefill"], level=3, prompt="p")
    _run_that_judges(used["run"], cast.project)
    for name in used:
        assert "It has been used" in page("workers:endpoint", name)
        response = admin.post(reverse("workers:endpoint", args=[name]), {"delete": "1"}, follow=True)
        assert f"{name} has been used, so it stays" in response.content.decode()
        assert Endpoint.objects.filter(name=name).exists()
    make_endpoint("openai", name="small")
    assert "data-confirm" in page("workers:endpoint", "small")
    response = admin.post(reverse("workers:endpoint", args=["small"]), {"delete": "1"})
    assert (response.status_code, response["Location"]) == (302, reverse("workers:endpoints"))
    assert not Endpoint.objects.filter(name="small").exists()
    assert not EndpointRateLimit.objects.filter(endpoint__name="small").exists()
