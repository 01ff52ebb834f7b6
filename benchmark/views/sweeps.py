"""The tables of a sweep: what one launch found at each level, and which model at which level is taken."""

from collections.abc import Sequence
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import UserRequest
from annotation.models import Role
from benchmark.access import run_access
from benchmark.domain.tables import Column, Row
from benchmark.models import Run
from benchmark.services.calibration import calibration
from benchmark.services.runs import launched_with, sweep_of
from benchmark.services.sweep_results import (
    LONGEST_REASON,
    WAITS,
    ChoiceRefused,
    choose_model,
    choosings_of,
    sweep_tables,
)
from benchmark.views.downloads import table_response
from benchmark.views.tables import address_of, files_of, page_table

LOOKED = "beside"
"""The field of an address that names a candidate to set beside all others."""


@require_http_methods(["GET", "POST"])
def sweep(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    """Show the models of a sweep by level, with the runs of its launch. A POST keeps which model at which level is
    taken for a metric group, and why, unless another choice than the one that was `seen` is kept."""
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    runs = sweep_of(access.run)
    given: dict[str, str] = {}
    if request.method == "POST" and runs:
        given = {name: request.POST.get(name, "") for name in ("key", "group", "reason", "seen")}
        if _choice_kept(request, runs, given):
            return redirect(
                f"{reverse('benchmark:run_sweep', args=[slug, uid])}?{urlencode({LOOKED: given['key']})}#choice"
            )
    looked = [given["key"]] if given else request.GET.getlist(LOOKED)
    address = address_of("run_sweep", slug, uid, query=urlencode([(LOOKED, key) for key in looked]))
    # what says that a judge was not calibrated opens the study of tables of the sweep, else a new one
    study = calibration.study_of(runs) if runs else ""
    new = f"{reverse('judge:align_runs', args=[slug])}?{urlencode([('run', run.pk) for run in runs])}"
    aligning = reverse("judge:study", args=[slug, study]) if study else new

    def href(row: Row, column: Column) -> str:
        return aligning if column.key == "alike" and row.get(WAITS) else ""

    tables = [
        page_table(name, make(), href=href, files=files_of("table", name, address))
        for name, make in (sweep_tables(runs, request.user, looked) if runs else {}).items()
    ]
    launched = launched_with(access.run) if runs else []
    context = {
        "runs": launched,
        "tables": tables,
        "working": sum(run.job.finished_at is None for run in launched),
        "longest": LONGEST_REASON,
        "looked": LOOKED,
        "refused": given,
        "choosings": choosings_of(runs, looked),
    }
    return render(request, "benchmark/runs/sweep.html", access.context | context)


def _choice_kept(request: UserRequest, runs: Sequence[Run], given: dict[str, str]) -> bool:
    """Keep the choice, and say so; else say why not."""
    try:
        choose_model(by=request.user, runs=runs, now=timezone.now(), **given)
    except ChoiceRefused as error:
        messages.error(request, str(error))
        return False
    messages.success(request, _("The choice and its reason are kept."))
    return True


@require_GET
def sweep_table(request: UserRequest, slug: str, uid: str, table: str, data: str) -> HttpResponse:
    runs = sweep_of(run_access(request.user, slug, uid, role=Role.ADMIN).run)
    if not runs:
        return redirect("benchmark:run_sweep", slug, uid)  # which says why there is no table
    tables = sweep_tables(runs, request.user, request.GET.getlist(LOOKED))
    return table_response(tables, table, data, f"{slug}-{uid}-{table}")
