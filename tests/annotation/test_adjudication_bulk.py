"""Accepting leading labels in bulk."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Assignment, GoldEvent, GoldLabel, Method, adjudication_queue
from annotation.services.adjudication import BULK_REASON, accept_plurality, adjudicate, preview, undo_decision


@pytest.fixture
def story(cast, make_story):
    cast.project.unanimity_dimensions = ["order", "context"]
    cast.project.save()
    return make_story(rows=[("Ines", "The key is in the bag"), ("Tomas", "The key is in the drawer")])


@pytest.fixture
def rows(story):
    return list(story.tables.get().propositions.order_by("position"))


@pytest.fixture
def voted(story, rows, assign, cast_vote):
    """Open: order of both rows 2:1, mental_source of the first 1:1:1; context of the first is unanimous."""
    assignments = assign(story)
    for one, order, source in zip(assignments, ("1", "1", "2"), ("Memory", "Testimony", "Inference"), strict=True):
        for row in rows:
            cast_vote(one, row, "order", order)
        cast_vote(one, rows[0], "mental_source", source)
        cast_vote(one, rows[0], "context", "Neutral")
    return assignments


def accept(cast, *, by=None, until=None, **filters):
    now = timezone.now()
    cells = adjudication_queue.cells(cast.project, **{"status": "open"} | filters)
    return accept_plurality(by=by or cast.esi, project=cast.project, cells=cells, seen_until=until or now, now=now)


def test_the_preview_counts_what_accepting_settles(cast, voted):
    found = preview(by=cast.esi, cells=adjudication_queue.cells(cast.project, status="open"))
    assert found == {"total": 2, "by_dimension": {"order": 2}, "tied": 1, "voted_on": 0}
    assert accept(cast) == found["total"]


def test_accepted_cells_are_adjudicated_by_the_expert(cast, voted, rows):
    before = GoldLabel.objects.get(proposition=rows[0], dimension="order")
    accept(cast)
    gold = GoldLabel.objects.get(pk=before.pk)
    assert (gold.label, gold.method, gold.decided_by, gold.reason) == ("1", Method.ADJUDICATED, cast.esi, BULK_REASON)
    assert (gold.revision, gold.votes) == (before.revision + 1, before.votes)
    events = GoldEvent.objects.filter(after_method="adjudicated")
    assert [(event.after, event.by, event.votes == before.votes) for event in events.filter(proposition=rows[0])] == [
        ("1", cast.esi, True)
    ]
    assert GoldLabel.objects.get(dimension="mental_source").method == Method.OPEN
    assert GoldLabel.objects.get(dimension="context").method == Method.UNANIMOUS


def test_accepting_again_keeps_decisions(cast, voted, rows):
    gold = GoldLabel.objects.get(proposition=rows[0], dimension="order")
    place = {"by": cast.alice, "proposition": rows[0], "dimension": "order", "now": timezone.now()}
    adjudicate(**place, label="3", revision=gold.revision)
    assert accept(cast) == 1
    assert accept(cast) == 0
    gold.refresh_from_db()
    assert (gold.label, gold.decided_by) == ("3", cast.alice)


def test_only_cells_of_the_filter_are_accepted(cast, voted):
    assert accept(cast, text="key is in the drawer") == 1
    assert accept(cast, dimension="context") == 0


def test_cells_of_the_expert_are_left(cast, voted, rows, cast_vote):
    Assignment.objects.filter(pk=voted[0].pk).update(released_at=timezone.now())
    assert preview(by=cast.bob, cells=adjudication_queue.cells(cast.project, status="open"))["voted_on"] == 3
    assert accept(cast, by=cast.bob) == 0


def test_cells_that_changed_after_the_preview_are_left(cast, voted, rows, cast_vote):
    previewed = timezone.now()
    later = previewed + timedelta(seconds=1)
    cast_vote(voted[2], rows[0], "order", "3", at=later)
    GoldLabel.objects.filter(proposition=rows[0], dimension="order").update(decided_at=later)
    assert accept(cast, until=previewed) == 1
    assert GoldLabel.objects.get(proposition=rows[0], dimension="order").method == Method.OPEN


def test_one_accepted_cell_can_be_taken_back(cast, voted, rows):
    accept(cast)
    gold = GoldLabel.objects.get(proposition=rows[0], dimension="order")
    place = {"by": cast.esi, "proposition": rows[0], "dimension": "order", "now": timezone.now()}
    assert undo_decision(**place, revision=gold.revision).method == Method.OPEN


def test_statements_do_not_grow_with_the_cells(cast, make_story, assign, cast_vote, django_assert_max_num_queries):
    cast.project.unanimity_dimensions = ["order"]
    cast.project.save()
    story = make_story(rows=[("Ines", f"Belief {at}") for at in range(12)])
    assignments = assign(story)
    for row in story.tables.get().propositions.all():
        for one, label in zip(assignments, ("1", "1", "2"), strict=True):
            cast_vote(one, row, "order", label)
    with django_assert_max_num_queries(12):
        assert accept(cast) == 12


def test_the_command_previews_and_settles_as_the_page_does(cast, voted, capsys):
    def run(*options: str) -> dict:
        call_command("accept_majorities", "--project=minds", "--expert=esi", "--json", *options)
        return json.loads(capsys.readouterr().out)

    told = {"project": "minds", "expert": "esi", "left": {"tied": 1, "voted_on": 0}}
    assert run("--preview") == told | {"settled": 0, "would_settle": 2, "by_dimension": {"order": 2}}
    assert not GoldLabel.objects.filter(method=Method.ADJUDICATED).exists()
    assert run("--dimension=mental_source")["settled"] == 0
    assert run()["settled"] == 2
    assert set(GoldLabel.objects.filter(method=Method.ADJUDICATED).values_list("decided_by", "reason")) == {
        (cast.esi.pk, BULK_REASON)
    }
    call_command("accept_majorities", "--project=minds", "--expert=esi")
    assert capsys.readouterr().out == "Settled: 0 cells. Left open: 1 without a leading label, 0 on which esi voted.\n"


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--expert=bob", "bob: no expert of minds"),
        ("--expert=", "expected the user name of one expert"),
        ("--dimension=depth", "minds has no dimension 'depth'"),
        ("--split=test", "minds has no split 'test'"),
    ],
)
def test_the_command_refuses_what_is_not_there(cast, option, sentence):
    with pytest.raises(CommandError, match=sentence):
        call_command("accept_majorities", "--project=minds", "--expert=esi", option)
