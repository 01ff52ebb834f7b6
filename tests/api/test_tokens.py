"""Tokens of the API: listed, with a scope and an end, and not outliving the password; and how many requests there may
be."""

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


def test_a_token_is_shown_once_kept_as_a_digest_listed_and_ended_by_its_owner(cast, client):
    client.force_login(cast.bob)
    page = client.post(reverse("make_api_token"), {"name": "", "scope": "everything", "days": "30"})
    assert page.status_code == 200 and page.content.decode().count("field-error") == 2
    assert not ApiToken.objects.exists()
    shown = client.post(reverse("make_api_token"), {"name": "my notebook", "scope": "read", "days": "30"})
    token = ApiToken.objects.get(user=cast.bob)
    secret = shown.content.decode().split('<pre id="secret">')[1].split("</pre>")[0]
    assert len(secret) == 40 and ask(secret).status_code == 200
    listed = client.get(reverse("account")).content.decode()
    assert "my notebook" in listed and secret not in listed and token.beginning in listed
    assert secret not in (token.digest, token.seal, token.beginning)
    assert token.expires_at - token.created_at == timedelta(days=30)
    for person, status in ((cast.bea, 200), (cast.bob, 401)):
        client.force_login(person)
        client.post(reverse("end_api_token", args=[token.pk]))
        assert ask(secret).status_code == status
    assert not ApiToken.objects.exists()


def test_a_token_that_may_read_writes_nothing(cast, story):
    address = f"{PROJECTS}minds/stories/{story.uid}/votes/"
    body = {"data": {"changes": []}, "format": "json"}
    secret = token_of(cast.bob, Scope.READ)
    assert ask(secret, address).status_code == 200
    refused = ask(secret, address, "post", **body)
    assert refused.status_code == 403 and "may only read" in refused.json()["error"]["message"]
    assert ask(token_of(cast.bob), address, "post", **body).status_code != 403


def test_a_token_ends_when_it_expires_and_with_the_password_or_the_account(cast, client):
    begun = timezone.now() - timedelta(days=30, seconds=1)
    _, old = make_token(by=cast.bob, name="old", scope=Scope.WRITE, days=30, now=begun)
    _, new = make_token(by=cast.bob, name="new", scope=Scope.WRITE, days=31, now=begun)
    assert (ask(old).status_code, ask(new).status_code) == (401, 200)
    client.force_login(cast.bob)
    told = {"old_password": "correct-horse-battery"} | dict.fromkeys(
        ["new_password1", "new_password2"], "another-horse"
    )
    assert client.post(reverse("password_change"), told).status_code == 302
    assert "ended with your old password" in client.get(reverse("account")).content.decode()
    assert ask(new).status_code == 401
    another = token_of(cast.bob)
    cast.bob.refresh_from_db()
    cast.bob.set_password("a-third-horse")  # as a reset and the command do
    cast.bob.save()
    assert ask(another).status_code == 401
    last = token_of(cast.bob)
    assert ask(last).status_code == 200
    cast.bob.is_active = False
    cast.bob.save()
    assert ask(last).status_code == 401


def test_last_use_is_written_once_in_a_while(cast):
    secret = token_of(cast.bob)
    ApiToken.objects.update(used_at=None)
    ask(secret)
    used = ApiToken.objects.get().used_at
    assert used is not None
    ask(secret)
    assert ApiToken.objects.get().used_at == used


@pytest.fixture
def limit(monkeypatch):
    """Sets how many requests there may be: `limit(user="3/min")`."""

    def make(**rates: str) -> None:
        kept = {"user": None, "anon": None} | rates
        monkeypatch.setattr("rest_framework.throttling.SimpleRateThrottle.THROTTLE_RATES", kept)
        cache.clear()

    return make


def is_limited(refused) -> bool:
    return refused.json()["error"]["status"] == refused.status_code == 429 and int(refused["Retry-After"]) > 0


def test_requests_are_limited_by_account_and_strangers_by_address(cast, limit):
    limit(user="3/min")
    bob, bea = token_of(cast.bob), token_of(cast.bea)
    assert [ask(bob).status_code for _ in range(3)] == [200] * 3 and is_limited(ask(bob))
    assert ask(bea).status_code == 200
    limit(anon="2/min")
    assert [APIClient().get(PROJECTS).status_code, ask("wrong").status_code] == [401, 401]
    assert is_limited(APIClient().get(PROJECTS)) and is_limited(ask("wrong"))
    assert ask(bob).status_code == 200
    assert ask("wrong", REMOTE_ADDR="10.1.1.1", HTTP_X_FORWARDED_FOR="10.2.2.2").status_code == 401
    near = [ask("wrong", REMOTE_ADDR=f"2001:db8::{at}").status_code for at in range(1, 4)]
    assert near == [401, 401, 429], "of IPv6 a network is counted"
