"""Estimates of a run before it is launched: calls, cost, detectable differences and a prompt."""

from collections.abc import Callable

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.access import ProjectAccess, UserRequest, project_access
from annotation.models import Role
from benchmark.access import RunAccess, closed_to, run_access
from benchmark.forms.launch import ControlsForm, ExtendForm, JudgeForm, LaunchForm
from benchmark.models import DatasetSample
from benchmark.services import estimates
from benchmark.services.asking import prompts_of, reads_prompts
from benchmark.services.cached_answers import cached_answers
from benchmark.services.detectable import can_show
from benchmark.services.extending import extension_of
from benchmark.services.item_detail import shortened, texts_of, without_solved
from benchmark.services.judges import SELF_TEST
from benchmark.services.launches import again_of, controls_of_run, suite_of_version
from benchmark.services.plan_checks import check
from benchmark.services.plans import Plan, RunRefused, draft_of
from benchmark.services.question_sizes import extent_of, request_of
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.prompt_sets import BadPromptSet
from benchmark.suites.registry import suite_named
from benchmark.views.launch import chosen
from core.catalogues.sentences import translated
from core.joints import joint
from core.messages import Sentence, gettext_noop
from core.views.pages import Context

Planned = Callable[[], list[estimates.Asking]]
"""Returns the questions of a run and its controls."""


@require_GET
def estimate(request: UserRequest, slug: str) -> HttpResponse:
    """Estimate what the chosen run asks and costs and what it can show; with `ledger`, which takes longer, also count
    the answers that the ledger has."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    suite = suite_of_version(access.project, chosen(request, "dataset"), chosen(request, "suite"))
    form = LaunchForm(request.GET, project=access.project, suite=suite)
    context = _context(request, form, lambda: estimates.askings_of_plans(form.plans()))
    if "plan" in context:
        context["can_show"] = can_show(context["plan"], context["stories"])
    return render(request, "benchmark/launch/_estimate.html", access.context | context)


@require_GET
def estimate_extension(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    run = (access := run_access(request.user, slug, uid, role=Role.ADMIN)).run
    form = ExtendForm(request.GET, run=run)

    def planned() -> list[estimates.Asking]:
        return estimates.askings_of_extension(run, extension_of(run, *form.additions(run)))

    return _estimate(request, access, form, planned)


@require_GET
def estimate_controls(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    run = (access := run_access(request.user, slug, uid, role=Role.ADMIN)).run
    form = ControlsForm(request.GET, run=run)

    def planned() -> list[estimates.Asking]:
        return estimates.askings_of_controls(*controls_of_run(run, form.cleaned_data["controls"]))

    return _estimate(request, access, form, planned)


@require_GET
def estimate_judging(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    run = (access := run_access(request.user, slug, uid, role=Role.ADMIN)).run
    form = JudgeForm(request.GET, suite=suite_named(run.suite))
    return _estimate(request, access, form, lambda: estimates.askings_of_plans(form.plans(run)))


@require_GET
def estimate_again(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    run = (access := run_access(request.user, slug, uid, role=Role.ADMIN)).run
    return _estimate(request, access, None, lambda: estimates.askings_of(*again_of(run)))


def _estimate(request: UserRequest, access: RunAccess, form: forms.Form | None, planned: Planned) -> HttpResponse:
    context = _context(request, form, planned)
    return render(request, "benchmark/launch/_estimate.html", access.context | context)


def _context(request: UserRequest, form: forms.Form | None, planned: Planned) -> Context:
    """Return the context of an estimate of what `planned` returns, or of the `problems` of the form or the plan; the
    ledger is asked by a second look."""
    context = {"problems": _problems(form), "looks": "ledger" not in request.GET, "address": request.path}
    if context["problems"]:
        return context
    try:
        askings = planned()
        estimated = estimates.estimate_all(askings, None if context["looks"] else cached_answers)
    except (RunRefused, BadPromptSet, SuiteFailed) as error:
        return context | {"problems": [str(error)]}
    plan, total = askings[0].plan, estimated.total
    return (
        context
        | {"plan": plan, "estimate": estimated, "total": total, "over": estimates.is_over(askings, total)}
        | {"methods": estimated.by_method, "stories": askings[0].stories}
        | {"tested": any(line.step == SELF_TEST for line in estimated.lines)}
    )


def _problems(form: forms.Form | None) -> list[str]:
    """List what a form lacks or has wrong, one sentence each; a run that is only repeated has no form."""
    problems: list[str] = []
    if form is None or form.is_valid():
        return problems
    for name, errors in form.errors.items():
        named = name in form.fields and name not in ("endpoints", "steps", "controls")
        label = f"{translated(str(form[name].label))}{joint(':')}" if named else ""
        problems.append(f"{label}{translated(str(errors[0]))}")
    return problems


@require_GET
def preview(request: UserRequest, slug: str) -> HttpResponse:
    """Show the prompt of one step for the first of the chosen stories."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    suite = suite_of_version(access.project, chosen(request, "dataset"), chosen(request, "suite"))
    form = LaunchForm(request.GET, project=access.project, suite=suite)
    step = next((step for step in suite.launched if step.key == request.GET.get("shown")), suite.launched[0])
    context = {"problems": _problems(form), "step": step, "noun": suite.noun[0]}
    if not context["problems"]:
        try:
            context |= _prompt_context(access, form.plan(), step.key)
        except (RunRefused, BadPromptSet, SuiteFailed) as error:
            context["problems"] = [str(error)]
    return render(request, "benchmark/launch/_preview.html", access.context | context)


def _prompt_context(access: ProjectAccess, plan: Plan, step: str) -> Context:
    stories, described = check(plan, lean=True), plan.definition.step(step)
    if described.judged and plan.judge and not reads_prompts(plan.judge):
        return {
            "problems": [Sentence("{judge} reads no prompt: it goes by the data as they are.", judge=plan.judge.name)]
        }
    draft = draft_of(plan, stories)
    asked = [story for story in stories if described.asks_about(story.category)]
    if not asked:
        return {"problems": [gettext_noop("This step asks about none of the samples that are chosen.")]}
    closed = closed_to(access, plan.dataset.suite, plan.dataset)
    asked = [story for story in asked if story.number not in closed]
    if not asked:
        problem = gettext_noop("You still have work to do on all stories that are chosen; finish it first.")
        return {"problems": [problem]}
    [first] = DatasetSample.in_full(asked[:1])
    prompt = request_of(first, step, draft, prompts_of(draft))
    if isinstance(prompt, str):
        return {"problems": [prompt]}
    texts = texts_of(plan.dataset, closed)
    parts = [{"role": message.role, **shortened(without_solved(message.content, texts))} for message in prompt.messages]
    return {"story": first, "parts": parts, "tokens": extent_of(prompt).tokens}
