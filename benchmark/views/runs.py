"""The runs of a project, one of them live, and renaming, archiving and deleting it."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import UserRequest, project_access
from annotation.models import Role
from benchmark.access import RunAccess, results_access, run_access
from benchmark.controls.chosen import CONTROLS
from benchmark.models import Entrant, Run, RunItem, UnmatchedReport
from benchmark.services.archiving import LONGEST_TITLE, archive_run, delete_run, deletion_of, rename_run, restore_run
from benchmark.services.conditions import parameters_of, settings_in_words
from benchmark.services.follow_ups import gaps_of
from benchmark.services.judges import can_be_aligned, judged_beside
from benchmark.services.methods_text import sent_settings
from benchmark.services.plans import RunRefused, methods_of
from benchmark.services.preparing import prepared_of
from benchmark.services.run_items import can_be_judged, judged_answers
from benchmark.services.runs import (
    DONE,
    act_on,
    act_on_launch,
    beside_by_method,
    goes_along,
    launched_with,
    method_of_run,
    offered_to_launch,
    refused_action,
    sweep_of,
)
from benchmark.services.watching import schema_breakers, shortfall_of_run, step_progress, to_come_of, total_of
from benchmark.suites.questions import Step
from benchmark.suites.registry import suite_named
from benchmark.views.datasets import reading_gold
from benchmark.views.launch import posted
from core.catalogues.sentences import translated
from core.messages import Sentence, gettext_noop
from core.plain import Json, plain
from core.views.pages import Context
from workers.models import JobState
from workers.services.jobs import ACTIONS, JobRefused
from workers.services.progress import Progress, progress_of_all, reasons_of
from workers.views.live import budget_field, time_left

RUNS_A_PAGE = 20
BIG = 5000
"""Items from which on a live page asks less often."""


MODELS_NAMED = 4
"""The number of models of a run that its row of the list names; the run's page names all."""


@require_GET
def runs(request: UserRequest, slug: str) -> HttpResponse:
    access = results_access(request.user, slug)
    runs_of_all, archived = Run.objects.filter(project=access.project), bool(request.GET.get("archived"))
    chosen = runs_of_all.archived() if archived else runs_of_all.listed()
    runs_of_project = chosen.select_related("dataset", "job", "judge").order_by("-id")
    runs_of_project = runs_of_project.prefetch_related("entrants", "controls")
    page = Paginator(runs_of_project.annotate(models=Count("entrants")), RUNS_A_PAGE).get_page(request.GET.get("page"))
    rows = list(page.object_list)
    jobs = [row.job for row in rows]
    progress, coming, reasons = progress_of_all(jobs), to_come_of(rows), reasons_of(jobs)
    context = {
        "page": page,
        "rows": [
            _run_row(row, progress[row.job_id], coming.get(row.pk, 0), reasons.get(row.job_id, "")) for row in rows
        ],
        "marks": urlencode([("mark", version) for version in dict.fromkeys(row.dataset.version for row in rows)]),
        "archived": archived,
        "archived_count": page.paginator.count if archived else runs_of_all.archived().count(),
        "query": "archived=1" if archived else "",
        "published": access.project.datasets.exists(),
    }
    return render(request, "benchmark/runs/runs.html", access.context | context)


def _run_row(run: Run, progress: Progress, coming: int, why: str) -> dict[str, Any]:
    steps = [step.label for step in run_steps(run)]
    names = [entrant.name for entrant in run.entrants.all()]
    method = methods_of(suite_named(run.suite)).get(method_of_run(run), "")
    return {
        "run": run,
        "named": names[:MODELS_NAMED],
        "more": len(names[MODELS_NAMED:]),
        "controls": [
            (other, CONTROLS[other.control].title) for other in sorted(run.controls.all(), key=lambda other: other.pk)
        ],
        "method": "" if run.title.lower().endswith(method.lower()) else method,
        "progress": progress,
        "total": progress.total + coming,
        "steps": steps,
        "why": why,
        "has_level": suite_named(run.suite).asking.prompting is not None and not run.imported,
    }


@require_GET
def gold(request: UserRequest, slug: str) -> HttpResponse:
    """Show which version the present gold is, and mark the versions that it is not: a fragment, as changed stories are
    read first.

    `version` in the address is the one whose figures the page shows, `mark` a version that it has a place for a mark
    of.
    """
    access = results_access(request.user, slug)
    waiting, present = reading_gold(request, access)
    if waiting:
        return waiting
    used = Run.objects.listed().filter(project=access.project, dataset__suite="").order_by("-dataset__version")
    runs = Counter(used.values_list("dataset__version", flat=True))
    stale = {version: count for version, count in runs.items() if present is None or version != present.version}
    number = request.GET.get("version", "")
    version_on_page = int(number) if number.isdecimal() and len(number) < 9 else None
    versions = access.project.datasets.filter(suite="").values_list("version", flat=True)
    marks = [
        version
        for version in versions
        if str(version) in request.GET.getlist("mark") and (present is None or version != present.version)
    ]
    context = {"present": present, "stale": stale, "of_version": version_on_page, "marks": marks}
    return render(request, "benchmark/runs/_gold.html", access.context | context)


def run_steps(run: Run) -> list[Step]:
    """The steps that a run was launched with, in the order of its suite."""
    return [step for step in suite_named(run.suite).steps if step.key in run.steps]


@require_GET
def run(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid)
    beside = access.run.controls.select_related("job").order_by("pk")
    context = _live(access) | {
        "steps": [step.label for step in run_steps(access.run)],
        "suite": suite_named(access.run.suite),
        "can_be_judged": can_be_judged(access.run),
        "judged_answers": judged_answers(suite_named(access.run.suite))[1],
        "can_be_aligned": can_be_aligned(access.run),
        "left_out": _left_out(access.run),
        "asked": settings_in_words(access.run),
        "control": CONTROLS.get(access.run.control),
        "controls": [(other, CONTROLS[other.control]) for other in beside],
        "methods": [(title, other) for _, title, other in beside_by_method(access.run)],
        "judged_anew": list(access.run.judged_anew.select_related("judge")[:20]),
        "sweep": bool(sweep_of(access.run)),
        "judges_beside": len(judged_beside(access.run)),
    }
    return render(request, "benchmark/runs/run.html", access.context | context)


MOST_NOT_TAKEN = 200
"""Answers that an import did not take which the page of its run lists; the API has all."""


def _left_out(run: Run) -> Context | None:
    """Return what the import of a run left out, None where it took everything, or was none."""
    report = UnmatchedReport.objects.filter(run=run).first() if run.imported else None
    if report is None or not (report.unmatched or report.double or report.missing or report.unanswered):
        return None
    lists = (("unmatched", report.unmatched), ("double", report.double), ("unanswered", report.unanswered))
    return {
        "making": run.imported,
        "lists": [(name, rows[:MOST_NOT_TAKEN], len(rows)) for name, rows in lists if rows],
        "missing": report.missing[:MOST_NOT_TAKEN],
        "missing_count": len(report.missing),
    }


@require_GET
def progress(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    """Show the progress of a run, as a fragment; buttons and results come along only when they changed."""
    access = run_access(request.user, slug, uid)
    context = _live(access)
    context["oob"] = request.GET.get("seen", context["seen"]) != context["seen"]
    methods = beside_by_method(access.run) if context["oob"] else []
    context["methods"] = [(title, other) for _, title, other in methods]
    return render(request, "benchmark/runs/_live.html", access.context | context)


def _live(access: RunAccess) -> Context:
    job = access.run.job
    rows = step_progress(access.run, now=timezone.now())
    total, along = total_of(rows), {name: goes_along(access.run, name) for name in DONE}
    address = [access.project.project.slug, access.run.uid]
    items_url = reverse("benchmark:run_items", args=address)
    gaps = gaps_of(access.run)
    moves = job.goes_on or bool(total.in_flight)
    together = [] if access.run.archived_at else launched_with(access.run)
    pause = 15 if job.batch else 3 if total.total > BIG else 1
    return {
        "job": job,
        "closed": refused_action(access.run),
        "actions": {name: reverse("benchmark:run_action", args=[*address, name]) for name in ACTIONS},
        "rows": [{"progress": row, "left": time_left(row.seconds_left)} for row in rows],
        "total": total,
        "prepared": prepared_of([access.run]).get(access.run.pk),
        "noun": suite_named(access.run.suite).noun,
        "unprepared": job.has_failed and bool(job.note or not total.total),
        "breakers": schema_breakers(access.run),
        "gaps": gaps,
        "left": time_left(total.seconds_left),
        "shortfall": shortfall_of_run(access.run, rows) if total.failed or total.unreadable else None,
        "failed_href": f"{items_url}?state=failed",
        "unreadable_href": f"{items_url}?state=unreadable",
        "every": pause if moves else 0,
        "along": along,
        "of_launch": [
            (name, reverse("benchmark:run_action", args=[*address, name])) for name in offered_to_launch(together)
        ],
        "seen": "-".join(
            [
                f"{job.state}-{len(''.join(along.values()))}-{total.failed}-{gaps['judgements']}-{total.held_back}",
                "moves" if moves else "stands",
                *(other.job.state for other in together),
            ]
        ),
        **(budget_field(job) if job.state == JobState.PAUSED else {}),
        "shows_results": not moves and bool(total.done + total.unreadable),
    }


@require_GET
def provenance(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    """Show everything that made the run, as a fragment."""
    access = run_access(request.user, slug, uid)
    row = access.run
    entrants = list(Entrant.objects.filter(run=row))
    names = RunItem.objects.filter(entrant__run=row, call__isnull=False).order_by()
    resolved: dict[int, set[str]] = {}
    asks_judge = [step.key for step in suite_named(row.suite).steps if step.judged]
    for pk, step, name in names.values_list("entrant", "step", "call__answered_by").distinct():
        if name and step not in asks_judge:
            resolved.setdefault(pk, set()).add(name)
    judged = names.filter(step__in=asks_judge).values_list("call__answered_by", flat=True).distinct()
    settings = {setting.name: setting for setting in suite_named(row.suite).settings}
    params = [  # in the words of the launch form
        (translated(setting.label), translated(setting.in_words(value)))
        if (setting := settings.get(name))
        else (translated(name), value)
        for name, value in parameters_of(row).items()
    ]
    context = {
        "entrants": [
            {"entrant": entrant, "resolved": sorted(resolved.get(entrant.pk, ())), "options": _as_json(entrant.spec)}
            for entrant in entrants
        ],
        "judged_by": sorted(filter(None, judged)),
        "judge_options": _as_json(plain(row.provenance.judge or {})),
        "settings": sent_settings(row),
        "params": params,
        "noun": suite_named(row.suite).noun,
        "launched_with": row.parameters.budget,
    }
    return render(request, "benchmark/runs/_made.html", access.context | context)


def _as_json(spec: Json) -> str:
    """The options of an endpoint as it was, in the form in which they are typed; empty where there are none."""
    return json.dumps(spec["options"], ensure_ascii=False) if spec.get("options") else ""


@require_POST
def action(request: UserRequest, slug: str, uid: str, action: str) -> HttpResponse:
    access, sent = run_access(request.user, slug, uid, role=Role.ADMIN), request.POST
    try:
        if "launch" in sent:
            _, left, message = act_on_launch(access.run, action)
        else:
            _, left, message = act_on(access.run, action, budget=sent.get("budget", ""), pressed=True)
    except JobRefused as refusal:
        messages.error(request, str(refusal))
    else:
        if message:
            (messages.warning if left else messages.success)(request, message)
    return redirect("benchmark:run", slug, uid)


class TitleForm(forms.Form):
    title = forms.CharField(
        label=gettext_noop("Name"),
        max_length=LONGEST_TITLE,
        help_text=gettext_noop("What lists and reports call the run."),
    )


@require_http_methods(["GET", "POST"])
def rename(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    form = TitleForm(posted(request), initial={"title": access.run.title})
    if request.method == "POST" and form.is_valid():
        try:
            rename_run(by=request.user, run=access.run, title=form.cleaned_data["title"])
        except RunRefused as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            return redirect("benchmark:run", slug, uid)
    return render(request, "benchmark/runs/rename.html", access.context | {"form": form})


@require_POST
def archive(request: UserRequest, slug: str, uid: str, *, restored: bool = False) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    if restored:
        outcome = gettext_noop("The run is back on lists, leaderboards and comparisons.")
        _try(request, lambda: restore_run(by=request.user, run=access.run), outcome)
    else:
        outcome = gettext_noop(
            "The run is archived: lists, leaderboards and comparisons leave it out. Its pages stay where they are."
        )
        _try(request, lambda: archive_run(by=request.user, run=access.run, now=timezone.now()), outcome)
    return redirect("benchmark:run", slug, uid)


@require_http_methods(["GET", "POST"])
def delete(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    """Say what goes and what stays, then delete the run. A second press leads where the first one led."""
    project = project_access(request.user, slug, role=Role.ADMIN).project
    if Run.with_deleted.filter(project=project, uid=uid, deleted_at__isnull=False).exists():
        return redirect("benchmark:runs", slug)
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    if request.method == "GET":
        context = {"deletion": deletion_of(access.run)}
        return render(request, "benchmark/runs/delete.html", access.context | context)
    done = _try(
        request,
        lambda: delete_run(by=request.user, run=access.run, now=timezone.now()),
        Sentence("The run “{run}” is deleted. Its answers stay in the ledger.", run=access.run.title),
    )
    return redirect("benchmark:runs", slug) if done else redirect("benchmark:delete_run", slug, uid)


def _try(request: UserRequest, change: Callable[[], object], outcome: str) -> bool:
    """Make the change and say what came of it: nothing where it was made before, why where it is refused, which returns
    False."""
    try:
        if change():
            messages.success(request, outcome)
    except RunRefused as error:
        messages.error(request, str(error))
        return False
    return True
