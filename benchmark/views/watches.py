"""Pages of watches: judges and models that are asked the same again, and whether they still answer as they did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
from benchmark.services.anchor_charts import Repeated, WatchReport, read_watch, told
from benchmark.services.anchor_plans import estimate_of_repeat
from benchmark.services.anchors import ask_again, note_concerns, resume_watch, start_watch, stop_watch
from benchmark.services.plans import RunRefused
from benchmark.suites.guarding import SuiteFailed
from benchmark.suites.prompt_sets import BadPromptSet
from benchmark.suites.registry import suite_named
from benchmark.views.launch import posted
from core.idempotency.forms import made_before, made_once
from core.statistics import unseen_share
from judge.domain.calibration.drift import Chart

WIDE, HIGH, LEFT, RIGHT, TOP, FOOT = 720, 210, 46, 12, 14, 30
"""The picture and its margins, in its own units."""
MOST_DRAWN = 40
"""Repeats in a picture: the newest."""


@require_GET
def watches(request: HttpRequest, slug: str) -> HttpResponse:
    """Every watch of a project, with what somebody has to look at."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    rows = list(AnchorWatch.objects.filter(project=access.project).select_related("run", "asked"))
    now = timezone.now()
    late = set(AnchorWatch.objects.filter(project=access.project).overdue(now).values_list("pk", flat=True))
    context = {
        "rows": [(one, _step(one), one.pk in late) for one in rows],
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
    """What the chosen watch asks and costs: at its start, and every time."""
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    form = WatchForm(request.GET, run=access.run)
    context: dict[str, Any] = {"problems": [error for errors in form.errors.values() for error in errors]}
    if form.is_valid():
        try:
            estimate = estimate_of_repeat(form.plan)
            context |= {"estimate": estimate, "total": estimate.total, "plan": form.plan}
            context |= _at_start(form.plan.rounds + 1, estimate.total)
        except (RunRefused, SuiteFailed, BadPromptSet) as error:
            context["problems"] = [str(error)]
    return render(request, "benchmark/watches/_estimate.html", access.context | context)


def _at_start(times: int, total: Any) -> dict[str, Any]:
    start = total.cost, total.most
    for _each in range(times - 1):
        start = start[0] + total.cost, start[1] + total.most
    return {"times": times, "start_calls": times * total.calls, "start_cost": start[0], "start_most": start[1]}


@require_http_methods(["GET", "POST"])
def watch(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """One watch: its chart, every repeat, and what was noticed. A POST asks now, stops or resumes it, or notes."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    rows = AnchorWatch.objects.select_related("run__dataset", "run__judge", "asked", "project", "created_by")
    one = get_object_or_404(rows, project=access.project, uid=uid)
    if request.method == "POST":
        return _done(request, one)
    report = read_watch(one, now=timezone.now())
    context = {
        "watch": one,
        "step": _step(one),
        "report": report,
        "first_repeats": [each for each in report.repeats if each.row.number <= one.rounds],
        "asking": [each for each in report.repeats if each.row.number <= one.rounds and not each.over],
        "rows": [_row(report, each) for each in reversed(report.charted)],
        "answered_by": _answered_by(report),
        "charts": charts_of(report),
        "unseen": unseen_share(report.answers) if report.chart and not report.chart.spread else None,
        "noted": {(found["kind"], found["number"]) for found in one.concerns},
        "navigation": "benchmark:runs",
    }
    return render(request, "benchmark/watches/watch.html", access.context | context)


def _step(one: AnchorWatch) -> str:
    return str(suite_named(one.run.suite).step(one.step).label)


def _done(request: HttpRequest, one: AnchorWatch) -> HttpResponse:
    action, now = request.POST.get("action"), timezone.now()
    if action == "ask":
        number = made_once(request, lambda: str(ask_again(by=request.user, watch=one, now=now).number))
        _tell_asked(request, one.repeats.get(number=number))
    elif action == "stop":
        stop_watch(by=request.user, watch=one)
        messages.success(request, _("The anchors are asked no more."))
    elif action == "resume":
        resume_watch(by=request.user, watch=one, now=now)
        messages.success(request, _("The anchors are asked on schedule again."))
    elif action == "note":
        note_concerns(by=request.user, watch=one, now=now)
        messages.success(request, _("Noted; the overview says no more of it."))
    else:
        messages.error(request, _("There is no such action."))
    return redirect("benchmark:watch", one.project.slug, one.uid)


def _tell_asked(request: HttpRequest, repeat: AnchorRepeat) -> None:
    if repeat.run_id:
        messages.success(request, _("Repeat {number} is asked.").format(number=repeat.number))
    else:
        messages.error(request, _("Repeat {number} could not begin: see why below.").format(number=repeat.number))


def _row(report: WatchReport, each: Any) -> dict[str, Any]:
    return {
        "one": each,
        "batch": report.batches.get(each.row.number),
        "models": [told(identity) for identity in each.identities],
    }


def _answered_by(report: WatchReport) -> list[str]:
    """Who answered at the start."""
    names = [told(each) for one in report.repeats for each in one.identities if not one.watched]
    return list(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class Point:
    """A repeat as it is drawn, by places: its value, and the limits of it where it has any; `out` is beyond them."""

    x: float
    y: float
    label: str
    alarm: bool
    out: bool
    limits: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class ControlChart:
    """A chart over repeats: a line through their points, `ticks` as (place, label), and the `line` that they are held
    against as (place, label); the label names a limit, and is empty where the line is none."""

    key: str
    title: str
    caption: str
    points: list[Point]
    ticks: list[tuple[float, str]]
    line: tuple[float, str]
    wide: int = WIDE
    high: int = HIGH
    left: int = LEFT
    right: int = WIDE - RIGHT
    foot: int = HIGH - FOOT

    @property
    def path(self) -> str:
        return " ".join(f"{one.x},{one.y}" for one in self.points)


def charts_of(report: WatchReport) -> list[ControlChart]:
    """Return the charts of a watch over the same repeats: means with their limits, and the cumulative sum with its
    limit. None of them where no repeat can be drawn yet."""
    shown = [one for one in report.charted if one.row.number in report.batches][-MOST_DRAWN:]
    if not shown or report.chart is None:
        return []
    step = (WIDE - LEFT - RIGHT) / len(shown)
    places = [round(LEFT + step * (at + 0.5), 1) for at in range(len(shown))]
    return [_means(report, report.chart, shown, places), _sums(report.chart, shown, places)]


def _means(report: WatchReport, made: Chart, shown: Sequence[Repeated], places: Sequence[float]) -> ControlChart:
    batches = [report.batches[one.row.number] for one in shown]
    lowest = min([made.mean, *(min(batch.low, batch.mean) for batch in batches)])
    floor = max(0.0, int(lowest * 10 - 0.2) / 10)
    points = [
        Point(
            x,
            _place(batch.mean, floor, 1.0),
            str(one.row.number),
            one.alarms,
            one.alarms or batch.outside,
            (_place(batch.low, floor, 1.0), _place(batch.high, floor, 1.0)),
        )
        for x, one, batch in zip(places, shown, batches, strict=True)
    ]
    told = "; ".join(_told(one, batch) for one, batch in zip(shown, batches, strict=True))
    return ControlChart(
        "means",
        f"{_('Agreement with the first answers, by repeat:')} {told}",
        _(
            "Mean agreement of each repeat (dot). The bar holds an unchanged one in all but one of some hundred "
            "repeats (three standard errors); the dashed line is the mean at the start."
        ),
        points,
        [(_place(value, floor, 1.0), f"{100 * value:.0f} %") for value in (floor, (floor + 1) / 2, 1.0)],
        (_place(made.mean, floor, 1.0), ""),
    )


def _sums(made: Chart, shown: Sequence[Repeated], places: Sequence[float]) -> ControlChart:
    top = 1.15 * max([made.limit, *(one.highest or 0.0 for one in shown)])
    points = [
        Point(x, _place(one.highest or 0.0, 0.0, top), str(one.row.number), one.alarms, one.alarms)
        for x, one in zip(places, shown, strict=True)
    ]
    return ControlChart(
        "sums",
        _("Cumulative sum of what agreement falls short of, by repeat, with the limit beyond which it alarms"),
        _(
            "What the anchors fall short of the mean, less an allowance, added up from one to the next; the point is "
            "the highest sum of a repeat. Beyond the limit the chart alarms, and the sum begins anew."
        ),
        points,
        [(_place(0.0, 0.0, top), "")],
        (_place(made.limit, 0.0, top), _("limit")),
    )


def _place(value: float, low: float, high: float) -> float:
    """How far down the picture a value is drawn."""
    share = (value - low) / (high - low) if high > low else 0.0
    return round(HIGH - FOOT - share * (HIGH - FOOT - TOP), 1)


def _told(one: Any, batch: Any) -> str:
    mean, low, high = (f"{100 * value:.1f}" for value in (batch.mean, batch.low, batch.high))
    told = _("repeat {number}: {mean} %, limits {low} to {high} %").format(
        number=one.row.number, mean=mean, low=low, high=high
    )
    return told + (_("; the chart alarms") if one.alarms else "")
