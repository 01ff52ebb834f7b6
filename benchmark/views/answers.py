"""The page on which answers that were made elsewhere become a run: first what would become of each, then the run."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.access import UserRequest, project_access
from annotation.models import Role
from benchmark.forms.answers import AnswersForm
from benchmark.services.launches import suite_of_version
from benchmark.services.made_elsewhere.files import BadFile
from benchmark.services.made_elsewhere.importing import Preview
from benchmark.services.plans import RunRefused
from benchmark.views.launch import chosen, launches_of, newest_version, posted
from core.idempotency.forms import made_before, made_once
from core.messages import Sentence, gettext_noop, word
from core.views.pages import Context

MOST_LINES = 200
"""Rows of what does not fit that the page shows; the command has all."""


@require_http_methods(["GET", "POST"])
def import_page(request: UserRequest, slug: str) -> HttpResponse:
    """Show a preview of an import; with "keep" in the request keep it. htmx gets the part of the page that changes."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    suite = suite_of_version(access.project, *(chosen(request, name) for name in ("dataset", "suite")))
    first = newest_version(access.project, suite)
    initial = {"dataset": request.GET.get("dataset", first)}
    form = AnswersForm(posted(request), request.FILES or None, project=access.project, suite=suite, initial=initial)
    context: Context = {"form": form, "suite": suite, "first": first, "launches": launches_of(access.project)}

    def keep() -> str:
        run = form.keep(by=request.user, now=timezone.now())
        if not form.is_large:
            messages.success(request, gettext_noop("The answers are a run, marked as imported."))
        return run.uid

    if request.method == "POST" and form.is_valid():
        try:
            if "keep" in request.POST:
                return _to(request, slug, made_once(request, keep))
            context |= {"large": True} if form.is_large else _preview_context(form.preview())
        except BadFile as error:
            form.add_error("files", str(error))
        except RunRefused as error:
            if uid := made_before(request):
                return _to(request, slug, uid)
            form.refuse(error)
    part = request.method == "POST" and request.htmx
    template = "benchmark/answers/_preview.html" if part else "benchmark/answers/import.html"
    return render(request, template, access.context | context)


def _to(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    if request.htmx:
        return HttpResponse(status=204, headers={"HX-Redirect": reverse("benchmark:run", args=[slug, uid])})
    return redirect("benchmark:run", slug, uid)


def _preview_context(preview: Preview) -> Context:
    """Return what the preview says, in the words of the suite."""
    summary, suite = preview.summary, preview.plan.definition
    settings = {setting.name: setting for setting in suite.settings if setting not in suite.judging_settings}
    return {
        "summary": summary,
        "noun": suite.noun[1],
        "steps": [suite.step(key).label for key in summary["steps"]],
        "read_by": [(setting.label, setting.in_words(summary["settings"][name])) for name, setting in settings.items()],
        "lists": [
            (heading, summary[name][:MOST_LINES], len(summary[name]))
            for name, heading in (
                ("unmatched", Sentence("to no {noun}", noun=word(suite.noun[0]))),
                ("double", "double"),
                ("unanswered", gettext_noop("without an answer")),
            )
            if summary[name]
        ],
        "missing": summary["missing"][:MOST_LINES],
    }
