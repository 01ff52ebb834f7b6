from __future__ import annotations

import json

import pytest
from rest_framework.test import APIClient

from annotation.api import corpus


def _is_error(response, status: int) -> str:
    """Checks the one shape; returns the message."""
    assert response.status_code == status
    assert response["Content-Type"].startswith("application/json")
    body = response.json()
    assert set(body) == {"error"} and set(body["error"]) == {"status", "message", "fields"}
    assert body["error"]["status"] == status and body["error"]["message"]
    assert all(isinstance(one, str) for sentences in body["error"]["fields"].values() for one in sentences)
    return body["error"]["message"]


@pytest.mark.parametrize(
    "header", [None, "Token", "Token nonsense", "Token a b", "Token \x00", "Bearer abc", "Token \xff"]
)
def test_without_a_good_token_the_answer_is_401(cast, address, header):
    client = APIClient()
    if header:
        client.credentials(HTTP_AUTHORIZATION=header)
    response = client.get(address("project"))
    _is_error(response, 401)
    assert response["WWW-Authenticate"] == "Token"


def test_an_account_that_was_closed_is_unknown(cast, api, address):
    bob = api(cast.bob)
    cast.bob.is_active = False
    cast.bob.save()
    _is_error(bob.get(address("project")), 401)


@pytest.mark.parametrize("path", ["", "v1/", "v1/nothing/", "v2/projects/", "v1/projects/minds/stories/NOUID/"])
@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_an_unknown_route_is_404_for_everybody(cast, api, path, method):
    for client in (APIClient(), api(cast.bob)):
        _is_error(getattr(client, method)(f"/api/{path}"), 404)


def test_a_missing_slash_is_named(cast, api):
    assert "end with a slash" in _is_error(api(cast.bob).get("/api/v1/projects"), 404)


def test_a_method_that_is_not_there(cast, api, address):
    response = api(cast.bob).delete(address("project"))
    assert "DELETE" in _is_error(response, 405)


@pytest.mark.parametrize(("name", "kind"), [("project", {}), ("export", {"kind": "long-csv"})])
def test_an_accept_header_that_leaves_nothing(cast, api, address, name, kind):
    _is_error(api(cast.alice).get(address(name, **kind), HTTP_ACCEPT="image/png"), 406)


def test_an_error_of_a_file_is_json_too(cast, api, address):
    _is_error(api(cast.bob).get(address("export", kind="long-csv"), HTTP_ACCEPT="text/csv"), 403)
    _is_error(APIClient().get("/api/v1/schema/"), 401)


def test_a_body_that_is_not_json(cast, api, address, story):
    response = api(cast.bob).post(address("votes", story), "<votes/>", content_type="application/xml")
    _is_error(response, 415)


@pytest.mark.parametrize(
    "body",
    [b"{", b"", b"\xff\xfe{}", b'{"changes": NaN}', b"[" * 100_000, b'{"changes": ' + b"9" * 5000 + b"}"],
    ids=["cut", "empty", "not UTF-8", "NaN", "deep", "a number of 5,000 digits"],
)
def test_broken_json(cast, api, address, story, body):
    response = api(cast.bob).post(address("votes", story), body, content_type="application/json")
    _is_error(response, 400)


def test_a_body_that_is_too_large(cast, api, address, story):
    body = json.dumps({"changes": "x" * 300_000})
    response = api(cast.bob).post(address("votes", story), body, content_type="application/json")
    assert "256 kB" in _is_error(response, 413)


def test_a_session_needs_the_csrf_token_to_write(cast, address, story):
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(cast.bob)
    assert client.get(address("project")).status_code == 200
    assert "CSRF" in _is_error(client.post(address("votes", story), {"changes": []}, format="json"), 403)


def test_an_unexpected_fault_is_one_sentence_without_a_traceback(cast, api, monkeypatch, caplog):
    def broken(*args, **kwargs):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(corpus.Project.objects.__class__, "visible_to", broken, raising=False)
    response = api(cast.bob).get("/api/v1/projects/")
    assert "secret" not in _is_error(response, 500)
    assert "secret detail" in caplog.text


def test_a_message_may_quote_a_lone_surrogate(cast, api, address, story, change):
    body = '{"changes": [], "\\ud800": 1}'
    response = api(cast.bob).post(address("votes", story), body, content_type="application/json")
    _is_error(response, 400)


@pytest.mark.parametrize(
    "query",
    [
        "page=0",
        "page=x",
        "page=1e3",
        "page_size=0",
        "page_size=501",
        "page_size=-1",
        "page=",
        "categroy=x",
        "split=a%00",
    ],
)
def test_a_query_that_is_not_as_described(cast, api, address, query):
    _is_error(api(cast.bob).get(f"{address('stories')}?{query}"), 400)


def test_beyond_the_last_page(cast, api, address, story):
    _is_error(api(cast.bob).get(address("stories") + "?page=999999999"), 404)
