from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from io import BytesIO

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from annotation.access import ProjectAccess, project_access
from annotation.domain.examples import example, example_name
from annotation.domain.formats import IMPORTED, STORIES
from annotation.domain.stories_csv import typed_story
from annotation.forms.corpus import ImportForm, TypedStoryForm
from annotation.models import Role
from annotation.services.file_imports import Answer, Asked, import_files

TYPED = "typed.csv"
"""The source of typed stories: the same text typed twice is one story."""


def import_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Say what files seem to be, check them, and import them. Without "keep" in the request nothing is kept; "problems"
    asks for a file of all of them. A press with htmx gets the part of the page that changes, and keeps the chosen
    files. "typed" in the request is one story that was typed, "story" the one that was typed last, "example" the key of
    a format whose example is wanted."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    if request.method == "POST" and "typed" in request.POST:
        return _typed(request, access)
    if "example" in request.GET:
        return _example(request, access)
    form = ImportForm(request.POST, request.FILES) if request.method == "POST" else ImportForm()
    context = {"form": form}
    if request.method == "GET" and "story" in request.GET:
        context["added"] = access.project.stories.filter(uid=request.GET["story"][:12]).first()
    if request.method == "POST" and form.is_valid():
        if "problems" in request.POST and (sent := _problems(request, access, form)):
            return sent
        answer = _answer(request, access, form)
        context |= {"answer": answer, "pages": _pages(answer, slug)}
    part = request.method == "POST" and request.htmx
    template = "annotation/corpus/_imported.html" if part else "annotation/corpus/import.html"
    return render(request, template, access.context | _beside(access) | context)


def _beside(access: ProjectAccess) -> dict:
    """Return what the page has beside the form of files."""
    spoken = "zh" if access.project.language.startswith("zh") else "en"
    return {"typed": TypedStoryForm(initial={"spoken": spoken}), "formats": IMPORTED.values(), "added": None}


def _typed(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Import one typed story through the importer of spreadsheets, and lead back to type the next."""
    form = TypedStoryForm(request.POST)
    if form.is_valid():
        text, category = form.cleaned_data["text"], form.cleaned_data["category"]
        sheet = partial(BytesIO, typed_story(text, category))
        asked = Asked(STORIES.key, form.cleaned_data["spoken"])
        answer = import_files(
            by=request.user,
            project=access.project,
            sources=[(TYPED, sheet)],
            asked=asked,
            now=timezone.now(),
            keep=True,
        )
        if problem := _not_typed(answer):
            form.add_error("text", problem)
        else:
            again = "" if answer.result and answer.result.taken else "&again=1"
            story = access.project.stories.filter(source=TYPED, text=text).values_list("uid", flat=True).first()
            return redirect(f"{request.path}?story={story}{again}#typed")
    context = {"form": ImportForm(), "typed": form}
    return render(request, "annotation/corpus/import.html", access.context | _beside(access) | context)


def _not_typed(answer: Answer) -> str:
    """Return why a typed story was not imported, empty where it was."""
    if answer.result is None:
        return answer.refusal
    return next((problem.message for problem in answer.result.problems), "")


def _example(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    chosen = IMPORTED.get(request.GET["example"])
    if chosen is None:
        raise Http404
    text = example(chosen, schema=access.project.schema, annotator=request.user.username)
    media = "text/csv" if chosen.in_sheet else "application/jsonlines"
    response = HttpResponse(text, content_type=f"{media}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{example_name(chosen)}"'
    return response


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
        {
            "title": file_format.title,
            "becomes": file_format.becomes,
            "address": reverse(file_format.page, args=[slug, *file_format.page_needs]),
        }
        for file_format in answer.seen.elsewhere
    ]


def _problems(request: HttpRequest, access: ProjectAccess, form: ImportForm) -> StreamingHttpResponse | None:
    """Return a file of all problems, in English as all files; None where the files were not read."""
    with override(settings.LANGUAGE_CODE):
        answer = _answer(request, access, form)
    if answer.result is None:
        return None
    response = StreamingHttpResponse(answer.result.problems.csv_lines(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{access.project.slug}-problems.csv"'
    return response
