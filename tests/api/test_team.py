"""Members and guidelines over the API."""

from __future__ import annotations

import pytest

from annotation.models import AuditEvent, Guideline, Membership


def test_an_admin_lists_adds_changes_and_removes_members(cast, api, address, story):
    alice, path = api(cast.alice), address("members")
    for _ in range(2):  # sent again it changes nothing
        added = alice.post(path, {"user": "charlie", "role": "annotator"}, format="json")
        assert (added.status_code, added.json()["role"]) == (200, "annotator")
    assert alice.post(path, {"user": "charlie", "role": "expert"}, format="json").json()["role"] == "expert"
    assert ("charlie", "expert") in {(one["user"], one["role"]) for one in alice.get(path).json()["results"]}
    remove = address("remove_member")
    gone = alice.post(remove, {"user": "bob", "release_unfinished": True}, format="json")
    assert gone.json() == {"user": "bob", "released": 1}
    assert not Membership.objects.filter(user=cast.bob).exists()
    told = AuditEvent.objects.filter(actor=cast.alice).order_by("id").values_list("action", flat=True)
    assert list(told)[:3] == ["membership.created", "membership.changed", "membership.removed"]


@pytest.mark.parametrize(
    ("name", "body", "sentence"),
    [
        ("members", {"user": "nobody", "role": "expert"}, "nobody is not the user name of an account here."),
        ("members", {"user": "alice", "role": "expert"}, "A project needs an admin"),
        ("remove_member", {"user": "charlie"}, "charlie is no member of this project."),
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
