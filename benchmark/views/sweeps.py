"""The tables of a sweep: what one launch found at each level."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation.models import Role
from benchmark.access import run_access
from benchmark.services.sweep_tables import sweep_tables
from benchmark.services.sweeps import sweep_of
from benchmark.views.downloads import table_response
from benchmark.views.files import files_of
from benchmark.views.tables import no_link, page_table


@require_GET
def sweep(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Show the models of a sweep by level, with the runs of its launch."""
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    runs = sweep_of(access.run)

    def address(kind: str, name: str, suffix: str) -> str:
        return reverse("benchmark:run_sweep_table", args=[slug, uid, name, suffix])

    tables = {
        name: page_table(name, make(), href=no_link, files=files_of("table", name, address))
        for name, make in (sweep_tables(runs, request.user) if runs else {}).items()
    }
    working = [run for run in runs if run.job.finished_at is None]
    context = {"runs": runs, "tables": tables.values(), "working": len(working)}
    return render(request, "benchmark/runs/sweep.html", access.context | context)


@require_GET
def sweep_table(request: HttpRequest, slug: str, uid: str, table: str, data: str) -> HttpResponse:
    runs = sweep_of(run_access(request.user, slug, uid, role=Role.ADMIN).run)
    if not runs:
        return redirect("benchmark:run_sweep", slug, uid)  # which says why there is no table
    return table_response(sweep_tables(runs, request.user), table, data, f"{slug}-{uid}-{table}")
