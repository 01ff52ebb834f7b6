"""Membership needs the person's yes, and nothing that an admin is told says which accounts exist."""

from __future__ import annotations

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


NAMES = ("charlie", "nobody1", "gone")
"""An account, a name without one, and an account that was closed."""


@pytest.fixture
def gone(cast) -> User:
    return User.objects.create_user("gone", is_active=False)


def test_the_page_answers_alike_whether_or_not_an_account_exists(cast, gone):
    told, statements = {}, {}
    for name in NAMES:
        Invitation.objects.all().delete()
        client = logged_in(cast.alice)
        with CaptureQueriesContext(connection) as asked:
            page = client.post(reverse("annotation:people", args=["minds"]), {"role": "expert", "people": name})
        told[name] = page.status_code, plain(page.content.decode(), name)
        statements[name] = len(asked)
    assert len(set(told.values())) == 1 and len(set(statements.values())) == 1
    assert told["charlie"][0] == 200 and "Invited by user name" in told["charlie"][1]


def test_capitals_of_an_invited_name_do_not_matter_unless_two_accounts_differ_by_them(cast):
    charlie = User.objects.get(username="charlie")
    assert invite(cast, "Charlie").invited == charlie and invite(cast, "CHARLIE").invited == charlie
    upper = User.objects.create_user("CHARLIE")
    found = {name: invite(cast, name, Role.ADMIN).invited for name in ("charlie", "CHARLIE", "Charlie")}
    assert found == {"charlie": charlie, "CHARLIE": upper, "Charlie": None}
    assert people.members_named(cast.project, ["Alice", "nobody1"]) == {"Alice"}


def test_the_api_answers_alike_whether_or_not_an_account_exists(cast, gone):
    told = set()
    for name in NAMES:
        client = logged_in(cast.alice)
        body = {"role": "annotator", "user": name}
        made = client.post(reverse("api:invitations", args=["minds"]), body, content_type="application/json")
        role = client.post(reverse("api:members", args=["minds"]), body, content_type="application/json")
        listed = client.get(reverse("api:invitations", args=["minds"]))
        told.add((made.status_code, role.status_code, *(plain(one.content.decode(), name) for one in (made, role))))
        assert listed.json()["results"][0]["user"] == name
    assert {answer[:2] for answer in told} == {(201, 422)} and len(told) == 1


def test_nobody_is_a_member_before_they_accept(cast):
    invitation = invite(cast)
    charlie = logged_in(cast.charlie)
    assert not is_member(cast, cast.charlie)
    assert charlie.get(reverse("annotation:project", args=["minds"])).status_code == 404
    page = " ".join(charlie.get(reverse("annotation:home")).content.decode().split())
    assert "Invitations to you" in page and "<bdi>Minds</bdi></strong>, as expert, from <bdi>" in page
    assert "You are in no project yet" not in page
    told = answer(cast.charlie, invitation, "accept").content.decode()
    assert "You are expert in Minds now." in told and is_member(cast, cast.charlie)
    assert "Invitations to you" not in charlie.get(reverse("annotation:home")).content.decode()
    assert AuditEvent.objects.filter(action="membership.created", actor=cast.charlie, target="charlie").count() == 1


def test_who_is_invited_is_asked_after_the_log_in_and_beside_their_work(cast, make_story):
    User.objects.filter(pk=cast.bob.pk).update(password=User.objects.get(pk=cast.bob.pk).password)
    cast.bob.set_password("a-long-and-odd-password")
    cast.bob.save()
    other = type(cast.project).objects.create(slug="other", name="Other")
    Membership.objects.create(project=other, user=cast.esi, role=Role.ADMIN)
    people.invite_account(by=cast.esi, project=other, role=Role.ANNOTATOR, username="bob", now=timezone.now())
    client = Client()
    entered = client.post(reverse("login"), {"username": "bob", "password": "a-long-and-odd-password"})
    assert entered["Location"] == reverse("annotation:home")
    work = client.get(reverse("annotation:work", args=["minds"])).content.decode()
    assert "Invitations to you" in work and "Other" in work


def test_who_declines_stays_outside_and_the_project_is_not_told(cast):
    invitation = invite(cast)
    alice = logged_in(cast.alice)
    page, listed = reverse("annotation:people", args=["minds"]), reverse("api:invitations", args=["minds"])
    before = [plain(alice.get(address).content.decode(), "") for address in (page, listed)]
    assert "The project is not told." in answer(cast.charlie, invitation, "decline").content.decode()
    assert not is_member(cast, cast.charlie)
    assert [plain(alice.get(address).content.decode(), "") for address in (page, listed)] == before
    assert "Invitations to you" not in logged_in(cast.charlie).get(reverse("annotation:home")).content.decode()
    assert invite(cast) == invitation, "whoever declined is not asked again while the invitation is open"
    assert "answered or withdrawn already" in answer(cast.charlie, invitation, "accept").content.decode()
    assert not is_member(cast, cast.charlie)


@pytest.mark.parametrize("way", ["withdrawn", "old", "somebody else's", "answered", "a link"])
def test_what_waits_for_nobody_makes_nobody_a_member(cast, way):
    invitation, person = invite(cast), cast.charlie
    if way == "withdrawn":
        people.revoke_invitation(by=cast.alice, invitation=invitation, now=timezone.now())
    elif way == "old":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif way == "somebody else's":
        person = User.objects.create_user("eve")
    elif way == "answered":
        answer(cast.charlie, invitation, "accept")
        Membership.objects.filter(user=cast.charlie).delete()  # an admin took it away again
    else:
        invitation, _ = people.invite(by=cast.alice, project=cast.project, role=Role.ADMIN, now=timezone.now())
    for name in ("accept", "decline"):
        assert "answered or withdrawn already" in answer(person, invitation, name).content.decode()
    assert not is_member(cast, person)


def test_an_account_that_takes_the_name_later_is_not_the_one_that_was_invited(cast):
    invitation = invite(cast, "nobody1")
    later = User.objects.create_user("nobody1")
    assert "Invitations to you" not in logged_in(later).get(reverse("annotation:home")).content.decode()
    answer(later, invitation, "accept")
    assert not is_member(cast, later)


HEADER = "story_id,actor,belief,dimension,annotator,label"


def votes_of(story, name: str) -> list[str]:
    row = story.tables.get(kind="gold").propositions.first()
    return [HEADER, f'{story.number},{row.actor},"{row.belief}",order,{name},1']


def test_votes_under_the_name_of_somebody_invited_are_an_imported_annotators(cast, make_story, tmp_path):
    """Before and after the person accepts: nothing is ever said to be the account's that it did not cast."""
    story = make_story(1)
    file = tmp_path / "votes.csv"
    file.write_text("\n".join(votes_of(story, "charlie")))
    invitation = invite(cast)
    call_command("import_votes", str(file), project="minds")
    [vote] = Vote.objects.cast()
    assert (vote.annotator.username, vote.annotator.imported_into) == ("minds:charlie", cast.project)
    answer(cast.charlie, invitation, "accept")
    call_command("import_votes", str(file), project="minds")
    assert [vote.annotator.username for vote in Vote.objects.cast()] == ["minds:charlie"]
    assert not Vote.objects.filter(annotator=cast.charlie).exists()


# --- forgotten passwords
# --------------------------------------------------------------------------------------------------


def ask_for_reset(email: str, address: str = "192.0.2.1"):
    return Client().post(reverse("password_reset"), {"email": email}, REMOTE_ADDR=address)


def test_one_account_gets_few_messages_an_hour_from_wherever(cast, mailoutbox, monkeypatch):
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


def test_one_address_asks_for_few_messages_an_hour(cast, mailoutbox):
    persons = [User.objects.create_user(f"person{at}", f"person{at}@example.org", "pw") for at in range(25)]
    answers = [ask_for_reset(person.email) for person in persons]
    assert {one["Location"] for one in answers} == {reverse("password_reset_done")}
    assert len(delivered(mailoutbox)) == 20


def test_a_reset_answers_alike_whether_or_not_an_account_exists(cast, mailoutbox, monkeypatch):
    """The message leaves after the answer: a slow mail server tells nothing."""
    told = {}
    for email in ("bob@example.org", "nobody@example.org"):
        page = Client().post(reverse("password_reset"), {"email": email}, follow=True)
        told[email] = page.redirect_chain, plain(page.content.decode(), email)
    assert len({str(one) for one in told.values()}) == 1
    assert [message.to for message in delivered(mailoutbox)] == [["bob@example.org"]]


def test_resets_and_log_ins_count_apart(cast, settings):
    settings.LOGIN_ATTEMPTS = 3
    for _ in range(30):
        ask_for_reset("bob@example.org")
    cast.bob.set_password("a-long-and-odd-password")
    cast.bob.save()
    entered = Client().post(
        reverse("login"), {"username": "bob", "password": "a-long-and-odd-password"}, REMOTE_ADDR="192.0.2.1"
    )
    assert entered.status_code == 302
