import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotation.models import GoldEvent, GoldLabel, Proposition, Vote, VoteEvent
from annotation.services import votes
from annotation.services.votes import Change, Refused, save_votes

STATEMENTS = [
    "SAVEPOINT",
    "SELECT annotation_proposition",
    "SELECT annotation_voteevent",
    "SELECT annotation_vote",
    "INSERT annotation_vote",
    "INSERT annotation_voteevent",
    "SELECT annotation_goldlabel",
    "INSERT annotation_goldlabel",
    "INSERT annotation_goldevent",
    "SELECT annotation_storycounts",
    "SELECT annotation_proposition",
    "SELECT annotation_goldlabel",
    "SELECT annotation_vote",
    "INSERT annotation_storycounts",
    "INSERT annotation_annotatorcounts",
    "RELEASE SAVEPOINT",
]
"""What a save asks of the database, with a savepoint for a transaction, as all of a test is in one."""


@contextmanager
def statements() -> Iterator[list[str]]:
    """Note the kind of each statement, and the table that it is about."""
    noted: list[str] = []

    def note(execute, sql, *rest):
        kind = re.match(r"SAVEPOINT|RELEASE SAVEPOINT|\w+", sql)[0]
        table = "" if "SAVEPOINT" in kind else re.search(r'(?:FROM|INTO) "(annotation_\w+)', sql)[1]
        noted.append(f"{kind} {table}".strip())
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        yield noted


@pytest.fixture
def table(make_story, assign):
    story = make_story()
    return assign(story), list(Proposition.objects.gold_of(story))


def test_changes_are_kept_once_in_their_order_and_whole(table, cast_vote, undo):
    (bob, *_), (world, ines) = table
    now = timezone.now()
    first = cast_vote(bob, world, "order", "1", at=now, key="k1")
    assert first.applied and cast_vote(bob, world, "order", "1", at=now, key="k1") == first
    late = cast_vote(bob, world, "order", "0", at=now - timedelta(seconds=5))
    assert not late.applied and late.label == "1"
    assert Vote.objects.get().label == "1"
    assert list(VoteEvent.objects.order_by("id").values_list("label", "applied")) == [("1", True), ("0", False)]
    changes = [Change(world.uid, "order", "0", now, "a"), Change(ines.uid, "order", "7", now, "b")]
    with pytest.raises(Refused, match="'7' is not a label of order"):
        save_votes(by=bob.annotator, assignment=bob, changes=changes, now=now)
    assert Vote.objects.count() == 1 and VoteEvent.objects.count() == 2
    cast_vote(bob, world, "order", "0")
    assert [saved and saved.label for saved in (undo(bob), undo(bob), undo(bob))] == ["1", "", None]
    assert VoteEvent.objects.count() == 5


def test_a_cell_is_settled_once_all_votes_are_in_and_opened_by_a_withdrawal(table, cast_vote, cast):
    assignments, (world, ines) = table
    for assignment, label in zip(assignments, "001", strict=True):
        assert not GoldLabel.objects.exists()
        cast_vote(assignment, world, "order", label)
    gold = GoldLabel.objects.get()
    assert (gold.label, gold.method, round(gold.agreement, 4)) == ("0", "majority", 0.6667)
    assert [vote["label"] for vote in gold.votes] == ["0", "0", "1"]
    for assignment in assignments:
        cast_vote(assignment, ines, "order", "1")
    cast_vote(assignments[0], world, "order", "")
    assert list(GoldLabel.objects.values_list("proposition_id", flat=True)) == [ines.pk]
    last = GoldEvent.objects.last()
    assert (last.before, last.before_method, last.after_method) == ("0", "majority", "")
    cast.project.unanimity_dimensions = ["context"]
    cast.project.save()
    for assignment in assignments:
        assignment.story.project.refresh_from_db()
    for assignment, label in zip(assignments, ["Neutral", "Neutral", "Temporal"], strict=True):
        cast_vote(assignment, world, "context", label)
        cast_vote(assignment, world, "truth_status", "True" if label == "Neutral" else "False")
    methods = dict(GoldLabel.objects.filter(proposition=world).values_list("dimension", "method"))
    assert methods == {"context": "open", "truth_status": "majority"}, "a project can demand unanimity for a dimension"


def test_an_adjudicated_label_stands_and_says_that_votes_changed(table, cast_vote, cast):
    assignments, (world, _) = table
    for assignment, label in zip(assignments, ["True", "False", "Unknown"], strict=True):
        cast_vote(assignment, world, "truth_status", label)
    gold = GoldLabel.objects.get()
    assert (gold.method, gold.label) == ("open", "")
    GoldLabel.objects.update(method="adjudicated", label="True", decided_by=cast.esi)
    cast_vote(assignments[1], world, "truth_status", "Unknown")
    gold.refresh_from_db()
    assert (gold.method, gold.label, gold.disturbed) == ("adjudicated", "True", True)
    cast_vote(assignments[1], world, "truth_status", "False")
    gold.refresh_from_db()
    assert not gold.disturbed


def test_saving_takes_as_many_statements_for_many_cells_that_agree_or_not(table, cast_vote):
    (bob, bea, ben), (world, ines) = table
    for assignment, label in ((bob, "True"), (bea, "False")):
        cast_vote(assignment, world, "truth_status", "True")
        cast_vote(assignment, ines, "truth_status", label)
        cast_vote(assignment, ines, "context", "Neutral")
    now = timezone.now()
    for cells in ([(world, "truth_status", "True")], [(ines, "truth_status", "Unknown"), (ines, "context", "Neutral")]):
        changes = [Change(row.uid, key, label, now, f"key-{row.pk}-{key}") for row, key, label in cells]
        with statements() as noted:
            save_votes(by=ben.annotator, assignment=ben, changes=changes, now=now)
        assert noted == STATEMENTS
    assert sorted(GoldLabel.objects.values_list("method", flat=True)) == ["open", "unanimous", "unanimous"]
    assert GoldEvent.objects.count() == 3


def test_saves_that_share_a_transaction_share_its_statements(make_story, assign, cast_vote):
    """Two annotators of one story, one of another, and one who is refused."""
    assignments = [assign(make_story(number=number)) for number in (1, 2)]
    (world, ines), (other, _) = (list(Proposition.objects.gold_of(one[0].story)) for one in assignments)
    for one, row in ((assignments[0], world), (assignments[0], ines), (assignments[1], other)):
        cast_vote(one[0], row, "truth_status", "True")
    cast_vote(assignments[0][1], world, "truth_status", "True")
    cast_vote(assignments[0][2], ines, "truth_status", "False")
    now = timezone.now()

    def save(place, row, label, key):
        changes = [Change(row.uid, "truth_status", label, now, key)]
        return votes._Save(place.annotator, place, changes, now, "grid")

    saves = [
        save(assignments[0][2], world, "True", "a"),
        save(assignments[0][1], ines, "True", "b"),
        save(assignments[1][1], other, "Unknown", "a"),
        save(assignments[1][2], world, "True", "c"),
    ]
    with statements() as noted:
        *saved, refused = votes._save_all(saves)
    assert noted == STATEMENTS[1:-1]
    assert [[vote.label for vote in one] for one in saved] == [["True"], ["True"], ["Unknown"]]
    assert isinstance(refused, Refused) and "in this story" in str(refused)
    gold = GoldLabel.objects.order_by("proposition_id")
    assert list(gold.values_list("proposition_id", "label", "method")) == [
        (world.pk, "True", "unanimous"), (ines.pk, "True", "majority"),
    ]  # fmt: skip
    by = GoldEvent.objects.order_by("proposition_id").values_list("by__username", flat=True)
    assert list(by) == [assignments[0][2].annotator.username, assignments[0][1].annotator.username]
    assert [vote["label"] for vote in gold[1].votes] == ["True", "True", "False"]
    keys = (
        VoteEvent.objects.filter(idempotency_key__in="abc").order_by("id").values_list("annotator__username", "label")
    )
    assert list(keys) == [(one.by.username, one.changes[0].label) for one in saves[:3]]
