"""The self-test of a run's judge: what it came to, and starting it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.access import UserRequest
from annotation.models import Role
from benchmark.access import run_access
from benchmark.models import Run
from benchmark.services.estimates import estimate_of_test
from benchmark.services.judge_tests import current_test, start_test, summaries_of, way_on, why_untestable
from benchmark.services.judge_versions import judged_at
from benchmark.services.plans import RunRefused
from core.idempotency.forms import made_once
from core.language import ngettext
from workers.services.progress import reasons_of


@require_http_methods(["GET", "POST"])
def judge_test(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    if request.method == "POST":
        try:
            calls = made_once(request, lambda: _start(request, access.run))
        except RunRefused as error:
            messages.error(request, str(error))
        else:
            sentence = ngettext("{calls} call will test the judge.", "{calls} calls will test the judge.", int(calls))
            messages.success(request, sentence.format(calls=f"{int(calls):,}"))
        return redirect("benchmark:judge_test", slug, uid)
    test = (
        current_test(access.run) if judged_at(access.run) else None
    )  # first: without its judge's version there is nothing to show
    summary = summaries_of([access.run]).get(access.run.pk)
    offered = summary is not None and test is None
    why = why_untestable(access.run) if offered else ""
    context = {
        "job": test.job if test else None,
        "reason": reasons_of([test.job]).get(test.job_id, "") if test else "",
        "way_on": way_on(test) if test else "",
        "summary": summary, "why": why, "line": estimate_of_test(access.run) if offered and not why else None,
    }  # fmt: skip
    return render(request, "benchmark/launch/judge_test.html", access.context | context)


def _start(request: UserRequest, run: Run) -> str:
    return str(start_test(by=request.user, run=run, now=timezone.now()).job.items.count())
