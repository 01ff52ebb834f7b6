import io
import itertools
import json
import random
from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.urls import reverse
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import (
    AnnotatorCounts,
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
    StoryCounts,
    User,
    Vote,
    VoteEvent,
)
from annotation.models.user import imported_username
from annotation.services import short_writes
from annotation.services.accounts import make_imported
from annotation.services.assignments import release
from annotation.services.gold_export import vote_lines
from annotation.services.vote_import import import_votes
from annotation.services.votes import Change, save_votes
from tests.annotation.writing import small_steps

HEAD = "story_id,actor,belief,dimension,annotator,label"
TIMED = HEAD + ",created_at"
NOW = datetime(2026, 10, 20, 12, 0, tzinfo=UTC)
RAIN = {"actor": "Tomas", "belief": "It rains"}
IMPORTED = "imported annotator"


def run(project, *rows, head=HEAD, now=NOW, **options):
    handle = io.BytesIO(("\n".join([head, *rows]) + "\n").encode())
    return import_votes(by=None, project=project, handle=handle, file="votes.csv", now=now, **options)


@pytest.fixture
def story(make_story):
    return make_story(rows=[("Ines", "The key is in the bag")] * 2 + [("Tomas", "It rains")])


def row(annotator="ada", label="1", actor="Ines", belief="The key is in the bag", dimension="order") -> str:
    return f"1,{actor},{belief},{dimension},{annotator},{label}"


def names_of(result) -> list[tuple[str, str, int]]:
    return [(one["name"], one["kind"], one["votes"]) for one in result.as_dict()["annotators"]]


def is_joined_by(cast, name: str) -> User:
    person = User.objects.create_user(name)
    Membership.objects.create(project=cast.project, user=person, role="annotator")
    return person


def counted() -> list[int]:
    return [model.objects.count() for model in (User, Vote, VoteEvent, GoldEvent, AuditEvent, Assignment)]


def test_imported_annotators_assignments_votes_and_gold_are_made_once(cast, story):
    rows = [row("ada"), row("bruno"), row("chidi", "2")]
    result = run(cast.project, *rows)
    annotators = [{"name": one, "kind": IMPORTED, "votes": 1} for one in ("ada", "bruno", "chidi")]
    assert result.as_dict() == {
        "summary": "3 votes: 3 created, 0 unchanged.", "votes": 3, "created": 3, "unchanged": 0, "kept": 0,
        "not_used": [], "problems": [], "annotators": annotators,
    }  # fmt: skip
    assert list(Assignment.objects.values_list("annotator__username", "slot")) == [
        ("minds:ada", 1), ("minds:bruno", 2), ("minds:chidi", 3),
    ]  # fmt: skip
    gold = GoldLabel.objects.get()
    assert (gold.label, gold.method, round(gold.agreement, 3)) == ("1", "majority", 0.667)
    assert set(VoteEvent.objects.values_list("origin", flat=True)) == {"import"}
    details = AuditEvent.objects.get(action="votes.imported").details
    assert (details["votes"], details["imported_annotators"]) == (3, ["ada", "bruno", "chidi"])
    before, later = counted(), NOW + timedelta(days=1)
    again = run(cast.project, *rows, now=later)
    assert (again.created, again.unchanged, again.problems) == (0, 3, [])
    exported = io.BytesIO("".join(vote_lines(cast.project)).encode())
    again = import_votes(by=None, project=cast.project, handle=exported, file="votes.csv", now=later)
    assert (again.created, again.unchanged, again.problems) == (0, 3, [])
    assert counted() == before
    run(cast.project, row("chidi"), now=later)
    gold = GoldLabel.objects.get()
    assert (gold.method, len(gold.votes), gold.revision) == ("unanimous", 3, 2)


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
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.filter(pk=ada.pk).update(is_active=True)
    with pytest.raises(CommandError, match="is not a user name"):
        call_command("add_member", project="minds", user="minds:ada", role="annotator", create=True)
    with pytest.raises(ValidationError):
        User(username="minds:bruno", password="x").full_clean()
    cast.alice.is_staff = cast.alice.is_superuser = True
    cast.alice.save()
    client.force_login(cast.alice)
    assert "minds:ada" not in client.get("/site-admin/annotation/user/").content.decode()
    # one name in two projects is two people
    other = Project.objects.create(slug="other", name="Other")
    category = Category.objects.create(project=other, name="C")
    copy = Story.objects.create(project=other, number=1, category=category, text="x", digest="0" * 64)
    table = BeliefTable.objects.create(story=copy)
    Proposition.objects.create(table=table, position=1, actor="Ines", belief="The key is in the bag")
    run(other, row("ada"))
    assert set(Vote.objects.values_list("annotator__username", flat=True)) == {"minds:ada", "other:ada"}


def test_the_pages_say_of_every_name_who_it_is(cast, story, client):
    client.force_login(cast.alice)
    file = SimpleUploadedFile("votes.csv", "\n".join([HEAD, row("bob"), row("ada")]).encode())
    said = {"files": file, "format": "votes", "language": "en", "keep": "1", "sure": "1"}
    page = client.post(reverse("annotation:import", args=["minds"]), said).content.decode()
    assert f"{IMPORTED}</span>" in page and "member</span>" in page
    people = client.get(reverse("annotation:people", args=["minds"])).content.decode()
    assert "Imported annotators" in people and "minds:ada" in people and "minds:bob" not in people
    make_imported({"zoe": "Zoe"}, cast.project)
    assignments = client.get(reverse("annotation:assignments", args=["minds"])).content.decode()
    assert "ada (imported)" in assignments and "no longer a member" not in assignments
    assert "Zoe (imported)" not in assignments, "nobody is to give work to an imported annotator"


def test_whose_a_name_is(cast, make_story):
    """Charlie has an account and is no member: the name in the file is somebody else."""
    odd = is_joined_by(cast, "Ada Lovelace")  # the site admin may have made it
    for number, (given, name, kind) in enumerate([
        ("bob", "bob", "member"), ("BOB", "bob", "member"), ("esi", "esi", "member"), ("charlie", "charlie", IMPORTED),
        ("ada", "ada", IMPORTED), ("minds:ada", "ada", IMPORTED), ("ADA", "ada", IMPORTED),
        ("minds:bob", "bob", IMPORTED), ("ada lovelace", odd.username, "member"),
    ], 1):  # fmt: skip
        make_story(number, rows=[("Ines", "The key is in the bag")])
        result = run(cast.project, f"{number}{row(given)[1:]}")
        assert (result.created, names_of(result)) == (1, [(name, kind, 1)]), given
    assert not Vote.objects.filter(annotator=cast.charlie).exists()
    is_joined_by(cast, "ada")  # somebody else under the name: the same file changes nothing
    again = run(cast.project, f"5{row('ada')[1:]}", now=NOW + timedelta(days=1))
    assert (again.created, again.unchanged, names_of(again)) == (0, 1, [("ada", IMPORTED, 1)])
    is_joined_by(cast, "Esi")
    make_story(number=20, rows=[("Ines", "The key is in the bag")])
    result = run(cast.project, *(f"20{row(name)[1:]}" for name in ("esi", "Esi", "ESI")))
    (problem,) = result.problems
    assert (result.created, problem.line, "'ESI' could be Esi or esi" in problem.message) == (2, 4, True)
    name = "x" * 150
    assert len(cut := imported_username("minds", name)) == 150 and cut != imported_username("minds", name[:-1])
    assert imported_username("minds", cut.partition(":")[2]) == cut, "a long name is cut the same way every time"


def test_a_vote_cast_in_the_product_is_never_overwritten(cast, story, assign, cast_vote):
    bob, *_ = assign(story, [cast.bob])
    first, _, rain = Proposition.objects.order_by("position")
    cast_vote(bob, first, "order", "3")
    cast_vote(bob, first, "context", "Neutral")
    cast_vote(bob, first, "context", "")
    like_an_import = Change(rain.uid, "order", "3", NOW, "import-0")
    save_votes(by=cast.bob, assignment=bob, changes=[like_an_import], now=NOW)
    stood = list(Vote.objects.order_by("id").values())
    now = timezone.now() + timedelta(days=1)
    lines = [
        row("bob", "1") + ",",
        row("bob", "1") + f",{(now - timedelta(hours=1)).isoformat()}",
        row("bob", "Temporal", dimension="context") + ",",
        row("bob", "1", **RAIN) + ",",
        row("ada", "2") + ",",
    ]
    result = run(cast.project, *lines, head=TIMED, now=now)
    assert (result.created, result.unchanged, result.kept) == (1, 0, 4)
    assert run(cast.project, row("bob", "3"), now=now).unchanged == 1  # says the same
    stands = "bob {} here in the product; an import does not overwrite that."
    assert [(one.line, one.message) for one in result.problems] == [
        (2, stands.format("chose '3'")), (3, stands.format("chose '3'")), (4, stands.format("withdrew the vote")),
        (5, stands.format("chose '3'")),
    ]  # fmt: skip
    assert list(Vote.objects.filter(annotator=cast.bob).order_by("id").values()) == stood
    assert AuditEvent.objects.filter(action="votes.imported").first().details["kept"] == 4


def test_an_imported_vote_is_corrected_by_a_file_until_its_annotator_changed_it(cast, story):
    run(cast.project, row("bob", "1"))
    later = NOW + timedelta(hours=1)
    assert run(cast.project, row("bob", "2"), now=later).created == 1 and Vote.objects.get().label == "2"
    assignment, uid = Assignment.objects.get(), Proposition.objects.order_by("position").first().uid
    save_votes(by=cast.bob, assignment=assignment, changes=[Change(uid, "order", "3", later, "k")], now=later)
    assert run(cast.project, row("bob", "2"), now=later).unchanged == 1
    assert run(cast.project, row("bob", "0"), now=later + timedelta(hours=1)).kept == 1
    assert Vote.objects.get().label == "3"
    Membership.objects.filter(user=cast.bob).delete()
    (problem,) = run(cast.project, row("bob", "2", **RAIN)).problems
    assert "bob left the project" in problem.message and not Membership.objects.filter(user=cast.bob).exists()


def test_of_two_times_the_later_stands_and_none_lies_in_the_future(cast, story):
    rows = [f"{row('ada', label)},2026-10-0{day}T09:00:00Z" for label, day in (("1", 2), ("2", 3), ("3", 1))]
    result = run(cast.project, *rows, head=TIMED)
    assert (result.created, result.unchanged, Vote.objects.get().label) == (2, 1, "2")
    assert list(VoteEvent.objects.order_by("id").values_list("previous", "label")) == [("", "1"), ("1", "2")]
    ahead = [timedelta(0), timedelta(seconds=59), timedelta(seconds=61), timedelta(days=90)]
    rows = [f"{row(f'x{at}', **RAIN)},{(NOW + one).isoformat()}" for at, one in enumerate(ahead)]
    result = run(cast.project, *rows, head=TIMED)
    assert result.created == 2 and [problem.line for problem in result.problems] == [4, 5]
    assert all("lies in the future" in problem.message for problem in result.problems)
    assert set(Vote.objects.filter(label="1").values_list("changed_at", flat=True)) == {NOW}, "a minute ahead is now"


def test_equal_propositions_are_told_apart_by_occurrence(cast, story):
    result = run(cast.project, row("ada") + ",1", row("ada", "2") + ",2", row("ada") + ",3", head=HEAD + ",occurrence")
    assert [vote.proposition.position for vote in Vote.objects.order_by("id")] == [1, 2]
    (problem,) = result.problems
    assert (problem.line, "occurrence 3" in problem.message) == (4, True)


def test_a_row_that_cannot_be_used_is_a_problem_stops_nothing_and_makes_nobody(cast, story):
    run(cast.project, row("ada"), row("bruno"), row("chidi"))
    before = counted()[:3]
    for bad, expected in [
        (row(belief="No such thing"), "no such proposition of 'Ines'"),
        ("99," + row()[2:], "Story 99"),
        (row("dora"), "has its 3 annotators already, without dora"),
        (row("ada", "2"), "Line 2 gives ada's vote here as 1"),
        (row("dora", belief="No such thing"), "no such proposition"),
        (row("dora", "9"), "label is '9'"),
        (row("dora", dimension="colour"), "dimension is 'colour'"),
        *((row(name), "annotator ") for name in ("Ada Lovelace", ".", "..", "a/b", "<ada>", "x" * 151)),
    ]:
        result = run(cast.project, row("ada"), bad, row("bruno"))
        (problem,) = result.problems
        assert (problem.file, problem.line) == ("votes.csv", 3) and expected in problem.message
        assert [name for name, *_ in names_of(result)] == ["ada", "bruno"], bad
    assert counted()[:3] == before and Assignment.objects.count() == 3
    # a vote of 08:00, before the release of 13:00, changes nothing, and ada's assignment stays released
    assignment = Assignment.objects.get(annotator__username="minds:ada")
    release(by=cast.alice, assignment=assignment, now=NOW + timedelta(hours=1))
    older = run(cast.project, row("ada", "2") + ",2026-10-20T08:00:00Z", head=TIMED)
    assert (older.created, older.unchanged, Assignment.objects.active().count()) == (0, 1, 2)


def test_a_dry_run_keeps_nothing_and_says_the_same(cast, make_story, monkeypatch):
    make_story(rows=[("Ines", f"Belief {at}") for at in range(4)])
    lines = [row(name, belief=f"Belief {at}") for at in range(4) for name in ("ada", "bruno", "chidi", "dora", "ADA")]
    before = counted()
    rehearsed = run(cast.project, *lines, dry_run=True)
    assert counted() == before
    assert rehearsed.as_dict() == run(cast.project, *lines).as_dict()
    assert (rehearsed.created, rehearsed.unchanged, rehearsed.problems.total) == (12, 4, 4)
    # of a story that is divided, too: by the time of their votes the third and fifth row change what the first and
    # second said, the last one nothing
    small_steps(monkeypatch, 2)
    make_story(2, rows=[("Ines", "It rains")])
    rows = [("ada", "1", 1), ("ben", "1", 1), ("ada", "2", 2), ("cleo", "1", 1), ("ben", "0", 2), ("ada", "2", 3)]
    lines = [f"2,Ines,It rains,order,{name},{label},2026-10-0{day}T09:00:00Z" for name, label, day in rows]
    rehearsed = run(cast.project, *lines, head=TIMED, dry_run=True)
    result = run(cast.project, *lines, head=TIMED)
    assert rehearsed.as_dict() == result.as_dict() and (result.created, result.unchanged) == (5, 1)


def test_the_bulk_path_gives_the_rows_of_the_one_by_one_path(cast, make_story, assign):
    """One project's votes come by file, the same ones of a second story one by one through the grid's service."""
    rng = random.Random(7)
    rows = [("Ines", f"Belief {at}") for at in range(6)]
    by_file, by_hand = make_story(1, rows=rows), make_story(2, rows=rows)
    assign(by_file)
    assignments = {one.annotator: one for one in assign(by_hand)}
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
    result = run(project, *lines, head=TIMED)
    assert (result.created, result.problems) == (len(lines), [])
    place = ("proposition__position", "dimension")

    def written(story) -> tuple[list, list]:
        gold = GoldLabel.objects.filter(proposition__table__story=story).order_by(*place)
        told = ("label", "method", "agreement", "rule_version", "schema_version", "decided_at")
        votes = [[(vote["annotator"], vote["label"]) for vote in one.votes] for one in gold]
        events = GoldEvent.objects.filter(proposition__table__story=story).order_by(*place)
        of_event = events.values_list(*place, "before", "after", "after_method", "revision", "at")
        return list(zip(gold.values_list(*place, *told), votes, strict=True)), list(of_event)

    assert written(by_file) == written(by_hand)
    assert {"unanimous", "majority", "open"} <= set(GoldLabel.objects.values_list("method", flat=True))
    keys = Vote.objects.filter(proposition__table__story=by_file).values_list("idempotency_key", flat=True)
    assert all(key.startswith("import-") for key in keys)


def test_the_rows_of_an_import_do_not_depend_on_the_size_of_its_transactions(cast, make_story, monkeypatch):
    """Votes of three annotators on two rows of each story, in no order."""
    drawn, written = random.Random(2), (Vote, VoteEvent, GoldLabel, GoldEvent)
    for number in range(1, 5):
        make_story(number, rows=[("Ines", "The key is in the bag"), ("Ines", "It rains")])
    lines = [
        f"{number},Ines,{belief},{one.key},{name},{drawn.choice(one.values[:2])},2026-10-0{drawn.randint(1, 9)}T09:00Z"
        for number in range(1, 5)
        for belief in ("The key is in the bag", "It rains")
        for one in DEFAULT_SCHEMA.dimensions
        for name in ("ada", "bruno", "chidi")
    ]
    drawn.shuffle(lines)
    kept = {}

    def left(model) -> list[str]:
        return sorted(
            str({name: value for name, value in one.items() if name not in ("id", "version")})
            for one in model.objects.values()
        )

    for most in (7, 2_000, 11):
        for name in ("MOST_ROWS", "_FIRST_ROWS", "_LEAST_ROWS"):
            monkeypatch.setattr(short_writes, name, most)
        result = run(cast.project, *lines, head=TIMED)
        assert (result.problems.total, result.votes) == (0, result.created + result.unchanged)
        found = [left(model) for model in (*written, StoryCounts, AnnotatorCounts)]
        kept = kept or {"told": result.as_dict(), "rows": found}
        assert kept == {"told": result.as_dict(), "rows": found} and min(map(len, found)) >= 4
        with connection.cursor() as cursor:
            for model in written:
                cursor.execute(f"DELETE FROM {model._meta.db_table}")


def test_the_command_says_what_came_in_from_whom_and_what_did_not(cast, story, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: NOW)
    path = tmp_path / "votes.csv"

    def told(*rows: str, **options) -> str:
        path.write_bytes("\r\n".join([f"\ufeff{HEAD}", *rows, ""]).encode())
        call_command("import_votes", str(path), project="minds", **options)
        return capsys.readouterr()

    result = json.loads(told(row(), row(dimension="colour"), json=True).out)
    assert (result["votes"], result["created"], result["unchanged"]) == (1, 1, 0)
    assert [(one["file"], one["line"]) for one in result["problems"]] == [(str(path), 3)]
    assert Vote.objects.get().changed_at == NOW
    nothing_new = "Nothing new: all of it is here already. 1 vote: 0 created, 1 unchanged."
    assert told(row()).out == f"{nothing_new}\n  ada: {IMPORTED}, 1 vote\n"
    said = told(*(row(name, **fields) for name in ("bruno", "chidi", "dora") for fields in ({}, RAIN)))
    assert "Imported in part. 6 votes: 4 created, 0 unchanged, 2 not taken; 2 problems." in said.out
    assert said.err.endswith("line 6 and 1 other: Story 1 has its 3 annotators already, without dora.\n")
    with pytest.raises(CommandError) as caught:
        told(row(dimension="colour"), row(belief="No such thing"), json=True)
    sentence = f"Nothing was imported: 2 problems, the first in {path}, line 2: dimension is 'colour'"
    assert str(caught.value).startswith(sentence) and caught.value.returncode == 1
    result = json.loads(capsys.readouterr().out)
    assert [one["line"] for one in result["problems"]] == [2, 3]
    assert (result["created"], result["unchanged"], result["annotators"]) == (0, 0, [])
    path.write_bytes("x\n".encode("utf-16"))
    with pytest.raises(CommandError, match="column story_id is missing"):
        call_command("import_votes", str(path), project="minds")
    for name, expected in (("missing.csv", "There is no file"), ("", "is a folder")):
        for command in ("import_votes", "import_archive"):
            with pytest.raises(CommandError, match=expected):
                call_command(command, str(tmp_path / name), project="minds")
