"""Second looks as work that experts have (`annotation.services.open_work`)."""

from __future__ import annotations

from annotation.models import Project, Role, User, adjudication_queue
from annotation.services.open_work import Work, register
from benchmark.services.visibility import shows_results


def register_work() -> None:
    register(Work.SECOND_LOOKS, _to_look_at)


def _to_look_at(project: Project, user: User, role: Role) -> set[int]:
    """Return the stories with a doubtful cell of any version that this person may look at again: experts who see
    results, unless they voted on it."""
    if role != Role.EXPERT or not shows_results(project, role):
        return set()
    # with NumPy, which nothing that other roles open needs
    from benchmark.services.doubtful_gold import doubtful_gold
    from benchmark.services.gold_kinds import labelled_versions, labelling_of

    waiting = []
    for dataset in labelled_versions(project):
        labelling = labelling_of(dataset)
        if labelling.entrants:
            waiting += doubtful_gold(labelling).waiting
    voted = adjudication_queue.voted_on(user, {cell.proposition.pk for cell in waiting})
    return {cell.proposition.table.story_id for cell in waiting if (cell.proposition.pk, cell.dimension) not in voted}
