import pytest
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.models import ApiToken, Assignment, Scope
from annotation.services.accounts import make_token

OPERATIONS = 88
"""Of the whole API, so that none is missed where it is described and fuzzed."""


def token_of(person, scope: Scope = Scope.WRITE) -> str:
    """Return the secret of a token that was used just now: its first use writes that down."""
    token, secret = make_token(by=person, name="tests", scope=scope, days=None, now=timezone.now())
    ApiToken.objects.filter(pk=token.pk).update(used_at=timezone.now())
    return secret


@pytest.fixture
def api(db):
    """A client with the token of somebody: `api(cast.bob)`."""

    def make(person) -> APIClient:
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Token {token_of(person)}")
        return client

    return make


@pytest.fixture
def story(make_story, assign):
    """A story of two propositions that Bob, Bea and Ben label."""
    story = make_story()
    assign(story)
    return story


@pytest.fixture
def label_again(cast, story):
    """Has Esi label the story in Ben's place."""

    def make() -> None:
        story.assignments.filter(annotator=cast.ben).update(released_at=story.created_at)
        Assignment.objects.create(story=story, annotator=cast.esi, slot=3, overlap=3)

    return make


@pytest.fixture
def address():
    """The path of a route: `address("votes", story)`."""

    def make(name: str, story=None, **more: str) -> str:
        kwargs = {"slug": "minds"} | ({"story": story.uid} if story else {}) | more
        return reverse(f"api:{name}", kwargs=kwargs)

    return make


@pytest.fixture
def change():
    """One change of a cell as the API takes it."""

    def make(proposition, label="0", key="k1", **more) -> dict:
        return {
            "proposition": proposition.uid,
            "dimension": "order",
            "label": label,
            "changed_at": timezone.now().isoformat(),
            "idempotency_key": key,
        } | more

    return make
