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


def test_an_account_is_found_in_any_other_way_too(cast):
    found = [User.objects.get(username="bob"), User.objects.get(pk=str(cast.bob.pk)), User.objects.get(pk=cast.bob.pk)]
    assert found == [cast.bob] * 3
    with pytest.raises(User.DoesNotExist):
        User.objects.filter(is_active=False).get(pk=cast.bob.pk)
    with pytest.raises(User.DoesNotExist):
        cast.project.imported_annotators.get(pk=cast.bob.pk)


def test_a_session_counts_until_it_or_its_account_ends(client, cast):
    bob = User.objects.get(pk=cast.bob.pk)
    bob.set_password("another password")
    for end in (
        lambda: Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1)),
        lambda: Session.objects.all().delete(),
        bob.save,  # with the new password
        lambda: User.objects.filter(pk=cast.bob.pk).update(is_active=False),
    ):
        client.force_login(User.objects.get(pk=cast.bob.pk))
        assert user(client) == cast.bob
        end()
        assert user(client).is_anonymous
    with pytest.raises(User.DoesNotExist):
        User.objects.get(pk=0)
