"""The history of votes, of gold and of everything else that people did is written once."""

import pytest
from django.db import transaction

from annotation.models import AppendOnly, AuditEvent, GoldEvent, VoteEvent
from annotation.services import audit


def test_history_can_be_added_to_alone(cast, make_story, assign, cast_vote):
    audit.record(by=cast.alice, project=cast.project, action="x.y")
    assignments = assign(make_story())
    row = assignments[0].story.tables.get().propositions.get(position=1)
    for assignment in assignments:
        cast_vote(assignment, row, "context", "Neutral")
    for model in (VoteEvent, GoldEvent, AuditEvent):
        events = model.objects.order_by("id")
        event, before = events.first(), list(events.values())
        field = "action" if model is AuditEvent else "dimension"
        setattr(event, field, "x")
        conflicts = {"update_conflicts": True, "update_fields": [field], "unique_fields": ["id"]}
        for attempt, arguments, options in (
            (event.save, (), {}),
            (event.delete, (), {}),
            (events.delete, (), {}),
            (events.update, (), {field: "x"}),
            (model.objects.bulk_update, ([event], [field]), {}),
            (model.objects.bulk_create, ([event],), conflicts),
        ):
            with pytest.raises(AppendOnly, match="append-only"), transaction.atomic():
                attempt(*arguments, **options)
        assert before and list(model.objects.order_by("id").values()) == before
    for related in (row.vote_events, row.gold_events):
        with pytest.raises(AppendOnly):
            related.all().delete()
