"""Where a log-in lands: at the work of who logs in."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Membership, Project, Proposition, Role
from annotation.services.drafts import take_slot

PASSWORD = "correct-horse-battery"


@pytest.fixture
def lands(cast):
    """`lands("bob")` logs in and returns the address that follows."""

    def log_in(name: str, **form) -> str:
        answer = Client().post(reverse("login"), {"username": name, "password": PASSWORD, **form})
        assert answer.status_code == 302
        return answer.url

    return log_in


def test_annotators_and_admins_land_at_their_work(cast, lands):
    assert lands("bob") == "/p/minds/work/"
    assert lands("alice") == "/p/minds/"
    assert lands("charlie") == "/"  # in no project
    assert lands("bob", next="/p/minds/stories/") == "/p/minds/stories/"
    for not_asked_for in ("/", "https://elsewhere.example/"):
        assert lands("bob", next=not_asked_for) == "/p/minds/work/"
    Project.objects.create(slug="tales", name="Tales").memberships.create(user=cast.bob, role=Role.ANNOTATOR)
    assert lands("bob") == "/"  # two projects, and nothing to do: the list


def test_of_several_projects_the_one_in_which_work_waits_is_opened(cast, make_story, assign, lands):
    tales = Project.objects.create(slug="tales", name="Tales")
    for person, role in ((cast.bob, Role.ANNOTATOR), (cast.esi, Role.EXPERT), (cast.alice, Role.ANNOTATOR)):
        tales.memberships.create(user=person, role=role)
    assign(make_story(1), [cast.bob, cast.alice])
    make_story(2, rows=())
    assert lands("bob") == "/p/minds/work/"
    assert lands("esi") == "/p/minds/tables/"
    assert lands("alice") == "/"  # an admin's work is more than what is counted
    Membership.objects.filter(user=cast.esi, project=tales).update(role=Role.ADMIN)
    assert lands("esi") == "/"


def test_experts_land_where_something_waits_for_them(cast, make_story, assign, cast_vote, lands):
    assert lands("esi") == "/p/minds/"  # nothing anywhere
    assign(make_story(1), [cast.esi])
    assert lands("esi") == "/p/minds/work/"
    bare = make_story(2, rows=())
    assert lands("esi") == "/p/minds/tables/"
    voted = make_story(3)
    row = Proposition.objects.gold_of(voted).first()
    for assignment, label in zip(assign(voted), ("0", "1", "2"), strict=True):
        cast_vote(assignment, row, "order", label)
    assert lands("esi") == "/p/minds/adjudication/"  # before a table that nobody began
    take_slot(by=cast.esi, story=bare, expert=cast.esi)
    assert lands("esi") == "/p/minds/tables/"
