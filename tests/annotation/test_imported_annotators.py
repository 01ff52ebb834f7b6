"""Accounts that earlier imports made, and where the pages say who is an imported annotator."""

from __future__ import annotations

import importlib
from datetime import UTC, datetime

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.models import Assignment, AuditEvent, Membership, Proposition, User, Vote, VoteEvent
from annotation.models.user import imported_username
from annotation.services import audit
from annotation.services.imported_annotators import make_imported

convert = importlib.import_module("annotation.migrations.0003_imported_annotators").convert
NOW = datetime(2026, 10, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def made(cast, make_story):
    """An account as an import of votes made them once: without a password, a member, with votes of that origin."""
    story = make_story()
    first = Proposition.objects.gold_of(story)[0]

    def make(name: str) -> User:
        user = User(username=name, display_name=name)
        user.set_unusable_password()
        user.save()
        Membership.objects.create(project=cast.project, user=user, role="annotator")
        slot = 1 + Assignment.objects.filter(story=story).count()
        Assignment.objects.create(story=story, annotator=user, slot=slot, overlap=9)
        vote = {"proposition": first, "annotator": user, "dimension": "order", "label": "1", "changed_at": NOW}
        Vote.objects.create(**vote, idempotency_key="import-1")
        VoteEvent.objects.create(**vote, idempotency_key="import-1", received_at=NOW, origin="import")
        return user

    return make


def test_an_unused_account_of_an_import_becomes_an_imported_annotator_with_its_votes(cast, made):
    ada = made("ada")
    audit.record(by=cast.alice, project=cast.project, action="votes.imported", target="v.csv", accounts=["ada"])
    convert(apps, None)
    ada.refresh_from_db()
    assert (ada.username, ada.display_name, ada.imported_into, ada.is_active) == (
        "minds:ada", "ada (imported)", cast.project, False,
    )  # fmt: skip
    assert not Membership.objects.filter(user=ada).exists()
    assert Vote.objects.get().annotator == ada
    told = AuditEvent.objects.get(action="accounts.became_imported_annotators")
    assert (told.project, told.details) == (cast.project, {"names": ["ada"]})


def _password(user, cast):
    user.set_password("correct-horse-battery")


def _email(user, cast):
    user.email = "ada@example.org"


def _log_in(user, cast):
    user.last_login = NOW


def _vote(user, cast):
    first = VoteEvent.objects.get(annotator=user)
    later = {"proposition": first.proposition, "annotator": user, "dimension": "order", "label": "2"}
    VoteEvent.objects.create(**later, changed_at=NOW, received_at=NOW, idempotency_key="grid-1", origin="grid")


def _role(user, cast):
    Membership.objects.filter(user=user).update(role="expert")


def _act(user, cast):
    audit.record(by=user, project=cast.project, action="project.changed")


@pytest.mark.parametrize("used", [_password, _email, _log_in, _vote, _role, _act])
def test_an_account_that_somebody_used_stays_one(cast, made, used):
    ada = made("ada")
    audit.record(by=cast.alice, project=cast.project, action="votes.imported", target="v.csv", accounts=["ada"])
    used(ada, cast)
    ada.save()
    convert(apps, None)
    ada.refresh_from_db()
    assert (ada.username, ada.imported_into, ada.is_active) == ("ada", None, True)
    assert not AuditEvent.objects.filter(action="accounts.became_imported_annotators").exists()


def test_an_account_that_no_import_made_stays_one(cast, made):
    ada = made("ada")
    convert(apps, None)
    ada.refresh_from_db()
    assert ada.imported_into is None


def test_a_long_name_is_cut_the_same_way_every_time():
    name = "x" * 150
    assert len(imported_username("minds", name)) == 150
    assert imported_username("minds", name) != imported_username("minds", name[:-1])
    cut = imported_username("minds", name).partition(":")[2]
    assert imported_username("minds", cut).partition(":")[2] == cut


def test_the_page_says_of_every_name_who_it_is(cast, make_story, client):
    make_story(rows=[("Ines", "It rains")])
    client.force_login(cast.alice)
    lines = (
        "story_id,actor,belief,dimension,annotator,label\n1,Ines,It rains,order,bob,1\n1,Ines,It rains,order,ada,1\n"
    )
    file = SimpleUploadedFile("votes.csv", lines.encode())
    html = client.post(
        reverse("annotation:import", args=["minds"]),
        {"files": file, "format": "votes", "language": "en", "keep": "1", "sure": "1"},
    ).content.decode()
    assert "imported annotator</span>" in html
    assert "member</span>" in html
    people = client.get(reverse("annotation:people", args=["minds"])).content.decode()
    assert "Imported annotators" in people
    assert "minds:ada" in people
    assert "minds:bob" not in people
    assignments = client.get(reverse("annotation:assignments", args=["minds"])).content.decode()
    assert "ada (imported)" in assignments
    assert "no longer a member" not in assignments


def test_an_imported_annotator_gets_no_work_and_is_not_offered(cast, client):
    make_imported({"ada": "Ada"}, cast.project)
    client.force_login(cast.alice)
    assert "Ada (imported)" not in client.get(reverse("annotation:assignments", args=["minds"])).content.decode()
    cast.alice.is_staff = cast.alice.is_superuser = True
    cast.alice.save()
    assert "minds:ada" not in client.get("/site-admin/annotation/user/").content.decode()
