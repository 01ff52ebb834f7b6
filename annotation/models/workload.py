"""An annotator's own stories and how far each is, in a constant number of statements."""

from __future__ import annotations

from django.db.models import Count, Q

from annotation.models.assignment import Assignment
from annotation.models.project import Project
from annotation.models.vote import Vote

LIVE = Q(story__tables__kind="gold", story__tables__propositions__removed_at__isnull=True)


def of_annotator(project: Project, annotator, dimensions: int) -> list[dict]:
    """For each active seat: the story, cells to label, cells labelled; unfinished ones first, in story order."""
    seats = (
        Assignment.objects.active()
        .filter(story__project=project, annotator=annotator)
        .select_related("story__category")
        .defer("story__translations", "story__extra")
        .annotate(propositions=Count("story__tables__propositions", filter=LIVE))
        .order_by("story__number")
    )
    cast = dict(
        Vote.objects.cast()
        .filter(annotator=annotator, proposition__table__story__project=project, proposition__removed_at__isnull=True)
        .values_list("proposition__table__story_id")
        .annotate(Count("id"))
        .order_by()
    )
    rows = []
    for seat in seats:
        cells, done = seat.propositions * dimensions, cast.get(seat.story_id, 0)
        rows.append({"story": seat.story, "cells": cells, "done": done, "finished": done >= cells})
    return sorted(rows, key=lambda row: (row["finished"], row["story"].number))


def has_finished(annotator, story, dimensions: int) -> bool:
    """Whether every cell of the story has a standing vote of this annotator, or no seat is held there."""
    if not Assignment.objects.active().filter(story=story, annotator=annotator).exists():
        return True
    live = story.tables.filter(kind="gold").aggregate(
        count=Count("propositions", filter=Q(propositions__removed_at__isnull=True))
    )["count"]
    done = Vote.objects.cast().filter(
        annotator=annotator, proposition__table__story=story, proposition__removed_at__isnull=True
    )
    return done.count() >= live * dimensions
