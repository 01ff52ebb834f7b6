"""Pages of watches: judges and models that are asked the same again, and whether they still answer as they did."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import project_access
from annotation.models import Role
from benchmark.access import run_access
from benchmark.forms.watches import WatchForm
from benchmark.models import AnchorRepeat, AnchorWatch
from benchmark.services.anchor_charts import Concern, Repeated, WatchReport, identity_name, read_watch
from benchmark.services.anchor_plans import estimate_of_repeat
from benchmark.services.anchors import ask_again, note_concerns, resume_watch, start_watch, stop_watch
from benchmark.services.estimates import Sums
from benchmark.services.plans import RunRefused
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.prompt_sets import BadPromptSet
from benchmark.suites.registry import suite_named
from benchmark.views.launch import posted
from benchmark.views.watch_charts import charts_of
from core.idempotency.forms import made_before, made_once
from core.statistics import unseen_share
from core.views.pages import Context
from judge.domain.calibration.drift import Batch


@require_GET
def watches(request: HttpRequest, slug: str) -> HttpResponse:
    """Every watch of a project, with what somebody has to look at."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    rows = list(AnchorWatch.objects.filter(project=access.project).select_related("run", "asked"))
    now = timezone.now()
    late = set(AnchorWatch.objects.filter(project=access.project).overdue(now).values_list("pk", flat=True))
    context = {
        "rows": [(row, _step(row), row.pk in late) for row in rows],
        "navigation": "benchmark:runs",
    }
    return render(request, "benchmark/watches/watches.html", access.context | context)


@require_http_methods(["GET", "POST"])
def new_watch(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Choose what of a run is watched; its anchors are asked for the first time at once."""
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    form = WatchForm(posted(request), run=access.run)
    if request.method == "POST" and form.is_valid():
        try:
            made = made_once(request, lambda: start_watch(by=request.user, plan=form.plan, now=timezone.now()).uid)
        except RunRefused as error:
            form.refuse(error)
        except (SuiteFailed, BadPromptSet) as error:
            form.add_error(None, str(error))
        else:
            return redirect("benchmark:watch", slug, made)
    elif made := made_before(request):
        return redirect("benchmark:watch", slug, made)
    context = {"form": form, "suite": suite_named(access.run.suite), "navigation": "benchmark:runs"}
    return render(request, "benchmark/watches/new.html", access.context | context)


@require_GET
def estimate_watch(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Return what the chosen watch asks and costs: at its start, and every time."""
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    form = WatchForm(request.GET, run=access.run)
    context: Context = {"problems": [error for errors in form.errors.values() for error in errors]}
    if form.is_valid():
        try:
            estimate = estimate_of_repeat(form.plan)
            context |= {"estimate": estimate, "total": estimate.total, "plan": form.plan}
            context |= _at_start(form.plan.rounds + 1, estimate.total)
        except (RunRefused, SuiteFailed, BadPromptSet) as error:
            context["problems"] = [str(error)]
    return render(request, "benchmark/watches/_estimate.html", access.context | context)


def _at_start(times: int, total: Sums) -> Context:
    start = total.cost, total.most
    for _each in range(times - 1):
        start = start[0] + total.cost, start[1] + total.most
    return {"times": times, "start_calls": times * total.calls, "start_cost": start[0], "start_most": start[1]}


@require_http_methods(["GET", "POST"])
def watch(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """One watch: its chart, every repeat, and what was noticed. A POST asks now, stops or resumes it, or notes."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    rows = AnchorWatch.objects.select_related("run__dataset", "run__judge", "asked", "project", "created_by")
    row = get_object_or_404(rows, project=access.project, uid=uid)
    if request.method == "POST":
        return _done(request, row)
    report = read_watch(row, now=timezone.now())
    first = [each for each in report.repeats if each.row.number <= row.rounds]
    context = {
        "watch": row,
        "step": _step(row),
        "report": report,
        "first_repeats": first,
        "asking": [each for each in first if not each.over],
        "rows": [_row(report, each) for each in reversed(report.charted)],
        "answered_by": _answered_by(report),
        "charts": charts_of(report),
        "unseen": unseen_share(report.answers) if report.chart and not report.chart.spread else None,
        "noted": {(concern.kind, concern.number) for concern in map(Concern.from_json, row.concerns)},
        "navigation": "benchmark:runs",
    }
    return render(request, "benchmark/watches/watch.html", access.context | context)


def _step(row: AnchorWatch) -> str:
    return str(suite_named(row.run.suite).step(row.step).label)


def _done(request: HttpRequest, row: AnchorWatch) -> HttpResponse:
    action, now = request.POST.get("action"), timezone.now()
    if action == "ask":
        number = made_once(request, lambda: str(ask_again(by=request.user, watch=row, now=now).number))
        _tell_asked(request, row.repeats.get(number=number))
    elif action == "stop":
        stop_watch(by=request.user, watch=row)
        messages.success(request, _("The anchors are asked no more."))
    elif action == "resume":
        resume_watch(by=request.user, watch=row, now=now)
        messages.success(request, _("The anchors are asked on schedule again."))
    elif action == "note":
        note_concerns(by=request.user, watch=row, now=now)
        messages.success(request, _("Noted; the overview says no more of it."))
    else:
        messages.error(request, _("There is no such action."))
    return redirect("benchmark:watch", row.project.slug, row.uid)


def _tell_asked(request: HttpRequest, repeat: AnchorRepeat) -> None:
    if repeat.run_id:
        messages.success(request, _("Repeat {number} is asked.").format(number=repeat.number))
    else:
        messages.error(request, _("Repeat {number} could not begin: see why below.").format(number=repeat.number))


@dataclass(frozen=True, slots=True)
class RepeatRow:
    """A repeat with the limits of its mean, where it is in the chart, and the names of the models that answered."""

    repeat: Repeated
    batch: Batch | None
    models: list[str]


def _row(report: WatchReport, each: Repeated) -> RepeatRow:
    names = [identity_name(identity) for identity in each.identities]
    return RepeatRow(each, report.batches.get(each.row.number), names)


def _answered_by(report: WatchReport) -> list[str]:
    """Return the names of who answered at the start."""
    names = [identity_name(identity) for each in report.repeats for identity in each.identities if not each.watched]
    return list(dict.fromkeys(names))
