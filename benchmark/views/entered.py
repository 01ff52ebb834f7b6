"""Rows of papers: which there are, and entering, changing and removing one."""

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import ProjectAccess, UserRequest
from annotation.models import Role
from benchmark.access import entered_row_of, results_access
from benchmark.forms.entered import EntryForm
from benchmark.models import Dataset, EnteredRow
from benchmark.services import entered_rows as service
from benchmark.suites.registry import suite_named
from core.idempotency.forms import made_once
from core.messages import Sentence, labelled
from core.views.pages import Context


@require_GET
def entered_rows(request: UserRequest, slug: str) -> HttpResponse:
    access = results_access(request.user, slug)
    rows = EnteredRow.objects.filter(project=access.project).select_related("created_by")
    own = set(Dataset.objects.filter(project=access.project).values_list("suite", flat=True))
    used: list[Context] = []
    idle: list[Context] = []
    for name, suite in service.enterable_suites(access.project).items():
        titles = {metric.key: labelled(metric.heading, metric.title) for metric in suite.enterable}
        listed = [
            {"row": row, "metrics": [(title, row.metrics[key]) for key, title in titles.items() if key in row.metrics]}
            for row in rows
            if row.suite == name
        ]
        is_used = listed or (name if suite.copied.load else "") in own
        (used if is_used else idle).append({"suite": suite, "rows": listed})
    return render(request, "benchmark/entered/rows.html", access.context | {"suites": [*used, *idle]})


@require_http_methods(["GET", "POST"])
def enter_row(request: UserRequest, slug: str, suite: str) -> HttpResponse:
    access = results_access(request.user, slug, role=Role.EXPERT)
    if suite not in service.enterable_suites(access.project):
        raise Http404(Sentence("There is no suite {suite}.", suite=repr(suite)))
    definition = suite_named(suite)

    def keep(form: EntryForm) -> str:
        row = service.add_row(by=request.user, project=access.project, suite=definition, entry=form.entry)
        return row.uid

    form = EntryForm(request.POST or None, suite=definition)
    return _answer(request, access, form, lambda form: made_once(request, lambda: keep(form)), {})


@require_http_methods(["GET", "POST"])
def edit_row(request: UserRequest, slug: str, row: str) -> HttpResponse:
    access, entered = entered_row_of(request.user, slug, row)
    form = EntryForm(request.POST or None, suite=suite_named(entered.suite), row=entered)
    return _answer(
        request,
        access,
        form,
        lambda form: service.edit_row(by=request.user, row=entered, entry=form.entry),
        {"row": entered},
    )


def _answer(
    request: UserRequest, access: ProjectAccess, form: EntryForm, keep: Callable[[EntryForm], object], context: Context
) -> HttpResponse:
    if request.method == "POST" and form.is_valid():
        try:
            keep(form)
        except service.EntryRefused as refusal:
            form.refuse(refusal)
        else:
            messages.success(request, Sentence("The row {entry} is kept.", entry=form.entry.name))
            return redirect("benchmark:entered_rows", access.project.slug)
    return render(request, "benchmark/entered/row.html", access.context | {"form": form, "suite": form.suite} | context)


@require_POST
def remove_row(request: UserRequest, slug: str, row: str) -> HttpResponse:
    _, entered = entered_row_of(request.user, slug, row)
    service.remove_row(by=request.user, row=entered)
    messages.success(request, Sentence("The row {entered} is removed; snapshots keep theirs.", entered=entered.name))
    return redirect("benchmark:entered_rows", slug)
