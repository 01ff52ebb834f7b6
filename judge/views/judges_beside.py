"""Judges of the same answers next to each other, with a panel of them."""

from collections.abc import Sequence
from functools import partial
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation.access import UserRequest
from annotation.models import Role
from benchmark.access import run_access
from benchmark.models import Run
from benchmark.services.in_context import judge_text
from benchmark.services.judges import judged_beside
from benchmark.views.downloads import table_response
from benchmark.views.tables import files_of, item_links, page_table
from judge.domain.calibration.panels import FEWEST
from judge.services.judges_beside import judges_table

JUDGES = "judges"
ENOUGH = 3
"""Judges for a panel of all of them in the table before anybody chose one: two that differ have no majority."""


@require_GET
def judges(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    """Show the figures of a run's answers by each judge that read them, and by the panel that the address names."""
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    runs = judged_beside(access.run)
    panel = _panel(request, runs)
    query = urlencode({"panel": [run.uid for run in panel]}, doseq=True)

    def address(_kind: str, name: str, suffix: str) -> str:
        return f"{reverse('judge:run_judges_table', args=[slug, uid, name, suffix])}?{query}"

    files = files_of("table", JUDGES, address)
    context = {
        "judges": [{"run": run, "description": judge_text(run), "in_panel": run in panel} for run in runs],
        "table": page_table(JUDGES, judges_table(runs, panel), href=item_links(slug), files=files) if runs else None,
    }
    return render(request, "judge/judges_beside.html", access.context | context)


@require_GET
def judges_file(request: UserRequest, slug: str, uid: str, table: str, data: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    runs = judged_beside(access.run)
    if not runs:
        return redirect("judge:run_judges", slug, uid)  # which says why there is no table
    tables = {JUDGES: partial(judges_table, runs, _panel(request, runs))}
    return table_response(tables, table, data, f"{slug}-{uid}-{table}")


def _panel(request: UserRequest, runs: Sequence[Run]) -> list[Run]:
    """Return the runs whose judges the address names as a panel; by default all if there are enough."""
    if "panel" not in request.GET:
        return list(runs) if len(runs) >= ENOUGH else []
    panel = [run for run in runs if run.uid in request.GET.getlist("panel")]
    return panel if len(panel) >= FEWEST else []
