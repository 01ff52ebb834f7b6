"""The history of votes, of gold and of everything else that people did is written once."""

from __future__ import annotations

import pytest
from django.db import transaction

from annotation.models import AppendOnly, AuditEvent, GoldEvent, VoteEvent
from annotation.services import audit

pytestmark = pytest.mark.django_db


@pytest.fixture
def settled(cast, make_story, assign, cast_vote):
    """A cell that three equal votes settled, and a line of the audit log."""
    audit.record(by=cast.alice, project=cast.project, action="x.y")
    assignments = assign(make_story())
    row = assignments[0].story.tables.get().propositions.get(position=1)
    for assignment in assignments:
        cast_vote(assignment, row, "context", "Neutral")
    return row


def test_history_can_be_added_to_alone(settled):
    for model in (VoteEvent, GoldEvent, AuditEvent):
        events = model.objects.order_by("id")
        event, before = events.first(), list(events.values())
        field = "action" if model is AuditEvent else "dimension"
        setattr(event, field, "x")
        for attempt in (
            event.save,
            event.delete,
            events.delete,
            lambda events=events, field=field: events.update(**{field: "x"}),
            lambda model=model, event=event, field=field: model.objects.bulk_update([event], [field]),
            lambda model=model, event=event, field=field: model.objects.bulk_create(
                [event], update_conflicts=True, update_fields=[field], unique_fields=["id"]
            ),
        ):
            with pytest.raises(AppendOnly, match="append-only"), transaction.atomic():
                attempt()
        assert before and list(model.objects.order_by("id").values()) == before
    for related in (settled.vote_events, settled.gold_events):
        with pytest.raises(AppendOnly):
            related.all().delete()
