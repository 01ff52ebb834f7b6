"""What stands between a request and its view: the account that it is from, a field with NUL, and what the log says."""

import logging
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.core.exceptions import PermissionDenied
from django.db import DataError
from django.http import HttpResponse
from django.test import RequestFactory
from django.urls import reverse
from django.utils import timezone
from django.utils.log import log_response

from annotation.models import User
from config.middleware import NoNul

pytestmark = pytest.mark.django_db


def test_a_refusal_is_one_line_of_the_log_and_a_failure_keeps_its_trace(caplog):
    caplog.set_level(logging.WARNING, "django.request")
    for error, status in ((PermissionDenied("Not yours."), 403), (ValueError("A mistake."), 500)):
        response = HttpResponse(status=status)
        try:
            raise error
        except type(error) as caught:
            log_response(
                "It went wrong: %s", "/", response=response, request=RequestFactory().get("/"), exception=caught
            )
        assert bool(caplog.records[-1].exc_info) == (status == 500)  # after the site's own console has had it


def test_a_field_with_nul_that_the_database_refuses_is_a_bad_request(client, cast, make_story):
    def answered(error: Exception, path: str = "/p/minds/", **sent) -> int | None:
        response = NoNul(lambda request: HttpResponse()).process_exception(RequestFactory().post(path, sent), error)
        return response and response.status_code

    assert answered(DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes"), title="a\x00b") == 400
    assert answered(DataError("value too long"), title="ab") is None  # an error of ours, which is to be seen
    assert answered(KeyError("title"), title="a\x00b") is None
    assert answered(DataError("NUL"), path="/api/v1/", title="a\x00b") is None  # the API answers in its own shape
    client.force_login(cast.alice)
    page = reverse("annotation:table_edit", args=[cast.project.slug, make_story(1).uid])
    for field in ("up", "down"):  # which no form looks at
        assert client.post(page, {field: "\x00"}).status_code in (400, 404)


def test_a_session_counts_until_it_or_its_account_ends(client, cast):
    """The account is found by queries that are written once, and in any other way too."""
    found = [User.objects.get(username="bob"), User.objects.get(pk=str(cast.bob.pk)), User.objects.get(pk=cast.bob.pk)]
    assert found == [cast.bob] * 3
    for accounts, pk in (
        (User.objects.filter(is_active=False), cast.bob.pk),
        (cast.project.imported_annotators, cast.bob.pk),
        (User.objects, 0),
    ):
        with pytest.raises(User.DoesNotExist):
            accounts.get(pk=pk)
    bob = User.objects.get(pk=cast.bob.pk)
    bob.set_password("another password")
    for end in (
        lambda: Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1)),
        lambda: Session.objects.all().delete(),
        bob.save,  # with the new password
        lambda: User.objects.filter(pk=cast.bob.pk).update(is_active=False),
    ):
        client.force_login(User.objects.get(pk=cast.bob.pk))
        assert client.get("/login/").wsgi_request.user == cast.bob
        end()
        assert client.get("/login/").wsgi_request.user.is_anonymous
