"""Launching a run, and making more of one that is there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import project_access
from annotation.models import Project, Role
from benchmark.access import RunAccess, run_access
from benchmark.forms.launch import ExtendForm, JudgeForm, LaunchForm
from benchmark.models import DatasetSample, Run
from benchmark.services import estimates
from benchmark.services.asking import prompts_of, reads_prompts
from benchmark.services.cached_answers import cached_answers
from benchmark.services.detectable import can_show
from benchmark.services.evaluating import read_again
from benchmark.services.evidence import shortened
from benchmark.services.follow_ups import ask_missing, estimate_of_follow_ups
from benchmark.services.judge_tests import SELF_TEST
from benchmark.services.launching import judging_plan
from benchmark.services.plan_checks import check
from benchmark.services.plans import Plan, RunRefused, stages_of
from benchmark.services.question_sizes import extent_of, request_of
from benchmark.services.runs import again_of, extend_run, extension_of, run_again, start_run
from benchmark.services.stored_plans import draft_of
from benchmark.services.taken_over import needed_by_judge
from benchmark.suites.contract import Suite
from benchmark.suites.guarding import SuiteFailed
from benchmark.suites.prompt_sets import BadPromptSet
from benchmark.suites.registry import suite_named, suite_of_gold, suites
from core.idempotency.forms import made_once

MOST_READ_AT_ONCE = 20_000
"""Answers that a request may read again; more are a command's work."""


@require_http_methods(["GET", "POST"])
def launch(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    suite = _suite_asked(access.project, request.POST.get("dataset") or request.GET.get("dataset"))
    first = access.project.datasets.filter(suite=_samples_of(suite)).values_list("version", flat=True).first()
    chosen = {"dataset": request.GET.get("dataset", first)}
    form = LaunchForm(_sent(request), project=access.project, suite=suite, initial=chosen)
    if request.method == "POST" and form.is_valid():
        try:
            made = _launched(request, form.plan())
        except RunRefused as error:
            form.refuse(error)
        else:
            return redirect("benchmark:run", slug, made)
    context = {"form": form, "first": first, "models": models_shown(form, suite), "suite": suite}
    context["launches"] = _launches(access.project)
    return render(request, "benchmark/launch/launch.html", access.context | context)


def _suite_asked(project: Project, version: str | None) -> Suite:
    """The suite of the version that the address or the form names, else that of the project's own gold."""
    number = int(version) if version and version.isdecimal() and len(version) < 9 else None
    held = project.datasets.filter(version=number).first() if number is not None else None
    if held is None:
        held = project.datasets.filter(suite="").first() or project.datasets.first()
    return suite_named(held.suite) if held and held.suite in suites() else suite_of_gold()


def _samples_of(suite: Suite) -> str:
    return suite.name if suite.load else ""


def _launches(project: Project) -> list[dict]:
    """{suite, version} of the newest version of each suite that a run can be launched on."""
    newest: dict[str, int] = {}
    for suite, version in project.datasets.order_by("version").values_list("suite", "version"):
        newest[suite] = version
    there = [
        (suite_named(name) if name else suite_of_gold(), version)
        for name, version in newest.items()
        if not name or name in suites()
    ]
    return [{"suite": suite, "version": version} for suite, version in there]


def _launched(request: HttpRequest, plan: Plan) -> str:
    return made_once(request, lambda: start_run(by=request.user, plan=plan, now=timezone.now()).uid)


def _sent(request: HttpRequest):
    return request.POST if request.method == "POST" else None


def models_shown(form, suite: Suite) -> list[dict]:
    """The endpoints that a form offers, with what each can do."""
    ticked: Collection[str] = form["endpoints"].value() or ()
    return [
        {
            "endpoint": one,
            "ticked": one.name in ticked,
            "stages": [suite.step(stage).label for stage in stages_of(one, suite.name)],
        }
        for one in form.fields["endpoints"].queryset
    ]


@require_GET
def estimate(request: HttpRequest, slug: str) -> HttpResponse:
    """What the chosen run asks and costs, and what it can show. With `ledger`, what is known already; that takes longer."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    suite = _suite_asked(access.project, request.GET.get("dataset"))
    form = LaunchForm(request.GET, project=access.project, suite=suite)

    def asked() -> Asked:
        stories = check(form.plan())
        return form.plan(), stories, estimates.parts_of(form.plan(), stories)

    shown = _estimated(request, form, asked)
    if "plan" in shown:
        shown["can_show"] = can_show(shown["plan"], shown["estimate"].stories)
    return render(request, "benchmark/launch/_estimate.html", access.context | shown)


Asked = tuple[Plan, Sequence[DatasetSample], list[estimates.Part]]


def _estimated(request: HttpRequest, form, asked: Callable[[], Asked]) -> dict:
    """The context of an estimate: of what `asked` says, or what the form lacks."""
    context = {"problems": _lacking(form), "looks": "ledger" not in request.GET, "address": request.path}
    if context["problems"]:
        return context
    try:
        plan, stories, parts = asked()
        known = None if context["looks"] else cached_answers(plan, stories, parts)
        found = estimates.estimate_of(plan, stories, parts, known)
    except (RunRefused, BadPromptSet, SuiteFailed) as error:
        return context | {"problems": [str(error)]}
    total = found.total
    over = plan.budget is not None and total["most"].known > plan.budget
    return (
        context
        | {"plan": plan, "estimate": found, "total": total, "over": over}
        | {"tested": any(part.stage == SELF_TEST for part in parts)}
    )


def _lacking(form) -> list[str]:
    """What a form lacks or has wrong, one sentence each; a run that is only repeated has no form."""
    if form is None or form.is_valid():
        return []
    return [f"{_called(form, name)}{errors[0]}" for name, errors in form.errors.items()]


def _called(form, name: str) -> str:
    return f"{form[name].label}: " if name in form.fields and name not in ("endpoints", "stages") else ""


@require_GET
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """The prompt of one stage for the first of the chosen stories."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    suite = _suite_asked(access.project, request.GET.get("dataset"))
    form = LaunchForm(request.GET, project=access.project, suite=suite)
    step = next((one for one in suite.launched if one.key == request.GET.get("shown")), suite.launched[0])
    context = {"problems": _lacking(form), "stage": step, "noun": suite.noun[0]}
    if not context["problems"]:
        try:
            context |= _previewed(form.plan(), step.key)
        except (RunRefused, BadPromptSet, SuiteFailed) as error:
            context["problems"] = [str(error)]
    return render(request, "benchmark/launch/_preview.html", access.context | context)


def _previewed(plan: Plan, stage: str) -> dict:
    stories = check(plan)
    if plan.definition.step(stage).judged and plan.judge and not reads_prompts(plan.judge):
        return {"problems": [f"{plan.judge.name} reads no prompt: it goes by the data as they are."]}
    draft = draft_of(plan, stories)
    request = request_of(stories[0], stage, draft, prompts_of(draft))
    if isinstance(request, str):
        return {"problems": [request]}
    parts = [{"role": one.role, **shortened(one.content)} for one in request.messages]
    return {"story": stories[0], "parts": parts, "tokens": extent_of(request).tokens}


@require_http_methods(["GET", "POST"])
def judge_anew(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    form = JudgeForm(_sent(request), suite=suite_named(access.run.suite))
    if request.method == "POST" and form.is_valid():
        try:
            made = _launched(request, judging_plan(access.run, **form.chosen()))
        except RunRefused as error:
            form.refuse(error)
        else:
            return redirect("benchmark:run", slug, made)
    context = {"form": form, "extracted": _extracted(access.run)}
    return render(request, "benchmark/launch/judge.html", access.context | context)


def _extracted(run: Run) -> int:
    needed = needed_by_judge(suite_named(run.suite))
    return (run.source or run).entrants.filter(items__stage__in=needed, items__call__isnull=False).count()


@require_http_methods(["GET", "POST"])
def extend(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    form = ExtendForm(_sent(request), run=access.run)
    if request.method == "POST" and form.is_valid():
        try:
            made = int(made_once(request, lambda: _extended(request, access.run, form)))
        except RunRefused as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            messages.success(request, f"{made:,} questions were added.")
            return redirect("benchmark:run", slug, uid)
    suite = suite_named(access.run.suite)
    left = access.run.dataset.stories_count - access.run.params.get("stories", 0)
    context = {"form": form, "models": models_shown(form, suite), "left": left, "suite": suite}
    return render(request, "benchmark/launch/extend.html", access.context | context)


def _extended(request: HttpRequest, run: Run, form: ExtendForm) -> str:
    return str(extend_run(by=request.user, run=run, now=timezone.now(), **form.chosen(run)))


@require_http_methods(["GET", "POST"])
def again(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """The same once more; what the ledger holds is not asked again."""
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    if request.method == "GET":
        context = {"suite": suite_named(access.run.suite)}
        return render(request, "benchmark/launch/again.html", access.context | context)
    try:
        made = made_once(request, lambda: run_again(by=request.user, run=access.run, now=timezone.now()).uid)
    except RunRefused as error:
        messages.error(request, str(error))
        return redirect("benchmark:run", slug, uid)
    return redirect("benchmark:run", slug, made)


@require_http_methods(["GET", "POST"])
def follow_up(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Asks the judge once more for the rows that it left out."""
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    try:
        if request.method == "GET":
            found = estimate_of_follow_ups(access.run)
            context = {"estimate": found, "total": found.total}
            return render(request, "benchmark/launch/follow_up.html", access.context | context)
        made = int(made_once(request, lambda: str(ask_missing(by=request.user, run=access.run, now=timezone.now()))))
    except (RunRefused, SuiteFailed) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{made:,} judgement{'' if made == 1 else 's'} will be completed.")
    return redirect("benchmark:run", slug, uid)


@require_GET
def estimate_extension(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    form = ExtendForm(request.GET, run=access.run)

    def asked() -> Asked:
        more = extension_of(access.run, **form.chosen(access.run))
        return more.plan, more.stories, estimates.parts_of_extension(more)

    return _estimate_shown(request, access, form, asked)


@require_GET
def estimate_judging(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    form = JudgeForm(request.GET, suite=suite_named(access.run.suite))

    def asked() -> Asked:
        plan = judging_plan(access.run, **form.chosen())
        stories = check(plan)
        return plan, stories, estimates.parts_of(plan, stories)

    return _estimate_shown(request, access, form, asked)


@require_GET
def estimate_again(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)

    def asked() -> Asked:
        plan, stories = again_of(access.run)
        return plan, stories, estimates.parts_of(plan, stories)

    return _estimate_shown(request, access, None, asked)


def _estimate_shown(request: HttpRequest, access: RunAccess, form, asked: Callable[[], Asked]) -> HttpResponse:
    return render(request, "benchmark/launch/_estimate.html", access.context | _estimated(request, form, asked))


@require_POST
def read_anew(request: HttpRequest, slug: str, uid: str) -> HttpResponse:
    """Every kept answer through the present parsers; nothing is asked."""
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    try:
        changed = read_again(by=request.user, run=access.run, now=timezone.now(), most=MOST_READ_AT_ONCE)
    except RunRefused as error:
        messages.error(request, str(error))
    else:
        told = f"{changed:,} readings changed." if changed else "Every answer reads as it did."
        messages.success(request, f"The answers were read again: {told[0].lower()}{told[1:]}")
    return redirect("benchmark:run", slug, uid)
