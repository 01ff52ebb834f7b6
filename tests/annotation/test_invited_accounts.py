"""Membership needs the person's yes, and nothing that an admin is told says which accounts exist."""

import re
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import AuditEvent, Invitation, Membership, Role, User, Vote
from annotation.services import people
from tests.annotation.test_people import delivered

pytestmark = pytest.mark.django_db


def invite(cast, username: str = "charlie", role: Role = Role.EXPERT) -> Invitation:
    return people.invite_account(by=cast.alice, project=cast.project, role=role, username=username, now=timezone.now())


def logged_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def answer(person: User, invitation: Invitation, name: str):
    address = reverse("answer_invitation", args=[invitation.pk])
    return logged_in(person).post(address, {name: "1"}, follow=True)


def is_member(cast, person: User) -> bool:
    return Membership.objects.filter(project=cast.project, user=person).exists()


VARYING = re.compile(
    r"""\b[A-Za-z0-9]{64}\b|name="once" value="[^"]+|(?s:<time.*?</time>)|\d{4}-\d\d-\d\dT[^"]+|"invitation": ?\d+"""
)


def plain(text: str, name: str) -> str:
    """Return an answer without what differs from request to request, and without the name itself."""
    text = VARYING.sub("", text)
    return re.sub(r"invitations/\d+/", "", text.replace(name, "NAME") if name else text)


def home(person: User) -> str:
    return " ".join(logged_in(person).get(reverse("annotation:home")).content.decode().split())


PEOPLE, API = "/p/minds/people/", "/api/v1/projects/minds/invitations/"
NAMES = ("charlie", "nobody1", "gone")
"""An account, a name without one, and an account that was closed."""


@pytest.fixture
def gone(cast) -> User:
    return User.objects.create_user("gone", is_active=False)


def test_page_and_api_answer_alike_whether_or_not_an_account_exists(cast, gone):
    told, statements, by_api = {}, {}, set()
    for name in NAMES:
        Invitation.objects.all().delete()
        client = logged_in(cast.alice)
        with CaptureQueriesContext(connection) as asked:
            page = client.post(PEOPLE, {"role": "expert", "people": name})
        told[name] = page.status_code, plain(page.content.decode(), name)
        statements[name] = len(asked)
    assert len(set(told.values())) == 1 and len(set(statements.values())) == 1
    assert told["charlie"][0] == 200 and "Invited by user name" in told["charlie"][1]
    Invitation.objects.all().delete()
    for name in NAMES:
        client = logged_in(cast.alice)
        body = {"role": "annotator", "user": name}
        made = client.post(API, body, content_type="application/json")
        role = client.post(reverse("api:members", args=["minds"]), body, content_type="application/json")
        by_api.add((made.status_code, role.status_code, *(plain(one.content.decode(), name) for one in (made, role))))
        assert client.get(API).json()["results"][0]["user"] == name
    assert {answer[:2] for answer in by_api} == {(201, 422)} and len(by_api) == 1


def test_capitals_of_an_invited_name_do_not_matter_unless_two_accounts_differ_by_them(cast):
    charlie = User.objects.get(username="charlie")
    assert invite(cast, "Charlie").invited == charlie and invite(cast, "CHARLIE").invited == charlie
    upper = User.objects.create_user("CHARLIE")
    found = {name: invite(cast, name, Role.ADMIN).invited for name in ("charlie", "CHARLIE", "Charlie")}
    assert found == {"charlie": charlie, "CHARLIE": upper, "Charlie": None}
    assert people.members_named(cast.project, ["Alice", "nobody1"]) == {"Alice"}


def test_who_is_invited_is_asked_and_no_member_before_they_accept(cast):
    invitation = invite(cast)
    charlie = logged_in(cast.charlie)
    assert not is_member(cast, cast.charlie)
    assert charlie.get(reverse("annotation:project", args=["minds"])).status_code == 404
    page = home(cast.charlie)
    assert "Invitations to you" in page and "<bdi>Minds</bdi></strong>, as expert, from <bdi>" in page
    assert "You are in no project yet" not in page
    told = answer(cast.charlie, invitation, "accept").content.decode()
    assert "You are expert in Minds now." in told and is_member(cast, cast.charlie)
    assert "Invitations to you" not in home(cast.charlie)
    assert AuditEvent.objects.filter(action="membership.created", actor=cast.charlie, target="charlie").count() == 1
    # after the log-in, and beside the work that somebody has
    other = type(cast.project).objects.create(slug="other", name="Other")
    Membership.objects.create(project=other, user=cast.esi, role=Role.ADMIN)
    people.invite_account(by=cast.esi, project=other, role=Role.ANNOTATOR, username="bob", now=timezone.now())
    client = Client()
    entered = client.post(reverse("login"), {"username": "bob", "password": "correct-horse-battery"})
    assert entered["Location"] == reverse("annotation:home")
    work = client.get(reverse("annotation:work", args=["minds"])).content.decode()
    assert "Invitations to you" in work and "Other" in work


def test_who_declines_stays_outside_and_the_project_is_not_told(cast):
    invitation = invite(cast)
    alice = logged_in(cast.alice)
    before = [plain(alice.get(address).content.decode(), "") for address in (PEOPLE, API)]
    assert "The project is not told." in answer(cast.charlie, invitation, "decline").content.decode()
    assert not is_member(cast, cast.charlie)
    assert [plain(alice.get(address).content.decode(), "") for address in (PEOPLE, API)] == before
    assert "Invitations to you" not in home(cast.charlie)
    assert invite(cast) == invitation, "whoever declined is not asked again while the invitation is open"
    assert "answered or withdrawn already" in answer(cast.charlie, invitation, "accept").content.decode()
    assert not is_member(cast, cast.charlie)


def test_what_waits_for_nobody_makes_nobody_a_member(cast):
    withdrawn = invite(cast)
    people.revoke_invitation(by=cast.alice, invitation=withdrawn, now=timezone.now())
    accepted = invite(cast)
    answer(cast.charlie, accepted, "accept")
    Membership.objects.filter(user=cast.charlie).delete()  # an admin took it away again
    old = invite(cast)
    Invitation.objects.filter(pk=old.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    link, _ = people.invite(by=cast.alice, project=cast.project, role=Role.ADMIN, now=timezone.now())
    of_a_name = invite(cast, "nobody1")
    later = User.objects.create_user("nobody1")  # not the account that was invited
    of_another = invite(cast, "eve2")
    assert "Invitations to you" not in home(later)
    ways = [(one, cast.charlie) for one in (withdrawn, accepted, old, link, of_another)] + [(of_a_name, later)]
    for invitation, person in ways:
        for name in ("accept", "decline"):
            assert "answered or withdrawn already" in answer(person, invitation, name).content.decode()
        assert not is_member(cast, person)


def test_votes_under_the_name_of_somebody_invited_are_an_imported_annotators(cast, make_story, tmp_path):
    """Before and after the person accepts: nothing is ever said to be the account's that it did not cast."""
    row = make_story(1).tables.get(kind="gold").propositions.first()
    file = tmp_path / "votes.csv"
    head = "story_id,actor,belief,dimension,annotator,label"
    file.write_text(f'{head}\n1,{row.actor},"{row.belief}",order,charlie,1')
    invitation = invite(cast)
    call_command("import_votes", str(file), project="minds")
    [vote] = Vote.objects.cast()
    assert (vote.annotator.username, vote.annotator.imported_into) == ("minds:charlie", cast.project)
    answer(cast.charlie, invitation, "accept")
    call_command("import_votes", str(file), project="minds")
    assert [vote.annotator.username for vote in Vote.objects.cast()] == ["minds:charlie"]
    assert not Vote.objects.filter(annotator=cast.charlie).exists()


def ask_for_reset(email: str, address: str = "192.0.2.1"):
    return Client().post(reverse("password_reset"), {"email": email}, REMOTE_ADDR=address)


def test_accounts_and_addresses_get_few_messages_an_hour(cast, mailoutbox, monkeypatch, settings):
    spellings = ("bob@example.org", "BOB@example.org", " bob@Example.org ")
    answers = [ask_for_reset(spellings[at % 3], f"192.0.2.{at}") for at in range(9)]
    assert {(one.status_code, one["Location"]) for one in answers} == {(302, reverse("password_reset_done"))}
    assert len(delivered(mailoutbox)) == 3
    ask_for_reset("esi@example.org")
    assert len(delivered(mailoutbox)) == 4, "others still get theirs"
    now = timezone.now() + timedelta(hours=1, seconds=1)
    monkeypatch.setattr("annotation.services.log_in_limits.timezone.now", lambda: now)
    ask_for_reset("bob@example.org")
    assert len(delivered(mailoutbox)) == 5
    persons = [User.objects.create_user(f"person{at}", f"person{at}@example.org", "pw") for at in range(25)]
    answers = [ask_for_reset(person.email, "192.0.2.99") for person in persons]
    assert {one["Location"] for one in answers} == {reverse("password_reset_done")}
    assert len(delivered(mailoutbox)) == 5 + 20
    settings.LOGIN_ATTEMPTS = 3  # which are counted apart
    known = {"username": "bob", "password": "correct-horse-battery"}
    assert Client().post(reverse("login"), known, REMOTE_ADDR="192.0.2.99").status_code == 302


def test_a_reset_answers_alike_whether_or_not_an_account_exists(cast, mailoutbox):
    """The message leaves after the answer: a slow mail server tells nothing."""
    told = set()
    for email in ("bob@example.org", "nobody@example.org"):
        page = Client().post(reverse("password_reset"), {"email": email}, follow=True)
        told.add(str((page.redirect_chain, plain(page.content.decode(), email))))
    assert len(told) == 1
    assert [message.to for message in delivered(mailoutbox)] == [["bob@example.org"]]
