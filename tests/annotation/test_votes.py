from __future__ import annotations

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


def test_the_later_change_stands_in_whatever_order_the_two_arrive(table, cast_vote):
    (bob, *_), (world, _) = table
    now = timezone.now()
    assert cast_vote(bob, world, "order", "1", at=now).applied
    late = cast_vote(bob, world, "order", "0", at=now - timedelta(seconds=5))
    assert not late.applied and late.label == "1"
    assert Vote.objects.get().label == "1"
    assert list(VoteEvent.objects.order_by("id").values_list("label", "applied")) == [("1", True), ("0", False)]


def test_the_same_change_sent_twice_is_one_change(table, cast_vote):
    (bob, *_), (world, _) = table
    now = timezone.now()
    first = cast_vote(bob, world, "order", "0", at=now, key="k1")
    again = cast_vote(bob, world, "order", "0", at=now, key="k1")
    assert first == again
    assert VoteEvent.objects.count() == Vote.objects.count() == 1


def test_a_request_is_saved_whole_or_not_at_all(table):
    (bob, *_), (world, ines) = table
    now = timezone.now()
    changes = [Change(world.uid, "order", "0", now, "a"), Change(ines.uid, "order", "7", now, "b")]
    with pytest.raises(Refused, match="'7' is not a label of order"):
        save_votes(by=bob.annotator, assignment=bob, changes=changes, now=now)
    assert not Vote.objects.exists() and not VoteEvent.objects.exists()


def test_nothing_is_settled_before_all_votes_are_in(table, cast_vote):
    (bob, bea, ben), (world, _) = table
    for assignment in (bob, bea):
        cast_vote(assignment, world, "order", "0")
        assert not GoldLabel.objects.exists()
    cast_vote(ben, world, "order", "1")
    gold = GoldLabel.objects.get()
    assert (gold.label, gold.method, round(gold.agreement, 4)) == ("0", "majority", 0.6667)
    assert [vote["label"] for vote in gold.votes] == ["0", "0", "1"]


def test_a_withdrawn_vote_reopens_only_its_own_cell(table, cast_vote):
    assignments, (world, ines) = table
    for assignment in assignments:
        cast_vote(assignment, world, "order", "0")
        cast_vote(assignment, ines, "order", "1")
    cast_vote(assignments[0], world, "order", "")
    assert list(GoldLabel.objects.values_list("proposition_id", flat=True)) == [ines.pk]
    last = GoldEvent.objects.last()
    assert (last.before, last.before_method, last.after_method) == ("0", "unanimous", "")


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


def test_a_project_can_demand_unanimity_for_a_dimension(table, cast_vote, cast):
    cast.project.unanimity_dimensions = ["context"]
    cast.project.save()
    assignments, (world, _) = table
    for assignment in assignments:
        assignment.story.project.refresh_from_db()
    for assignment, label in zip(assignments, ["Neutral", "Neutral", "Temporal"], strict=True):
        cast_vote(assignment, world, "context", label)
        cast_vote(assignment, world, "truth_status", "True" if label == "Neutral" else "False")
    methods = dict(GoldLabel.objects.values_list("dimension", "method"))
    assert methods == {"context": "open", "truth_status": "majority"}


def test_undo_takes_back_one_change_at_a_time(table, cast_vote, undo):
    (bob, *_), (world, _) = table
    cast_vote(bob, world, "order", "0")
    cast_vote(bob, world, "order", "1")
    labels = []
    for _ in range(3):
        saved = undo(bob)
        labels.append(saved.label if saved else None)
    assert labels == ["0", "", None]
    assert VoteEvent.objects.count() == 4


def test_saving_takes_as_many_statements_whether_the_votes_agree_or_not(table, cast_vote):
    assignments, (world, ines) = table
    for assignment in assignments[:2]:
        cast_vote(assignment, world, "truth_status", "True")
    cast_vote(assignments[0], ines, "truth_status", "True")
    cast_vote(assignments[1], ines, "truth_status", "False")
    counts = []
    for proposition, label in ((world, "True"), (ines, "Unknown")):
        with statements() as noted:
            cast_vote(assignments[2], proposition, "truth_status", label)
        counts.append(len(noted))
    assert counts[0] == counts[1] == len(STATEMENTS)
    assert set(GoldLabel.objects.values_list("method", flat=True)) == {"unanimous", "open"}


def test_a_save_of_many_cells_takes_as_many_statements_as_one(table, cast_vote):
    assignments, (world, ines) = table
    for assignment in assignments[:2]:
        for row in (world, ines):
            cast_vote(assignment, row, "truth_status", "True")
            cast_vote(assignment, row, "context", "Neutral")
    now = timezone.now()
    cells = [(row, *cell) for row in (world, ines) for cell in (("truth_status", "True"), ("context", "Neutral"))]
    changes = [Change(row.uid, key, label, now, f"key-{row.pk}-{key}") for row, key, label in cells]
    with statements() as noted:
        save_votes(by=assignments[2].annotator, assignment=assignments[2], changes=changes, now=now)
    assert noted == STATEMENTS
    assert GoldLabel.objects.count() == GoldEvent.objects.count() == 4


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
