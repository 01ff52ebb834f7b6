"""The page on which a run is launched, estimates of its cost, the parts that other pages of a launch share, and the
self-test of its judge."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import ProjectAccess, UserRequest, project_access
from annotation.models import Project, Role
from benchmark.access import closed_to, run_access
from benchmark.forms.launch import ControlsForm, ExtendForm, JudgeForm, LaunchForm, RefusableForm
from benchmark.models import DatasetSample
from benchmark.services import estimates
from benchmark.services import launches as service
from benchmark.services.asking import prompts_of, reads_prompts, request_of
from benchmark.services.cached_answers import cached_answers
from benchmark.services.detectable import can_show
from benchmark.services.estimates import estimate_of_test, extent_of
from benchmark.services.evaluating import read_again
from benchmark.services.extending import extend_run, extension_of
from benchmark.services.follow_ups import ask_missing, estimate_of_follow_ups
from benchmark.services.item_detail import shortened, texts_of, without_solved
from benchmark.services.judges import (
    SELF_TEST,
    current_test,
    judged_at,
    judged_beside,
    start_test,
    summaries_of,
    way_on,
    why_untestable,
)
from benchmark.services.launches import again_of, controls_of_run, run_again, start_runs, suite_of_version
from benchmark.services.plan_checks import check
from benchmark.services.plans import Plan, RunRefused, draft_of, steps_of
from benchmark.services.run_items import judged_answers, needed_by_judge
from benchmark.suites.contract import Suite
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.prompt_sets import BadPromptSet
from benchmark.suites.registry import suite_named, suites_of
from core.catalogues.sentences import translated
from core.idempotency.forms import made_before, made_once
from core.joints import joint
from core.language import ngettext
from core.messages import Sentence, gettext_noop, listed
from core.page_fields import PageForm
from core.views.pages import Context
from workers.services.progress import reasons_of

FREE_TEXT = gettext_noop("free text only")


@require_http_methods(["GET", "POST"])
def launch(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    suite = suite_of_version(access.project, *(chosen(request, name) for name in ("dataset", "suite")))
    newest = newest_version(access.project, suite)
    initial = {"dataset": request.GET.get("dataset", newest)}
    form = LaunchForm(posted(request), project=access.project, suite=suite, initial=initial)
    if uid := submitted(request, form, lambda: started(request, form.plans())):
        return redirect("benchmark:run", slug, uid)
    choices = endpoint_choices(form, suite)
    context: Context = {"form": form, "first": newest, "models": choices, "suite": suite}
    context["launches"] = launches_of(access.project)
    context["baselines"] = [choice["endpoint"].name for choice in choices if not choice["endpoint"].about.reads_prompts]
    return render(request, "benchmark/launch/launch.html", access.context | context)


def newest_version(project: Project, suite: Suite) -> int | None:
    """Return the number of the newest version that runs of a suite can be on, None where there is none."""
    return project.datasets.asked_about_by(suite).values_list("version", flat=True).first()


def launches_of(project: Project) -> list[dict[str, Any]]:
    """Return {"suite", "version"} of each suite with the newest version that it can ask about."""
    newest = {dataset.suite: dataset for dataset in project.datasets.order_by("version")}
    return [
        {"suite": suite, "version": dataset.version}
        for name, dataset in newest.items()
        for suite in suites_of(name, dataset.schema)
    ]


def started(request: UserRequest, plans: Sequence[Plan]) -> str:
    """Start a run of each plan and return the uid of the first. Raises RunRefused."""
    return start_runs(by=request.user, plans=plans, now=timezone.now())[0].uid


def submitted(request: UserRequest, form: RefusableForm, make: Callable[[], str], *, late: bool = False) -> str:
    """Return what `make` made of a posted form, now or before; "" to show the form, with what is wrong or refused.
    Where a `late` press is refused what the first one added, it counts as that one."""
    if request.method != "POST":
        return ""
    if not form.is_valid():
        return (made_before(request) or "") if late else ""
    try:
        return made_once(request, make)
    except RunRefused as error:
        form.refuse(error)
        return ""


def chosen(request: UserRequest, name: str) -> str | None:
    """Return what was chosen in a field: as it was posted, else as the address has it."""
    return request.POST.get(name) or request.GET.get(name)


def posted(request: UserRequest) -> QueryDict | None:
    """Return what was posted, None where the page is only opened."""
    return request.POST if request.method == "POST" else None


def endpoint_choices(form: PageForm, suite: Suite) -> list[dict[str, Any]]:
    """Return the endpoints that a form offers: their steps, whether these are `partly` all, and their `ability`."""
    ticked: Collection[str] = form["endpoints"].value() or ()
    choices = []
    for endpoint in form.fields["endpoints"].queryset:
        able = steps_of(endpoint, suite.name)
        steps = [suite.step(step).label for step in able]
        unable = [step.label for step in suite.launched if step.key not in able]
        ways = [] if endpoint.json_schema or not endpoint.about.reads_prompts else [FREE_TEXT]
        ways += [gettext_noop("batch")] if endpoint.batches else []
        which = Sentence("only {able}", able=listed(steps).lower()) if steps else gettext_noop("no step")
        which = which if unable else gettext_noop("every step")
        ability = listed(ways if not unable and FREE_TEXT in ways else [which, *ways])
        choice = {"endpoint": endpoint, "ticked": endpoint.name in ticked, "steps": steps}
        choices.append(choice | {"partly": bool(unable), "ability": ability})
    return choices


MOST_READ_AT_ONCE = 20_000
"""Answers that a request may read again; more are a command's work."""


@require_http_methods(["GET", "POST"])
def judge_anew(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    there = {run.judge.name for run in judged_beside(access.run) if run.judge}
    form = JudgeForm(posted(request), suite=suite_named(access.run.suite), there=there)
    if judging_run := submitted(request, form, lambda: started(request, form.plans(access.run))):
        return redirect("benchmark:run", slug, judging_run)
    suite, original = suite_named(access.run.suite), access.run.source or access.run
    answered = original.entrants.filter(items__step__in=needed_by_judge(suite), items__call__isnull=False)
    context = {"form": form, "answers": judged_answers(suite)[1], "answered": answered.count()}
    return render(request, "benchmark/launch/judge.html", access.context | context)


@require_http_methods(["GET", "POST"])
def extend(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    form = ExtendForm(posted(request), run=access.run)

    def make() -> str:
        endpoints, stories = form.additions(access.run)
        added = extend_run(by=request.user, run=access.run, endpoints=endpoints, stories=stories, now=timezone.now())
        return str(added)

    if made := submitted(request, form, make, late=True):
        if form.is_valid():
            added = int(made)
            sentence = ngettext("{added} question was added.", "{added} questions were added.", added)
            messages.success(request, sentence.format(added=f"{added:,}"))
        return redirect("benchmark:run", slug, uid)
    suite = suite_named(access.run.suite)
    left = access.run.dataset.stories_count - access.run.parameters.stories
    context = {"form": form, "models": endpoint_choices(form, suite), "left": left, "suite": suite}
    return render(request, "benchmark/launch/extend.html", access.context | context)


@require_http_methods(["GET", "POST"])
def again(request: UserRequest, slug: str, uid: str) -> HttpResponse:
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
def add_controls(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    """Ask a run's samples once more under controls."""
    access = run_access(request.user, slug, uid, role=Role.ADMIN)
    form = ControlsForm(posted(request), run=access.run)

    def make() -> str:
        controls = form.cleaned_data["controls"]
        return str(len(service.add_controls(by=request.user, run=access.run, controls=controls, now=timezone.now())))

    if submitted(request, form, make, late=True):
        return redirect("benchmark:run", slug, uid)
    context = {"form": form, "suite": suite_named(access.run.suite)}
    return render(request, "benchmark/launch/controls.html", access.context | context)


@require_http_methods(["GET", "POST"])
def follow_up(request: UserRequest, slug: str, uid: str) -> HttpResponse:
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
def read_anew(request: UserRequest, slug: str, uid: str) -> HttpResponse:
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


@require_http_methods(["GET", "POST"])
def judge_test(request: UserRequest, slug: str, uid: str) -> HttpResponse:
    access = run_access(request.user, slug, uid, role=Role.ADMIN)

    def start() -> str:
        return str(start_test(by=request.user, run=access.run, now=timezone.now()).job.items.count())

    if request.method == "POST":
        try:
            calls = made_once(request, start)
        except RunRefused as error:
            messages.error(request, str(error))
        else:
            sentence = ngettext("{calls} call will test the judge.", "{calls} calls will test the judge.", int(calls))
            messages.success(request, sentence.format(calls=f"{int(calls):,}"))
        return redirect("benchmark:judge_test", slug, uid)
    # first: without its judge's version there is nothing to show
    test = current_test(access.run) if judged_at(access.run) else None
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
def estimate_of_run(request: UserRequest, slug: str, uid: str, what: str) -> HttpResponse:
    """Estimate what a run is asked in addition: more models or samples, controls, other judges, or everything again."""
    run = (access := run_access(request.user, slug, uid, role=Role.ADMIN)).run
    form: Any = None
    if what == "extension":
        form = ExtendForm(request.GET, run=run)
    elif what == "controls":
        form = ControlsForm(request.GET, run=run)
    elif what == "judging":
        form = JudgeForm(request.GET, suite=suite_named(run.suite))

    def planned() -> list[estimates.Asking]:
        if what == "extension":
            return estimates.askings_of_extension(run, extension_of(run, *form.additions(run)))
        if what == "controls":
            return estimates.askings_of_controls(*controls_of_run(run, form.cleaned_data["controls"]))
        return estimates.askings_of_plans(form.plans(run)) if form else estimates.askings_of(*again_of(run))

    return render(request, "benchmark/launch/_estimate.html", access.context | _context(request, form, planned))


def _context(request: UserRequest, form: forms.Form | None, planned: Callable[[], list[estimates.Asking]]) -> Context:
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
