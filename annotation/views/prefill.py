"""Rounds of suggestions: choosing, the estimate before, and progress."""

from collections.abc import Mapping, Sequence

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import ProjectAccess, UserRequest, project_access
from annotation.forms.prefill import PrefillForm
from annotation.models import Prefill, Role, Story, SuggestedRow, Suggestion
from annotation.services import prefill as service
from annotation.services.prefill_rounds import HANDLERS, PrefillRefused
from core.idempotency.forms import made_once
from core.views.pages import Context
from workers.services.jobs import apply_action
from workers.services.progress import progress_of_all, reasons_of
from workers.views import live


@require_http_methods(["GET", "POST"])
def prefills(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    form = PrefillForm(request.POST or None, project=access.project)
    estimate, nothing_open = None, ""
    if request.method == "POST" and form.is_valid():
        choice = dict(form.cleaned_data)
        rows = access.project.stories.in_split(choice.pop("split")).in_category(choice.pop("category"))
        stories = list(rows.select_related("project", "category").order_by("number"))
        choice |= {"project": access.project, "stories": stories}
        budget = choice.pop("budget")
        if "start" not in request.POST:
            estimate = service.estimate(**choice)
            nothing_open = HANDLERS[choice["kind"]].nothing_open
        else:
            choice |= {"budget": budget, "by": request.user, "now": timezone.now()}
            try:
                uid = made_once(request, lambda: service.start_prefill(**choice).uid)
            except PrefillRefused as error:
                form.add_error(None, str(error))
            else:
                return redirect("annotation:prefill", slug, uid)
    rounds = list(access.project.prefills.select_related("job", "endpoint")[:50])
    jobs = [row.job for row in rounds]
    progress, reasons = progress_of_all(jobs), reasons_of(jobs)
    context = {
        "form": form,
        "estimate": estimate,
        "rounds": [
            {"prefill": row, "progress": progress[row.job_id], "why": reasons.get(row.job_id, "")} for row in rounds
        ],
        "suggestions": Suggestion.objects.filter(proposition__table__story__project=access.project).count(),
        "drafted": SuggestedRow.objects.filter(story__project=access.project, number=1).count(),
        "nothing_open": nothing_open,
    }
    return render(request, "annotation/prefill/prefills.html", access.context | context)


def _prefill(access: ProjectAccess, uid: str) -> Prefill:
    return get_object_or_404(
        Prefill.objects.select_related("job", "endpoint", "project", "created_by"), project=access.project, uid=uid
    )


@require_GET
def prefill(request: UserRequest, slug: str, round: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    row = _prefill(access, round)
    context = access.context | {"prefill": row} | _items(request, row) | _progress(access, row)
    return render(request, "annotation/prefill/prefill.html", context)


@require_GET
def progress(request: UserRequest, slug: str, round: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    row = _prefill(access, round)
    return live.progress_response(request, access.context | _progress(access, row), lambda: _items(request, row))


def _progress(access: ProjectAccess, row: Prefill) -> Context:
    return live.progress_context(row.job, reverse("annotation:prefill", args=[access.project.slug, row.uid]))


def _items(request: UserRequest, row: Prefill) -> Context:
    """Return a page of items, each with the number and the address of its story."""

    def names(uids: Sequence[str]) -> Mapping[str, dict[str, str]]:
        stories = Story.objects.filter(project=row.project_id, uid__in=uids).values_list("uid", "number")
        return {
            uid: {"title": f"Story {number}", "href": reverse("annotation:story", args=[row.project.slug, uid])}
            for uid, number in stories
        }

    return live.items_context(request, row.job, names=names)


@require_POST
def action(request: UserRequest, slug: str, round: str, action: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    if refusal := apply_action(_prefill(access, round).job, action, budget=request.POST.get("budget", "")):
        messages.error(request, refusal)
    return redirect("annotation:prefill", slug, round)


@require_POST
def discard(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    count = service.discard_unseen(by=request.user, project=access.project)
    done = ngettext(
        "{count} suggestion that nobody has seen was discarded.",
        "{count} suggestions that nobody has seen were discarded.",
        count,
    )
    messages.success(request, done.format(count=count))
    return redirect("annotation:prefills", slug)
