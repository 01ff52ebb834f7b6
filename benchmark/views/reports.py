"""Report pages: of a run as it is now, and as it was when somebody froze it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation.models import Role
from benchmark.access import results_access, run_access
from benchmark.models import SharedReport
from benchmark.services.documents import STAGES, document_of
from benchmark.services.shared_reports import freeze_run
from benchmark.views.compare import comparison_now, comparison_parts
from benchmark.views.leaderboard import board_chart
from benchmark.views.run_results import pieces
from benchmark.views.sections import Address, labels_of, sections_of


def run_report(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid)
    context = pieces(access, document_of(access.run), request.GET)
    return render(request, "benchmark/results/report.html", access.context | context)


@require_POST
def share_run(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.EXPERT)
    report = freeze_run(by=request.user, run=access.run, title=request.POST.get("title", ""))
    messages.success(request, "The report is kept as it is now. Share its address with members of the project.")
    return redirect("benchmark:shared_report", slug, report.uid)


def shared_reports(request: HttpRequest, slug: str) -> HttpResponse:
    access = results_access(request.user, slug)
    held = SharedReport.objects.filter(project=access.project).select_related("created_by", "run").defer("figures")
    return render(request, "benchmark/results/shared_reports.html", access.context | {"reports": held[:200]})


def shared_report(request: HttpRequest, slug: str, report: str) -> HttpResponse:
    """From the frozen document alone; nothing of it opens items, which may have changed since."""
    access = results_access(request.user, slug)
    held = get_object_or_404(
        SharedReport.objects.select_related("created_by", "run"), project=access.project, uid=report
    )
    document = held.figures
    address = shared_address(slug, held.uid)
    context = {
        "report": held,
        "document": document,
        "address": request.build_absolute_uri(request.path),
        "charts": {
            stage: board_chart("", document["stages"][stage], stage)
            for stage in STAGES
            if document["stages"].get(stage)
        },
        "sections": sections_of(document, address, request.GET),
        "labels": labels_of(document, address, request.GET),
        "people": any(one["kind"] == "person" for held in document["stages"].values() for one in held),
    }
    if document["kind"] == "comparison":
        context |= comparison_parts(document["comparison"], address) | {"now": comparison_now(slug, document)}
    return render(request, "benchmark/results/report.html", access.context | context)


def shared_address(slug: str, uid: str) -> Address:
    def address(kind: str, name: str, suffix: str) -> str:
        return reverse(f"benchmark:shared_{kind}", args=[slug, uid, name, suffix])

    return address
