"""Pages of the site admin: models, the ledger, spending."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.urls import reverse

from workers.models import Attempt, Call, Endpoint, EndpointPace
from workers.services import endpoints as service

pytestmark = pytest.mark.django_db
HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
FORM = {
    "provider": "openai", "name": "small", "model": "small-1", "base_url": "", "api_key_env": "", "options": "{}",
    "active": "on", "json_schema": "on", "context_tokens": "0", "price_input": "0.15", "price_cached": "0",
    "price_cache_write": "0", "price_output": "0.6", "price_batch": "0.5", "max_concurrency": "16",
    "requests_per_minute": "0", "tokens_per_minute": "0", "timeout_seconds": "300", "max_attempts": "6",
    "repeat_unknown": "1", "retry_after_cap": "60",
}  # fmt: skip


def _escaped(text: str) -> bool:
    return "<script>alert" not in text and "<img src=x" not in text and "&lt;script&gt;alert(1)" in text


# --- models -----------------------------------------------------------------------------------------------------------


def test_a_model_is_registered_with_the_form(admin, page):
    response = admin.post(reverse("workers:new_endpoint") + "?provider=openai", FORM)
    assert (response.status_code, response["Location"]) == (302, reverse("workers:endpoint", args=["small"]))
    made = Endpoint.objects.get()
    assert (made.price_input, made.created_by, made.sets_temperature) == (Decimal("0.15"), "charlie", False)
    assert EndpointPace.objects.filter(endpoint=made).exists()
    listed = page("workers:endpoints")
    assert "small-1" in listed and "$0.15" in listed


def test_the_form_changes_a_model_and_keeps_what_was_said(admin, page, make_endpoint):
    made = make_endpoint("openai", name="small", base_url="http://gpu-box:8000/v1", options={"reasoning_effort": "low"})
    shown = page("workers:endpoint", "small")
    assert "http://gpu-box:8000/v1" in shown and "reasoning_effort" in shown
    changed = FORM | {"base_url": "http://gpu-box:8000/v1", "model": made.model, "price_output": "7"}
    assert admin.post(reverse("workers:endpoint", args=["small"]), changed).status_code == 302
    assert Endpoint.objects.get().price_output == 7


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("base_url", "ftp://a.example/", "An address that begins with http:// or https:// is expected."),
        ("base_url", "http://169.254.169.254/", "A link-local address is no model server."),
        ("options", '{"a": NaN}', "NaN and Infinity are no JSON."),
        ("options", "[1]", "A JSON object is expected"),
        ("options", "{", "Enter a valid JSON."),
        ("price_input", "-1", "Ensure this value is greater than or equal to 0."),
        ("name", "", "This field is required."),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_saved(admin, field, value, sentence):
    response = admin.post(reverse("workers:new_endpoint") + "?provider=openai", FORM | {field: value})
    assert response.status_code == 200 and sentence in response.content.decode()
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize("key", ["sk-proj-a1B2c3D4", "hf_a1B2c3D4"])
def test_a_key_that_was_typed_in_is_not_shown_again(admin, key):
    response = admin.post(reverse("workers:new_endpoint") + "?provider=openai", FORM | {"api_key_env": key})
    text = response.content.decode()
    assert "never the key itself" in text and "a1B2c3D4" not in text
    assert not Endpoint.objects.exists()


def test_no_page_shows_a_key(admin, page, make_call, monkeypatch):
    monkeypatch.setenv("SMALL_KEY", "sk-very-secret")
    admin.post(reverse("workers:new_endpoint") + "?provider=openai", FORM | {"api_key_env": "SMALL_KEY"})
    endpoint = Endpoint.objects.get()
    Endpoint.objects.filter(pk=endpoint.pk).update(base_url="http://127.0.0.1:1/v1")
    endpoint.refresh_from_db()
    assert service.try_endpoint(endpoint=endpoint)["kind"] == "Unreachable"
    pages = [page("workers:endpoint", "small"), page("workers:tried", "small"), page("workers:endpoints")]
    pages += [page("workers:ledger"), page("workers:call", make_call(endpoint).uid), page("workers:work")]
    assert "SMALL_KEY" in pages[0] and not any("sk-very-secret" in one for one in pages)


def test_an_endpoint_that_has_answered_keeps_its_model(admin, make_endpoint, make_call):
    make_call(make_endpoint("openai", name="small", model="small-1"))
    address = reverse("workers:endpoint", args=["small"])
    response = admin.post(address, FORM | {"model": "another"})
    assert "has answered already" in response.content.decode()
    assert Endpoint.objects.get().model == "small-1"


@pytest.mark.parametrize("heard", [True, False])
def test_trying_asks_a_worker(admin, make_endpoint, monkeypatch, heard):
    asked = []
    monkeypatch.setattr("workers.views.endpoints.ask_to_try", lambda endpoint: asked.append(endpoint.name) or heard)
    endpoint = make_endpoint(name="small")
    text = admin.post(reverse("workers:try_endpoint", args=["small"])).content.decode()
    assert (
        asked == ["small"] and ("A worker asks it" in text) is heard and ("No worker has answered" in text) is not heard
    )
    endpoint.refresh_from_db()
    assert endpoint.tried_at is not None and endpoint.tried == {}
    assert admin.get(reverse("workers:try_endpoint", args=["small"])).status_code == 405


def test_what_a_try_brought_is_shown(page, make_endpoint, monkeypatch):
    good = make_endpoint(name="good", options={"default": HOSTILE})
    bad = make_endpoint(name="bad", options={"script": [{"fail": "forbidden"}]})
    for one in (good, bad):
        service.try_endpoint(endpoint=one)
    assert _escaped(page("workers:tried", "good")) and "answers" in page("workers:tried", "good")
    assert "Scripted to fail: forbidden." in page("workers:tried", "bad")
    assert not Call.objects.exists()


def test_models_are_listed_in_few_statements(statements, make_endpoint, make_call):
    make_call()
    few = statements("workers:endpoints")
    for _ in range(10):
        make_call(make_endpoint())
    assert statements("workers:endpoints") == few <= 6


# --- the ledger -------------------------------------------------------------------------------------------------------


def test_the_ledger_finds_by_every_field(page, make_endpoint, make_call):
    other = make_endpoint(name="other")
    first = make_call(answer="The key is in the bag", purpose="prefill", request_id="req-1")
    second = make_call(other, state="failed", answer="", problem="No.", finished_at=datetime(2026, 3, 5, tzinfo=UTC))

    def found(**query) -> list[str]:
        text = page("workers:ledger", **query)
        return [one.uid for one in (first, second) if one.uid in text]

    assert found() == [first.uid, second.uid]
    for text in ("THE KEY", "who knows 1", "req-1", first.uid):
        assert found(text=text) == [first.uid], text
    assert found(endpoint="other") == found(state="failed") == found(day="2026-03-05") == [second.uid]
    assert found(text="nowhere") == found(endpoint="other", state="answered") == []
    # a day that is none is said, and what else was asked for still counts
    assert found(day="yesterday", state="failed") == [second.uid]
    assert "Enter a valid date." in page("workers:ledger", day="yesterday")


def test_calls_that_lost_an_answer_are_found(page, make_call):
    calm, lost = make_call(), make_call()
    Attempt.objects.create(call=lost, number=1, sent_at=lost.planned_at, outcome="unknown")
    text = page("workers:ledger", state="lost")
    assert lost.uid in text and calm.uid not in text


@pytest.mark.parametrize("query", ["page=x", "page=-1", "page=99", "text=%00", "text=%ED%A0%80", f"text={'x' * 300}"])
def test_a_ledger_query_of_any_kind_is_answered(admin, make_call, query):
    make_call()
    assert admin.get(f"{reverse('workers:ledger')}?{query}").status_code == 200


def test_the_ledger_is_read_in_few_statements(statements, make_endpoint, make_call):
    make_call()
    few = statements("workers:ledger")
    for _ in range(30):
        make_call(make_endpoint())
    assert statements("workers:ledger") == few <= 8


def test_one_call_with_everything(page, make_call):
    body = {
        "model": "tiny",
        "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Wo?"}],
    }
    call = make_call(body=body | {"seed": 42}, answer="Dort.", reasoning="Because.", cost=Decimal("0.001234"))
    headers = {"retry-after": "7"}
    Attempt.objects.create(
        call=call, number=1, sent_at=call.planned_at, outcome="throttled", status=429, headers=headers, problem="Busy.", waits=7
    )  # fmt: skip
    text = page("workers:call", call.uid)
    for shown in (
        "Be short.",
        "Wo?",
        "42",
        "Dort.",
        "Because.",
        "$0.001234",
        "throttled",
        "429",
        "retry-after",
        "Busy.",
    ):
        assert shown in text, shown


def test_a_call_of_every_shape_has_a_page(page, make_call):
    bodies = [
        {"model": "tiny", "system": [{"type": "text", "text": "Be short."}], "messages": []},
        {"model": "majority", "task": {"kind": "label"}, "sample": 0},
        {"messages": [{"role": "user", "content": "half a pair \ud800"}], "task": {"\udc00": ["\ud800"]}},
    ]
    for body in bodies:
        assert page("workers:call", make_call(body=body).uid)


@pytest.mark.parametrize(
    "answer",
    [
        '{"a": "\\ud800", "\\udc00": ["\\ud800"]}',
        "[" * 900 + "]" * 900,
        "[" * 100_000,
        '{"a": ' + "9" * 5000 + "}",
        '{"a"',
    ],
    ids=["half a pair", "deep", "deeper", "a long number", "cut"],
)
def test_an_answer_of_any_kind_has_a_page(page, make_call, answer):
    assert page("workers:call", make_call(answer=answer).uid)


def test_questions_and_answers_are_text_and_nothing_else(page, make_call, make_endpoint):
    body = {"messages": [{"role": HOSTILE, "content": HOSTILE}], HOSTILE: HOSTILE}
    plain = make_call(body=body, answer=HOSTILE, reasoning=HOSTILE, answered_by=HOSTILE, request_id=HOSTILE)
    as_json = make_call(answer=json.dumps({"a": HOSTILE}), problem=HOSTILE, purpose=HOSTILE[:30])
    for call in (plain, as_json):
        Attempt.objects.create(
            call=call, number=1, sent_at=call.planned_at, outcome="lost", problem=HOSTILE, headers={HOSTILE: HOSTILE}
        )
        assert _escaped(page("workers:call", call.uid))
    assert _escaped(page("workers:ledger"))
    assert _escaped(page("workers:ledger", text=HOSTILE))


def test_a_call_that_is_not_there(admin):
    assert admin.get(reverse("workers:call", args=["nowhere"])).status_code == 404


# --- spending ---------------------------------------------------------------------------------------------------------


def test_money_by_model_day_and_purpose(page, make_endpoint, make_call):
    other = make_endpoint(name="other")
    day = datetime(2026, 3, 5, 12, tzinfo=UTC)
    make_call(cost=Decimal("1.5"), purpose="prefill", finished_at=day)
    make_call(other, cost=Decimal("0.25"), purpose="bench", finished_at=day, state="truncated")
    lost = make_call(other, state="failed", cost=Decimal(0), finished_at=day)
    Attempt.objects.create(call=lost, number=1, sent_at=day, outcome="unknown")
    # 1.5 + 0.25 of two answers; the failed call is none, its lost attempt may have been charged
    assert "$1.75 for 2 answers" in page("workers:spending") and "1 attempt" in page("workers:spending")
    assert "$1.5000" in page("workers:spending") and "$0.2500" in page("workers:spending")
    assert "2026-03-05" in page("workers:spending", by="day") and "$1.7500" in page("workers:spending", by="day")
    assert "prefill" in page("workers:spending", by="purpose")
    assert page("workers:spending", by="nonsense")


def test_nothing_was_spent(page):
    assert "Nothing spent" in page("workers:spending")
