"""The cast: Alice owns the project, Bob, Bea and Ben annotate, Esi is the expert, Charlie is a stranger."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.prepared import copy_prepared

os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # playwright's sync API runs an event loop of its own

SHARED = Path(__file__).resolve().parents[2] / "shared"


DATABASE_FIXTURES = {"db", "transactional_db", "django_db_reset_sequences", "live_server"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses the database, so that the pass on PostgreSQL can leave out what would only say the same again."""
    for item in items:
        if item.get_closest_marker("django_db") or DATABASE_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("database")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and vectors beside the checkout; tests that need it skip without it."""
    if not SHARED.is_dir():
        pytest.skip("the folder shared/ beside the checkout is absent")
    return SHARED


@pytest.fixture(scope="session")
def prepared(tmp_path_factory) -> Callable[[Path], Path]:
    """Makes the data folder of an empty installation on SQLite: `prepared(tmp_path / "var")`."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own  # the folder of all processes of this run
    return lambda var: copy_prepared(var, shared)


@pytest.fixture(scope="session", autouse=True)
def contexts_of_pages_alone(django_test_environment) -> None:
    """`response.context` holds what the view gave the page's own template.

    Django copies the whole context for every included piece and every widget of a form too: a fifth of the time of a long page.
    """
    from django.template.base import Template
    from django.test.signals import template_rendered

    def render(template: Template, context) -> str:
        if context.template is template and not (template.name or "").startswith("django/forms/"):
            template_rendered.send(sender=template, template=template, context=context)
        return template.nodelist.render(context)

    Template._render = render  # Django sets its own back at the end of the session


@pytest.fixture(autouse=True)
def quick_and_local(settings, tmp_path, monkeypatch) -> None:
    """Fast password hashing, plain static files, no shared cache and no files outside the test."""
    from benchmark.services.estimates import _measures

    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    memory = "django.core.cache.backends.locmem.LocMemCache"
    settings.CACHES = {name: {"BACKEND": memory, "LOCATION": name} for name in settings.CACHES}
    settings.SECURE_SSL_REDIRECT = False
    # Thousands of requests a minute, of few people.
    monkeypatch.setattr("rest_framework.throttling.SimpleRateThrottle.THROTTLE_RATES", {"user": None, "anon": None})
    settings.MEDIA_ROOT = tmp_path / "media"
    _measures.cache_clear()  # by the dataset's key, which the next test gives to another dataset


@dataclass
class Cast:
    project: object
    alice: object
    bob: object
    bea: object
    ben: object
    esi: object
    charlie: object

    @property
    def annotators(self) -> list:
        return [self.bob, self.bea, self.ben]


@pytest.fixture
def cast(db) -> Cast:
    from annotation.models import Membership, Project, Role, User

    people = {
        name: User.objects.create_user(name, f"{name}@example.org", "correct-horse-battery", display_name=name.title())
        for name in ("alice", "bob", "bea", "ben", "esi", "charlie")
    }
    project = Project.objects.create(slug="minds", name="Minds")
    roles = {
        "alice": Role.ADMIN,
        "bob": Role.ANNOTATOR,
        "bea": Role.ANNOTATOR,
        "ben": Role.ANNOTATOR,
        "esi": Role.EXPERT,
    }
    for name, role in roles.items():
        Membership.objects.create(project=project, user=people[name], role=role)
    return Cast(project=project, **people)


@pytest.fixture
def make_story(cast):
    """Makes a story with a gold table: `make_story(rows=[(actor, belief), …])`."""
    import hashlib

    from annotation.models import BeliefTable, Category, Proposition, Story

    def make(
        number: int = 1, rows=(("world", "The key is in the drawer"), ("Ines", "The key is in the bag")), **fields
    ):
        category, _ = Category.objects.get_or_create(
            project=cast.project, name=fields.pop("category", "False Belief Task")
        )
        text = fields.pop("text", f"Story {number}. Ines puts the key in the bag. Tomas moves it to the drawer.")
        story = Story.objects.create(
            project=cast.project,
            number=number,
            category=category,
            text=text,
            digest=hashlib.sha256(text.encode()).hexdigest(),
            **fields,
        )
        table = BeliefTable.objects.create(story=story)
        Proposition.objects.bulk_create(
            Proposition(table=table, position=position, actor=actor, belief=belief)
            for position, (actor, belief) in enumerate(rows, 1)
        )
        return story

    return make


@pytest.fixture
def seat(cast):
    """Seats annotators at a story: `seat(story)` seats Bob, Bea and Ben and returns their assignments."""
    from annotation.models import Assignment

    def make(story, annotators=None):
        return [
            Assignment.objects.create(story=story, annotator=person, slot=slot, overlap=cast.project.overlap)
            for slot, person in enumerate(annotators or cast.annotators, 1)
        ]

    return make


@pytest.fixture
def cast_vote(db):
    """Casts one vote: `cast_vote(seat, proposition, dimension, label)`."""
    import uuid

    from django.utils import timezone

    from annotation.services.votes import Change, save_votes

    def make(seat, proposition, dimension, label, **fields):
        now = timezone.now()
        change = Change(proposition.uid, dimension, label, fields.pop("at", now), fields.pop("key", uuid.uuid4().hex))
        return save_votes(by=seat.annotator, seat=seat, changes=[change], now=now)[0]

    return make


@pytest.fixture
def own_registry(monkeypatch) -> None:
    """Providers and baselines that the test registers are gone after it."""
    from workers.providers import registry
    from workers.providers.baseline import registered

    monkeypatch.setattr(registry, "_providers", dict(registry._providers))
    monkeypatch.setattr(registered, "_BASELINES", dict(registered._BASELINES))
