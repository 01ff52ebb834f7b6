"""The page on which a run is launched, and what other pages of a launch share with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django import forms
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.access import project_access
from annotation.models import Project, Role
from benchmark.forms.launch import LaunchForm
from benchmark.services.launching import suite_of_version
from benchmark.services.plans import Plan, RunRefused, steps_of
from benchmark.services.runs import start_runs
from benchmark.suites.contract import Suite
from benchmark.suites.registry import suites_of
from core.idempotency.forms import made_once
from core.messages import Sentence, gettext_noop, listed
from core.views.contexts import Context
from workers.models import Endpoint

FREE_TEXT = gettext_noop("free text only")


@require_http_methods(["GET", "POST"])
def launch(request: HttpRequest, slug: str) -> HttpResponse:
    access = project_access(request.user, slug, role=Role.ADMIN)
    suite = suite_of_version(access.project, *(chosen(request, name) for name in ("dataset", "suite")))
    newest = newest_version(access.project, suite)
    initial = {"dataset": request.GET.get("dataset", newest)}
    form = LaunchForm(posted(request), project=access.project, suite=suite, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            uid = launch_once(request, form.plans())
        except RunRefused as error:
            form.refuse(error)
        else:
            return redirect("benchmark:run", slug, uid)
    choices = endpoint_choices(form, suite)
    context: Context = {"form": form, "first": newest, "models": choices, "suite": suite}
    context["launches"] = launches_of(access.project)
    context["baselines"] = baselines_of(choices)
    return render(request, "benchmark/launch/launch.html", access.context | context)


def newest_version(project: Project, suite: Suite) -> int | None:
    """Return the number of the newest version that runs of a suite can be on, None where there is none."""
    return project.datasets.asked_about_by(suite).values_list("version", flat=True).first()


@dataclass(frozen=True, slots=True)
class Launchable:
    """A suite and the newest version that it can ask about."""

    suite: Suite
    version: int


def launches_of(project: Project) -> list[Launchable]:
    newest = {dataset.suite: dataset for dataset in project.datasets.order_by("version")}
    return [
        Launchable(suite, dataset.version)
        for name, dataset in newest.items()
        for suite in suites_of(name, dataset.schema)
    ]


def launch_once(request: HttpRequest, plans: Sequence[Plan]) -> str:
    """Start a run of each plan and return the uid of the first; the same form sent again gives the same runs. Raises
    RunRefused."""
    return made_once(request, lambda: start_runs(by=request.user, plans=plans, now=timezone.now())[0].uid)


def chosen(request: HttpRequest, name: str) -> str | None:
    """Return what was chosen in a field: as it was posted, else as the address has it."""
    return request.POST.get(name) or request.GET.get(name)


def posted(request: HttpRequest) -> QueryDict | None:
    """Return what was posted, None where the page is only opened."""
    return request.POST if request.method == "POST" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointChoice:
    """An endpoint that a form offers: the labels of the `steps` that it can be asked for, whether these are not all,
    and what it can do in a word or two."""

    endpoint: Endpoint
    ticked: bool
    steps: Sequence[str]
    partly: bool
    ability: str


def endpoint_choices(form: forms.Form, suite: Suite) -> list[EndpointChoice]:
    ticked: Collection[str] = form["endpoints"].value() or ()
    choices = []
    for endpoint in form.fields["endpoints"].queryset:
        able = steps_of(endpoint, suite.name)
        steps = [suite.step(step).label for step in able]
        unable = [step.label for step in suite.launched if step.key not in able]
        ways = [] if endpoint.json_schema or not endpoint.about.reads_prompts else [FREE_TEXT]
        ways += [gettext_noop("batch")] if endpoint.batches else []
        steps_text = [] if not unable and FREE_TEXT in ways else [able_text(steps, unable)]
        ability = listed([*steps_text, *ways])
        choices.append(
            EndpointChoice(
                endpoint=endpoint, ticked=endpoint.name in ticked, steps=steps, partly=bool(unable), ability=ability
            )
        )
    return choices


def baselines_of(choices: Sequence[EndpointChoice]) -> list[str]:
    """Return the names of the baselines among them."""
    return [choice.endpoint.name for choice in choices if not choice.endpoint.about.reads_prompts]


def able_text(able: Sequence[str], unable: Sequence[str]) -> str:
    """Say in one short line which of all steps a model can be asked for: what it cannot where that is less."""
    if not unable:
        return gettext_noop("every step")
    if not able:
        return gettext_noop("no step")
    if len(able) == 1:
        return Sentence("only {able}", able=able[0].lower())
    return (
        Sentence("not {unable}", unable=unable[0].lower())
        if len(unable) == 1
        else Sentence("{able} of {total} steps", able=len(able), total=len(able) + len(unable))
    )
