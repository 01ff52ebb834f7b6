"""Making more of a run that is there: extending, repeating, judging and parsing it again, asking for missing rows."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from annotation.models import Role
from benchmark.access import run_access
from benchmark.forms.launch import ControlsForm, ExtendForm, JudgeForm
from benchmark.models import Run
from benchmark.services import runs as service
from benchmark.services.evaluating import read_again
from benchmark.services.extending import extend_run
from benchmark.services.follow_ups import ask_missing, estimate_of_follow_ups
from benchmark.services.judge_panels import judged_beside
from benchmark.services.plans import RunRefused
from benchmark.services.runs import run_again
from benchmark.services.taken_over import judged_answers, needed_by_judge
from benchmark.suites.guarding import SuiteFailed
from benchmark.suites.registry import suite_named
from benchmark.views.launch import endpoint_choices, launch_once, posted
from core.idempotency.forms import made_before, made_once
from core.language import ngettext
from core.messages import Sentence, gettext_noop

MOST_READ_AT_ONCE = 20_000
"""Answers that a request may read again; more are a command's work."""


@require_http_methods(["GET", "POST"])
def judge_anew(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    there = {run.judge.name for run in judged_beside(access.run)}
    form = JudgeForm(posted(request), suite=suite_named(access.run.suite), there=there)
    if request.method == "POST" and form.is_valid():
        try:
            judging_run = launch_once(request, form.plans(access.run))
        except RunRefused as error:
            form.refuse(error)
        else:
            return redirect("benchmark:run", slug, judging_run)
    _, answers = judged_answers(suite_named(access.run.suite))
    context = {"form": form, "answers": answers, "answered": _answered(access.run)}
    return render(request, "benchmark/launch/judge.html", access.context | context)


def _answered(run: Run) -> int:
    """Count the models of a run with answers that a judge can be asked about."""
    steps = needed_by_judge(suite_named(run.suite))
    return (run.source or run).entrants.filter(items__step__in=steps, items__call__isnull=False).count()


@require_http_methods(["GET", "POST"])
def extend(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    form = ExtendForm(posted(request), run=access.run)
    if request.method == "POST" and form.is_valid():
        try:
            added = int(made_once(request, lambda: _extend(request, access.run, form)))
        except RunRefused as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            messages.success(
                request,
                ngettext("{added} question was added.", "{added} questions were added.", added).format(
                    added=f"{added:,}"
                ),
            )
            return redirect("benchmark:run", slug, uid)
    elif made_before(request):  # a press that comes late is refused models that the first has added
        return redirect("benchmark:run", slug, uid)
    suite = suite_named(access.run.suite)
    left = access.run.dataset.stories_count - access.run.parameters.stories
    context = {"form": form, "models": endpoint_choices(form, suite), "left": left, "suite": suite}
    return render(request, "benchmark/launch/extend.html", access.context | context)


def _extend(request: HttpRequest, run: Run, form: ExtendForm) -> str:
    more = form.additions(run)
    added = extend_run(by=request.user, run=run, endpoints=more.endpoints, stories=more.stories, now=timezone.now())
    return str(added)


@require_http_methods(["GET", "POST"])
def again(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Repeat a run; what the ledger holds is not asked again."""
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    if request.method == "GET":
        context = {"suite": suite_named(access.run.suite)}
        return render(request, "benchmark/launch/again.html", access.context | context)
    try:
        repeated = made_once(request, lambda: run_again(by=request.user, run=access.run, now=timezone.now()).uid)
    except RunRefused as error:
        messages.error(request, str(error))
        return redirect("benchmark:run", slug, uid)
    return redirect("benchmark:run", slug, repeated)


@require_http_methods(["GET", "POST"])
def add_controls(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Ask a run's samples once more under controls."""
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    form = ControlsForm(posted(request), run=access.run)
    if request.method == "POST" and form.is_valid():
        try:
            made_once(request, lambda: _add_controls(request, access.run, form.cleaned_data["controls"]))
        except RunRefused as error:
            form.refuse(error)
        else:
            return redirect("benchmark:run", slug, uid)
    elif made_before(request):  # a press that comes late is refused controls that the first has added
        return redirect("benchmark:run", slug, uid)
    context = {"form": form, "suite": suite_named(access.run.suite)}
    return render(request, "benchmark/launch/controls.html", access.context | context)


def _add_controls(request: HttpRequest, run: Run, controls: Sequence[str]) -> str:
    started = service.add_controls(by=request.user, run=run, controls=controls, now=timezone.now())
    return str(len(started))


@require_http_methods(["GET", "POST"])
def follow_up(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Ask the judge once more for the rows that it left out."""
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    try:
        if request.method == "GET":
            estimated = estimate_of_follow_ups(access.run)
            context = {"estimate": estimated, "total": estimated.total, "noun": suite_named(access.run.suite).noun}
            return render(request, "benchmark/launch/follow_up.html", access.context | context)
        judgements = int(
            made_once(request, lambda: str(ask_missing(by=request.user, run=access.run, now=timezone.now())))
        )
    except (RunRefused, SuiteFailed) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{judgements:,} judgement{'' if judgements == 1 else 's'} will be completed.")
    return redirect("benchmark:run", slug, uid)


@require_POST
def read_anew(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Put every kept answer through the present parsers; nothing is asked."""
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    try:
        changed = read_again(by=request.user, run=access.run, now=timezone.now(), most=MOST_READ_AT_ONCE)
    except RunRefused as error:
        messages.error(request, str(error))
    else:
        outcome = (
            ngettext("{changed} parse changed.", "{changed} parses changed.", changed).format(changed=f"{changed:,}")
            if changed
            else gettext_noop("every answer reads as it did.")
        )
        messages.success(request, Sentence("The answers were read again: {outcome}", outcome=outcome))
    return redirect("benchmark:run", slug, uid)
