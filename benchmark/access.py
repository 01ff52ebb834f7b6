"""The only way from a user and an id to a dataset, a run or a place in one."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404

from annotation.access import ProjectAccess, project_access
from annotation.models import Role, User
from benchmark.models import Audience, Dataset, ResultsVisibility, Run, RunItem
from benchmark.services.datasets import gold_is_frozen


@dataclass(frozen=True, slots=True)
class RunAccess:
    project: ProjectAccess
    run: Run

    @property
    def context(self) -> dict:
        return self.project.context | {"run": self.run}


def visibility_of(access: ProjectAccess) -> ResultsVisibility:
    held = ResultsVisibility.objects.filter(project=access.project).first()
    return held or ResultsVisibility(project=access.project)


def sees_results(access: ProjectAccess) -> bool:
    """Whether this member may see what models came to; a project keeps it from those who could be biased."""
    if access.at_least(Role.ADMIN):
        return True
    held = visibility_of(access)
    invited = access.at_least(Audience(held.audience).role)
    return invited and (not held.once_frozen or gold_is_frozen(access.project))


def results_access(user: User, slug: str) -> ProjectAccess:
    """The project for a page with results. Raises Http404 for strangers, PermissionDenied for members who may not see them."""
    access = project_access(user, slug)
    if not sees_results(access):
        raise PermissionDenied(f"{access.project.name} shows results of models to {visibility_of(access).told}.")
    return access


def run_access(user: User, slug: str, uid: str, *, role: Role = Role.ANNOTATOR) -> RunAccess:
    """A run whose results the user may see, `role` at least where something is to be changed."""
    project_access(user, slug, role=role)
    access = results_access(user, slug)
    runs = Run.objects.select_related("dataset", "judge", "job", "project")
    return RunAccess(access, get_object_or_404(runs, project=access.project, uid=uid))


def run_item_of(access: RunAccess, pk: int) -> RunItem:
    held = RunItem.objects.select_related("story", "entrant__endpoint", "entrant__run__dataset", "call", "item")
    return get_object_or_404(held, entrant__run=access.run, pk=pk)


def dataset_of(access: ProjectAccess, version: int) -> Dataset:
    return get_object_or_404(Dataset, project=access.project, version=version)
