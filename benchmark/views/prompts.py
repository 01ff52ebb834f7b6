"""Prompt sets: the built-in one and the team's own."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import UserRequest, project_access
from annotation.models import Role
from benchmark.forms.prompts import PromptChoice, PromptSetForm
from benchmark.models import Run
from benchmark.services import prompt_sets as service
from benchmark.services.asking import prompt_set_named
from benchmark.suites.contract import Suite
from benchmark.suites.prompt_sets import BadPromptSet, PromptSet
from benchmark.suites.registry import suite_of_gold
from core.idempotency.forms import made_once
from core.messages import Sentence
from core.views.pages import Context


@require_http_methods(["GET", "POST"])
def prompt_sets(request: UserRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    suite = suite_of_gold(access.project.schema)
    prompting = service.prompting_of(suite)
    form = PromptSetForm(request.POST or None, request.FILES or None, prompting=prompting)
    add = partial(service.add_prompt_set, by=request.user, project=access.project, suite=suite)
    if request.method == "POST" and form.is_valid():
        try:
            name = made_once(request, lambda: add(**form.cleaned_data).name)
        except service.PromptSetRefused as error:
            form.add_error(error.field, str(error))
        else:
            messages.success(request, Sentence("The prompt set {name} is loaded.", name=name))
            return redirect("benchmark:prompt_set", slug, name)
    rows = service.prompt_sets_of(access.project, suite)
    context = {"form": form, "rows": rows, "steps": suite.launched, "prompting": prompting}
    return render(request, "benchmark/prompts/prompt_sets.html", access.context | context)


@require_GET
def prompt_set(request: UserRequest, slug: str, name: str) -> HttpResponse:
    """One prompt of a set at a time, as worded or with a story in it."""
    access = project_access(request.user, slug, role=Role.ADMIN)
    suite = suite_of_gold(access.project.schema)
    try:
        prompts = prompt_set_named(service.prompting_of(suite), name, access.project)
    except BadPromptSet as error:
        raise Http404(str(error)) from error
    step = next(step.key for step in suite.launched if prompts.levels(step.key))
    level = 3 if 3 in prompts.levels(step) else prompts.levels(step)[-1]
    first = {"step": step, "level": level, "answer_format": "text"}
    form = PromptChoice(first | request.GET.dict(), suite=suite)
    chosen = form.cleaned_data if form.is_valid() else first | {"filled": ""}
    context = {
        "prompts": prompts,
        "form": form,
        "used": Run.objects.filter(project=access.project, prompt_set=name).count(),
        "own": access.project.prompt_sets.filter(name=name).exists(),
        "files": sorted(prompts.files),
        **_wording(suite, prompts, chosen),
    }
    return render(request, "benchmark/prompts/prompt_set.html", access.context | context)


def _wording(suite: Suite, prompts: PromptSet, chosen: Mapping[str, Any]) -> Context:
    """Return the messages of a prompt, as `parts` (role, text), and their `digest`, or the `problem` that it has."""
    where = chosen["step"], chosen["level"], chosen["answer_format"]
    try:
        if chosen["filled"]:
            prompt = service.prompting_of(suite).filled(prompts, *where)
            texts = {message.role: message.content for message in prompt.messages}
        else:
            template = prompts.template(*where)
            texts = {"system": template.system, "user": template.user}
        digest = prompts.content_hash(chosen["step"], chosen["level"])
    except BadPromptSet as error:
        return {"problem": str(error)}
    return {"parts": [(role, text) for role, text in texts.items() if text], "digest": digest}


@require_POST
def discard(request: UserRequest, slug: str, name: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    if service.discard_prompt_set(by=request.user, project=access.project, name=name):
        messages.success(request, Sentence("The prompt set {name} is discarded.", name=name))
        return redirect("benchmark:prompt_sets", slug)
    messages.error(
        request, Sentence("{name} was used by a run, or is not the project’s own: it stays as it is.", name=name)
    )
    return redirect("benchmark:prompt_sets", slug)
