"""What only an expert's or an admin's pages did, by command: invitations, threads, cases, decisions taken back."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import AuditEvent, CellComment, GoldLabel, Membership, Proposition
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


def test_invitations_are_made_listed_and_withdrawn(run, cast):
    options = ("--admin=alice", "--role=expert", "--people=ada@example.org,charlie")
    made = run("invitations", "make", *options, "--json")
    [link] = made["links"]
    assert made["asked"] == ["charlie"] and not Membership.objects.filter(user=cast.charlie).exists()
    held = open_invitation(token=link["link"].rstrip("/").rpartition("/")[2], now=timezone.now())
    assert (held.email, held.role, held.created_by) == ("ada@example.org", "expert", cast.alice)
    listed = run("invitations", "list").splitlines()
    assert listed[0].startswith(f"{held.pk}. expert, ada@example.org: open, until ")
    assert listed[1].startswith(f"{held.pk - 1}. expert, charlie: open, until ")
    withdraw = ("withdraw", f"--invitation={held.pk}")
    assert ": withdrawn, until " in run("invitations", *withdraw)
    run("invitations", *withdraw)
    assert AuditEvent.objects.filter(action="invitation.revoked").count() == 1
    assert len(run("invitations", "make", "--admin=alice", "--role=annotator", "--links=2").splitlines()) == 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["make", "--role=expert"], "make needs --admin"),
        (["make", "--admin=esi", "--role=expert"], "no admin of minds"),
        (["make", "--admin=alice", "--role=expert", "--people=no/body"], "neither an e-mail address nor"),
        (["make", "--admin=alice", "--role=expert", "--people=charlie", "--links=2"], "it or --people, not both"),
        (["list", "--role=expert"], "--role is not for list"),
        (["withdraw", "--invitation=7"], "minds has no invitation 7"),
    ],
)
def test_what_an_invitation_lacks_is_said(run, options, sentence):
    with pytest.raises(CommandError, match=sentence):
        run("invitations", *options)


@pytest.fixture
def row(cast, make_story, assign, cast_vote) -> Proposition:
    """A row with an open cell of which Bob asked something."""
    story = make_story()
    row = Proposition.objects.gold_of(story).first()
    for assignment, label in zip(assign(story), ("True", "False", "Unknown"), strict=True):
        cast_vote(assignment, row, "truth_status", label)
    CellComment.objects.create(
        proposition=row, dimension="truth_status", text="Says who?", author=cast.bob, thread_of=cast.bob
    )
    return row


CELL = ("--expert=esi", "--story=1", "--row=1", "--dimension=truth_status")


def decide(by, row) -> None:
    gold = GoldLabel.objects.get(proposition=row)
    place = {"proposition": row, "dimension": "truth_status", "revision": gold.revision, "now": timezone.now()}
    adjudicate(by=by, **place, label="True")


def test_an_expert_answers_a_thread_and_files_a_case(run, cast, row):
    assert run("cell", "show", *CELL) == "open\n1. An annotator: Says who?\n"
    said = run("cell", "reply", *CELL, "--thread=1", "--text=Ines does.")
    assert said.splitlines()[-1] == "1. esi: Ines does."
    assert CellComment.objects.get(author=cast.esi).thread_of == cast.bob
    assert run("cell", "file", *CELL).startswith("open, a case for the guideline")
    assert run("cell", "unfile", *CELL).startswith("open\n")
    assert AuditEvent.objects.filter(actor=cast.esi, action__startswith="guideline_case.").count() == 2
    decide(cast.esi, row)
    assert run("cell", "show", *CELL).startswith("True\n1. bob: Says who?")


@pytest.mark.parametrize("cell", [CELL, CELL[:1]], ids=["of a cell", "the last"])
def test_an_expert_takes_a_decision_back(run, cast, row, cell):
    assert run("cell", "undo", CELL[0]) == "Taken back: 0 decisions of esi.\n"
    decide(cast.esi, row)
    assert run("cell", "undo", *cell) == "Taken back: 1 decision of esi.\n"
    assert GoldLabel.objects.get(proposition=row).method == "open"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["show", CELL[0]], "show needs --story, --row and --dimension"),
        (["show", *CELL[:3]], "A cell needs --dimension"),
        (["show", *CELL[:2], "--row=9", CELL[3]], "There is no row 9"),
        (["show", *CELL, "--text=Hm"], "reply takes --text"),
        (["reply", *CELL, "--thread=2", "--text=Hm"], "There is no thread 2"),
        (["reply", *CELL, "--thread=1", "--text= "], "text: "),
        (["undo", *CELL], "Only your own decision"),
        (["show", "--expert=bob", *CELL[1:]], "no expert of minds"),
    ],
)
def test_what_a_cell_does_not_allow_is_said(run, row, options, sentence):
    with pytest.raises(CommandError, match=sentence):
        run("cell", *options)


def test_who_still_labels_the_story_does_nothing_to_its_cells(run, cast, row):
    story = row.table.story
    story.assignments.filter(annotator=cast.ben).update(released_at=timezone.now())
    story.assignments.create(annotator=cast.esi, slot=3, overlap=3)
    with pytest.raises(CommandError, match="still label this story"):
        run("cell", "show", *CELL)


def test_suggestions_that_nobody_has_seen_are_discarded(run, make_story):
    suggest(make_story())
    told = run("discard_suggestions", "--json")
    assert told["discarded"] > 1 and run("discard_suggestions") == "Discarded: 0 suggestions of minds.\n"
    assert AuditEvent.objects.get(action="prefill.discarded").actor is None
