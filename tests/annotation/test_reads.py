"""A query that is written once answers as the queryset that it was written by."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db.transaction import TransactionManagementError
from django.utils import timezone

from annotation.models import Assignment, Proposition, Story, Vote
from core import reads
from core.reads import Read

pytestmark = pytest.mark.django_db


def test_values_are_filled_in_as_the_database_holds_them(make_story, assign, cast_vote):
    assignments = assign(make_story())
    make_story(2)
    story, now, written = assignments[0].story, timezone.now(), []
    uids = list(Proposition.objects.gold_of(story).values_list("uid", flat=True))

    def by_uid(given):
        written.append(given)
        return Proposition.objects.filter(table__story_id=given.story, uid__in=given.uids).order_by("position")

    read = Read[tuple](lambda given: by_uid(given).values_list("uid", "position"))
    for asked in (uids, uids[:1], uids[1:], list(reversed(uids))):
        expected = Proposition.objects.filter(uid__in=asked).order_by("position").values_list("uid", "position")
        assert read(story=story.pk, uids=asked) == list(expected)
    assert read(story=0, uids=uids) == []
    assert len(written) == 2  # for one uid and for two
    cast_vote(assignments[0], Proposition.objects.gold_of(story).first(), "order", "1", at=now)
    read = Read[tuple](
        lambda given: Vote.objects.filter(changed_at__gte=given.since, label=given.label).values_list("changed_at")
    )
    assert read(since=now, label="1") == [(now,)]
    assert read(since=now, label="0") == read(since=now + timedelta(seconds=1), label="1") == []
    read = Read[Story](lambda given: Story.objects.filter(number=story.number, project_id=given.project))
    assert read(project=story.project_id) == [story], "what the query always says stays"


def test_instances_are_as_the_orm_makes_them(make_story, assign, django_assert_num_queries):
    assignments = assign(make_story())
    read = Read[Assignment](
        lambda given: (
            Assignment.objects.filter(slot=2, annotator_id=given.user)
            .select_related("story__project")
            .only("slot", "story__uid", "story__project__unanimity_dimensions")
        )
    )
    with django_assert_num_queries(1):
        (found,) = read(user=assignments[1].annotator_id)
        assert (found, found.slot) == (assignments[1], 2)
        assert found.story.uid == assignments[1].story.uid
        assert found.story.project.unanimity_dimensions == []
    with django_assert_num_queries(1):
        assert found.story.number == assignments[1].story.number  # deferred
    assert read(user=assignments[0].annotator_id) == []


def test_rows_are_locked_in_a_transaction_alone(monkeypatch):
    read = Read[Story](lambda given: Story.objects.select_for_update().filter(pk=given.pk), planned_once=False)
    assert read(pk=0) == []
    monkeypatch.setattr(reads, "connection", SimpleNamespace(get_autocommit=lambda: True))
    with pytest.raises(TransactionManagementError):
        read(pk=0)
