"""A person's own tables to align."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from annotation.models import Project, User
from judge.models import Alignment


def alignments_of(project: Project, person: User) -> list[Alignment]:
    """Return the alignments of a person in a project, in the order of the work, without the tables' texts and without
    what tells whose they are."""
    rows = Alignment.objects.active().in_order().filter(task__study__project=project, annotator=person)
    return _numbered(
        rows.select_related("task__study").defer(
            "answers",
            "task__text",
            "task__key",
            "task__source",
            "task__origin",
            "task__study__frame",
            "task__study__origin",
        )
    )


def _numbered(rows: Iterable[Alignment]) -> list[Alignment]:
    """Tell tables of one story apart by their place among the person's own: `nth` of `several`, as nothing else that
    they may know of a table does."""
    alignments, seen = list(rows), Counter[int]()
    several = Counter(alignment.task.number for alignment in alignments)
    for alignment in alignments:
        seen[alignment.task.number] += 1
        alignment.nth, alignment.several = seen[alignment.task.number], several[alignment.task.number]
    return alignments


def number_of(alignment: Alignment) -> Alignment:
    """Return the alignment with `nth` and `several` as its person's list has them."""
    task = alignment.task
    own = Alignment.objects.active().in_order().filter(annotator=alignment.annotator_id, task__number=task.number)
    keys = list(own.filter(task__study__project=task.study.project_id).values_list("pk", flat=True))
    if alignment.pk in keys:
        alignment.nth, alignment.several = keys.index(alignment.pk) + 1, len(keys)
    return alignment


def next_alignment(project: Project, person: User, *, after: str = "", but: Collection[int] = ()) -> Alignment | None:
    """Return the person's next open table after that alignment, else the first one; none of stories `but`, on which
    they still have other work."""
    rows = Alignment.objects.waiting().in_order().filter(task__study__project=project, annotator=person)
    waiting = [
        (alignment.uid, alignment) for alignment in rows.select_related("task") if alignment.task.story_id not in but
    ]
    order = [alignment.uid for alignment in alignments_of(project, person)] if after else []
    place = {uid: at for at, uid in enumerate(order)}
    later = [alignment for uid, alignment in waiting if after in place and place[uid] > place[after]]
    return (later or [alignment for uid, alignment in waiting if uid != after] or [None])[0]
