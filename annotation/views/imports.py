from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import override

from annotation.access import ProjectAccess, UserRequest, project_access
from annotation.domain.formats import IMPORTED, STORIES, example, example_name
from annotation.domain.stories import typed_story
from annotation.forms.corpus import ImportForm, TypedStoryForm
from annotation.models import Role
from annotation.services.file_imports import Answer, import_files
from core.views.pages import Context, streamed

TYPED = "typed.csv"
"""The source of typed stories: the same text typed twice is one story."""
_CSV = "text/csv; charset=utf-8"


def import_page(request: UserRequest, slug: str) -> HttpResponseBase:
    """Say what files seem to be, check them, and import them. Without "keep" in the request nothing is kept; "problems"
    asks for a file of all of them. A press with htmx gets the part of the page that changes, and keeps the chosen
    files. "typed" in the request is one story that was typed, "story" the one that was typed last, "example" the key of
    a format whose example is requested."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    if request.method == "POST" and "typed" in request.POST:
        return _typed(request, access)
    if "example" in request.GET:
        chosen = IMPORTED.get(request.GET["example"])
        if chosen is None:
            raise Http404
        text = example(chosen, schema=access.project.schema, annotator=request.user.username)
        kind = _CSV if chosen.in_sheet else "application/jsonlines; charset=utf-8"
        disposition = f'attachment; filename="{example_name(chosen)}"'
        return HttpResponse(text, content_type=kind, headers={"Content-Disposition": disposition})
    form = ImportForm(request.POST, request.FILES) if request.method == "POST" else ImportForm()
    context: Context = {"form": form}
    if request.method == "GET" and "story" in request.GET:
        context["added"] = access.project.stories.filter(uid=request.GET["story"][:12]).first()
    if request.method == "POST" and form.is_valid():
        if "problems" in request.POST:
            with override(settings.LANGUAGE_CODE):  # in English, as all files
                result = _answer(request, access, form).result
            if result is not None:
                return streamed(result.problems.csv_lines(), f"{slug}-problems.csv", _CSV)
        context["answer"] = _answer(request, access, form)
    return _shown(request, access, context, part=request.method == "POST" and bool(request.htmx))


def _shown(request: UserRequest, access: ProjectAccess, context: Context, *, part: bool = False) -> HttpResponse:
    spoken = "zh" if access.project.language.startswith("zh") else "en"
    every = {"typed": TypedStoryForm(initial={"spoken": spoken}), "formats": IMPORTED.values(), "added": None}
    template = "annotation/corpus/_imported.html" if part else "annotation/corpus/import.html"
    return render(request, template, access.context | every | context)


def _answer(request: UserRequest, access: ProjectAccess, form: ImportForm) -> Answer:
    chosen = form.cleaned_data.copy()
    return import_files(
        by=request.user,
        project=access.project,
        sources=[(file.name, partial(_opened, file)) for file in chosen.pop("files")],
        now=timezone.now(),
        keep="keep" in request.POST and "problems" not in request.POST,
        sure="sure" in request.POST,
        **chosen,
    )


def _opened(file: UploadedFile[Any]) -> nullcontext[Any]:
    """Return the file at its start; it stays open, as a temporary one is gone once it is closed."""
    file.seek(0)
    return nullcontext(file)


def _typed(request: UserRequest, access: ProjectAccess) -> HttpResponse:
    """Import one typed story through the importer of spreadsheets, and lead back to type the next."""
    form = TypedStoryForm(request.POST)
    if form.is_valid():
        text, category = form.cleaned_data["text"], form.cleaned_data["category"]
        answer = import_files(
            by=request.user,
            project=access.project,
            sources=[(TYPED, partial(BytesIO, typed_story(text, category)))],
            now=timezone.now(),
            keep=True,
            format=STORIES.key,
            language=form.cleaned_data["spoken"],
        )
        result = answer.result
        problem = next((problem.message for problem in result.problems), "") if result else answer.refusal
        if not problem:
            again = "" if result and result.taken else "&again=1"
            story = access.project.stories.filter(source=TYPED, text=text).values_list("uid", flat=True).first()
            return redirect(f"{request.path}?story={story}{again}#typed")
        form.add_error("text", problem)
    return _shown(request, access, {"form": ImportForm(), "typed": form})
