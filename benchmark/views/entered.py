"""Rows of papers: which there are, and entering, changing and removing one."""

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import ProjectAccess, UserRequest
from annotation.models import Role
from benchmark.access import entered_row_of, results_access
from benchmark.domain.drawn import PaperRow
from benchmark.models import Dataset, EnteredKind, EnteredRow
from benchmark.services import entered_rows as service
from benchmark.services.entered_rows import EntryRefused, problems_of
from benchmark.suites.contract import Suite
from benchmark.suites.registry import suite_named
from core.idempotency.forms import made_once
from core.messages import Sentence, gettext_noop, labelled
from core.page_fields import PageForm
from core.views.pages import Context

PREFIX = "figure."
"""The beginning of the names of fields of metrics."""


class EntryForm(PageForm):
    """A row of a paper: what it is, where it stands, and each metric that the suite lets be entered, in a field named
    `figure.KEY`."""

    name = forms.CharField(
        max_length=120, help_text=gettext_noop("What the row is called, such as Human or GPT-4 (0613).")
    )
    kind = forms.ChoiceField(label=gettext_noop("Kind"), choices=EnteredKind.choices)
    source = forms.CharField(
        max_length=400,
        help_text=gettext_noop("A citation that a reader finds it by, such as Kim et al. 2023, table 9."),
    )

    def __init__(self, data: Any = None, *, suite: Suite, row: EnteredRow | None = None) -> None:
        initial = {"name": row.name, "kind": row.kind, "source": row.source} if row else {}
        initial |= {f"{PREFIX}{key}": text for key, text in row.metrics.items()} if row else {}
        super().__init__(data, initial=initial)
        self.suite = suite
        for metric in suite.enterable:
            widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
            self.fields[f"{PREFIX}{metric.key}"] = forms.CharField(
                required=False, max_length=12, label=metric.title, widget=widget
            )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if not self.errors:
            for refusal in problems_of(self.suite, self.entry):
                self.refuse(refusal)
        return cleaned

    @property
    def entry(self) -> PaperRow:
        cleaned = self.cleaned_data
        metrics = {name.removeprefix(PREFIX): text for name, text in cleaned.items() if name.startswith(PREFIX)}
        return PaperRow(cleaned["name"], cleaned["kind"], cleaned["source"], metrics)

    def refuse(self, refusal: EntryRefused) -> None:
        """Put the sentence beside the field that it is about."""
        field = refusal.field if refusal.field in self.fields else f"{PREFIX}{refusal.field}"
        self.add_error(field if field in self.fields else None, str(refusal))

    @property
    def about(self) -> list[forms.BoundField]:
        """The fields about the row itself."""
        return [self[name] for name in self.fields if not name.startswith(PREFIX)]

    @property
    def metrics(self) -> Iterator[tuple[str, bool, list[forms.BoundField]]]:
        """Yield the fields of figures by heading, and whether they are differences, in points."""
        headings = list(dict.fromkeys(metric.heading for metric in self.suite.enterable))
        ordered = sorted(self.suite.enterable, key=lambda metric: headings.index(metric.heading))
        for (heading, points), metrics in groupby(ordered, key=lambda metric: (metric.heading, metric.difference)):
            yield heading, points, [self[f"{PREFIX}{metric.key}"] for metric in metrics]


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
