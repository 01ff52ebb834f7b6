from __future__ import annotations

import pytest
from django.db import DataError
from django.http import HttpResponse
from django.test import RequestFactory
from django.urls import reverse

from config.middleware import NoNul


def answered(error: Exception, path: str = "/p/minds/", **sent) -> int | None:
    response = NoNul(lambda request: HttpResponse()).process_exception(RequestFactory().post(path, sent), error)
    return response and response.status_code


def test_a_field_with_nul_that_the_database_refuses_is_a_bad_request():
    assert answered(DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes"), title="a\x00b") == 400
    assert answered(DataError("value too long"), title="ab") is None  # an error of ours, which is to be seen
    assert answered(KeyError("title"), title="a\x00b") is None
    assert answered(DataError("NUL"), path="/api/v1/", title="a\x00b") is None  # the API answers in its own shape


@pytest.mark.django_db
def test_no_form_less_field_with_nul_is_an_error(client, cast, make_story):
    story = make_story(1)
    client.force_login(cast.alice)
    page = reverse("annotation:table_edit", args=[cast.project.slug, story.uid])
    for field in ("up", "down"):
        assert client.post(page, {field: "\x00"}).status_code in (400, 404)
