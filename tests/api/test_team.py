"""Members, invitations and guidelines over the API."""

from django.utils import timezone

from annotation.models import AuditEvent, Guideline, Invitation, Membership
from annotation.services.people import open_invitation
from workers.models import Making

ONCE = {"Idempotency-Key": "k"}


def test_an_admin_lists_changes_and_removes_members(cast, api, address, story):
    alice, path, remove = api(cast.alice), address("members"), address("remove_member")
    for _ in range(2):  # sent again it changes nothing
        changed = alice.post(path, {"user": "bea", "role": "expert"}, format="json")
        assert (changed.status_code, changed.json()["role"]) == (200, "expert")
    assert ("bea", "expert") in {(one["user"], one["role"]) for one in alice.get(path).json()["results"]}
    gone = alice.post(remove, {"user": "bob", "release_unfinished": True}, format="json")
    assert gone.json() == {"user": "bob", "released": 1}
    assert not Membership.objects.filter(user=cast.bob).exists()
    told = AuditEvent.objects.filter(actor=cast.alice).order_by("id").values_list("action", flat=True)
    assert list(told)[:2] == ["membership.changed", "membership.removed"]
    esi = api(cast.esi)
    assert esi.get(path).status_code == 403
    assert esi.post(path, {"user": "esi", "role": "admin"}, format="json").status_code == 403
    assert esi.post(remove, {"user": "ben"}, format="json").status_code == 403


def test_what_the_rules_refuse_says_why(cast, api, address):
    expert = {"role": "expert"}
    for name, body, sentence in (
        ("members", expert | {"user": "nobody"}, "nobody is not a member of this project; invite"),
        ("members", expert | {"user": "charlie"}, "charlie is not a member of this project; invite"),
        ("members", expert | {"user": "alice"}, "A project needs an admin"),
        ("remove_member", {"user": "charlie"}, "charlie is not a member of this project."),
        ("remove_member", {"user": "alice"}, "A project needs an admin"),
        ("invitations", expert | {"user": "bob"}, "bob is a member already"),
        ("invitations", expert | {"user": "ada", "email": "ada@example.org"}, "expected one of the two"),
        ("invitations", expert | {"user": "project:ada"}, "is not a user name"),
    ):
        answer = api(cast.alice).post(address(name), body, format="json")
        error = answer.json()["error"]
        assert answer.status_code == 422 and sentence in (error["message"] + str(error["fields"])), body
    assert Membership.objects.get(user=cast.alice).role == "admin"


def test_an_admin_makes_lists_and_withdraws_invitations(cast, api, address):
    alice, path = api(cast.alice), address("invitations")

    def make(**asked):
        return alice.post(path, {"email": "ada@example.org"} | asked, format="json", headers=ONCE)

    first, again = make(role="expert"), make(role="expert")
    made = first.json()
    assert first.status_code == 201 and again.json() == made
    assert made["link"].startswith("http://testserver/invitation/")
    held = open_invitation(token=made["link"].rstrip("/").rpartition("/")[2], now=timezone.now())
    assert (held.role, held.email, held.created_by) == ("expert", "ada@example.org", cast.alice)
    Making.objects.all().delete()  # a day later the key is known no more, and the link is the same
    assert make(role="expert").json() == made
    Making.objects.all().delete()  # nor is it for another role
    other = make(role="annotator").json()
    assert (other["role"], other["link"] == made["link"]) == ("annotator", False)
    Invitation.objects.get(pk=other["invitation"]).delete()
    listed = [{name: value for name, value in made.items() if name != "link"}]
    assert alice.get(path).json()["results"] == listed and listed[0]["state"] == "open"

    withdraw, esi = address("withdraw_invitation", invitation=held.pk), api(cast.esi)
    for body in ({"role": "king"}, {"role": "expert", "email": "ada"}, {}):
        assert alice.post(path, body, format="json").status_code == 400, body
    assert esi.get(path).status_code == esi.post(path, {"role": "expert"}, format="json").status_code == 403
    assert esi.post(withdraw, {}, format="json").status_code == 403
    assert "There is no such field; expected none." in alice.get(f"{path}?state=open").content.decode()
    refused = alice.post(withdraw, {"why": "late"}, format="json")
    assert "expected an empty object" in refused.content.decode()
    missing = address("withdraw_invitation", invitation=held.pk + 9)
    assert alice.post(missing, {}, format="json").status_code == 404
    assert Invitation.objects.get().state(timezone.now()) == "open"
    for _ in range(2):
        assert alice.post(withdraw, {}, format="json").json()["state"] == "withdrawn"
    told = list(AuditEvent.objects.filter(actor=cast.alice).order_by("id").values_list("action", "target"))
    assert told == [(f"invitation.{did}", "ada@example.org") for did in ("created", "created", "revoked")]
    without_key = [alice.post(path, {"role": "expert"}, format="json").json()["link"] for _ in range(2)]
    assert len({made["link"], *without_key}) == 3


def test_experts_write_guidelines_language_by_language(cast, api, address):
    esi, path = api(cast.esi), address("guidelines")
    for texts in ({"text": "Count **minds**."}, {"text_zh": "数一数。"}):
        assert esi.post(path, {"dimension": "order"} | texts, format="json").status_code == 200
    rows = api(cast.bob).get(path).json()["results"]
    assert rows[0] == {"dimension": "order", "text": "Count **minds**.", "text_zh": "数一数。"}
    assert len(rows) == 7 and rows[1]["text"] == ""
    assert AuditEvent.objects.filter(action="guideline.changed", actor=cast.esi).count() == 2
    for person, body, status in (
        (cast.bob, {"dimension": "order", "text": ""}, 403),
        (cast.esi, {"dimension": "depth", "text": "?"}, 422),
        (cast.esi, {"dimension": "order", "text": "a" * 20_001}, 400),
    ):
        assert api(person).post(path, body, format="json").status_code == status
    assert Guideline.objects.get().text == "Count **minds**."
