"""Open work of a person on stories: what every way to gold, votes, answers of models or judgements asks about first.

Whoever still has work on a story sees nothing that could sway it, whatever their role. Work that somebody was given,
or has begun, counts for everybody. Work that any expert may take up counts for experts, and not for admins: they launch
runs, and would never see a result. An app above adds its kinds of work by `register` when it is ready.
"""

from collections.abc import Callable, Collection, Set
from enum import IntEnum

from annotation.models import Project, Role, User, adjudication_queue, table_queue, workload


class Work(IntEnum):
    """The kinds of work on a story, in their order: the pages of each wait for the kinds before it, and for none
    after, so that no two wait for each other."""

    LABELS = 1  # cells of an assignment without a vote
    TABLE = 2  # an own draft of the belief table, or two drafts to reconcile, until the gold table is made
    DECISIONS = 3  # cells that an expert may decide
    ALIGNMENT = 4  # models' tables to align with gold
    ALIGNED_ROWS = 5  # rows of aligned tables without a majority, which an expert may decide
    SECOND_LOOKS = 6  # doubtful gold, which an expert may look at again


Finder = Callable[[Project, User, Role], Set[int]]
"""Returns the ids of the project's stories on which a person of that role has open work of one kind."""


_finders: dict[Work, Finder] = {
    Work.LABELS: lambda project, user, _: workload.unlabelled(project, user),
    Work.TABLE: lambda project, user, role: table_queue.open_to(project, user, reconciles=role == Role.EXPERT),
    Work.DECISIONS: lambda project, user, role: (
        adjudication_queue.awaiting(project, user) if role == Role.EXPERT else set()
    ),
}


def register(work: Work, finder: Finder) -> None:
    """Add the kind of work that an app above has."""
    _finders[work] = finder


def open_work_of(
    project: Project, user: User, role: Role, *, before: Work | None = None, without: Collection[Work] = ()
) -> dict[Work, Set[int]]:
    """Return the ids of the stories of a project on which this person has open work, by its kind: all kinds, or those
    `before` one, but for those in `without`. A constant number of statements."""
    kinds = [work for work in sorted(_finders) if (before is None or work < before) and work not in without]
    return {work: _finders[work](project, user, role) for work in kinds}
