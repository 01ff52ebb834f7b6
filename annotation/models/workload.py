"""An annotator's own stories and how far each is, in a constant number of statements."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Substr
from django.utils import timezone

from annotation.domain.pace import is_over
from annotation.models.assignment import Assignment
from annotation.models.belief_table import CellComment, PropositionFlag
from annotation.models.project import Project
from annotation.models.story import Story
from annotation.models.user import User
from annotation.models.vote import Vote
from core.reads import Read

LIVE = Q(story__tables__kind="gold", story__tables__propositions__removed_at__isnull=True)
NEWS = 12
FEWEST = 5
"""Stories under a figure that a person with open work on one of them may see: fewer, and it tells of that one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryWork:
    """How far an annotator is with a story: its beginning, the cells to label and how many are `done`, the day that it
    is `due` on, and whether that has passed."""

    story: Story
    begins: str
    cells: int
    done: int
    due: date | None
    late: bool

    @property
    def finished(self) -> bool:
        return self.done >= self.cells

    @property
    def waits(self) -> bool:
        """Whether there are cells to label."""
        return not self.finished and self.cells > 0


def of_annotator(project: Project, annotator: User) -> list[StoryWork]:
    """Return the work of each active assignment, unfinished ones first."""
    assignments: list[Any] = list(
        Assignment.objects.active()
        .filter(story__project=project, story__withdrawn_at__isnull=True, annotator=annotator)
        .select_related("story__category")
        .defer("story__text", "story__translations", "story__extra")
        .annotate(propositions=Count("story__tables__propositions", filter=LIVE), begins=Substr("story__text", 1, 120))
        .order_by("story__number")
    )
    if not assignments:
        return []
    cast, now = _cast_by_story(project, annotator), timezone.now()
    dimensions = len(project.schema.dimensions)
    works = [
        StoryWork(
            story=assignment.story,
            begins=assignment.begins,
            cells=assignment.propositions * dimensions,
            done=cast.get(assignment.story_id, 0),
            due=assignment.due,
            late=assignment.due is not None and is_over(assignment.due, now),
        )
        for assignment in assignments
    ]
    return sorted(works, key=lambda work: (work.finished, work.story.number))


def _cast_by_story(project: Project, annotator: User) -> dict[int, int]:
    """Return how many cells of each story this annotator has labelled."""
    return dict(_CAST_BY_STORY(project=project.pk, annotator=annotator.pk))


_CAST_BY_STORY = Read[tuple[int, int]](
    lambda given: (
        Vote.objects.cast()
        .on_gold()
        .filter(annotator_id=given.annotator, proposition__table__story__project_id=given.project)
        .values_list("proposition__table__story_id")
        .annotate(Count("id"))
        .order_by()
    )
)


def next_unfinished(works: Sequence[StoryWork], *, after: int | None = None) -> StoryWork | None:
    """Return the first unfinished story with a number above `after`, else the first unfinished one, else None."""
    waiting = [work for work in works if work.waits]
    later = [work for work in waiting if after is None or work.story.number > after]
    return next(iter(later or waiting), None)


def replies_to(project: Project, annotator: User) -> QuerySet[CellComment]:
    """Return the last comments of the annotator's threads that somebody else wrote, newest first."""
    newest = (
        CellComment.objects.filter(
            proposition=OuterRef("proposition"), dimension=OuterRef("dimension"), thread_of=annotator
        )
        .order_by("-created_at", "-id")
        .values("id")[:1]
    )
    return (
        CellComment.objects.filter(thread_of=annotator, id=Subquery(newest))
        .exclude(author=annotator)
        .filter(
            proposition__removed_at__isnull=True, proposition__table__story__in=_assigned_stories(project, annotator)
        )
        .select_related("author", "proposition__table__story")
        .order_by("-created_at")[:NEWS]
    )


def decided_flags_of(project: Project, annotator: User) -> QuerySet[PropositionFlag]:
    """The annotator's own flags with an outcome, newest outcome first."""
    return (
        PropositionFlag.objects.exclude(outcome="")
        .filter(author=annotator, proposition__table__story__in=_assigned_stories(project, annotator))
        .select_related("proposition__table__story")
        .order_by("-outcome_at")[:NEWS]
    )


def _assigned_stories(project: Project, annotator: User) -> QuerySet[Assignment, Any]:
    assignments = Assignment.objects.active().filter(annotator=annotator, story__project=project)
    return assignments.values("story")


def unfinished(project: Project, annotator: User) -> set[int]:
    """Return the stories with an assignment of this annotator in which some cell has no standing vote of theirs."""
    return _unfinished(project, annotator, dict(_ROWS_BY_STORY(project=project.pk, annotator=annotator.pk)))


def unlabelled(project: Project, annotator: User) -> set[int]:
    """Return the stories of `unfinished` with those that are assigned and have no table yet: their gold may stand in an
    earlier version."""
    counted = dict(_ROWS_BY_STORY(project=project.pk, annotator=annotator.pk))
    return _unfinished(project, annotator, counted) | {story for story, rows in counted.items() if not rows}


def _unfinished(project: Project, annotator: User, rows_by_story: Mapping[int, int]) -> set[int]:
    if not rows_by_story:
        return set()
    dimensions, cast = len(project.schema.dimensions), _cast_by_story(project, annotator)
    return {story for story, rows in rows_by_story.items() if cast.get(story, 0) < rows * dimensions}


_ROWS_BY_STORY = Read[tuple[int, int]](
    lambda given: (
        Assignment.objects.active()
        .filter(story__project_id=given.project, annotator_id=given.annotator, story__withdrawn_at__isnull=True)
        .order_by()
        .annotate(rows=Count("story__tables__propositions", filter=LIVE))
        .values_list("story_id", "rows")
    )
)
"""Every page of results asks for them, as for the votes cast."""


def too_few(stories: Set[int], waiting: Set[int]) -> bool:
    """Return whether figures over `stories` reveal too much to somebody with open work on those in `waiting`."""
    return bool(stories & waiting) and len(stories) < FEWEST


def has_finished(annotator: User, story: Story) -> bool:
    """Return whether the annotator has no open work on the story."""
    return story.pk not in unfinished(story.project, annotator)
