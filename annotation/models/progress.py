"""Progress of a project, counted in the database: a constant number of statements, whatever the size."""

from __future__ import annotations

from django.db.models import Count, Q

from annotation.models.assignment import Assignment
from annotation.models.belief_table import Proposition
from annotation.models.gold import GoldLabel, Method
from annotation.models.project import Project
from annotation.models.vote import Vote


def of_project(project: Project, dimensions: int) -> dict:
    """Return the numbers of stories, propositions and cells, and of cells by state."""
    live = Proposition.objects.live_gold().filter(table__story__project=project)
    propositions = live.count()
    gold = GoldLabel.objects.filter(proposition__in=live)
    by_method = dict(gold.values_list("method").annotate(Count("id")).order_by())
    settled = sum(count for method, count in by_method.items() if method != Method.OPEN)
    return {
        "stories": project.stories.count(),
        "propositions": propositions,
        "cells": propositions * dimensions,
        "open": by_method.get(Method.OPEN, 0),
        "settled": settled,
        "unanimous": by_method.get(Method.UNANIMOUS, 0),
        "majority": by_method.get(Method.MAJORITY, 0),
        "adjudicated": by_method.get(Method.ADJUDICATED, 0),
        "disturbed": gold.filter(disturbed=True).count(),
    }


def by_category(project: Project) -> list[dict]:
    """Return for each category: stories, propositions and settled cells."""
    live = Q(stories__tables__kind="gold", stories__tables__propositions__removed_at__isnull=True)
    rows = project.categories.annotate(
        story_count=Count("stories", distinct=True),
        proposition_count=Count("stories__tables__propositions", filter=live, distinct=True),
    ).values("name", "story_count", "proposition_count")
    settled = dict(
        GoldLabel.objects.settled()
        .filter(proposition__table__story__project=project, proposition__removed_at__isnull=True)
        .values_list("proposition__table__story__category__name")
        .annotate(Count("id"))
        .order_by()
    )
    return [{**row, "settled": settled.get(row["name"], 0)} for row in rows]


def of_annotators(project: Project, dimensions: int) -> list[dict]:
    """Return for each annotator with an assignment: cells to label and cells labelled."""
    live = Q(story__tables__kind="gold", story__tables__propositions__removed_at__isnull=True)
    assignments = (
        Assignment.objects.active()
        .filter(story__project=project)
        .values("annotator", "annotator__username", "annotator__display_name")
        .annotate(stories=Count("story", distinct=True), propositions=Count("story__tables__propositions", filter=live))
        .order_by("annotator__username")
    )
    cast = dict(
        Vote.objects.cast()
        .filter(
            proposition__table__story__project=project,
            proposition__removed_at__isnull=True,
            annotator__in=[row["annotator"] for row in assignments],
        )
        .values_list("annotator")
        .annotate(Count("id"))
        .order_by()
    )
    return [
        {
            "name": row["annotator__display_name"] or row["annotator__username"],
            "stories": row["stories"],
            "cells": row["propositions"] * dimensions,
            "cast": cast.get(row["annotator"], 0),
        }
        for row in assignments
    ]
