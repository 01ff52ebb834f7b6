"""The API is fuzzed from its own description: no answer is a 5xx, each has a described status, type and shape."""

from __future__ import annotations

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from rest_framework.authtoken.models import Token
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from annotation.models import Proposition
from config.wsgi import application

pytestmark = pytest.mark.django_db


@pytest.fixture
def one_connection():
    """A request through WSGI closes old connections when it ends; here that would be the test's own."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def described(one_connection, cast, make_story, seat, cast_vote):
    """The API as each role sees it, over a project with votes and an open cell."""
    story = make_story()
    seats = seat(story)
    for one, label in zip(seats, ["True", "False", "Unknown"], strict=True):
        cast_vote(one, Proposition.objects.gold_of(story).first(), "truth_status", label)
    return schemathesis.openapi.from_wsgi("/api/v1/schema/?format=json", application, headers=_token(cast.alice))


def _token(person) -> dict[str, str]:
    return {"Authorization": f"Token {Token.objects.get_or_create(user=person)[0].key}"}


# Not "a valid body is accepted": the description cannot say which propositions there are, and 400 is an answer to that.
CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
)
QUICK = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_no_answer_breaks_the_description(described, cast):
    operations = [result.ok() for result in described.get_all_operations()]
    assert len(operations) >= 11
    for operation in operations:

        @QUICK
        @given(case=operation.as_strategy())
        def check(case) -> None:
            real = {"slug": "minds", "story": _first().table.story.uid, "proposition": _first().uid}
            case.path_parameters = {name: real.get(name, value) for name, value in (case.path_parameters or {}).items()}
            for person in (cast.bob, cast.esi, cast.alice, cast.charlie):
                case.call_and_validate(headers=_token(person), checks=CHECKS)

        check()


def _first() -> Proposition:
    return Proposition.objects.select_related("table__story").first()
