from __future__ import annotations

from contextlib import nullcontext
from functools import partial

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from annotation.access import ProjectAccess, project_access
from annotation.forms.corpus import ImportForm
from annotation.models import Role
from annotation.services.file_imports import Answer, Asked, import_files


def import_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Say what files seem to be, check them, and import them. Without "keep" in the request nothing is kept; "problems"
    asks for a file of all of them. A press with htmx gets the part of the page that changes, and keeps the chosen
    files."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    form = ImportForm(request.POST, request.FILES) if request.method == "POST" else ImportForm()
    context = {"form": form}
    if request.method == "POST" and form.is_valid():
        answer = _answer(request, access, form)
        if "problems" in request.POST and answer.result is not None:
            return _problems(answer, slug)
        context |= {"answer": answer, "pages": _pages(answer, slug)}
    part = request.method == "POST" and request.htmx
    template = "annotation/corpus/_imported.html" if part else "annotation/corpus/import.html"
    return render(request, template, access.context | context)


def _answer(request: HttpRequest, access: ProjectAccess, form: ImportForm) -> Answer:
    chosen, sure = form.cleaned_data, "sure" in request.POST
    return import_files(
        by=request.user,
        project=access.project,
        sources=[(file.name, partial(_opened, file)) for file in chosen["files"]],
        asked=Asked(chosen["format"], chosen["language"], chosen["encoding"], chosen["replace"], sure),
        now=timezone.now(),
        keep="keep" in request.POST and "problems" not in request.POST,
    )


def _opened(file: UploadedFile) -> nullcontext:
    """Return the file at its start; it stays open, as a temporary one is gone once it is closed."""
    file.seek(0)
    return nullcontext(file)


def _pages(answer: Answer, slug: str) -> list[dict[str, str]]:
    """Return the pages of other apps that take such files."""
    return [
        {"title": one.title, "becomes": one.becomes, "address": reverse(one.page, args=[slug, *one.page_needs])}
        for one in answer.seen.elsewhere
    ]


def _problems(answer: Answer, slug: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(answer.result.problems.csv_lines(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-problems.csv"'
    return response
