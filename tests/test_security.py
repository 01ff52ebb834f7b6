import os
import subprocess
import sys

import pytest
from django.test import Client
from django.urls import reverse

from annotation.views import projects

BOB = {"username": "bob", "password": "correct-horse-battery"}


def test_every_answer_carries_the_headers(cast, client):
    response = client.get(reverse("login"))
    policy = response["Content-Security-Policy"]
    for part in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"):
        assert part in policy
    assert "unsafe" not in policy
    for name, value in (
        ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "same-origin"),
        ("Cache-Control", "no-store"), ("Permissions-Policy", "camera=()"),
    ):  # fmt: skip
        assert value in response[name], name


def test_a_session_begins_at_log_in_and_ends_at_log_out(cast):
    for target in ("https://evil.example/", "//evil.example/x", "javascript:alert(1)"):
        client = Client()
        client.get(reverse("login"))
        response = client.post(reverse("login"), BOB | {"next": target})
        assert (response.status_code, response["Location"]) == (302, "/p/minds/work/"), "it sends nobody elsewhere"
    key = client.session.session_key
    assert client.get(reverse("logout")).status_code == 405, "to follow a link logs nobody out"
    assert client.get(reverse("annotation:home")).status_code == 200
    client.post(reverse("logout"))
    client.cookies["sessionid"] = key
    assert client.get(reverse("annotation:home")).status_code == 302


def test_what_is_refused_is_refused_in_plain_words(cast, monkeypatch):
    strict = Client(enforce_csrf_checks=True, raise_request_exception=False)
    strict.force_login(cast.alice)
    response = strict.post(reverse("annotation:people", args=["minds"]), {"role": "admin"})
    assert response.status_code == 403 and "form has expired" in response.content.decode()
    for address in ("/p/%00/", "/p/minds/runs/%00/", "/models/endpoint/%00/"):
        assert strict.get(address).status_code == 404, "no address with NUL reaches the database"
    response = strict.get("/api/v1/projects/minds/stories/%00/")
    assert response.status_code == 404 and response.json()["error"]["status"] == 404

    def broken(*args, **kwargs):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(projects, "render", broken)
    response = strict.get(reverse("annotation:home"))
    assert response.status_code == 500
    assert "secret detail" not in response.content.decode() and "went wrong on our side" in response.content.decode()


@pytest.mark.django_db
def test_the_site_admin_pages_cannot_alter_history(cast, client):
    cast.alice.is_superuser = cast.alice.is_staff = True
    cast.alice.save()
    client.force_login(cast.alice)
    assert client.get(reverse("admin:index")).status_code == 200
    for model in ("vote", "voteevent", "goldlabel", "goldevent", "auditevent"):
        for action in ("add", "1/change", "1/delete"):
            response = client.post(f"/site-admin/annotation/{model}/{action}/")
            assert response.status_code in {302, 403, 404}, (model, action)


def test_check_deploy_has_nothing_to_say_behind_tls(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_ALLOW_ASYNC_UNSAFE"} | {
        "CREDENCE_VAR": str(tmp_path), "SITE_URL": "https://credence.example", "TRUST_PROXY": "true",
        "DATABASE_URL": "postgres://someone@127.0.0.1:1/none",
    }  # fmt: skip
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
