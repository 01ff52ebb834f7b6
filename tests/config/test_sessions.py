"""The account of a request is found by queries that are written once, and by nothing that is over."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.models import Session
from django.utils import timezone

from annotation.models import User

pytestmark = pytest.mark.django_db


def user(client) -> User | AnonymousUser:
    """Who the server takes the browser's requests to be from."""
    return client.get("/login/").wsgi_request.user


def test_a_session_counts_until_it_ends(client, cast):
    client.force_login(cast.bob)
    assert user(client) == cast.bob
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert user(client).is_anonymous


def test_a_session_that_was_ended_is_none(client, cast):
    client.force_login(cast.bob)
    Session.objects.all().delete()
    assert user(client).is_anonymous


def test_an_account_that_is_closed_or_gone_is_nobody(client, cast):
    client.force_login(cast.bob)
    User.objects.filter(pk=cast.bob.pk).update(is_active=False)
    assert user(client).is_anonymous
    with pytest.raises(User.DoesNotExist):
        User.objects.get(pk=0)


def test_a_new_password_ends_the_sessions_of_the_old_one(client, cast):
    client.force_login(cast.bob)
    bob = User.objects.get(pk=cast.bob.pk)
    bob.set_password("another password")
    bob.save()
    assert user(client).is_anonymous


def test_an_account_is_found_in_any_other_way_too(cast):
    found = [User.objects.get(username="bob"), User.objects.get(pk=str(cast.bob.pk)), User.objects.get(pk=cast.bob.pk)]
    assert found == [cast.bob] * 3
    with pytest.raises(User.DoesNotExist):
        User.objects.filter(is_active=False).get(pk=cast.bob.pk)
    with pytest.raises(User.DoesNotExist):
        cast.project.imported_annotators.get(pk=cast.bob.pk)
