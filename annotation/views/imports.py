from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from annotation.access import ProjectAccess, project_access
from annotation.forms.corpus import ImportForm, VotesForm
from annotation.models import Role
from annotation.services.corpus_import import ImportRefused, import_corpus
from annotation.services.vote_import import import_votes


def import_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Upload, check and import stories or votes. Without "keep" in the request nothing is kept: a rehearsal."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    is_votes, keep = "votes" in request.FILES, "keep" in request.POST
    is_corpus = request.method == "POST" and not is_votes
    form = ImportForm(request.POST, request.FILES) if is_corpus else ImportForm()
    votes_form = VotesForm(request.POST, request.FILES) if is_votes else VotesForm()
    context = {"form": form, "votes_form": votes_form, "kept": keep}
    chosen = votes_form if is_votes else form
    if request.method == "POST" and chosen.is_valid():
        try:
            result = _votes(request, access, votes_form, keep) if is_votes else _corpus(request, slug, form, keep)
            context |= {"votes_result" if is_votes else "result": result, "problems": result.problems}
        except (ImportRefused, ValueError) as error:
            context["refusal"] = str(error)
    return render(request, "annotation/corpus/import.html", access.context | context)


def _corpus(request: HttpRequest, slug: str, form: ImportForm, keep: bool):
    chosen = form.cleaned_data
    return import_corpus(
        by=request.user,
        project_slug=slug,
        format=chosen["format"],
        sources=[(file.name, file.open) for file in chosen["files"]],
        language=chosen["language"],
        dry_run=not keep,
    )


def _votes(request: HttpRequest, access: ProjectAccess, form: VotesForm, keep: bool):
    file = form.cleaned_data["votes"]
    return import_votes(
        by=request.user,
        project=access.project,
        handle=file.open(),
        file=file.name,
        now=timezone.now(),
        dry_run=not keep,
    )
