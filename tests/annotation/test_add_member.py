from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from annotation.models import AuditEvent, Membership, User


def add(name: str, role: str, *options: str) -> None:
    call_command("add_member", "--project=minds", f"--user={name}", f"--role={role}", *options)


def test_somebody_becomes_a_member_once_with_an_audit_row(cast, capsys):
    for _ in range(2):
        add("charlie", "expert", "--json")
        told = {"project": "minds", "user": "charlie", "role": "expert", "created": False}
        assert json.loads(capsys.readouterr().out) == told
    assert Membership.objects.get(user=cast.charlie).role == "expert"
    row = AuditEvent.objects.get(action="membership.created")
    assert (row.actor, row.target, row.details) == (None, "charlie", {"role": "expert"})


def test_an_account_is_made_only_when_asked_for(cast, capsys):
    with pytest.raises(CommandError, match="There is nobody called 'dora'; --create makes the account"):
        add("dora", "annotator")
    assert not User.objects.filter(username="dora").exists()
    add("dora", "annotator", "--create")
    captured = capsys.readouterr()
    assert captured.out == "dora (a new account) is annotator of minds.\n"
    assert "changepassword dora" in captured.err
    dora = User.objects.get(username="dora")
    assert (dora.has_usable_password(), dora.memberships.get().role) == (False, "annotator")
    assert AuditEvent.objects.get(action="membership.created").details == {"role": "annotator", "accounts": ["dora"]}
    add("DORA", "annotator", "--create")
    assert User.objects.filter(username__iexact="dora").count() == 1


def test_a_member_changes_role_and_the_last_admin_stays(cast):
    add("bob", "expert")
    assert Membership.objects.get(user=cast.bob).role == "expert"
    assert AuditEvent.objects.get(action="membership.changed").details == {"before": "annotator", "after": "expert"}
    with pytest.raises(CommandError, match="A project needs an admin"):
        add("alice", "annotator")
    assert Membership.objects.get(user=cast.alice).role == "admin"


@pytest.mark.parametrize("name", ["", "Ada Lovelace", ".."])
def test_a_name_that_no_account_may_have_is_refused(cast, name):
    with pytest.raises(CommandError, match="is not a user name"):
        add(name, "annotator", "--create")
    assert User.objects.count() == 6  # the cast


def test_members_are_listed_and_removed_with_the_work_they_leave(cast, make_story, assign, capsys):
    assign(make_story())
    call_command("members", "--project=minds")
    assert "bob: annotator, 1 story assigned, 1 of them unfinished\n" in capsys.readouterr().out
    call_command("remove_member", "--project=minds", "--user=bob", "--release-unfinished")
    assert capsys.readouterr().out == "bob is no longer a member of minds; 1 assignment released.\n"
    assert AuditEvent.objects.get(action="membership.removed").actor is None
    call_command("members", "--project=minds", "--json")
    listed = json.loads(capsys.readouterr().out)["members"]
    assert "bob" not in {one["user"] for one in listed} and {one["role"] for one in listed} == {
        "admin", "annotator", "expert",
    }  # fmt: skip
    for name, sentence in (("bob", "no member of minds"), ("alice", "A project needs an admin")):
        with pytest.raises(CommandError, match=sentence):
            call_command("remove_member", "--project=minds", f"--user={name}")
