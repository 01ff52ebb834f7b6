from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.urls import reverse

PASSWORD = "correct-horse-battery"


def test_every_answer_carries_the_headers(cast, client):
    response = client.get(reverse("login"))
    policy = response["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Frame-Options"] == "DENY"
    assert response["Referrer-Policy"] == "same-origin"
    assert "no-store" in response["Cache-Control"]
    assert "camera=()" in response["Permissions-Policy"]


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example/x", "javascript:alert(1)"])
def test_log_in_sends_nobody_elsewhere(cast, client, target):
    response = client.post(reverse("login"), {"username": "bob", "password": PASSWORD, "next": target})
    assert response.status_code == 302 and response["Location"] == "/p/minds/work/"


def test_the_session_key_changes_at_log_in_and_ends_at_log_out(cast, client):
    client.get(reverse("login"))
    client.post(reverse("login"), {"username": "bob", "password": PASSWORD})
    key = client.session.session_key
    client.post(reverse("logout"))
    client.cookies["sessionid"] = key
    assert client.get(reverse("annotation:home")).status_code == 302


def test_logging_out_by_following_a_link_does_nothing(cast, client):
    client.force_login(cast.bob)
    assert client.get(reverse("logout")).status_code == 405
    assert client.get(reverse("annotation:home")).status_code == 200


def test_a_form_without_its_token_is_refused(cast):
    from django.test import Client

    strict = Client(enforce_csrf_checks=True)
    strict.force_login(cast.alice)
    response = strict.post(reverse("annotation:people", args=["minds"]), {"role": "admin"})
    assert response.status_code == 403 and "form has expired" in response.content.decode()


def test_no_page_shows_a_traceback(cast, client, monkeypatch):
    from annotation.views import projects

    def broken(*args, **kwargs):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(projects, "render", broken)
    client.raise_request_exception = False
    client.force_login(cast.alice)
    response = client.get(reverse("annotation:home"))
    assert response.status_code == 500
    assert "secret detail" not in response.content.decode() and "went wrong on our side" in response.content.decode()


@pytest.mark.parametrize("address", ["/p/%00/", "/p/minds/runs/%00/", "/models/endpoint/%00/"])
def test_no_address_with_nul_reaches_the_database(cast, client, address):
    client.force_login(cast.alice)
    assert client.get(address).status_code == 404


def test_the_api_says_in_its_own_shape_that_an_address_with_nul_is_not_there(cast, client):
    client.force_login(cast.alice)
    response = client.get("/api/v1/projects/minds/stories/%00/")
    assert response.status_code == 404 and response.json()["error"]["status"] == 404


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
    environment = {
        **{name: value for name, value in os.environ.items() if name != "DJANGO_ALLOW_ASYNC_UNSAFE"},
        "CREDENCE_VAR": str(tmp_path),
        "SITE_URL": "https://credence.example",
        "TRUST_PROXY": "true",
        "DATABASE_URL": "postgres://someone@127.0.0.1:1/none",
    }
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
