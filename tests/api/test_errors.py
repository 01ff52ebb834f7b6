"""Whatever is wrong with a request, the answer is one shape of JSON with a status and a sentence."""

import json

from rest_framework.test import APIClient

from annotation.api import corpus


def _is_error(response, status: int) -> str:
    """Checks the one shape; returns the message."""
    assert response.status_code == status, response.content
    assert response["Content-Type"].startswith("application/json")
    body = response.json()
    assert set(body) == {"error"} and set(body["error"]) == {"status", "message", "fields"}
    assert body["error"]["status"] == status and body["error"]["message"]
    assert all(isinstance(one, str) for sentences in body["error"]["fields"].values() for one in sentences)
    return body["error"]["message"]


def test_without_a_good_token_or_a_csrf_token_nobody_is_let_in(cast, address, story):
    for header in (None, "Token", "Token nonsense", "Token a b", "Token \x00", "Bearer abc", "Token \xff"):
        client = APIClient()
        if header:
            client.credentials(HTTP_AUTHORIZATION=header)
        response = client.get(address("project"))
        _is_error(response, 401)
        assert response["WWW-Authenticate"] == "Token"
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(cast.bob)
    assert client.get(address("project")).status_code == 200
    assert "CSRF" in _is_error(client.post(address("votes", story), {"changes": []}, format="json"), 403)


def test_what_is_not_there_is_404_for_everybody(cast, api, address, story):
    bob = api(cast.bob)
    for client in (APIClient(), bob):
        for path in ("", "v1/", "v1/nothing/", "v2/projects/", "v1/projects/minds/stories/NOUID/"):
            for method in (client.get, client.post, client.delete):
                _is_error(method(f"/api/{path}"), 404)
    assert "end with a slash" in _is_error(bob.get("/api/v1/projects"), 404)
    _is_error(bob.get(address("stories") + "?page=999999999"), 404)
    assert "DELETE" in _is_error(bob.delete(address("project")), 405)


def test_what_no_answer_could_be_read_as_is_406_and_an_error_of_a_file_is_json_too(cast, api, address):
    for path in (address("project"), address("export", kind="long-csv")):
        _is_error(api(cast.alice).get(path, HTTP_ACCEPT="image/png"), 406)
    _is_error(api(cast.bob).get(address("export", kind="long-csv"), HTTP_ACCEPT="text/csv"), 403)
    _is_error(APIClient().get("/api/v1/schema/"), 401)


def test_a_body_or_a_query_that_is_not_as_described(cast, api, address, story):
    bob = api(cast.bob)

    def send(body: bytes | str, kind: str = "application/json"):
        return bob.post(address("votes", story), body, content_type=kind)

    _is_error(send("<votes/>", "application/xml"), 415)
    digits = b'{"changes": ' + b"9" * 5000 + b"}"
    surrogate = '{"changes": [], "\\ud800": 1}'  # which the message quotes
    for body in (b"{", b"", b"\xff\xfe{}", b'{"changes": NaN}', b"[" * 100_000, digits, surrogate):
        _is_error(send(body), 400)
    assert "256 kB" in _is_error(send(json.dumps({"changes": "x" * 300_000})), 413)
    for query in (
        "page=0", "page=x", "page=1e3", "page=", "page_size=0", "page_size=501", "page_size=-1", "categroy=x",
        "split=a%00",
    ):  # fmt: skip
        _is_error(bob.get(f"{address('stories')}?{query}"), 400)


def test_an_unexpected_fault_is_one_sentence_without_a_traceback(cast, api, monkeypatch, caplog):
    def broken(*args, **kwargs):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(corpus.Project.objects.__class__, "visible_to", broken, raising=False)
    response = api(cast.bob).get("/api/v1/projects/")
    assert "secret" not in _is_error(response, 500)
    assert "secret detail" in caplog.text
