from __future__ import annotations

import io
import itertools
import json
import random
from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import (
    Assignment,
    AuditEvent,
    BeliefTable,
    Category,
    GoldEvent,
    GoldLabel,
    Membership,
    Project,
    Proposition,
    Story,
    User,
    Vote,
    VoteEvent,
)
from annotation.services.assignments import release
from annotation.services.gold_export import vote_lines
from annotation.services.vote_import import import_votes
from annotation.services.votes import Change, save_votes
from tests.annotation.writing import small_steps

HEAD = "story_id,actor,belief,dimension,annotator,label"
NOW = datetime(2026, 10, 20, 12, 0, tzinfo=UTC)


def run(project, *rows, head=HEAD, now=NOW, **options):
    handle = io.BytesIO(("\n".join([head, *rows]) + "\n").encode())
    return import_votes(by=None, project=project, handle=handle, file="votes.csv", now=now, **options)


@pytest.fixture
def story(make_story):
    return make_story(
        rows=[("Ines", "The key is in the bag"), ("Ines", "The key is in the bag"), ("Tomas", "It rains")]
    )


def row(annotator="ada", label="1", actor="Ines", belief="The key is in the bag", dimension="order") -> str:
    return f"1,{actor},{belief},{dimension},{annotator},{label}"


def names_of(result) -> list[tuple[str, str, int]]:
    return [(one["name"], one["kind"], one["votes"]) for one in result.as_dict()["annotators"]]


def test_imported_annotators_assignments_votes_and_gold_are_made(cast, story):
    result = run(cast.project, row("ada"), row("bruno"), row("chidi", "2"))
    annotators = [{"name": one, "kind": "imported annotator", "votes": 1} for one in ("ada", "bruno", "chidi")]
    assert result.as_dict() == {
        "summary": "3 votes: 3 created, 0 unchanged.", "votes": 3, "created": 3, "unchanged": 0, "kept": 0,
        "not_used": [], "problems": [], "annotators": annotators,
    }  # fmt: skip
    assert list(Assignment.objects.values_list("annotator__username", "slot")) == [
        ("minds:ada", 1),
        ("minds:bruno", 2),
        ("minds:chidi", 3),
    ]
    gold = GoldLabel.objects.get()
    assert (gold.label, gold.method, round(gold.agreement, 3)) == ("1", "majority", 0.667)
    assert set(VoteEvent.objects.values_list("origin", flat=True)) == {"import"}
    details = AuditEvent.objects.get(action="votes.imported").details
    assert (details["votes"], details["imported_annotators"]) == (3, ["ada", "bruno", "chidi"])


def test_an_imported_annotator_is_no_account(cast, story, client):
    members = set(Membership.objects.values_list("user", flat=True))
    run(cast.project, row("ada"))
    ada = User.objects.get(username="minds:ada")
    assert (ada.imported_into, ada.is_active, ada.has_usable_password()) == (cast.project, False, False)
    assert set(Membership.objects.values_list("user", flat=True)) == members
    ada.set_password("correct-horse-battery")
    ada.save()
    client.post(reverse("login"), {"username": "minds:ada", "password": "correct-horse-battery"})
    assert "_auth_user_id" not in client.session
    client.post(reverse("login"), {"username": "bob", "password": "correct-horse-battery"})
    assert "_auth_user_id" in client.session
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.filter(pk=ada.pk).update(is_active=True)
    with pytest.raises(CommandError, match="is not a user name"):
        call_command("add_member", project="minds", user="minds:ada", role="annotator", create=True)
    with pytest.raises(ValidationError):
        User(username="minds:bruno", password="x").full_clean()


def test_nobody_on_the_site_votes_in_a_project_through_its_admin(cast, story):
    """Charlie has an account and is no member: the name in the file is somebody else."""
    assert names_of(run(cast.project, row("charlie"))) == [("charlie", "imported annotator", 1)]
    assert not Vote.objects.filter(annotator=cast.charlie).exists()
    assert not Membership.objects.filter(user=cast.charlie).exists()
    assert not Assignment.objects.filter(annotator=cast.charlie).exists()


def test_one_name_in_two_projects_is_two_people(cast, story):
    run(cast.project, row("ada"))
    other = Project.objects.create(slug="other", name="Other")
    category = Category.objects.create(project=other, name="C")
    copy = Story.objects.create(project=other, number=1, category=category, text="x", digest="0" * 64)
    Proposition.objects.create(
        table=BeliefTable.objects.create(story=copy), position=1, actor="Ines", belief="The key is in the bag"
    )
    run(other, row("ada"))
    assert sorted(User.objects.exclude(imported_into=None).values_list("username", flat=True)) == [
        "minds:ada",
        "other:ada",
    ]
    assert Vote.objects.values("annotator").distinct().count() == 2


def test_votes_of_members_are_their_own(cast, story):
    assert names_of(run(cast.project, row("bob"), row("esi", "2"))) == [("bob", "member", 1), ("esi", "member", 1)]
    assert set(Vote.objects.values_list("annotator__username", flat=True)) == {"bob", "esi"}


def test_who_joins_later_under_an_imported_name_is_somebody_else_and_the_file_still_changes_nothing(cast, story):
    run(cast.project, row("ada"))
    Membership.objects.create(project=cast.project, user=User.objects.create_user("ada"), role="annotator")
    again = run(cast.project, row("ada"), now=NOW + timedelta(days=1))
    assert (again.created, again.unchanged, names_of(again)) == (0, 1, [("ada", "imported annotator", 1)])


def test_the_name_of_an_export_is_the_imported_annotator(cast, story):
    run(cast.project, row("ada"))
    assert names_of(run(cast.project, row("minds:ada"))) == [("ada", "imported annotator", 1)]
    assert names_of(run(cast.project, row("minds:bob"))) == [("bob", "imported annotator", 1)]
    assert not Vote.objects.filter(annotator=cast.bob).exists()


def test_an_exported_file_comes_in_again_and_changes_nothing(cast, story, assign, cast_vote):
    bob, *_ = assign(story, [cast.bob])
    cast_vote(bob, Proposition.objects.order_by("position").first(), "order", "1")
    run(cast.project, row("ada"), row("bruno", "2"))
    handle = io.BytesIO("".join(vote_lines(cast.project)).encode())
    result = import_votes(by=None, project=cast.project, handle=handle, file="votes.csv", now=timezone.now())
    assert (result.created, result.unchanged, result.problems) == (0, 3, [])


def test_a_vote_cast_in_the_product_is_never_overwritten(cast, story, assign, cast_vote):
    bob, *_ = assign(story, [cast.bob])
    first = Proposition.objects.order_by("position").first()
    cast_vote(bob, first, "order", "3")
    cast_vote(bob, first, "context", "Neutral")
    cast_vote(bob, first, "context", "")
    stood = list(Vote.objects.order_by("id").values())
    now = timezone.now() + timedelta(days=1)
    lines = [
        row("bob", "1") + ",",
        row("bob", "1") + f",{(now - timedelta(hours=1)).isoformat()}",
        row("bob", "Temporal", dimension="context") + ",",
        row("ada", "2") + ",",
    ]
    result = run(cast.project, *lines, head=HEAD + ",created_at", now=now)
    assert (result.created, result.unchanged, result.kept) == (1, 0, 3)
    assert run(cast.project, row("bob", "3"), now=now).unchanged == 1  # says the same
    assert [(one.line, one.message) for one in result.problems] == [
        (2, "bob chose '3' here in the product; an import does not overwrite that."),
        (3, "bob chose '3' here in the product; an import does not overwrite that."),
        (4, "bob withdrew the vote here in the product; an import does not overwrite that."),
    ]
    assert list(Vote.objects.filter(annotator=cast.bob).order_by("id").values()) == stood
    assert AuditEvent.objects.get(action="votes.imported").details["kept"] == 3


def test_an_imported_vote_of_a_member_can_be_corrected_by_a_file(cast, story):
    run(cast.project, row("bob", "1"))
    later = NOW + timedelta(hours=1)
    assert run(cast.project, row("bob", "2"), now=later).created == 1
    assert Vote.objects.get().label == "2"


def test_a_key_that_looks_like_an_import_makes_no_vote_an_imported_one(cast, story, assign):
    bob, *_ = assign(story, [cast.bob])
    first = Proposition.objects.order_by("position").first()
    save_votes(by=cast.bob, assignment=bob, changes=[Change(first.uid, "order", "3", NOW, "import-0")], now=NOW)
    assert run(cast.project, row("bob", "1"), now=NOW + timedelta(days=1)).kept == 1
    assert Vote.objects.get().label == "3"


def test_who_left_the_project_gets_no_new_votes(cast, story):
    run(cast.project, row("bob"))
    Membership.objects.filter(user=cast.bob).delete()
    result = run(cast.project, row("bob"), row("bob", "2", actor="Tomas", belief="It rains"))
    assert (result.created, result.unchanged) == (0, 1)
    (problem,) = result.problems
    assert "bob left the project" in problem.message
    assert not Membership.objects.filter(user=cast.bob).exists()


def test_importing_again_changes_nothing(cast, story):
    rows = [row("ada"), row("bruno"), row("chidi", "2")]
    run(cast.project, *rows)
    before = [model.objects.count() for model in (Vote, VoteEvent, GoldEvent, AuditEvent, Assignment)]
    again = run(cast.project, *rows, now=NOW + timedelta(days=1))
    assert (again.created, again.unchanged, again.problems) == (0, 3, [])
    assert [model.objects.count() for model in (Vote, VoteEvent, GoldEvent, AuditEvent, Assignment)] == before


def test_a_file_does_not_undo_what_its_annotator_changed_since(cast, story):
    run(cast.project, row("bob", "1"))
    assignment = Assignment.objects.get()
    proposition = Proposition.objects.order_by("position").first()
    later = NOW + timedelta(hours=1)
    save_votes(
        by=assignment.annotator,
        assignment=assignment,
        changes=[Change(proposition.uid, "order", "3", later, "k")],
        now=later,
    )
    assert run(cast.project, row("bob", "1"), now=later).unchanged == 1
    assert run(cast.project, row("bob", "2"), now=later + timedelta(hours=1)).kept == 1
    assert Vote.objects.get().label == "3"


def test_of_two_times_the_later_stands(cast, story):
    head = HEAD + ",created_at"
    rows = [f"{row('ada', label)},2026-10-0{day}T09:00:00Z" for label, day in (("1", 2), ("2", 3), ("3", 1))]
    result = run(cast.project, *rows, head=head)
    assert (result.created, result.unchanged) == (2, 1)
    assert Vote.objects.get().label == "2"
    assert list(VoteEvent.objects.order_by("id").values_list("previous", "label")) == [("", "1"), ("1", "2")]


def test_equal_propositions_are_told_apart_by_occurrence(cast, story):
    result = run(cast.project, row("ada") + ",1", row("ada", "2") + ",2", row("ada") + ",3", head=HEAD + ",occurrence")
    assert [vote.proposition.position for vote in Vote.objects.order_by("id")] == [1, 2]
    (problem,) = result.problems
    assert (problem.line, "occurrence 3" in problem.message) == (4, True)


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        (row(belief="No such thing"), "no such proposition of 'Ines'"),
        ("99," + row()[2:], "Story 99"),
        (row("dora"), "has its 3 annotators already, without dora"),
        (row("ada", "2"), "Line 2 gives ada's vote here as 1"),
    ],
)
def test_a_row_that_cannot_be_used_is_a_problem_and_stops_nothing(cast, story, bad, expected):
    result = run(
        cast.project, row("ada"), row("bruno"), row("chidi"), bad, row("ada", actor="Tomas", belief="It rains")
    )
    assert result.created == 4
    (problem,) = result.problems
    assert (problem.file, problem.line) == ("votes.csv", 5)
    assert expected in problem.message


@pytest.mark.parametrize(
    "bad",
    [
        row("dora"),  # the three slots are taken
        row("dora", belief="No such thing"),
        row("dora", "9"),
        row("dora", dimension="colour"),
        "99," + row("dora")[2:],
    ],
)
def test_a_refused_vote_makes_neither_annotator_nor_assignment(cast, story, bad):
    held = User.objects.count()
    result = run(cast.project, row("ada"), row("bruno"), row("chidi"), bad)
    assert (len(result.problems), [name for name, *_ in names_of(result)]) == (1, ["ada", "bruno", "chidi"])
    assert User.objects.count() == held + 3
    assert not User.objects.filter(username__contains="dora").exists()
    assert Assignment.objects.count() == 3
    details = AuditEvent.objects.get(action="votes.imported").details
    assert details["imported_annotators"] == ["ada", "bruno", "chidi"]


def test_an_older_vote_takes_no_assignment_again(cast, story):
    assert run(cast.project, row("ada"), row("bruno"), row("chidi")).created == 3
    assignment = Assignment.objects.get(annotator__username="minds:ada")
    release(by=cast.alice, assignment=assignment, now=NOW + timedelta(hours=1))
    # 08:00 is before the release of 13:00, so the row changes nothing and ada's assignment stays released.
    older = run(cast.project, row("ada", "2") + ",2026-10-20T08:00:00Z", head=HEAD + ",created_at")
    assert (older.created, older.unchanged) == (0, 1)
    assert Assignment.objects.active().count() == 2


def test_a_name_in_another_case_is_the_same_person(cast, story):
    result = run(cast.project, row("BOB"), row("Dora"), row("dora", dimension="context", label="Neutral"))
    assert (result.created, result.problems) == (3, [])
    assert names_of(result) == [("Dora", "imported annotator", 2), ("bob", "member", 1)]
    assert Vote.objects.get(annotator=cast.bob).label == "1"
    assert Vote.objects.filter(annotator__username="minds:Dora").count() == 2


def test_a_name_that_two_members_share_is_asked_about_unless_spelt_as_one(cast, story):
    Membership.objects.create(project=cast.project, user=User.objects.create_user("Bob"), role="annotator")
    result = run(cast.project, row("bob"), row("Bob", "2"), row("BOB", "3"))
    assert result.created == 2
    (problem,) = result.problems
    assert (problem.line, "'BOB' could be Bob or bob" in problem.message) == (4, True)


def test_a_name_that_no_account_may_have_is_a_problem_of_its_line(cast, story):
    held, names = User.objects.count(), ["Ada Lovelace", ".", "..", "a/b", "<ada>", "x" * 151]
    result = run(cast.project, *map(row, names), row("ada"))
    assert [problem.line for problem in result.problems] == list(range(2, 8))
    assert all(problem.message.startswith("annotator ") for problem in result.problems)
    assert User.objects.count() == held + 1


def test_a_member_with_an_odd_name_is_found_all_the_same(cast, story):
    odd = User.objects.create_user("Ada Lovelace")  # the site admin may have made it
    Membership.objects.create(project=cast.project, user=odd, role="annotator")
    assert names_of(run(cast.project, row("ada lovelace"))) == [("Ada Lovelace", "member", 1)]
    assert Vote.objects.get().annotator.username == "Ada Lovelace"


@pytest.mark.parametrize(
    ("ahead", "created"),
    [(timedelta(0), 1), (timedelta(seconds=59), 1), (timedelta(seconds=61), 0), (timedelta(days=90), 0)],
)
def test_no_time_lies_in_the_future(cast, story, ahead, created):
    """A clock may be a minute ahead; its times are then taken for now."""
    result = run(cast.project, row() + f",{(NOW + ahead).isoformat()}", head=HEAD + ",created_at")
    assert (result.created, len(result.problems)) == (created, 1 - created)
    assert all("lies in the future" in problem.message for problem in result.problems)
    assert all(vote.changed_at == NOW for vote in Vote.objects.all())


def test_a_dry_run_of_a_story_that_is_divided_remembers_its_first_rows(cast, story, monkeypatch):
    # by the time of their votes the third and fifth row change what the first and second said, the last one nothing
    small_steps(monkeypatch, 2)
    rows = [("ada", "1", 1), ("ben", "1", 1), ("ada", "2", 2), ("cleo", "1", 1), ("ben", "0", 2), ("ada", "2", 3)]
    lines = [f"{row(name, label)},2026-10-0{day}T09:00:00Z" for name, label, day in rows]
    head = HEAD + ",created_at"
    rehearsed = run(cast.project, *lines, head=head, dry_run=True)
    result = run(cast.project, *lines, head=head)
    assert rehearsed.as_dict() == result.as_dict() and (result.created, result.unchanged) == (5, 1)


def test_a_dry_run_keeps_nothing_and_says_the_same(cast, make_story):
    make_story(rows=[("Ines", f"Belief {at}") for at in range(4)])
    lines = [row(name, belief=f"Belief {at}") for at in range(4) for name in ("ada", "bruno", "chidi", "dora", "ADA")]
    rehearsed = run(cast.project, *lines, dry_run=True)
    assert not (Vote.objects.exists() or User.objects.exclude(imported_into=None).exists())
    assert not (Assignment.objects.exists() or AuditEvent.objects.exists())
    assert rehearsed.as_dict() == run(cast.project, *lines).as_dict()
    assert (rehearsed.created, rehearsed.unchanged, rehearsed.problems.total) == (12, 4, 4)


def test_the_bulk_path_gives_the_rows_of_the_one_by_one_path(cast, make_story, assign):
    """One project's votes come by file, the same ones of a second story one by one through the grid's service."""
    rng = random.Random(7)
    rows = [("Ines", f"Belief {at}") for at in range(6)]
    by_file, by_hand = make_story(1, rows=rows), make_story(2, rows=rows)
    assignments = {one.annotator: one for one in assign(by_file) + assign(by_hand) if one.story_id == by_hand.pk}
    project = cast.project
    project.unanimity_dimensions = ["context"]
    project.save()
    lines, at = [], itertools.count()
    for index, dimension, person in itertools.product(range(6), DEFAULT_SCHEMA.dimensions, cast.annotators):
        if rng.random() < 0.15:  # some cells stay pending
            continue
        label = rng.choice(dimension.values[:2])
        moment = NOW - timedelta(minutes=next(at))
        lines.append(f"1,Ines,Belief {index},{dimension.key},{person.username},{label},{moment.isoformat()}")
        uid = Proposition.objects.gold_of(by_hand).get(position=index + 1).uid
        change = Change(uid, dimension.key, label, moment, f"k{next(at)}")
        assignments[person].story.project = project
        save_votes(by=person, assignment=assignments[person], changes=[change], now=NOW)
    result = run(project, *lines, head=HEAD + ",created_at")
    assert (result.created, result.problems) == (len(lines), [])

    def gold(story):
        return [
            (one.proposition.position, one.dimension, one.label, one.method, one.agreement, one.rule_version,
             one.schema_version, one.decided_at, [(vote["annotator"], vote["label"]) for vote in one.votes])
            for one in GoldLabel.objects.filter(proposition__table__story=story)
            .select_related("proposition").order_by("proposition__position", "dimension")
        ]  # fmt: skip

    def events(story):
        return list(
            GoldEvent.objects.filter(proposition__table__story=story)
            .order_by("proposition__position", "dimension")
            .values_list("proposition__position", "dimension", "before", "after", "after_method", "revision", "at")
        )

    assert gold(by_file) == gold(by_hand)
    assert events(by_file) == events(by_hand)
    assert {"unanimous", "majority", "open"} <= set(GoldLabel.objects.values_list("method", flat=True))
    keys = dict(Vote.objects.filter(proposition__table__story=by_file).values_list("annotator", "idempotency_key"))
    assert all(key.startswith("import-") for key in keys.values())


def test_votes_that_come_in_three_files_settle_with_the_last(cast, story):
    for name in ("ada", "bruno"):
        run(cast.project, row(name))
        assert not GoldLabel.objects.exists()
    run(cast.project, row("chidi"))
    gold = GoldLabel.objects.get()
    assert (gold.method, len(gold.votes)) == ("unanimous", 3)
    run(cast.project, row("chidi", "2"), now=NOW + timedelta(days=1))
    gold = GoldLabel.objects.get()
    assert (gold.method, gold.revision) == ("majority", 2)


def test_the_command_says_what_the_contract_says(cast, story, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: NOW)
    path = tmp_path / "votes.csv"
    path.write_bytes(b"\xef\xbb\xbf" + f"{HEAD}\r\n{row()}\r\n{row(dimension='colour')}\r\n".encode())
    call_command("import_votes", str(path), project="minds", json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["votes"], told["created"], told["unchanged"]) == (1, 1, 0)
    assert [(one["file"], one["line"]) for one in told["problems"]] == [(str(path), 3)]
    path.write_bytes("x\n".encode("utf-16"))
    with pytest.raises(CommandError, match="column story_id is missing"):
        call_command("import_votes", str(path), project="minds")
    assert Vote.objects.get().changed_at == NOW


def test_the_command_fails_where_no_vote_could_be_used(cast, story, tmp_path, capsys):
    path = tmp_path / "votes.csv"
    path.write_text(f"{HEAD}\n{row(dimension='colour')}\n{row(belief='No such thing')}\n", encoding="utf-8")
    sentence = f"Nothing was imported: 2 problems, the first in {path}, line 2: dimension is 'colour'"
    with pytest.raises(CommandError) as caught:
        call_command("import_votes", str(path), project="minds", json=True)
    assert str(caught.value).startswith(sentence)
    told = json.loads(capsys.readouterr().out)
    assert [one["line"] for one in told["problems"]] == [2, 3]
    assert (told["created"], told["unchanged"], told["annotators"]) == (0, 0, [])
    assert caught.value.returncode == 1


def test_what_many_rows_lack_is_told_once_and_counted(cast, story, tmp_path, capsys):
    of_two = [row(name, actor=actor, belief=belief) for name in ("ada", "bruno", "chidi", "dora")
              for actor, belief in (("Ines", "The key is in the bag"), ("Tomas", "It rains"))]  # fmt: skip
    path = tmp_path / "votes.csv"
    path.write_text("\n".join([HEAD, *of_two]), encoding="utf-8")
    call_command("import_votes", str(path), project="minds")
    said = capsys.readouterr()
    assert "Imported in part. 8 votes: 6 created, 0 unchanged, 2 not taken; 2 problems." in said.out
    assert said.err.endswith("line 8 and 1 other: Story 1 has its 3 annotators already, without dora.\n")


def test_the_command_says_who_everybody_is_and_an_unchanged_vote_is_no_failure(cast, story, tmp_path, capsys):
    path = tmp_path / "votes.csv"
    path.write_text(f"{HEAD}\n{row('dora')}\n", encoding="utf-8")
    call_command("import_votes", str(path), project="minds")
    assert capsys.readouterr().out == "Imported. 1 vote: 1 created, 0 unchanged.\n  dora: imported annotator, 1 vote\n"
    call_command("import_votes", str(path), project="minds")
    nothing_new = "Nothing new: all of it is here already. 1 vote: 0 created, 1 unchanged."
    assert capsys.readouterr().out == f"{nothing_new}\n  dora: imported annotator, 1 vote\n"


def test_a_file_that_is_none_is_one_sentence(cast, tmp_path):
    for name, expected in (("missing.csv", "There is no file"), ("", "is a folder")):
        for command in ("import_votes", "import_archive"):
            with pytest.raises(CommandError, match=expected):
                call_command(command, str(tmp_path / name), project="minds")
