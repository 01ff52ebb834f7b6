import re
import threading
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import Assignment, AuditEvent, Invitation, Membership, Proposition, Role, User, Vote
from annotation.services import people
from annotation.services.progress import Progress

PASSWORD = "a-long-and-odd-password"
NADIA = {"username": "nadia", "display_name": "Nadia", "email": "", "password1": PASSWORD, "password2": PASSWORD}
PEOPLE = "/p/minds/people/"


def delivered(mailoutbox: list) -> list:
    """Return the messages once those that are on their way have come."""
    for thread in threading.enumerate():
        if thread.name == "password reset":
            thread.join()
    return mailoutbox


def invite(cast, role: Role = Role.ANNOTATOR) -> tuple[Invitation, str]:
    return people.invite(by=cast.alice, project=cast.project, role=role, now=timezone.now())


def link(token: str) -> str:
    return reverse("invitation", args=[token])


def of_bob(cast) -> Membership:
    return Membership.objects.get(user=cast.bob)


def test_an_invitation_makes_an_account_and_a_member_once(cast, client, monkeypatch):
    invitation, token = invite(cast)
    row = Invitation.objects.values().get()
    kept = [*row.values(), *(event.details for event in AuditEvent.objects.all())]
    assert not any(token in str(value) for value in kept), "the token is kept nowhere"
    assert "annotator" in client.get(link(token)).content.decode()
    for name in (".", "..", "@+"):
        page = client.post(link(token), NADIA | {"username": name}).content.decode()
        assert "needs a letter or a digit" in page and not User.objects.filter(username=name).exists()
    assert client.post(link(token), NADIA)["Location"] == reverse("annotation:work", args=["minds"])
    assert Membership.objects.get(user__username="nadia").role == "annotator"
    assert client.get(reverse("annotation:work", args=["minds"])).status_code == 200
    for look in (people.open_invitation, lambda **_: invitation):  # the second looked while it was open
        monkeypatch.setattr(people, "open_invitation", look)
        with pytest.raises(people.PeopleError, match="used already"):
            people.accept_invitation(by=cast.charlie, token=token, now=timezone.now())
    monkeypatch.setattr("annotation.views.accounts.open_invitation", lambda **_: invitation)
    page = Client().post(link(token), NADIA | {"username": "late"})
    assert page.status_code == 410 and "used already" in page.content.decode()
    assert not User.objects.filter(username="late").exists(), "no account is left behind"
    assert not Membership.objects.filter(user=cast.charlie).exists()


def test_old_withdrawn_and_unknown_invitations_say_so(cast, client):
    invitation, token = invite(cast)
    with pytest.raises(people.PeopleError, match="too old"):
        people.open_invitation(token=token, now=timezone.now() + timedelta(days=60))
    people.revoke_invitation(by=cast.alice, invitation=invitation, now=timezone.now())
    response = client.get(link(token))
    assert response.status_code == 410 and "withdrawn" in response.content.decode()
    assert "does not exist" in client.get(link("nonsense")).content.decode()


def test_a_name_that_is_taken_between_the_check_and_the_write_is_an_error_of_the_form(cast, client, monkeypatch):
    save = User.save

    def slower(user, *args, **kwargs) -> None:
        monkeypatch.setattr(User, "save", save)
        User.objects.create_user("nadia")  # the other request of a button that was pressed twice
        save(user, *args, **kwargs)

    monkeypatch.setattr(User, "save", slower)
    page = client.post(link(invite(cast)[1]), NADIA)
    assert page.status_code == 200 and "A user with that username already exists." in page.content.decode()
    assert Invitation.objects.get().accepted_at is None


def test_a_shown_name_has_no_invisible_turns(cast, client):
    _, token = invite(cast)
    client.force_login(cast.bob)
    account, email = reverse("account"), {"email": cast.bob.email}
    for control in "\u202a\u202e\u2066\u2069":
        name = {"display_name": f"Nadia{control}nimda"}
        for page in (Client().post(link(token), NADIA | name), client.post(account, email | name)):
            assert "direction of text" in page.content.decode()
    client.post(account, email | {"display_name": "نادية"})  # right-to-left letters are no control characters
    assert User.objects.get(username="bob").display_name == "نادية"


def test_a_project_keeps_an_admin_and_records_a_change_of_membership_once(cast, client):
    membership = Membership.objects.get(user=cast.alice)
    with pytest.raises(people.PeopleError, match="needs an admin"):
        people.change_role(by=cast.alice, membership=membership, role=Role.EXPERT)
    client.force_login(cast.alice)
    page = client.post(reverse("annotation:change_role", args=["minds", membership.pk]), {"remove": "1"}, follow=True)
    assert "needs an admin" in page.content.decode()
    membership = of_bob(cast)
    for _ in range(3):
        people.change_role(by=cast.alice, membership=membership, role=Role.EXPERT)
    for _ in range(4):
        stale = Membership(pk=membership.pk, project=cast.project, user=cast.bob)
        people.remove_member(by=cast.alice, membership=stale, now=timezone.now())
    changed, removed = AuditEvent.objects.order_by("pk")
    assert (changed.action, removed.action) == ("membership.changed", "membership.removed")
    assert (changed.actor, changed.target) == (cast.alice, "bob")
    assert changed.details == {"before": "annotator", "after": "expert"}


def test_a_password_reset_is_a_message_with_a_link(cast, client, mailoutbox):
    client.post(reverse("password_reset"), {"email": "bob@example.org"})
    (message,) = delivered(mailoutbox)
    address = next(line for line in message.body.splitlines() if line.startswith("http"))
    page = client.get(address, follow=True)
    answers = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    assert client.post(page.redirect_chain[-1][0], answers).status_code == 302
    assert User.objects.get(username="bob").check_password(PASSWORD)


def test_a_changed_account_is_in_the_audit_log_without_its_address(cast, client):
    client.force_login(cast.bob)
    answers = {"display_name": "Robert", "email": "Robert@EXAMPLE.net", "password": "correct-horse-battery"}
    for _ in range(2):
        assert client.post(reverse("account"), answers).status_code == 302
    cast.bob.refresh_from_db()
    assert (cast.bob.display_name, cast.bob.email) == ("Robert", "Robert@example.net")
    (event,) = AuditEvent.objects.filter(action="account.changed")
    assert (event.actor, event.target, event.details) == (cast.bob, "bob", {"fields": ["display_name", "email"]})


@pytest.mark.parametrize(("ticked", "assignments", "votes"), [({"release_unfinished": "1"}, 1, 7), ({}, 3, 8)])
def test_removing_releases_unfinished_assignments_where_asked(
    cast, make_story, assign, cast_vote, client, ticked, assignments, votes, django_assert_max_num_queries
):
    """Bob has finished story 1 (one proposition, seven dimensions), begun story 2 and not begun story 3."""
    finished, begun, untouched = (make_story(at, rows=[("world", "One")]) for at in (1, 2, 3))
    mine = {story: assign(story)[0] for story in (finished, begun, untouched)}
    legal = {"order": "0", "truth_status": "True"}
    for one in DEFAULT_SCHEMA.dimensions:
        row = Proposition.objects.gold_of(finished).get()
        cast_vote(mine[finished], row, one.key, legal.get(one.key, one.values[0]))
    cast_vote(mine[begun], Proposition.objects.gold_of(begun).first(), "order", "1")
    assert Progress(cast.project).assignments()[cast.bob.pk] == {"count": 3, "unfinished": 2}
    client.force_login(cast.alice)
    with django_assert_max_num_queries(12):
        page = client.get(PEOPLE).content.decode()
    assert "3 stories are assigned" in page and "Release 2 unfinished assignments" in page
    client.post(reverse("annotation:change_role", args=["minds", of_bob(cast).pk]), {"remove": "1", **ticked})
    assert not Membership.objects.filter(user=cast.bob).exists()
    assert Assignment.objects.active().filter(annotator=cast.bob).count() == assignments
    assert Vote.objects.cast().filter(annotator=cast.bob).count() == votes  # finished: 7, begun: 1
    page = " ".join(client.get(reverse("annotation:assignments", args=["minds"])).content.decode().split())
    assert page.count("</bdi>: no longer a member") == assignments


def test_an_invitation_raises_the_role_of_a_member_or_says_that_it_offers_no_more(cast, client, make_story):
    client.force_login(cast.bob)
    for held, offered in (("annotator", "expert"), ("annotator", "admin"), ("expert", "admin")):
        Membership.objects.filter(user=cast.bob).update(role=held)
        invitation, token = invite(cast, Role(offered))
        page = client.post(link(token), follow=True)
        assert f"You are {offered} in Minds now." in page.content.decode()
        assert of_bob(cast).role == offered
        event = cast.project.audit_events.filter(action="membership.changed").order_by("pk").last()
        assert (event.details["before"], event.details["after"], event.actor) == (held, offered, cast.bob)
        invitation.refresh_from_db()
        assert invitation.accepted_by == cast.bob
    client.force_login(cast.esi)
    for offered in ("annotator", "expert"):
        invitation, token = invite(cast, Role(offered))
        for ask in (client.get, client.post):
            assert "You are a member of Minds already, as expert." in ask(link(token)).content.decode()
        invitation.refresh_from_db()
        assert invitation.accepted_at is None and Membership.objects.get(user=cast.esi).role == "expert"
    for person in (cast.charlie, cast.esi):  # a stranger, and a member already
        client.force_login(person)
        page = client.get(link(token)).content.decode()
        assert "Log out first" in page and person.username in page
    make_story(1, rows=())  # who joins lands where the work is
    client.force_login(cast.charlie)
    assert client.post(link(token))["Location"] == reverse("annotation:tables", args=["minds"])
    assert cast.project.memberships.get(user=cast.charlie).role == offered


def test_several_people_are_invited_at_once(cast, client):
    client.force_login(cast.alice)

    def asked(**said) -> tuple[str, list[str]]:
        page = client.post(PEOPLE, {"role": "expert", **said}).content.decode()
        return page, re.findall(r'<pre id="link-\d+">(.*?)</pre>', page)

    page, links = asked(people="a@example.org, b@example.org\ncharlie", once="k")
    assert len(set(links)) == 2 and "data-copy" in page and "Invited by user name: <bdi>charlie</bdi>." in page
    assert not Membership.objects.filter(project=cast.project, user=cast.charlie).exists()
    invited = set(cast.project.invitations.values_list("email", "username"))
    assert invited == {("a@example.org", ""), ("b@example.org", ""), ("", "charlie")}
    assert all(Client().get(link).status_code == 200 for link in links)
    assert asked(people="a@example.org, b@example.org\ncharlie", once="k")[1] == links
    assert len(set(asked(links="3")[1])) == 3
    assert "/invitation/" not in client.get(PEOPLE).content.decode(), "a link is shown once"
    for misspelt in ("a..b@example.org", "no/body", "project:ada"):
        page, links = asked(people=misspelt)
        assert not links and f"{misspelt} is neither an e-mail address" in page
    assert "Members already: <bdi>bob</bdi>." in asked(people="bob charlie")[0]
    assert cast.project.audit_events.filter(action="invitation.created", target="charlie").count() == 1
