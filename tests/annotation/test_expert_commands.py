"""What only an admin's or an expert's pages did, by command: members, invitations, threads, cases, decisions taken
back."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import AuditEvent, CellComment, GoldLabel, Membership, Proposition, User
from annotation.services.adjudication import adjudicate
from annotation.services.people import open_invitation
from tests.annotation.prefilling import suggest


@pytest.fixture
def run(cast, capsys):
    """A command on the project; returns what it says."""

    def make(name: str, *options: str):
        call_command(name, "--project=minds", *options)
        out = capsys.readouterr().out
        return json.loads(out) if "--json" in options else out

    return make


@pytest.fixture
def refused(run):
    """Asserts that each of some options of a command is refused with a sentence: `refused("cell", (options, sentence),
    …)`."""

    def make(name: str, *cases: tuple[list[str], str]) -> None:
        for options, sentence in cases:
            with pytest.raises(CommandError, match=sentence):
                run(name, *options)

    return make


def logged(action: str) -> AuditEvent:
    return AuditEvent.objects.get(action=action)


# --- members


def test_somebody_becomes_a_member_once_and_changes_role(run, refused, cast):
    for _ in range(2):
        told = {"project": "minds", "user": "charlie", "role": "expert", "created": False}
        assert run("add_member", "--user=charlie", "--role=expert", "--json") == told
    assert Membership.objects.get(user=cast.charlie).role == "expert"
    row = logged("membership.created")
    assert (row.actor, row.target, row.details) == (None, "charlie", {"role": "expert"})
    run("add_member", "--user=bob", "--role=expert")
    assert Membership.objects.get(user=cast.bob).role == "expert"
    assert logged("membership.changed").details == {"before": "annotator", "after": "expert"}
    refused("add_member", (["--user=alice", "--role=annotator"], "A project needs an admin"))
    assert Membership.objects.get(user=cast.alice).role == "admin"


def test_an_account_is_made_only_when_asked_for(cast, refused, capsys):
    asked = ["--user=dora", "--role=annotator"]
    refused("add_member", (asked, "There is nobody called 'dora'; --create makes the account"))
    for name in ("", "Ada Lovelace", ".."):
        refused("add_member", ([f"--user={name}", "--role=annotator", "--create"], "is not a user name"))
    assert User.objects.count() == 6  # the cast
    call_command("add_member", "--project=minds", *asked, "--create")
    said = capsys.readouterr()
    assert said.out == "dora (a new account) is annotator of minds.\n" and "changepassword dora" in said.err
    dora = User.objects.get(username="dora")
    assert (dora.has_usable_password(), dora.memberships.get().role) == (False, "annotator")
    assert logged("membership.created").details == {"role": "annotator", "accounts": ["dora"]}
    call_command("add_member", "--project=minds", "--user=DORA", "--role=annotator", "--create")
    assert User.objects.filter(username__iexact="dora").count() == 1


def test_members_are_listed_and_removed_with_the_work_they_leave(run, refused, make_story, assign):
    assign(make_story())
    assert "bob: annotator, 1 story assigned, 1 of them unfinished\n" in run("members")
    told = run("remove_member", "--user=bob", "--release-unfinished")
    assert told == "bob is no longer a member of minds; 1 assignment released.\n"
    assert logged("membership.removed").actor is None
    roles = {one["user"]: one["role"] for one in run("members", "--json")["members"]}
    assert roles == {"alice": "admin", "bea": "annotator", "ben": "annotator", "esi": "expert"}
    refused("remove_member", (["--user=bob"], "no member of minds"), (["--user=alice"], "A project needs an admin"))


def test_invitations_are_made_listed_and_withdrawn(run, refused, cast):
    options = ("--admin=alice", "--role=expert", "--people=ada@example.org,charlie")
    made = run("invitations", "make", *options, "--json")
    [link] = made["links"]
    assert made["asked"] == ["charlie"] and not Membership.objects.filter(user=cast.charlie).exists()
    held = open_invitation(token=link["link"].rstrip("/").rpartition("/")[2], now=timezone.now())
    assert (held.email, held.role, held.created_by) == ("ada@example.org", "expert", cast.alice)
    listed = run("invitations", "list").splitlines()
    assert listed[0].startswith(f"{held.pk}. expert, ada@example.org: open, until ")
    assert listed[1].startswith(f"{held.pk - 1}. expert, charlie: open, until ")
    for _ in range(2):
        told = run("invitations", "withdraw", f"--invitation={held.pk}")
    assert ": withdrawn, until " in told and AuditEvent.objects.filter(action="invitation.revoked").count() == 1
    assert len(run("invitations", "make", "--admin=alice", "--role=annotator", "--links=2").splitlines()) == 2
    refused(
        "invitations",
        (["make", "--role=expert"], "make needs --admin"),
        (["make", "--admin=esi", "--role=expert"], "no admin of minds"),
        (["make", "--admin=alice", "--role=expert", "--people=no/body"], "neither an e-mail address nor"),
        (["make", "--admin=alice", "--role=expert", "--people=charlie", "--links=2"], "it or --people, not both"),
        (["list", "--role=expert"], "--role is not for list"),
        (["withdraw", f"--invitation={held.pk + 9}"], f"minds has no invitation {held.pk + 9}"),
    )


# --- cells

CELL = ("--expert=esi", "--story=1", "--row=1", "--dimension=truth_status")


@pytest.fixture
def row(cast, make_story, assign, cast_vote) -> Proposition:
    """A row with an open cell of which Bob asked something."""
    story = make_story()
    row = Proposition.objects.gold_of(story).first()
    for assignment, label in zip(assign(story), ("True", "False", "Unknown"), strict=True):
        cast_vote(assignment, row, "truth_status", label)
    said = {"text": "Says who?", "author": cast.bob, "thread_of": cast.bob}
    CellComment.objects.create(proposition=row, dimension="truth_status", **said)
    return row


def decide(by, row) -> None:
    place = {"proposition": row, "dimension": "truth_status", "revision": GoldLabel.objects.get().revision}
    adjudicate(by=by, **place, label="True", now=timezone.now())


def test_an_expert_answers_a_thread_files_a_case_and_takes_a_decision_back(run, cast, row):
    assert run("cell", "show", *CELL) == "open\n1. An annotator: Says who?\n"
    said = run("cell", "reply", *CELL, "--thread=1", "--text=Ines does.")
    assert said.splitlines()[-1] == "1. esi: Ines does."
    assert CellComment.objects.get(author=cast.esi).thread_of == cast.bob
    assert run("cell", "file", *CELL).startswith("open, a case for the guideline")
    assert run("cell", "unfile", *CELL).startswith("open\n")
    assert AuditEvent.objects.filter(actor=cast.esi, action__startswith="guideline_case.").count() == 2
    assert run("cell", "undo", CELL[0]) == "Taken back: 0 decisions of esi.\n"
    for cell in (CELL, CELL[:1]):  # of a cell, or the last
        decide(cast.esi, row)
        assert run("cell", "show", *CELL).startswith("True\n1. bob: Says who?")
        assert run("cell", "undo", *cell) == "Taken back: 1 decision of esi.\n"
        assert GoldLabel.objects.get().method == "open"


def test_what_a_cell_does_not_allow_is_said(refused, cast, row):
    refused(
        "cell",
        (["show", CELL[0]], "show needs --story, --row and --dimension"),
        (["show", *CELL[:3]], "A cell needs --dimension"),
        (["show", *CELL[:2], "--row=9", CELL[3]], "There is no row 9"),
        (["show", *CELL, "--text=Hm"], "reply takes --text"),
        (["reply", *CELL, "--thread=2", "--text=Hm"], "There is no thread 2"),
        (["reply", *CELL, "--thread=1", "--text= "], "text: "),
        (["undo", *CELL], "Only your own decision"),
        (["show", "--expert=bob", *CELL[1:]], "no expert of minds"),
    )
    story = row.table.story
    story.assignments.filter(annotator=cast.ben).update(released_at=timezone.now())
    story.assignments.create(annotator=cast.esi, slot=3, overlap=3)
    refused("cell", (["show", *CELL], "still label this story"))


def test_suggestions_that_nobody_has_seen_are_discarded(run, make_story):
    suggest(make_story())
    told = run("discard_suggestions", "--json")
    assert told["discarded"] > 1 and run("discard_suggestions") == "Discarded: 0 suggestions of minds.\n"
    assert logged("prefill.discarded").actor is None
