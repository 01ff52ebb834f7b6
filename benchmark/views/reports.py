"""Report pages: of a run as it is now, and as it was when somebody froze it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation.access import project_access
from annotation.models import Role
from benchmark.access import report_access, results_access, run_access, run_document, shared_document
from benchmark.addresses import chosen_leaderboard
from benchmark.models import SharedReport
from benchmark.services.across_reports import ACROSS
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.services.plans import RunRefused
from benchmark.services.shared_reports import freeze_across, freeze_leaderboard, freeze_run
from benchmark.suites.registry import group_suite, ordered_keys, suite_named
from benchmark.views.across import frozen_across
from benchmark.views.compare import comparison_now, comparison_parts, frozen_opening
from benchmark.views.files import Address
from benchmark.views.leaderboard import leaderboard_chart
from benchmark.views.run_results import pieces
from benchmark.views.sections import explorer_of, sections_of
from benchmark.views.tables import frozen_item_links
from core.idempotency.forms import made_once
from core.messages import Sentence, gettext_noop


def run_report(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid)
    context = pieces(access, run_document(access), request.GET)
    return render(request, "benchmark/results/report.html", access.context | context)


@require_POST
def share_run(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.EXPERT)
    title = request.POST.get("title", "")
    make = partial(freeze_run, by=request.user, run=access.run, title=title)
    return _frozen(request, slug, gettext_noop("report"), make, back=reverse("benchmark:runs", args=[slug]))


def _frozen(request: HttpRequest, slug: str, kept: str, make: Callable[[], SharedReport], *, back: str) -> HttpResponse:
    """Freeze what is `kept` and open it; go `back` with the reason where that is refused."""
    try:
        report = made_once(request, lambda: make().uid)
    except RunRefused as error:
        messages.error(request, str(error))
        return redirect(back)
    messages.success(
        request, Sentence("The {kept} is kept as it is now. Share its address with members of the project.", kept=kept)
    )
    return redirect("benchmark:shared_report", slug, report)


@require_POST
def share_leaderboard(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep the whole ranking that the posted `query` is the address of, whatever its reader may see of it."""
    project_access(request.user, slug, role=Role.EXPERT)
    access = results_access(request.user, slug)
    chosen = chosen_leaderboard(QueryDict(request.POST.get("query", "")), access)
    if chosen is None:
        return redirect("benchmark:leaderboard", slug)

    def make() -> SharedReport:
        whole = leaderboard_of(
            chosen.dataset,
            chosen.answer_format,
            chosen.params["split"],
            suite=chosen.suite,
            all_runs=chosen.every,
            asked=chosen.asked,
        )
        title = request.POST.get("title", "")
        return freeze_leaderboard(
            by=request.user, dataset=chosen.dataset, leaderboard=whole, query=chosen.params, title=title
        )

    back = f"{reverse('benchmark:leaderboard', args=[slug])}?{chosen.query}"
    return _frozen(request, slug, gettext_noop("leaderboard"), make, back=back)


@require_POST
def share_across(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep the page of all models, whatever its reader may see of it."""
    access = results_access(request.user, slug, role=Role.EXPERT)
    title = request.POST.get("title", "")
    make = partial(freeze_across, by=request.user, project=access.project, title=title)
    return _frozen(request, slug, gettext_noop("page"), make, back=reverse("benchmark:across", args=[slug]))


def shared_reports(request: HttpRequest, slug: str) -> HttpResponse:
    access = results_access(request.user, slug)
    reports = SharedReport.objects.filter(project=access.project).select_related("created_by", "run").defer("metrics")
    return render(request, "benchmark/results/shared_reports.html", access.context | {"reports": reports[:200]})


def shared_report(request: HttpRequest, slug: str, report: str) -> HttpResponse:
    """Show the frozen document, down to the items as they were, whatever became of the runs since."""
    access, frozen = report_access(request.user, slug, report)
    document = shared_document(access, frozen)
    address = shared_address(slug, frozen.uid)
    if document.kind == ACROSS:
        return frozen_across(request, access, frozen, document, address)
    href = frozen_item_links(slug, frozen.uid)
    context = {
        "report": frozen,
        "document": document,
        "withheld": document.withheld,
        "nouns": next((suite_named(group_suite(group)).noun[1] for group in document.groups), "stories"),
        "address": request.build_absolute_uri(request.path),
        "charts": {
            group: leaderboard_chart("", document.groups[group], group)
            for group in ordered_keys(document.groups)
            if document.groups[group]
        },
        "sections": sections_of(document, address, request.GET, href),
        "explorer": explorer_of(document, address, request.GET, href),
        "people": any(entrant.kind == "person" for entrants in document.groups.values() for entrant in entrants),
    }
    if document.kind == "comparison":
        opening = frozen_opening(slug, frozen.uid, document)
        context |= comparison_parts(document.comparison, slug, address, opening) | {
            "now": comparison_now(slug, document)
        }
    elif document.query is not None:
        context["now"] = f"{reverse('benchmark:leaderboard', args=[slug])}?{urlencode(document.query)}"
    return render(request, "benchmark/results/report.html", access.context | context)


def shared_address(slug: str, uid: str) -> Address:
    def address(kind: str, name: str, suffix: str) -> str:
        return reverse(f"benchmark:shared_{kind}", args=[slug, uid, name, suffix])

    return address
