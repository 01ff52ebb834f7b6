"""Renaming a run, archiving and restoring it, and deleting it."""

from collections.abc import Callable

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import UserRequest, project_access
from annotation.models import Role
from benchmark.access import run_access
from benchmark.models import Run
from benchmark.services.archiving import LONGEST_TITLE, archive_run, delete_run, deletion_of, rename_run, restore_run
from benchmark.services.plans import RunRefused
from benchmark.views.launch import posted
from core.messages import Sentence, gettext_noop


class TitleForm(forms.Form):
    title = forms.CharField(
        label=gettext_noop("Name"),
        max_length=LONGEST_TITLE,
        help_text=gettext_noop("What lists and reports call the run."),
    )


@require_http_methods(["GET", "POST"])
def rename(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    form = TitleForm(posted(request), initial={"title": access.run.title})
    if request.method == "POST" and form.is_valid():
        try:
            rename_run(by=request.user, run=access.run, title=form.cleaned_data["title"])
        except RunRefused as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            return redirect("benchmark:run", slug, uid)
    return render(request, "benchmark/runs/rename.html", access.context | {"form": form})


@require_POST
def archive(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    _try(
        request,
        lambda: archive_run(by=request.user, run=access.run, now=timezone.now()),
        gettext_noop(
            "The run is archived: lists, leaderboards and comparisons leave it out. Its pages stay where they are."
        ),
    )
    return redirect("benchmark:run", slug, uid)


@require_POST
def restore(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    _try(
        request,
        lambda: restore_run(by=request.user, run=access.run),
        gettext_noop("The run is back on lists, leaderboards and comparisons."),
    )
    return redirect("benchmark:run", slug, uid)


@require_http_methods(["GET", "POST"])
def delete(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    """Say what goes and what stays, then delete the run. A second press leads where the first one led."""
    project = project_access(request.user, slug, role=Role.ADMIN).project
    if Run.with_deleted.filter(project=project, uid=uid, deleted_at__isnull=False).exists():
        return redirect("benchmark:runs", slug)
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    if request.method == "GET":
        context = {"deletion": deletion_of(access.run)}
        return render(request, "benchmark/runs/delete.html", access.context | context)
    done = _try(
        request,
        lambda: delete_run(by=request.user, run=access.run, now=timezone.now()),
        Sentence("The run “{run}” is deleted. Its answers stay in the ledger.", run=access.run.title),
    )
    return redirect("benchmark:runs", slug) if done else redirect("benchmark:delete_run", slug, uid)


def _try(request: UserRequest, change: Callable[[], object], outcome: str) -> bool:
    """Make the change and say what came of it: nothing where it was made before, why where it is refused, which returns
    False."""
    try:
        if change():
            messages.success(request, outcome)
    except RunRefused as error:
        messages.error(request, str(error))
        return False
    return True
