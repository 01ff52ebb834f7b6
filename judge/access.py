"""The only way from a user and an id to a study, a table or an alignment."""

from collections.abc import Callable

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from annotation.access import ProjectAccess, open_work, project_access
from annotation.models import Role, User
from annotation.services.open_work import Work
from benchmark.access import closed_to
from benchmark.models import Dataset
from core.messages import gettext_noop
from judge.models import Alignment, AlignmentStudy, AlignmentTask
from judge.models.alignment_study import AlignmentStudyQuerySet
from judge.services.open_work import still_aligned, unfinished_in
from judge.services.settling import Refused, check_independence

WAITS = gettext_noop("You still have work to do on this story yourself; finish it first.")


def alignment_of(user: User, slug: str, uid: str) -> tuple[ProjectAccess, Alignment]:
    """Return a member's own alignment, without what tells whose table it is. Raises Http404 for anybody else's, and
    PermissionDenied while the person labels or decides the very story: the rows of gold beside it, and what a model
    made of it, could sway them."""
    access = project_access(user, slug)
    rows = Alignment.objects.active().select_related("task__study", "task__story")
    rows = rows.defer("task__key", "task__source", "task__origin", "task__study__frame", "task__study__origin")
    alignment = rows.filter(task__study__project=access.project, annotator=user, uid=uid).first()
    if alignment is None:
        raise Http404(_("This table was not given to you."))
    check_open(access, alignment.task, before=Work.ALIGNMENT)
    return access, alignment


def check_open(access: ProjectAccess, task: AlignmentTask, *, before: Work) -> None:
    """Raise PermissionDenied where this person still has work on the story of a table that comes `before`."""
    if task.story_id is not None and task.story_id in open_work(access, before=before):
        raise PermissionDenied(_(WAITS))


def visible_studies(access: ProjectAccess) -> AlignmentStudyQuerySet:
    """Return the studies that `study_of` would give this person, newest first."""
    audiences = [role for role in Role if access.at_least(Role.EXPERT) and access.at_least(role)]
    return AlignmentStudy.objects.filter(project=access.project, audience__in=audiences).without_frame()


def study_of(user: User, slug: str, uid: str, *, role: Role = Role.EXPERT) -> tuple[ProjectAccess, AlignmentStudy]:
    """Return a study for those who may see how people agree: `role` at least, and the study's own audience."""
    access = project_access(user, slug, role=role)
    study = get_object_or_404(AlignmentStudy.objects.without_frame(), project=access.project, uid=uid)
    if not access.at_least(Role(study.audience)):
        raise PermissionDenied(
            _("This study is for the role {role}.").format(role=str(Role(study.audience).label).lower())
        )
    return access, study


def table_of(access: ProjectAccess, study: AlignmentStudy, uid: str) -> AlignmentTask:
    """Return a table of a study for whoever decides its open rows. Raises PermissionDenied for who aligned it, or
    still has work on its story."""
    task = get_object_or_404(AlignmentTask.objects.hidden().select_related("study"), study=study, uid=uid)
    try:
        check_independence(by=access.user, task=task)
    except Refused as error:
        raise PermissionDenied(str(error)) from error
    check_open(access, task, before=Work.ALIGNED_ROWS)
    if task.number in still_aligned(task.study, access.user):
        raise PermissionDenied(_(WAITS))
    return task


def aligns_still(user: User, study: AlignmentStudy) -> bool:
    """Return whether this person has tables of the study that are not handed in, and so may not know whose they are;
    closing a study does not tell, since it can be opened again."""
    return bool(unfinished_in(user, [study.uid]))


def closed_tables(access: ProjectAccess, study: AlignmentStudy) -> Callable[[AlignmentTask], bool]:
    """Return what tells whether a table of a study is closed to this person, who has open work on its story."""
    stories, numbers = open_work(access), still_aligned(study, access.user)
    return lambda task: task.story_id in stories or task.number in numbers


def calibrated_study(user: User, slug: str, uid: str) -> tuple[ProjectAccess, AlignmentStudy]:
    """Return a study for an admin of its project, who sees whose tables they are. Raises PermissionDenied for who still
    aligns some of them."""
    access = project_access(user, slug, role=Role.ADMIN)
    study = get_object_or_404(AlignmentStudy, project=access.project, uid=uid)
    if unfinished_in(user, [study.uid]):
        raise PermissionDenied(
            _("You still align in this study; finish first, since the report says whose tables they are.")
        )
    return access, study


def closed_in_study(access: ProjectAccess, study: AlignmentStudy) -> frozenset[int]:
    """Return the numbers of the samples of a study's dataset that wait (`closed_to`)."""
    origin = study.came_of
    dataset = Dataset.objects.filter(project=access.project, version=origin.dataset or 0).first()
    return closed_to(access, origin.suite, dataset)
