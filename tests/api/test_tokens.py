"""Tokens of the API: listed, with a scope and an end, and not outliving the password; and how many requests there may
be."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.models import ApiToken, Scope
from annotation.services.accounts import make_token
from tests.api.conftest import token_of

PROJECTS = "/api/v1/projects/"


def ask(secret: str, address: str = PROJECTS, method: str = "get", **how):
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {secret}")
    return getattr(client, method)(address, **how)


def test_a_token_is_shown_once_kept_as_a_digest_and_listed(cast, client):
    client.force_login(cast.bob)
    shown = client.post(reverse("make_api_token"), {"name": "my notebook", "scope": "read", "days": "30"})
    token = ApiToken.objects.get(user=cast.bob)
    secret = shown.content.decode().split('<pre id="secret">')[1].split("</pre>")[0]
    assert len(secret) == 40 and ask(secret).status_code == 200
    listed = client.get(reverse("account")).content.decode()
    assert "my notebook" in listed and secret not in listed and token.beginning in listed
    assert secret not in (token.digest, token.seal, token.beginning)
    assert token.expires_at - token.created_at == timedelta(days=30)
    client.post(reverse("end_api_token", args=[token.pk]))
    assert ask(secret).status_code == 401 and not ApiToken.objects.exists()


def test_what_is_missing_is_said_and_the_page_keeps_what_was_typed(cast, client):
    client.force_login(cast.bob)
    page = client.post(reverse("make_api_token"), {"name": "", "scope": "everything", "days": "30"})
    assert page.status_code == 200 and page.content.decode().count("field-error") == 2
    assert not ApiToken.objects.exists()


def test_nobody_ends_another_s_token(cast, client):
    secret = token_of(cast.bob)
    client.force_login(cast.bea)
    client.post(reverse("end_api_token", args=[ApiToken.objects.get().pk]))
    assert ask(secret).status_code == 200


def test_a_token_that_may_read_writes_nothing(cast, story):
    secret = token_of(cast.bob, Scope.READ)
    address = f"{PROJECTS}minds/stories/{story.uid}/votes/"
    assert ask(secret, address).status_code == 200
    refused = ask(secret, address, "post", data={"changes": []}, format="json")
    assert refused.status_code == 403 and "may only read" in refused.json()["error"]["message"]
    assert ask(token_of(cast.bob), address, "post", data={"changes": []}, format="json").status_code != 403


def test_a_token_ends_when_it_expires(cast):
    now = timezone.now()
    begun = now - timedelta(days=30, seconds=1)
    _, old = make_token(by=cast.bob, name="old", scope=Scope.WRITE, days=30, now=begun)
    _, new = make_token(by=cast.bob, name="new", scope=Scope.WRITE, days=31, now=begun)
    assert (ask(old).status_code, ask(new).status_code) == (401, 200)


@pytest.mark.parametrize("how", ["own page", "reset", "command"])
def test_tokens_end_with_a_change_of_the_password(cast, client, how):
    secret = token_of(cast.bob)
    if how == "own page":
        client.force_login(cast.bob)
        told = {
            "old_password": "correct-horse-battery",
            "new_password1": "another-horse",
            "new_password2": "another-horse",
        }
        assert client.post(reverse("password_change"), told).status_code == 302
        assert "ended with your old password" in client.get(reverse("account")).content.decode()
    else:
        cast.bob.set_password("another-horse")
        cast.bob.save()
    assert ask(secret).status_code == 401


def test_a_token_of_somebody_who_left_is_worth_nothing(cast):
    secret = token_of(cast.bob)
    cast.bob.is_active = False
    cast.bob.save()
    assert ask(secret).status_code == 401


def test_last_use_is_written_once_in_a_while(cast):
    secret = token_of(cast.bob)
    ApiToken.objects.update(used_at=None)
    ask(secret)
    used = ApiToken.objects.get().used_at
    assert used is not None
    ask(secret)
    assert ApiToken.objects.get().used_at == used


def test_requests_are_limited_by_account(cast, monkeypatch):
    rates = {"user": "3/min", "anon": None}
    monkeypatch.setattr("rest_framework.throttling.SimpleRateThrottle.THROTTLE_RATES", rates)
    cache.clear()
    bob, bea = token_of(cast.bob), token_of(cast.bea)
    assert [ask(bob).status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = ask(bob)
    assert refused.json()["error"]["status"] == 429 and int(refused["Retry-After"]) > 0
    assert ask(bea).status_code == 200


def test_strangers_are_limited_by_address_and_hold_nobody_else_up(cast, monkeypatch):
    rates = {"user": None, "anon": "2/min"}
    monkeypatch.setattr("rest_framework.throttling.SimpleRateThrottle.THROTTLE_RATES", rates)
    cache.clear()
    assert [APIClient().get(PROJECTS).status_code, ask("wrong").status_code] == [401, 401]
    for refused in (APIClient().get(PROJECTS), ask("wrong")):
        assert refused.json()["error"]["status"] == refused.status_code == 429 and int(refused["Retry-After"]) > 0
    assert ask(token_of(cast.bob)).status_code == 200
    assert ask("wrong", REMOTE_ADDR="10.1.1.1", HTTP_X_FORWARDED_FOR="10.2.2.2").status_code == 401
    near = [ask("wrong", REMOTE_ADDR=f"2001:db8::{at}").status_code for at in range(1, 4)]
    assert near == [401, 401, 429], "of IPv6 a network is counted"
