"""An annotator's own list: what is left, what is done, and what experts answered."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from annotation.access import project_access
from annotation.models import Invitation, workload

PAGE = 50


@require_GET
def work(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug)
    schema = access.project.schema
    works = workload.of_annotator(access.project, request.user)
    context = {
        "page": Paginator(works, PAGE).get_page(request.GET.get("page")),
        "next": workload.next_unfinished(works),
        "finished": sum(work.finished for work in works),
        "stories": len(works),
        "done": sum(min(work.done, work.cells) for work in works),
        "cells": sum(work.cells for work in works),
        "replies": [
            {"comment": comment, "dimension": schema[comment.dimension]}
            for comment in workload.replies_to(access.project, request.user)
            if comment.dimension in schema
        ],
        "invitations": Invitation.objects.waiting_for(request.user, timezone.now()),
        "outcomes": workload.decided_flags_of(access.project, request.user),
    }
    return render(request, "annotation/grid/work.html", access.context | context)


@require_GET
def next_story(request: HttpRequest, slug: str) -> HttpResponse:
    """Open the next story with unlabelled cells, in story order after the one named by `after`, or the list."""
    access = project_access(request.user, slug)
    works = workload.of_annotator(access.project, request.user)
    after = next((work.story.number for work in works if work.story.uid == request.GET.get("after")), None)
    following = workload.next_unfinished(works, after=after)
    if following is None or following.story.number == after:
        if works and following is None:
            messages.success(request, gettext("Every story that was given to you is labelled."))
        return redirect("annotation:work", slug)
    return redirect("annotation:grid", slug, following.story.uid)
