"""Members and guidelines over the API."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.models import AuditEvent, Guideline, Invitation, Membership
from annotation.services.people import open_invitation
from workers.models import Making


def test_an_admin_lists_adds_changes_and_removes_members(cast, api, address, story):
    alice, path = api(cast.alice), address("members")
    for _ in range(2):  # sent again it changes nothing
        changed = alice.post(path, {"user": "bea", "role": "expert"}, format="json")
        assert (changed.status_code, changed.json()["role"]) == (200, "expert")
    assert ("bea", "expert") in {(one["user"], one["role"]) for one in alice.get(path).json()["results"]}
    remove = address("remove_member")
    gone = alice.post(remove, {"user": "bob", "release_unfinished": True}, format="json")
    assert gone.json() == {"user": "bob", "released": 1}
    assert not Membership.objects.filter(user=cast.bob).exists()
    told = AuditEvent.objects.filter(actor=cast.alice).order_by("id").values_list("action", flat=True)
    assert list(told)[:2] == ["membership.changed", "membership.removed"]


@pytest.mark.parametrize(
    ("name", "body", "sentence"),
    [
        ("members", {"user": "nobody", "role": "expert"}, "nobody is not a member of this project; invite"),
        ("members", {"user": "charlie", "role": "expert"}, "charlie is not a member of this project; invite"),
        ("invitations", {"user": "bob", "role": "expert"}, "bob is a member already"),
        ("invitations", {"user": "ada", "email": "ada@example.org", "role": "expert"}, "expected one of the two"),
        ("invitations", {"user": "project:ada", "role": "expert"}, "is not a user name"),
        ("members", {"user": "alice", "role": "expert"}, "A project needs an admin"),
        ("remove_member", {"user": "charlie"}, "charlie is not a member of this project."),
        ("remove_member", {"user": "alice"}, "A project needs an admin"),
    ],
)
def test_what_the_rules_refuse_says_why(cast, api, address, name, body, sentence):
    answer = api(cast.alice).post(address(name), body, format="json")
    error = answer.json()["error"]
    assert answer.status_code == 422 and sentence in (error["message"] + str(error["fields"]))
    assert Membership.objects.get(user=cast.alice).role == "admin"


def test_only_admins_see_or_change_members(cast, api, address):
    esi = api(cast.esi)
    assert esi.get(address("members")).status_code == 403
    assert esi.post(address("members"), {"user": "esi", "role": "admin"}, format="json").status_code == 403
    assert esi.post(address("remove_member"), {"user": "bob"}, format="json").status_code == 403


def test_an_admin_makes_lists_and_withdraws_invitations(cast, api, address):
    alice, path = api(cast.alice), address("invitations")
    asked = {"role": "expert", "email": "ada@example.org"}
    first, again = (alice.post(path, asked, format="json", headers={"Idempotency-Key": "k"}) for _ in range(2))
    made = first.json()
    assert (
        first.status_code == 201 and again.json() == made and made["link"].startswith("http://testserver/invitation/")
    )
    held = open_invitation(token=made["link"].rstrip("/").rpartition("/")[2], now=timezone.now())
    assert (held.role, held.email, held.created_by) == ("expert", "ada@example.org", cast.alice)
    Making.objects.all().delete()  # a day later the key is known no more, and the link is the same
    assert alice.post(path, asked, format="json", headers={"Idempotency-Key": "k"}).json() == made
    Making.objects.all().delete()  # nor is it for another role
    other = alice.post(path, asked | {"role": "annotator"}, format="json", headers={"Idempotency-Key": "k"}).json()
    assert (other["role"], other["link"] == made["link"]) == ("annotator", False)
    Invitation.objects.get(pk=other["invitation"]).delete()
    listed = [{name: value for name, value in made.items() if name != "link"}]
    assert alice.get(path).json()["results"] == listed and listed[0]["state"] == "open"
    withdraw = address("withdraw_invitation", invitation=held.pk)
    for _ in range(2):
        assert alice.post(withdraw, {}, format="json").json()["state"] == "withdrawn"
    told = list(AuditEvent.objects.filter(actor=cast.alice).order_by("id").values_list("action", "target"))
    assert told == [(f"invitation.{did}", "ada@example.org") for did in ("created", "created", "revoked")]


def test_an_invitation_is_refused_to_whom_it_is_not_for_and_where_it_is_none(cast, api, address):
    alice, path = api(cast.alice), address("invitations")
    held = alice.post(path, {"role": "expert"}, format="json").json()["invitation"]
    for body in ({"role": "king"}, {"role": "expert", "email": "ada"}, {}):
        assert alice.post(path, body, format="json").status_code == 400
    esi = api(cast.esi)
    assert esi.get(path).status_code == esi.post(path, {"role": "expert"}, format="json").status_code == 403
    assert esi.post(address("withdraw_invitation", invitation=held), {}, format="json").status_code == 403
    assert "There is no such field; expected none." in alice.get(f"{path}?state=open").content.decode()
    withdrawn = alice.post(address("withdraw_invitation", invitation=held), {"why": "late"}, format="json")
    assert "expected an empty object" in withdrawn.content.decode()
    assert alice.post(address("withdraw_invitation", invitation=held + 1), {}, format="json").status_code == 404
    assert Invitation.objects.get().state(timezone.now()) == "open"


def test_experts_write_guidelines_language_by_language(cast, api, address):
    esi, path = api(cast.esi), address("guidelines")
    written = ({"text": "Count **minds**."}, {"text_zh": "数一数。"})
    for texts in written:
        assert esi.post(path, {"dimension": "order"} | texts, format="json").status_code == 200
    rows = api(cast.bob).get(path).json()["results"]
    assert rows[0] == {"dimension": "order", "text": "Count **minds**.", "text_zh": "数一数。"}
    assert len(rows) == 7 and rows[1]["text"] == ""
    assert AuditEvent.objects.filter(action="guideline.changed", actor=cast.esi).count() == 2
    assert api(cast.bob).post(path, {"dimension": "order", "text": ""}, format="json").status_code == 403
    assert esi.post(path, {"dimension": "depth", "text": "?"}, format="json").status_code == 422
    assert esi.post(path, {"dimension": "order", "text": "a" * 20_001}, format="json").status_code == 400
    assert Guideline.objects.get().text == "Count **minds**."
