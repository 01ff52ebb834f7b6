"""Prompt sets: the built-in one and the team's own."""

from collections.abc import Mapping
from functools import partial
from pathlib import PurePath
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import UserRequest, project_access
from annotation.forms.corpus import FilesField
from annotation.models import Role
from benchmark.models import AnswerFormat, Run
from benchmark.services import prompt_sets as service
from benchmark.services.asking import prompt_set_named
from benchmark.services.prompt_sets import LARGEST
from benchmark.suites.contract import Suite
from benchmark.suites.prompt_sets import BadPromptSet, PromptSet, PromptSets
from benchmark.suites.registry import suite_of_gold
from core.duplicates import first_duplicate
from core.idempotency.forms import made_once
from core.messages import Sentence, gettext_noop, word
from core.page_fields import PageForm
from core.views.pages import Context


class PromptSetForm(PageForm):
    name = forms.SlugField(
        max_length=60,
        help_text=gettext_noop("What runs call it. Letters, digits, hyphens."),
        error_messages={
            "invalid": gettext_noop(
                "A name of letters, digits, hyphens and underscores is expected, such as our-prompts-2."
            )
        },
    )
    files: Any = FilesField(label=gettext_noop("Files (.txt)"))

    def __init__(self, *args: Any, prompting: PromptSets[Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["files"].help_text = Sentence(
            "All files of the set at once, such as {example_file}.", example_file=prompting.example_file
        )

    def clean_files(self) -> dict[str, bytes]:
        files = self.cleaned_data["files"]
        if sum(file.size for file in files) > LARGEST:
            raise forms.ValidationError(gettext_noop("The files are larger than 1 MB together."))
        names = [PurePath(file.name).name for file in files]
        if twice := first_duplicate(names):
            raise forms.ValidationError(Sentence("There are two files called {twice}.", twice=twice))
        return {name: file.read() for name, file in zip(names, files, strict=True)}


class PromptChoice(PageForm):
    """The choice of the prompt of a set that is shown."""

    step = forms.ChoiceField(label=gettext_noop("Step"))
    level = forms.TypedChoiceField(choices=[(level, str(level)) for level in (1, 2, 3, 4)], coerce=int)
    answer_format = forms.ChoiceField(label=gettext_noop("Answer format"), choices=AnswerFormat.choices)
    filled = forms.ChoiceField(required=False, label=gettext_noop("Shown as"))

    def __init__(self, data: Mapping[str, Any] | None = None, *, suite: Suite) -> None:
        super().__init__(data)
        self.fields["step"].choices = [(step.key, step.label) for step in suite.launched]
        self.fields["filled"].choices = [
            ("", gettext_noop("The wording")),
            ("1", Sentence("Filled in with a {noun}", noun=word(suite.noun[0]))),
        ]


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
