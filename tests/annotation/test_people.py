from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import AppendOnly, AuditEvent, Invitation, Membership, Role, User
from annotation.services import audit, people

PASSWORD = "a-long-and-odd-password"


@pytest.fixture
def invited(cast):
    return people.invite(by=cast.alice, project=cast.project, role=Role.ANNOTATOR, now=timezone.now())


def test_an_invitation_makes_an_account_and_a_member(invited, cast, client):
    _, token = invited
    address = reverse("invitation", args=[token])
    assert "annotator" in client.get(address).content.decode()
    answers = {"username": "nadia", "display_name": "Nadia", "email": "", "password1": PASSWORD, "password2": PASSWORD}
    assert client.post(address, answers)["Location"] == reverse("annotation:project", args=["minds"])
    assert Membership.objects.get(user__username="nadia").role == "annotator"
    assert client.get(reverse("annotation:work", args=["minds"])).status_code == 200


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
        people.remove_member(by=cast.alice, membership=membership)
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
    (message,) = mailoutbox
    link = next(line for line in message.body.splitlines() if line.startswith("http"))
    page = client.get(link, follow=True)
    answers = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    assert client.post(page.redirect_chain[-1][0], answers).status_code == 302
    assert User.objects.get(username="bob").check_password(PASSWORD)


def test_an_api_token_is_shown_once(cast, client):
    client.force_login(cast.bob)
    shown = client.post(reverse("api_token"), {"create": "1"}).content.decode()
    from rest_framework.authtoken.models import Token

    token = Token.objects.get(user=cast.bob).key
    assert token in shown and token not in client.get(reverse("account")).content.decode()
    client.post(reverse("api_token"), {"remove": "1"})
    assert not Token.objects.exists()
