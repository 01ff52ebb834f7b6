from copy import copy
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language, gettext
from markdown_it import MarkdownIt

from annotation.access import ProjectAccess, UserRequest, project_access
from annotation.forms.projects import CardForm, GuidelineForm, NewProjectForm, SettingsForm
from annotation.models import Guideline, Invitation, Membership, Project, Role
from annotation.services import projects as service
from annotation.services.checklist import checklist, next_of
from annotation.services.progress import Progress
from core.idempotency.forms import made_before, made_once

MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


def home(request: UserRequest) -> HttpResponse:
    roles = dict(Membership.objects.filter(user=request.user).values_list("project_id", "role"))
    rows = [
        {"project": project, "role": roles.get(project.pk, Role.ADMIN)}
        for project in Project.objects.visible_to(request.user)
    ]
    context = {"rows": rows, "invitations": Invitation.objects.waiting_for(request.user, timezone.now())}
    return render(request, "annotation/projects/home.html", context)


def new_project(request: UserRequest) -> HttpResponse:
    if not request.user.is_superuser:
        raise PermissionDenied(gettext("Only the site admin makes projects."))
    form = NewProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            slug = made_once(request, lambda: service.create_project(by=request.user, **form.cleaned_data).slug)
        except service.SlugTaken as error:
            form.add_error("slug", str(error))
        else:
            return redirect("annotation:project", slug)
    elif slug := made_before(request):
        return redirect("annotation:project", slug)
    return render(request, "annotation/projects/new.html", {"form": form})


def project(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug)
    if not access.at_least(Role.EXPERT):
        return redirect("annotation:work", slug)
    progress = Progress(access.project)
    totals, annotators = progress.totals(), progress.of_annotators()
    steps = checklist(access.project, totals, annotators)
    context = {
        "progress": totals,
        "categories": [row for row in progress.by_category() if row["cells"]],
        "annotators": [row for row in annotators if row["cells"]],
        "steps": [{"step": step, "may": access.at_least(step.role)} for step in steps],
        "next": next_of(steps, access.role),
    }
    return render(request, "annotation/projects/project.html", access.context | context)


def settings(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    is_card = "card" in request.POST
    # A model form writes into its instance; the page around it shows the project as it is saved.
    form = SettingsForm(
        request.POST if request.method == "POST" and not is_card else None, instance=copy(access.project)
    )
    foreseen = None
    card = CardForm(request.POST if is_card else None, initial=access.project.dataset_card)
    chosen = card if is_card else form
    if request.method == "POST" and chosen.is_valid():
        changes = {"dataset_card": card.cleaned_data} if is_card else form.cleaned_data
        foreseen = service.foresee(project=access.project, changes=changes)
        if not foreseen["cells"] or request.POST.get("foreseen") == _seal(changes, foreseen):
            changed = service.change_settings(
                by=request.user, project=access.project, changes=changes, now=timezone.now()
            )
            messages.success(request, gettext("Saved.") if changed else gettext("Nothing had changed."))
            return redirect("annotation:settings", slug)
    seal = _seal(form.cleaned_data, foreseen) if foreseen else ""
    context = {"form": form, "card": card, "foreseen": foreseen, "seal": seal}
    return render(request, "annotation/projects/settings.html", access.context | context)


def _seal(changes: dict[str, Any], foreseen: dict[str, int]) -> str:
    """Return the digest of what was shown before the second press; where votes or the form have changed since, it is
    shown again."""
    demanding = ",".join(sorted(changes.get("unanimity_dimensions", ())))
    numbers = " ".join(str(foreseen[name]) for name in ("settled", "opened", "waiting"))
    return f"{changes.get('overlap')} {demanding} {numbers}"


def guidelines(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug)
    return render(request, "annotation/projects/guidelines.html", access.context | {"sections": _sections(access)})


def guideline(request: UserRequest, slug: str, dimension: str) -> HttpResponse:
    """One dimension: the side panel of the grid on GET, the experts' edit on POST."""
    access = project_access(request.user, slug)
    section = next((section for section in _sections(access) if section["dimension"].key == dimension), None)
    if section is None:
        raise Http404(gettext("There is no such dimension."))
    if request.method == "POST":
        if not access.at_least(Role.EXPERT):
            raise PermissionDenied(gettext("Experts and admins write guidelines."))
        form = GuidelineForm(request.POST)
        if form.is_valid():
            service.write_guideline(by=request.user, project=access.project, dimension=dimension, **form.cleaned_data)
            messages.success(
                request, gettext("The guideline for {dimension} is saved.").format(dimension=section["dimension"].name)
            )
        return redirect("annotation:guidelines", slug)
    return render(request, "annotation/projects/_guideline.html", access.context | {"section": section})


def _sections(access: ProjectAccess) -> list[dict[str, Any]]:
    by_dimension = {row.dimension: row for row in Guideline.objects.filter(project=access.project)}
    own = "zh-Hans" if (get_language() or "").startswith("zh") else "en"
    sections = []
    for dimension in access.project.schema.dimensions:
        guideline = by_dimension.get(dimension.key) or Guideline()
        texts = {"en": guideline.text, "zh-Hans": guideline.text_zh}
        # the language of the page, else the other
        language = own if texts[own] else next((code for code in texts if texts[code]), own)
        initial = {"text": guideline.text, "text_zh": guideline.text_zh}
        sections.append(
            {
                "dimension": dimension,
                "text": texts[language],
                "language": language,
                "html": MARKDOWN.render(texts[language]),
                "form": GuidelineForm(initial=initial, auto_id=f"{dimension.key}-%s"),
            }
        )
    return sections
