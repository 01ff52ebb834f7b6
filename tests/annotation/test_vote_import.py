from __future__ import annotations

import io
import itertools
import json
import random
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.domain.schema import SCHEMA
from annotation.models import (
    Assignment,
    AuditEvent,
    GoldEvent,
    GoldLabel,
    Membership,
    Proposition,
    User,
    Vote,
    VoteEvent,
)
from annotation.services.assignments import release
from annotation.services.vote_import import import_votes
from annotation.services.votes import Change, save_votes

HEAD = "story_id,actor,belief,dimension,annotator,label"
NOW = datetime(2026, 10, 20, 12, 0, tzinfo=UTC)


def run(project, *rows, head=HEAD, now=NOW, **options):
    handle = io.StringIO("\n".join([head, *rows]) + "\n", newline="")
    return import_votes(by=None, project=project, handle=handle, file="votes.csv", now=now, **options)


@pytest.fixture
def story(make_story):
    return make_story(
        rows=[("Ines", "The key is in the bag"), ("Ines", "The key is in the bag"), ("Tomas", "It rains")]
    )


def row(annotator="ada", label="1", actor="Ines", belief="The key is in the bag", dimension="order") -> str:
    return f"1,{actor},{belief},{dimension},{annotator},{label}"


def test_people_seats_votes_and_gold_are_made(cast, story):
    result = run(cast.project, row("ada"), row("bruno"), row("chidi", "2"))
    people = ["ada", "bruno", "chidi"]
    assert result.as_dict() == {"votes": 3, "created": 3, "unchanged": 0, "problems": [], "people": people}
    ada = User.objects.get(username="ada")
    assert not ada.has_usable_password()
    assert Membership.objects.get(user=ada).role == "annotator"
    assert list(Assignment.objects.values_list("annotator__username", "slot")) == [
        ("ada", 1),
        ("bruno", 2),
        ("chidi", 3),
    ]
    gold = GoldLabel.objects.get()
    assert (gold.label, gold.method, round(gold.agreement, 3)) == ("1", "majority", 0.667)
    assert set(VoteEvent.objects.values_list("origin", flat=True)) == {"import"}
    details = AuditEvent.objects.get(action="votes.imported").details
    assert (details["votes"], details["seats"], details["members"]) == (3, 3, ["ada", "bruno", "chidi"])


def test_importing_again_changes_nothing(cast, story):
    rows = [row("ada"), row("bruno"), row("chidi", "2")]
    run(cast.project, *rows)
    before = [model.objects.count() for model in (Vote, VoteEvent, GoldEvent, AuditEvent, Assignment)]
    again = run(cast.project, *rows, now=NOW + timedelta(days=1))
    assert (again.created, again.unchanged, again.problems) == (0, 3, [])
    assert [model.objects.count() for model in (Vote, VoteEvent, GoldEvent, AuditEvent, Assignment)] == before


def test_a_file_without_times_does_not_undo_what_its_annotator_changed_since(cast, story):
    run(cast.project, row("ada", "1"))
    seat = Assignment.objects.get()
    proposition = Proposition.objects.order_by("position").first()
    later = NOW + timedelta(hours=1)
    save_votes(by=seat.annotator, seat=seat, changes=[Change(proposition.uid, "order", "3", later, "k")], now=later)
    assert run(cast.project, row("ada", "1"), now=later).unchanged == 1
    assert Vote.objects.get().label == "3"
    assert run(cast.project, row("ada", "2"), now=later + timedelta(hours=1)).created == 1
    assert Vote.objects.get().label == "2"


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
        row("dora"),  # the three seats are taken
        row("dora", belief="No such thing"),
        row("dora", "9"),
        row("dora", dimension="colour"),
        "99," + row("dora")[2:],
    ],
)
def test_a_refused_vote_makes_neither_account_nor_member_nor_seat(cast, story, bad):
    held = User.objects.count()
    result = run(cast.project, row("ada"), row("bruno"), row("chidi"), bad)
    assert (len(result.problems), result.people) == (1, ["ada", "bruno", "chidi"])
    assert User.objects.count() == held + 3
    assert not User.objects.filter(username="dora").exists()
    assert Assignment.objects.count() == 3
    assert AuditEvent.objects.get(action="votes.imported").details["accounts"] == ["ada", "bruno", "chidi"]


def test_a_refused_or_older_vote_gives_someone_known_neither_membership_nor_seat(cast, story):
    User.objects.create_user("dora")
    assert run(cast.project, row("ada"), row("bruno"), row("chidi"), row("dora")).created == 3
    assert not Membership.objects.filter(user__username="dora").exists()
    seat = Assignment.objects.get(annotator__username="ada")
    release(by=cast.alice, seat=seat, now=NOW + timedelta(hours=1))
    # 08:00 is before the release of 13:00, so the row changes nothing and ada's seat stays released.
    older = run(cast.project, row("ada", "2") + ",2026-10-20T08:00:00Z", head=HEAD + ",created_at")
    assert (older.created, older.unchanged) == (0, 1)
    assert Assignment.objects.active().count() == 2


def test_a_name_in_another_case_is_the_same_person(cast, story):
    result = run(cast.project, row("BOB"), row("Dora"), row("dora", dimension="context", label="Neutral"))
    assert (result.created, result.people, result.problems) == (3, ["Dora"], [])
    assert Vote.objects.get(annotator=cast.bob).label == "1"
    assert Vote.objects.filter(annotator__username="Dora").count() == 2


def test_a_name_that_two_accounts_share_is_asked_about_unless_spelt_as_one(cast, story):
    User.objects.create_user("Bob")
    result = run(cast.project, row("bob"), row("Bob", "2"), row("BOB", "3"))
    assert result.created == 2
    (problem,) = result.problems
    assert (problem.line, "'BOB' could be Bob or bob" in problem.message) == (4, True)


@pytest.mark.parametrize("name", ["Ada Lovelace", ".", "..", "a/b", "<ada>", "x" * 151])
def test_a_name_that_no_account_may_have_is_a_problem_of_its_line(cast, story, name):
    held = User.objects.count()
    result = run(cast.project, row(name), row("ada"))
    (problem,) = result.problems
    assert (problem.line, problem.message.startswith("annotator ")) == (2, True)
    assert User.objects.count() == held + 1


def test_an_account_with_an_odd_name_is_found_all_the_same(cast, story):
    User.objects.create_user("Ada Lovelace")  # an archive or the site admin may have made it
    assert run(cast.project, row("ada lovelace")).as_dict()["people"] == []
    assert Vote.objects.get().annotator.username == "Ada Lovelace"


def test_a_time_far_ahead_is_a_problem(cast, story):
    (problem,) = run(cast.project, row() + ",2027-01-01", head=HEAD + ",created_at").problems
    assert "more than a day ahead" in problem.message


def test_a_dry_run_keeps_nothing(cast, story):
    assert run(cast.project, row(), dry_run=True).created == 1
    assert not Vote.objects.exists()
    assert not User.objects.filter(username="ada").exists()


def test_the_bulk_path_gives_the_rows_of_the_one_by_one_path(cast, make_story, seat):
    """One project's votes come by file, the same ones of a second story one by one through the grid's service."""
    rng = random.Random(7)
    rows = [("Ines", f"Belief {at}") for at in range(6)]
    by_file, by_hand = make_story(1, rows=rows), make_story(2, rows=rows)
    seats = {one.annotator: one for one in seat(by_file) + seat(by_hand) if one.story_id == by_hand.pk}
    project = cast.project
    project.unanimity_dimensions = ["context"]
    project.save()
    lines, at = [], itertools.count()
    for index, dimension, person in itertools.product(range(6), SCHEMA.dimensions, cast.annotators):
        if rng.random() < 0.15:  # some cells stay pending
            continue
        label = rng.choice(dimension.values[:2])
        moment = NOW - timedelta(minutes=next(at))
        lines.append(f"1,Ines,Belief {index},{dimension.key},{person.username},{label},{moment.isoformat()}")
        uid = Proposition.objects.gold_of(by_hand).get(position=index + 1).uid
        change = Change(uid, dimension.key, label, moment, f"k{next(at)}")
        seats[person].story.project = project
        save_votes(by=person, seat=seats[person], changes=[change], now=NOW)
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
    keys = dict(Vote.objects.filter(proposition__table__story=by_file).values_list("annotator", "client_key"))
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


def test_the_command_says_what_the_contract_says(cast, story, tmp_path, capsys):
    path = tmp_path / "votes.csv"
    path.write_bytes(b"\xef\xbb\xbf" + f"{HEAD}\r\n{row()}\r\n{row(dimension='colour')}\r\n".encode())
    call_command("import_votes", str(path), project="minds", json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["votes"], told["created"], told["unchanged"]) == (1, 1, 0)
    assert [(one["file"], one["line"]) for one in told["problems"]] == [(str(path), 3)]
    path.write_bytes("x\n".encode("utf-16"))
    with pytest.raises(CommandError, match="UTF-8"):
        call_command("import_votes", str(path), project="minds")
    assert Vote.objects.get().changed_at <= timezone.now()


def test_the_command_fails_where_no_vote_could_be_used(cast, story, tmp_path, capsys):
    path = tmp_path / "votes.csv"
    path.write_text(f"{HEAD}\n{row(dimension='colour')}\n{row(belief='No such thing')}\n", encoding="utf-8")
    sentence = f"Nothing was imported: 2 problems, the first in {path}, line 2: dimension is 'colour'"
    with pytest.raises(CommandError) as caught:
        call_command("import_votes", str(path), project="minds", json=True)
    assert str(caught.value).startswith(sentence)
    told = json.loads(capsys.readouterr().out)
    assert [one["line"] for one in told["problems"]] == [2, 3]
    assert (told["created"], told["unchanged"], told["people"]) == (0, 0, [])
    assert caught.value.returncode == 1


def test_the_command_names_new_accounts_and_an_unchanged_vote_is_no_failure(cast, story, tmp_path, capsys):
    path = tmp_path / "votes.csv"
    path.write_text(f"{HEAD}\n{row('dora')}\n", encoding="utf-8")
    call_command("import_votes", str(path), project="minds")
    assert capsys.readouterr().out == "1 vote: 1 created, 0 unchanged.\nnew accounts: dora\n"
    call_command("import_votes", str(path), project="minds")
    assert capsys.readouterr().out == "1 vote: 0 created, 1 unchanged.\n"


@pytest.mark.parametrize(("name", "expected"), [("missing.csv", "There is no file"), ("", "is a folder")])
def test_a_file_that_is_none_is_one_sentence(cast, tmp_path, name, expected):
    for command in ("import_votes", "import_archive"):
        with pytest.raises(CommandError, match=expected):
            call_command(command, str(tmp_path / name), project="minds")
