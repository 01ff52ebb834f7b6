from __future__ import annotations

import re
import threading
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import AppendOnly, Assignment, AuditEvent, Invitation, Membership, Proposition, Role, User, Vote
from annotation.services import audit, people
from annotation.services.progress import Progress

PASSWORD = "a-long-and-odd-password"


def delivered(mailoutbox: list) -> list:
    """Return the messages once those that are on their way have come."""
    for thread in threading.enumerate():
        if thread.name == "password reset":
            thread.join()
    return mailoutbox


@pytest.fixture
def invited(cast):
    return people.invite(by=cast.alice, project=cast.project, role=Role.ANNOTATOR, now=timezone.now())


def test_an_invitation_makes_an_account_and_a_member(invited, cast, client):
    _, token = invited
    address = reverse("invitation", args=[token])
    assert "annotator" in client.get(address).content.decode()
    answers = {"username": "nadia", "display_name": "Nadia", "email": "", "password1": PASSWORD, "password2": PASSWORD}
    assert client.post(address, answers)["Location"] == reverse("annotation:work", args=["minds"])
    assert Membership.objects.get(user__username="nadia").role == "annotator"
    assert client.get(reverse("annotation:work", args=["minds"])).status_code == 200


def test_who_joins_lands_where_the_work_is(cast, client, make_story):
    make_story(1, rows=())
    client.force_login(cast.charlie)
    _, token = people.invite(by=cast.alice, project=cast.project, role=Role.EXPERT, now=timezone.now())
    answer = client.post(reverse("invitation", args=[token]))
    assert answer["Location"] == reverse("annotation:tables", args=["minds"])


def test_an_invitation_works_once(invited, cast):
    _, token = invited
    people.accept_invitation(by=cast.charlie, token=token, now=timezone.now())
    other = User.objects.create_user("other")
    with pytest.raises(people.PeopleError, match="used already"):
        people.accept_invitation(by=other, token=token, now=timezone.now())
    assert not Membership.objects.filter(user=other).exists()


def test_two_people_who_passed_the_first_look_cannot_both_use_it(invited, cast, monkeypatch):
    invitation, token = invited
    monkeypatch.setattr(people, "open_invitation", lambda **_: invitation)  # both saw it open
    people.accept_invitation(by=cast.charlie, token=token, now=timezone.now())
    with pytest.raises(people.PeopleError, match="used already"):
        people.accept_invitation(by=User.objects.create_user("other"), token=token, now=timezone.now())


def test_old_and_withdrawn_invitations_say_so(invited, cast, client):
    invitation, token = invited
    later = timezone.now() + timedelta(days=60)
    with pytest.raises(people.PeopleError, match="too old"):
        people.open_invitation(token=token, now=later)
    people.revoke_invitation(by=cast.alice, invitation=invitation, now=timezone.now())
    response = client.get(reverse("invitation", args=[token]))
    assert response.status_code == 410 and "withdrawn" in response.content.decode()
    assert "does not exist" in client.get(reverse("invitation", args=["nonsense"])).content.decode()


def test_the_token_is_kept_nowhere(invited):
    _, token = invited
    row = Invitation.objects.values().get()
    assert all(token not in str(value) for value in row.values())
    assert all(token not in str(event.details) for event in AuditEvent.objects.all())


def test_the_link_is_shown_once(cast, client):
    client.force_login(cast.alice)
    address = reverse("annotation:people", args=["minds"])
    assert "/invitation/" in client.post(address, {"role": "expert", "email": ""}).content.decode()
    assert "/invitation/" not in client.get(address).content.decode()


def test_a_project_keeps_an_admin(cast, client):
    membership = Membership.objects.get(user=cast.alice)
    with pytest.raises(people.PeopleError, match="needs an admin"):
        people.change_role(by=cast.alice, membership=membership, role=Role.EXPERT)
    with pytest.raises(people.PeopleError, match="needs an admin"):
        people.remove_member(by=cast.alice, membership=membership, now=timezone.now())
    client.force_login(cast.alice)
    page = client.post(reverse("annotation:change_role", args=["minds", membership.pk]), {"remove": "1"}, follow=True)
    assert "needs an admin" in page.content.decode()


def test_changes_of_membership_are_in_the_audit_log(cast):
    membership = Membership.objects.get(user=cast.bob)
    people.change_role(by=cast.alice, membership=membership, role=Role.EXPERT)
    event = AuditEvent.objects.get(action="membership.changed")
    assert (event.actor, event.target, event.details) == (cast.alice, "bob", {"before": "annotator", "after": "expert"})


def test_the_audit_log_cannot_be_changed(cast):
    event = audit.record(by=cast.alice, project=cast.project, action="x.y")
    event.action = "other"
    for attempt in (
        event.save,
        event.delete,
        AuditEvent.objects.all().delete,
        lambda: AuditEvent.objects.update(action="z"),
    ):
        with pytest.raises(AppendOnly):
            attempt()


def test_a_password_reset_is_a_message_with_a_link(cast, client, mailoutbox):
    client.post(reverse("password_reset"), {"email": "bob@example.org"})
    (message,) = delivered(mailoutbox)
    link = next(line for line in message.body.splitlines() if line.startswith("http"))
    page = client.get(link, follow=True)
    answers = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    assert client.post(page.redirect_chain[-1][0], answers).status_code == 302
    assert User.objects.get(username="bob").check_password(PASSWORD)


ANSWERS = {"username": "nadia", "display_name": "Nadia", "email": "", "password1": PASSWORD, "password2": PASSWORD}


def test_a_name_that_is_taken_between_the_check_and_the_write_is_an_error_of_the_form(invited, client, monkeypatch):
    _, token = invited
    save = User.save

    def slower(user, *args, **kwargs) -> None:
        monkeypatch.setattr(User, "save", save)
        User.objects.create_user("nadia")  # the other request of a button that was pressed twice
        save(user, *args, **kwargs)

    monkeypatch.setattr(User, "save", slower)
    page = client.post(reverse("invitation", args=[token]), ANSWERS)
    assert page.status_code == 200 and "A user with that username already exists." in page.content.decode()
    assert Invitation.objects.get().accepted_at is None


def test_an_invitation_that_is_used_meanwhile_leaves_no_account_behind(invited, cast, client, monkeypatch):
    invitation, token = invited
    people.accept_invitation(by=cast.charlie, token=token, now=timezone.now())
    monkeypatch.setattr("annotation.views.accounts.open_invitation", lambda **_: invitation)  # it looked open
    page = client.post(reverse("invitation", args=[token]), ANSWERS)
    assert page.status_code == 410 and "used already" in page.content.decode()
    assert not User.objects.filter(username="nadia").exists()


@pytest.mark.parametrize("name", [".", "..", "@+"])
def test_a_user_name_needs_a_letter_or_a_digit(invited, client, name):
    _, token = invited
    page = client.post(reverse("invitation", args=[token]), {**ANSWERS, "username": name}).content.decode()
    assert "needs a letter or a digit" in page and not User.objects.filter(username=name).exists()


@pytest.mark.parametrize("control", ["\u202a", "\u202e", "\u2066", "\u2069"])
def test_a_shown_name_without_invisible_turns(invited, cast, client, control):
    _, token = invited
    name = f"Nadia{control}nimda"
    page = client.post(reverse("invitation", args=[token]), {**ANSWERS, "display_name": name}).content.decode()
    assert "direction of text" in page
    client.force_login(cast.bob)
    assert (
        "direction of text"
        in client.post(reverse("account"), {"display_name": name, "email": cast.bob.email}).content.decode()
    )
    client.post(
        reverse("account"), {"display_name": "نادية", "email": cast.bob.email}
    )  # right-to-left letters are no control characters
    assert User.objects.get(username="bob").display_name == "نادية"


def test_a_changed_account_is_in_the_audit_log_without_its_address(cast, client):
    client.force_login(cast.bob)
    cast.bob.set_password(PASSWORD)
    cast.bob.save()
    client.force_login(cast.bob)
    answers = {"display_name": "Robert", "email": "Robert@EXAMPLE.net", "password": PASSWORD}
    for _ in range(2):
        assert client.post(reverse("account"), answers).status_code == 302
    cast.bob.refresh_from_db()
    assert (cast.bob.display_name, cast.bob.email) == ("Robert", "Robert@example.net")
    (event,) = AuditEvent.objects.filter(action="account.changed")
    assert (event.actor, event.target, event.details) == (cast.bob, "bob", {"fields": ["display_name", "email"]})


def test_removing_and_changing_are_recorded_once(cast):
    membership = Membership.objects.get(user=cast.bob)
    for _ in range(3):
        people.change_role(by=cast.alice, membership=membership, role=Role.EXPERT)
    for _ in range(4):
        people.remove_member(
            by=cast.alice,
            membership=Membership(pk=membership.pk, project=cast.project, user=cast.bob),
            now=timezone.now(),
        )
    actions = AuditEvent.objects.values_list("action", flat=True)
    assert sorted(actions) == ["membership.changed", "membership.removed"]


@pytest.fixture
def half_done(cast, make_story, assign, cast_vote):
    """Bob has finished story 1 (one proposition, seven dimensions), begun story 2 and not begun story 3."""
    finished, begun = make_story(1, rows=[("world", "One")]), make_story(2)
    legal = {"order": "0", "truth_status": "True"}
    from annotation.domain.shipped_schemas import DEFAULT_SCHEMA

    for story in (finished, begun, make_story(3)):
        assign(story)
    mine = Assignment.objects.filter(annotator=cast.bob)
    one = Proposition.objects.gold_of(finished).get()
    for dimension in DEFAULT_SCHEMA.dimensions:
        cast_vote(mine.get(story=finished), one, dimension.key, legal.get(dimension.key, dimension.values[0]))
    cast_vote(mine.get(story=begun), Proposition.objects.gold_of(begun).first(), "order", "1")
    return mine


def test_the_page_says_how_many_assignments_a_member_holds(half_done, cast, client):
    assert Progress(cast.project).assignments()[cast.bob.pk] == {"count": 3, "unfinished": 2}
    client.force_login(cast.alice)
    page = client.get(reverse("annotation:people", args=["minds"])).content.decode()
    assert "3 stories are assigned" in page and "Release 2 unfinished assignments" in page


@pytest.mark.parametrize(("ticked", "assignments", "votes"), [({"release_unfinished": "1"}, 1, 7), ({}, 3, 8)])
def test_removing_releases_unfinished_assignments_where_asked(half_done, cast, client, ticked, assignments, votes):
    client.force_login(cast.alice)
    membership = Membership.objects.get(user=cast.bob)
    client.post(reverse("annotation:change_role", args=["minds", membership.pk]), {"remove": "1", **ticked})
    assert not Membership.objects.filter(user=cast.bob).exists()
    # finished: 7 votes of 1 assignment; begun: 1 vote
    assert half_done.active().count() == assignments and Vote.objects.cast().filter(annotator=cast.bob).count() == votes
    page = " ".join(client.get(reverse("annotation:assignments", args=["minds"])).content.decode().split())
    assert page.count("</bdi>: no longer a member") == assignments


def test_the_statements_of_the_page_do_not_grow(cast, make_story, assign, client, django_assert_max_num_queries):
    for number in range(1, 9):
        assign(make_story(number))
    client.force_login(cast.alice)
    with django_assert_max_num_queries(12):
        client.get(reverse("annotation:people", args=["minds"]))


# --- an invitation opened by a member
# --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("held", "offered"), [("annotator", "expert"), ("annotator", "admin"), ("expert", "admin")])
def test_an_invitation_raises_the_role_of_a_member(held, offered, cast, client):
    Membership.objects.filter(user=cast.bob).update(role=held)
    invitation, token = people.invite(by=cast.alice, project=cast.project, role=Role(offered), now=timezone.now())
    client.force_login(cast.bob)
    page = client.post(reverse("invitation", args=[token]), follow=True)
    assert f"You are {offered} in Minds now." in page.content.decode()
    assert cast.project.memberships.get(user=cast.bob).role == offered
    event = cast.project.audit_events.get(action="membership.changed")
    assert (event.details["before"], event.details["after"], event.actor) == (held, offered, cast.bob)
    invitation.refresh_from_db()
    assert invitation.accepted_by == cast.bob


@pytest.mark.parametrize(
    ("held", "offered", "told"),
    [("expert", "annotator", "as expert, which is more than annotator"), ("expert", "expert", "as expert, so it would change nothing")],  # noqa: E501
)  # fmt: skip
def test_an_invitation_that_offers_no_more_says_so_and_stays_open(held, offered, told, cast, client):
    invitation, token = people.invite(by=cast.alice, project=cast.project, role=Role(offered), now=timezone.now())
    client.force_login(cast.esi)
    for ask in (client.get, client.post):
        assert (
            f"You are a member of Minds already, {told}." in ask(reverse("invitation", args=[token])).content.decode()
        )
    invitation.refresh_from_db()
    assert invitation.accepted_at is None and cast.project.memberships.get(user=cast.esi).role == held
    people.accept_invitation(by=cast.charlie, token=token, now=timezone.now())
    assert cast.project.memberships.get(user=cast.charlie).role == offered


def invite_on_the_page(client, **said) -> tuple[str, list[str]]:
    page = client.post(reverse("annotation:people", args=["minds"]), {"role": "expert", **said}).content.decode()
    return page, re.findall(r'<pre id="link-\d+">(.*?)</pre>', page)


def test_several_people_are_invited_at_once(cast, client):
    client.force_login(cast.alice)
    page, links = invite_on_the_page(client, people="a@example.org, b@example.org\ncharlie", once="k")
    assert len(set(links)) == 2 and "data-copy" in page and "Invited by user name: <bdi>charlie</bdi>." in page
    assert not Membership.objects.filter(project=cast.project, user=cast.charlie).exists()
    invited = set(cast.project.invitations.values_list("email", "username"))
    assert invited == {("a@example.org", ""), ("b@example.org", ""), ("", "charlie")}
    assert all(Client().get(link).status_code == 200 for link in links)
    assert invite_on_the_page(client, people="a@example.org, b@example.org\ncharlie", once="k")[1] == links
    _, links = invite_on_the_page(client, links="3")
    assert len(set(links)) == 3
    for misspelt in ("a..b@example.org", "no/body", "project:ada"):
        page, links = invite_on_the_page(client, people=misspelt)
        assert not links and f"{misspelt} is neither an e-mail address" in page
    page, _ = invite_on_the_page(client, people="bob charlie")
    assert "Members already: <bdi>bob</bdi>." in page
    assert cast.project.audit_events.filter(action="invitation.created", target="charlie").count() == 1


def test_an_invitation_opened_as_somebody_else_says_to_log_out(invited, cast, client):
    for person in (cast.charlie, cast.bob):  # a stranger, and a member already
        client.force_login(person)
        page = client.get(reverse("invitation", args=[invited[1]])).content.decode()
        assert "Log out first" in page and person.username in page
