"""Progress of a project, from the counts that are kept of its stories: a constant number of statements, whatever the
size."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation.domain.pace import Pace, pace_of
from annotation.models import AnnotatorCounts, Assignment, Project, StoryCounts, User
from core.plain import Json


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of a project; `tables` stories have propositions. Of its `cells` those from `open` to `adjudicated` have
    gold, and `disturbed` ones a decision whose votes changed since. `imported` ones have the label of their imported
    record and no gold, of which `unvoted` have no vote either."""

    stories: int
    tables: int
    propositions: int
    cells: int
    open: int
    unanimous: int
    majority: int
    adjudicated: int
    disturbed: int
    imported: int
    unvoted: int

    @property
    def settled(self) -> int:
        return self.unanimous + self.majority + self.adjudicated

    @property
    def to_decide(self) -> int:
        """The number of cells that wait for an expert, as the queue has them."""
        return self.open + self.disturbed

    @property
    def unlabelled(self) -> int:
        """The number of cells without a label in an export."""
        return self.cells - self.settled - self.imported


class Progress:
    """The counts of a project, without withdrawn stories."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._dimensions = len(project.schema.dimensions)
        used = self._used = {"story__project": project, "story__withdrawn_at__isnull": True}
        self._assigned = Assignment.objects.active().filter(**used)
        self._counts = StoryCounts.objects.filter(**used)

    def totals(self) -> Totals:
        names = ("propositions", "open", "unanimous", "majority", "adjudicated", "disturbed", "imported", "unvoted")
        numbers = {"stories": Count("story"), "tables": Count("story", filter=Q(propositions__gt=0))}
        sums = self._counts.aggregate(**numbers, **{name: Coalesce(Sum(name), 0) for name in names})
        return Totals(cells=sums["propositions"] * self._dimensions, **sums)

    def by_category(self) -> list[dict[str, Any]]:
        """Return each category that the project has by name, with the number of its `cells` and of those `settled`."""
        counts: Any = self._counts.order_by("story__category__name").values(name=F("story__category__name"))
        settled = Sum(F("unanimous") + F("majority") + F("adjudicated"))
        return list(counts.annotate(cells=Sum("propositions") * self._dimensions, settled=settled))

    def of_annotators(self) -> list[Json]:
        """Return for each annotator with an assignment, by user name, {id, name, stories, propositions, cells, cast}:
        the numbers that they are to label, and of cells labelled."""
        assignments = self._assigned.order_by()
        rows = assignments.values_list("annotator").annotate(Count("id"), Sum("story__counts__propositions"))
        assigned = {annotator: (stories, propositions or 0) for annotator, stories, propositions in rows}
        counts = AnnotatorCounts.objects.filter(**self._used, annotator__in=assigned).order_by()
        cast = dict(counts.values_list("annotator").annotate(Sum("cells")))
        people = User.objects.filter(pk__in=assigned).order_by("username")
        return [
            {
                "id": pk,
                "name": display_name or username,
                "stories": assigned[pk][0],
                "propositions": assigned[pk][1],
                "cells": assigned[pk][1] * self._dimensions,
                "cast": cast.get(pk, 0),
            }
            for pk, username, display_name in people.values_list("id", "username", "display_name")
        ]

    def open_cells(self) -> list[int]:
        """Return how many open cells each story has, of those with any."""
        return list(self._counts.filter(open__gt=0).order_by("story").values_list("open", flat=True))

    def cells_left(self) -> dict[int, list[int]]:
        """Return by annotator id how many cells of each of their assigned stories they have not labelled."""
        cast = AnnotatorCounts.objects.filter(story=OuterRef("story"), annotator=OuterRef("annotator")).values("cells")
        rows = self._assigned.order_by()
        left = F("story__counts__propositions") * self._dimensions - Coalesce(Subquery(cast), 0)
        left_by_annotator: dict[int, list[int]] = defaultdict(list)
        for annotator, cells in rows.values_list("annotator", Coalesce(left, 0)):
            left_by_annotator[annotator].append(max(0, cells))
        return dict(left_by_annotator)

    def deadlines(self, now: datetime) -> dict[int, list[Pace]]:
        """Return by annotator id how their work stands for each day by which some of it is due, the first day first.
        What is due earlier has to be done for a later day, too. One statement."""
        own = AnnotatorCounts.objects.filter(story=OuterRef("story"), annotator=OuterRef("annotator"))
        rows = self._assigned.filter(due__isnull=False).order_by()
        counted: Any = rows.annotate(here=Subquery(own.values("cells"))).values("annotator", "due")
        sums = counted.annotate(
            rows=Coalesce(Sum("story__counts__propositions"), 0),
            done=Coalesce(Sum("here"), 0),
            given=Min("assigned_at"),
        )
        paces: dict[int, list[Pace]] = defaultdict(list)
        sofar: dict[int, tuple[int, int, datetime]] = {}
        for row in sorted(sums, key=lambda row: row["due"]):
            cells, done, given = sofar.get(row["annotator"], (0, 0, row["given"]))
            cells, done = cells + row["rows"] * self._dimensions, done + row["done"]
            given = min(given, row["given"])
            sofar[row["annotator"]] = cells, done, given
            paces[row["annotator"]].append(pace_of(cells=cells, done=done, given=given, due=row["due"], now=now))
        return dict(paces)

    def assignments(self) -> dict[int, dict[str, int]]:
        """Return by id of each member the `count` of stories assigned to them, those withdrawn among them, and how many
        are `unfinished`."""
        rows = Assignment.objects.active().filter(story__project=self.project).order_by()
        unfinished = Count("id", filter=~Exists(self._finished()))
        totals: Any = rows.values("annotator").annotate(count=Count("id"), unfinished=unfinished)
        found = {row.pop("annotator"): row for row in totals}
        members = self.project.memberships.values_list("user_id", flat=True)
        return {member: found.get(member) or {"count": 0, "unfinished": 0} for member in members}

    def unfinished(self, annotator: int) -> QuerySet[Assignment]:
        """Return the assignments at stories that the annotator has not finished; one without a table is not."""
        rows = Assignment.objects.active().filter(story__project=self.project, annotator=annotator)
        return rows.filter(~Exists(self._finished()))

    def _finished(self) -> QuerySet[AnnotatorCounts]:
        """Return the counts by which the assignment of the outer query is finished."""
        return AnnotatorCounts.objects.filter(
            Q(cells__gte=OuterRef("story__counts__propositions") * self._dimensions),
            story=OuterRef("story"),
            annotator=OuterRef("annotator"),
            story__counts__propositions__gt=0,
        )


def imported_annotators_of(project: Project) -> QuerySet[User]:
    """Return the imported annotators by name; `cast` is how many of their votes stand."""
    cast = Coalesce(Sum("vote_counts__cells"), 0)
    return User.objects.filter(imported_into=project).annotate(cast=cast).order_by("username")


def has_settled_stories(project: Project) -> bool:
    """Return whether every cell of some story in use is settled or has the label of its record."""
    cells = F("propositions") * len(project.schema.dimensions)
    settled = F("unanimous") + F("majority") + F("adjudicated") + F("imported")
    counts = StoryCounts.objects.filter(story__project=project, story__withdrawn_at__isnull=True, propositions__gt=0)
    return counts.alias(cells=cells, settled=settled).filter(settled__gte=F("cells")).exists()
