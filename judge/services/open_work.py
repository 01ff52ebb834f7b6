"""Work that people have in studies of alignment (`annotation.services.open_work`)."""

from collections.abc import Iterable

from annotation.models import Project, Role, User
from annotation.services.open_work import Work, register
from judge.models import Alignment, AlignmentStudy, SettledAlignment

Task = tuple[int | None, int, int | None]
"""The story of a table if the project has it, the number of its sample, and the dataset version of that."""


def register_work() -> None:
    register(Work.ALIGNMENT, lambda project, user, _role: _stories(_to_align(project.pk, user)))
    register(Work.ALIGNED_ROWS, lambda project, user, role: _stories(_to_decide(project, user, role)))


def samples_with_open_work(project: Project, user: User, role: Role, *, before: Work | None = None) -> set[Task]:
    """Return the tables that a person still aligns, or may decide rows of: their samples wait whether or not the
    project has the story."""
    tasks = set[Task]()
    if before is None or before > Work.ALIGNMENT:
        tasks |= _to_align(project.pk, user)
    if before is None or before > Work.ALIGNED_ROWS:
        tasks |= _to_decide(project, user, role)
    return tasks


def still_aligned(study: AlignmentStudy, person: User) -> set[int]:
    """Return the numbers of the samples of a study's dataset of which the person still aligns a table, in any study."""
    dataset = study.came_of.dataset
    return {number for _, number, of_dataset in _to_align(study.project_id, person) if of_dataset == dataset}


def _stories(tasks: set[Task]) -> set[int]:
    return {story for story, _, _ in tasks if story is not None}


_TASK = ("task__story_id", "task__number", "task__study__origin__dataset")


def _to_align(project: int, user: User) -> set[Task]:
    """Return the tables that the person has not handed in, also of closed studies, which can be opened again."""
    aligned = Alignment.objects.unfinished().filter(annotator=user, task__study__project_id=project)
    return set(aligned.order_by().values_list(*_TASK))


def _to_decide(project: Project, user: User, role: Role) -> set[Task]:
    """Return the tables with open rows that the person may decide as an expert: those of studies for experts that they
    did not align."""
    if role != Role.EXPERT:
        return set()
    own = Alignment.objects.kept_from_deciding().filter(annotator=user).order_by().values("task")
    waiting = SettledAlignment.objects.waiting().filter(task__study__project=project)
    waiting = waiting.filter(task__study__audience=Role.EXPERT).exclude(task__in=own)
    return set(waiting.order_by().values_list(*_TASK))


def unfinished_in(user: User, studies: Iterable[str]) -> set[str]:
    """Return which of the studies with these uids have tables that the user has not handed in. One statement."""
    open_ones = Alignment.objects.unfinished().filter(task__study__uid__in=studies, annotator=user)
    return set(open_ones.values_list("task__study__uid", flat=True))
