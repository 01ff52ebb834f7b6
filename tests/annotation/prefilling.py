"""What the tests of pre-filling share: a round, a vote with what it saw, and annotators who vote a whole story."""

import uuid

from django.utils import timezone

from annotation.domain.arms import Arm
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import Assignment, Proposition, Suggestion
from annotation.services.arms import arm_of, draw_for
from annotation.services.prefill import start_prefill
from annotation.services.projects import change_settings
from annotation.services.votes import Change, save_votes

CELLS = len(DEFAULT_SCHEMA.keys)


def begin(cast, endpoint, stories, **fields):
    fields = {"level": 3, **fields}
    return start_prefill(
        by=cast.alice, project=cast.project, endpoint=endpoint, stories=stories, now=timezone.now(), **fields
    )


def change(row, dimension, label, **fields):
    return Change(row.uid, dimension, label, fields.pop("at", timezone.now()), uuid.uuid4().hex, **fields)


def shares(cast, blind, reveal):
    change_settings(
        by=cast.alice, project=cast.project, changes={"blind_share": blind, "reveal_share": reveal}, now=timezone.now()
    )


def suggest(story, source="tiny"):
    """A suggestion for every cell: the second legal label."""
    now = timezone.now()
    Suggestion.objects.bulk_create(
        Suggestion(proposition=row, dimension=one.key, label=one.values[1], source=source, created_at=now)
        for row in Proposition.objects.gold_of(story)
        for one in DEFAULT_SCHEMA.dimensions
    )


def label_all(cast, assignments, story, truth, noise, *, follows=()):
    """Each annotator votes the truth, and another label with probability 0.2; those in `follows` take what they see."""
    for assignment in assignments:
        assignment = Assignment.objects.select_related("story__project", "annotator").get(pk=assignment.pk)
        draw_for(assignment=assignment, now=timezone.now())
        changes = []
        for row in Proposition.objects.gold_of(story):
            for one in DEFAULT_SCHEMA.dimensions:
                seen = arm_of(assignment, row.uid, one.key) is Arm.SHOWN
                label = truth[row.pk, one.key] if noise.random() > 0.2 else noise.choice(one.values)
                if seen and assignment.annotator.username in follows:
                    label = one.values[1]
                changes.append(change(row, one.key, label, saw=seen, duration_ms=noise.randrange(500, 4000)))
        save_votes(by=assignment.annotator, assignment=assignment, changes=changes, now=timezone.now())


def first_labels(story):
    """The first legal label of every cell, as a truth for `label_all`."""
    return {
        (row.pk, one.key): one.values[0]
        for row in Proposition.objects.gold_of(story)
        for one in DEFAULT_SCHEMA.dimensions
    }
