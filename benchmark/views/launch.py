"""Launching a run, and making more of one that is there."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import ProjectAccess, project_access
from annotation.models import Role
from benchmark.access import RunAccess, run_access
from benchmark.domain.omnitom.prompting import BadPromptSet
from benchmark.forms.launch import ExtendForm, JudgeForm, LaunchForm, new_token
from benchmark.models import Run, Stage
from benchmark.services import estimates
from benchmark.services.asking import prompt_set_named
from benchmark.services.evidence import shortened
from benchmark.services.known_answers import known_answers
from benchmark.services.launching import judging_plan, started_once
from benchmark.services.plans import Plan, RunRefused, check, stages_of
from benchmark.services.runs import draft_of, extend_run, run_again, start_run
from workers.domain.pricing import estimated_tokens
from workers.models import Endpoint


@require_http_methods(["GET", "POST"])
def launch(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    first = access.project.datasets.values_list("version", flat=True).first()
    form = LaunchForm(_sent(request), project=access.project, initial={"dataset": request.GET.get("dataset", first)})
    if request.method == "POST" and form.is_valid():
        try:
            made = _launched(request, access, form.plan(), form.cleaned_data["once"])
        except RunRefused as error:
            form.refuse(error)
        else:
            return redirect("benchmark:run", slug, made.uid)
    context = {"form": form, "first": first, "models": models_shown(form), "stages": Stage}
    return render(request, "benchmark/launch/launch.html", access.context | context)


def _launched(request: HttpRequest, access: ProjectAccess, plan: Plan, once: str) -> Run:
    def start() -> Run:
        return start_run(by=request.user, plan=plan, now=timezone.now())

    return started_once(project=access.project, once=once, start=start)


def _sent(request: HttpRequest):
    return request.POST if request.method == "POST" else None


def models_shown(form) -> list[dict]:
    """The endpoints that a form offers, with what each can do."""
    ticked: Collection[str] = form["endpoints"].value() or ()
    return [
        {"endpoint": one, "ticked": one.name in ticked, "stages": [Stage(stage).label for stage in stages_of(one)]}
        for one in form.fields["endpoints"].queryset
    ]


def _plan(request: HttpRequest, access: ProjectAccess) -> tuple[Plan | None, list[str]]:
    """The plan of the form as it stands, or what it lacks."""
    form = LaunchForm(request.GET, project=access.project)
    if form.is_valid():
        return form.plan(), []
    return None, [f"{_called(form, name)}{errors[0]}" for name, errors in form.errors.items()]


def _called(form: LaunchForm, name: str) -> str:
    return f"{form[name].label}: " if name in form.fields and name not in ("endpoints", "stages") else ""


@require_GET
def estimate(request: HttpRequest, slug: str) -> HttpResponse:
    """What the chosen run asks and costs, and what it can show. With `ledger`, what is known already; that takes longer."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    plan, problems = _plan(request, access)
    context = {"problems": problems, "looks": "ledger" not in request.GET}
    if plan is not None:
        try:
            known = None if context["looks"] else known_answers(plan, check(plan))
            found = estimates.estimate(plan, known)
        except (RunRefused, BadPromptSet) as error:
            context["problems"] = [str(error)]
        else:
            total = found.total
            over = plan.budget is not None and total["most"] > plan.budget
            shows = estimates.can_show(plan, len(found.stories))
            context |= {"plan": plan, "estimate": found, "total": total, "over": over, "can_show": shows}
    return render(request, "benchmark/launch/_estimate.html", access.context | context)


@require_GET
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """The prompt of one stage for the first of the chosen stories."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    plan, problems = _plan(request, access)
    stage = request.GET.get("shown") if request.GET.get("shown") in Stage.values else Stage.EXTRACT
    context = {"problems": problems, "stage": Stage(stage)}
    if plan is not None:
        try:
            context |= _previewed(plan, stage)
        except (RunRefused, BadPromptSet) as error:
            context["problems"] = [str(error)]
    return render(request, "benchmark/launch/_preview.html", access.context | context)


def _previewed(plan: Plan, stage: str) -> dict:
    story = check(plan)[0]
    prompts = prompt_set_named(plan.prompt_set, plan.dataset.project)
    request = estimates.request_of(story, stage, draft_of(plan), prompts)
    parts = [{"role": one.role, **shortened(one.content)} for one in request.messages]
    return {"story": story, "parts": parts, "tokens": estimated_tokens(estimates.characters(request))}


@require_http_methods(["GET", "POST"])
def judge_anew(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    form = JudgeForm(_sent(request))
    if request.method == "POST" and form.is_valid():
        chosen = dict(form.cleaned_data)
        once = chosen.pop("once")
        try:
            made = _launched(request, access.project, judging_plan(access.run, **chosen), once)
        except RunRefused as error:
            form.refuse(error)
        else:
            return redirect("benchmark:run", slug, made.uid)
    context = {"form": form, "extracted": _extracted(access.run)}
    return render(request, "benchmark/launch/judge.html", access.context | context)


def _extracted(run: Run) -> int:
    return (run.source or run).entrants.filter(items__stage=Stage.EXTRACT, items__call__isnull=False).count()


@require_http_methods(["GET", "POST"])
def extend(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    form = ExtendForm(_sent(request), run=access.run)
    if request.method == "POST" and form.is_valid():
        try:
            made = _extended(request, access, form.cleaned_data)
        except RunRefused as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{made:,} questions were added.")
            return redirect("benchmark:run", slug, uid)
    left = access.run.dataset.stories_count - access.run.params.get("stories", 0)
    context = {"form": form, "models": models_shown(form), "left": left}
    return render(request, "benchmark/launch/extend.html", access.context | context)


def _extended(request: HttpRequest, access: RunAccess, chosen: dict) -> int:
    stories = []
    if chosen["more"]:
        where = {"split": chosen["split"], "category": chosen["category"], "limit": chosen["limit"] or 0}
        stories = list(access.run.dataset.stories.selected(**where))
    models: list[Endpoint] = list(chosen["endpoints"])
    return extend_run(by=request.user, run=access.run, endpoints=models, stories=stories, now=timezone.now())


@require_POST
def again(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """The same once more; what the ledger holds is not asked again."""
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    once = request.POST.get("once", "")[:40] or new_token()

    def start() -> Run:
        return run_again(by=request.user, run=access.run, now=timezone.now())

    try:
        made = started_once(project=access.run.project, once=once, start=start)
    except RunRefused as error:
        messages.error(request, str(error))
        return redirect("benchmark:run", slug, uid)
    return redirect("benchmark:run", slug, made.uid)
