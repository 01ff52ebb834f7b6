"""Pages of watches: judges and models that are asked the same again, and whether they still answer as they did."""

from collections.abc import Sequence

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import UserRequest, project_access
from annotation.models import Role
from benchmark.access import run_access
from benchmark.services.plans import RunRefused
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.prompt_sets import BadPromptSet
from benchmark.suites.registry import suite_named
from benchmark.views.launch import posted
from core.idempotency.forms import made_before, made_once
from core.messages import clauses
from core.statistics import unseen_share
from core.views.charts import PERCENT, Axis, ControlChart, Repeat, control_chart
from core.views.pages import Context
from judge.domain.calibration.drift import Batch, Chart
from judge.forms.watches import WatchForm
from judge.models import AnchorWatch
from judge.services.watch_reports import Repeated, report_of_watch
from judge.services.watches import CHANGES, ask_again, change_watch, estimate_of_repeat, start_watch

MOST_DRAWN = 40
"""Repeats in a picture: the newest."""
MOST_TICKS = 4


def _means(chart: Chart, drawn: Sequence[tuple[Repeated, Batch]]) -> ControlChart:
    axis = Axis.of([chart.mean, 1.0, *(min(batch.low, batch.mean) for _, batch in drawn)])
    words = []
    for repeat, batch in drawn:
        mean, low, high = (f"{100 * value:.1f}" for value in (batch.mean, batch.low, batch.high))
        text = _("repeat {number}: {mean} %, limits {low} to {high} %")
        said = text.format(number=repeat.row.number, mean=mean, low=low, high=high)
        words.append(said + (_("; the chart alarms") if repeat.alarms else ""))
    return control_chart(
        "means",
        [
            Repeat(
                label=str(repeat.row.number),
                value=batch.mean,
                limits=(batch.low, batch.high),
                alarms=repeat.alarms,
                out=repeat.alarms or batch.outside,
            )
            for repeat, batch in drawn
        ],
        axis,
        title=f"{_('Agreement with the first answers, by repeat:')} {clauses(*words)}",
        caption=_(
            "Mean agreement of each repeat (dot). The bar holds an unchanged one in all but one of some hundred "
            "repeats (three standard errors, of the same anchors); the dashed line is the mean at the start."
        ),
        ticks=[(tick, PERCENT.tick(tick)) for tick in axis.ticks(MOST_TICKS)],
        line=(chart.mean, ""),
    )


def _sums(chart: Chart, drawn: Sequence[tuple[Repeated, Batch]]) -> ControlChart:
    points = [
        Repeat(label=str(repeat.row.number), value=repeat.highest or 0.0, alarms=repeat.alarms, out=repeat.alarms)
        for repeat, _batch in drawn
    ]
    return control_chart(
        "sums",
        points,
        Axis(0.0, 1.15 * max([chart.limit, *(point.value for point in points)])),
        title=_("Cumulative sum of what agreement falls short of, by repeat, with the limit beyond which it alarms"),
        caption=_(
            "What each anchor falls short of its own level at the start, less an allowance, added up from one to the "
            "next; the point is "
            "the highest sum of a repeat. Beyond the limit the chart alarms, and the sum begins anew."
        ),
        line=(chart.limit, _("limit")),
    )


@require_GET
def watches(request: UserRequest, slug: str) -> HttpResponse:
    """Every watch of a project, with what somebody has to look at."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    rows = list(AnchorWatch.objects.filter(project=access.project).select_related("run", "asked"))
    now = timezone.now()
    late = set(AnchorWatch.objects.filter(project=access.project).overdue(now).values_list("pk", flat=True))
    context = {"rows": [(row, _step(row), row.pk in late) for row in rows], "navigation": "benchmark:runs"}
    return render(request, "judge/watches/watches.html", access.context | context)


@require_http_methods(["GET", "POST"])
def new_watch(request: UserRequest, slug: str, uid: str) -> HttpResponse:
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
            return redirect("judge:watch", slug, made)
    elif made := made_before(request):
        return redirect("judge:watch", slug, made)
    context = {"form": form, "suite": suite_named(access.run.suite), "navigation": "benchmark:runs"}
    return render(request, "judge/watches/new.html", access.context | context)


@require_GET
def estimate_watch(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    """Return what the chosen watch asks and costs: at its start, and every time."""
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    form = WatchForm(request.GET, run=access.run)
    context: Context = {"problems": [error for errors in form.errors.values() for error in errors]}
    if form.is_valid():
        try:
            estimate, times = estimate_of_repeat(form.plan), form.plan.rounds + 1
            total = estimate.total
            context |= {"estimate": estimate, "total": total, "plan": form.plan, "times": times}
            context |= {"start_calls": times * total.calls, "start_cost": total.cost, "start_most": total.most}
            for _each in range(form.plan.rounds):
                context["start_cost"] += total.cost
                context["start_most"] += total.most
        except (RunRefused, SuiteFailed, BadPromptSet) as error:
            context["problems"] = [str(error)]
    return render(request, "judge/watches/_estimate.html", access.context | context)


@require_http_methods(["GET", "POST"])
def watch(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    """One watch: its chart, every repeat, and what was noticed. A POST asks now, stops or resumes it, or notes."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    rows = AnchorWatch.objects.select_related("run__dataset", "run__judge", "asked", "project", "created_by")
    row = get_object_or_404(rows, project=access.project, uid=uid)
    if request.method == "POST":
        return _done(request, row)
    report = report_of_watch(row, now=timezone.now())
    first = [repeat for repeat in report.repeats if repeat.row.number <= row.rounds]
    drawn = [(repeat, repeat.batch) for repeat in report.charted if repeat.batch][-MOST_DRAWN:]
    context = {
        "watch": row,
        "step": _step(row),
        "report": report,
        "first_repeats": first,
        "asking": [repeat for repeat in first if not repeat.over],
        "rows": report.charted[::-1],
        "answered_by": list(
            dict.fromkeys(name for repeat in report.repeats for name in repeat.names if not repeat.points)
        ),
        "charts": [_means(report.chart, drawn), _sums(report.chart, drawn)] if drawn and report.chart else [],
        "unseen": unseen_share(report.answers) if report.chart and not report.chart.spread else None,
        "navigation": "benchmark:runs",
    }
    return render(request, "judge/watches/watch.html", access.context | context)


def _step(row: AnchorWatch) -> str:
    return str(suite_named(row.run.suite).step(row.step).label)


def _done(request: UserRequest, row: AnchorWatch) -> HttpResponse:
    action, now = request.POST.get("action"), timezone.now()
    if action == "ask":
        number = made_once(request, lambda: str(ask_again(by=request.user, watch=row, now=now).number))
        if row.repeats.get(number=number).run_id:
            messages.success(request, _("Repeat {number} is asked.").format(number=number))
        else:
            messages.error(request, _("Repeat {number} could not begin: see why below.").format(number=number))
    elif action in CHANGES:
        change_watch(by=request.user, watch=row, action=action, now=now)
        texts = {
            "stop": _("The anchors are asked no more."),
            "resume": _("The anchors are asked on schedule again."),
            "note": _("Noted; the overview says no more of it."),
        }
        messages.success(request, texts[action])
    else:
        messages.error(request, _("There is no such action."))
    return redirect("judge:watch", row.project.slug, row.uid)
