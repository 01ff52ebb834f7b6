"""Launching runs with an estimate first, pausing, resuming and cancelling them, and making more of them: the forms
and services of the pages. Admins.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import forms
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from django.utils.datastructures import MultiValueDict
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import project_access
from annotation.api.description import answers
from annotation.models import Project, Role
from benchmark.access import run_access
from benchmark.api.description import ACTION, RUN, SLUG
from benchmark.api.requests import EstimateIn, ImportIn, RunActionIn
from benchmark.api.runs import Runs, run_answer
from benchmark.api.shapes.runs import EstimateOut, ImportPreviewOut, RunActionOut, RunDetailOut
from benchmark.forms.answers import AnswersForm
from benchmark.forms.launch import ExtendForm, JudgeForm, LaunchForm, as_posted
from benchmark.services import estimates
from benchmark.services.cached_answers import cached_answers
from benchmark.services.detectable import can_show
from benchmark.services.extending import extend_run
from benchmark.services.launches import ExtendIn, JudgeIn, LaunchIn, run_again, start_runs, suite_of_version
from benchmark.services.made_elsewhere.records import BadFile
from benchmark.services.plans import Plan, RunRefused
from benchmark.services.runs import act_on, act_on_launch
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.prompt_sets import BadPromptSet
from benchmark.suites.registry import suite_named
from core.api.bodies import read_body
from core.api.description import BODY
from core.api.errors import CannotBeDone
from core.idempotency.requests import PARAMETER, made_once
from core.incoming.shapes import NothingIn
from core.plain import Json
from workers.api.job_actions import EXAMPLE, do_action, why_refused

_NAMES = {"__all__": "body"}
"""Fields of forms that bodies call otherwise."""
WHY_REFUSED = {
    422: ("Well-formed, and refused; `fields` says why.", "The request holds fields that are not as expected.")
}
_LAUNCH = {
    "dataset": 2,
    "endpoints": ["small", "large"],
    "budget": "25.00",
    "methods": ["plain", "cot"],
    "controls": ["renamed"],
}
_MADE = answers(RunDetailOut, 403, *BODY, status=201, why=WHY_REFUSED)


class LaunchableRuns(Runs):
    @extend_schema(
        operation_id="runs_launch",
        tags=["runs"],
        parameters=[SLUG, PARAMETER],
        request={"application/json": LaunchIn},
        examples=[OpenApiExample("Two models by two methods", value=_LAUNCH, request_only=True)],
        responses=_MADE,
    )
    def post(self, request: Request, slug: str) -> Response:
        """Launch a run, as the page does; estimate it first. Admins.

        What is left out is as on a new page. `options` are the settings of the suite, which the dataset names. Of
        several `methods` the run by the first is answered; its `methods` and `controls` name those that were launched
        with it. 422 where the launch is refused, with a sentence for each field.
        """
        access = project_access(request.user, slug, role=Role.ADMIN)
        body = read_body(request, LaunchIn)

        def make() -> str:
            plans = _plans(access.project, body.given)
            return start_runs(by=request.user, plans=plans, now=timezone.now())[0].uid

        return run_answer(run_access(request.user, slug, made(request, make)), status=201)


def _plans(project: Project, given: Mapping[str, Any]) -> list[Plan]:
    """Return the plans of a launch, one by each method. Raises CannotBeDone, RunRefused."""
    suite = suite_of_version(project, str(given["dataset"]), given.get("suite"))
    return _valid(LaunchForm, given, project=project, suite=suite).plans()


def _valid(kind: type[forms.Form], given: Mapping[str, Any], **about: Any) -> Any:
    """Return the form of a page, valid, with these values and else as it is when it is opened. Raises CannotBeDone."""
    blank = kind(**about)
    given, methods = _with_methods(blank, given)
    named = {name: value for name, value in given.items() if name != "options"}
    settings = [setting.name for setting in blank.suite.settings] if hasattr(blank, "suite") else []
    settings = [name for name in settings if name in blank.fields]
    if unknown := [name for name in given.get("options", {}) if name not in settings]:
        expected = ", ".join(settings) or "none"
        raise CannotBeDone({f"options.{name}": [f"There is no such setting; expected {expected}."] for name in unknown})
    if absent := [name for name, value in named.items() if value and name not in blank.fields]:
        raise CannotBeDone({name: ["This version has nothing to choose here; leave it out."] for name in absent})
    form = kind(as_posted(blank, named | given.get("options", {})), **about)
    if not form.is_valid():
        named_so = {methods: "methods"} if methods else {}
        raise CannotBeDone(
            {named_so.get(name, _field(name, settings)): list(map(str, errors)) for name, errors in form.errors.items()}
        )
    return form


def _with_methods(blank: forms.Form, given: Mapping[str, Any]) -> tuple[Json, str]:
    """Return what is given with its methods under the setting that chooses them, and that setting's name where they are
    given. Raises CannotBeDone."""
    setting = blank.suite.method if isinstance(blank, LaunchForm) else None
    if "methods" not in given or setting is None:
        return dict(given), ""
    options = given.get("options") or {}
    if setting.name in options:
        raise CannotBeDone({"methods": [f"options.{setting.name} says the same: leave one of them out."]})
    others = {name: value for name, value in given.items() if name != "methods"}
    return others | {"options": {**options, setting.name: given["methods"]}}, setting.name


def _field(name: str, settings: list[str]) -> str:
    return f"options.{name}" if name in settings else _NAMES.get(name, name)


def refused(error: Exception) -> CannotBeDone:
    """Return the refusal of a launch as the API says it, beside its field where it names one."""
    field = getattr(error, "field", "")
    return CannotBeDone({_NAMES.get(field, field): [str(error)]} if field else str(error))


def made(request: Request, make: Callable[[], str]) -> str:
    """Return what `make` made, now or under the same key before. Raises CannotBeDone."""
    try:
        return made_once(request, make)
    except (RunRefused, BadPromptSet, SuiteFailed) as refusal:
        raise refused(refusal) from refusal


class EstimateOfRun(GenericAPIView):
    @extend_schema(
        operation_id="runs_estimate",
        tags=["runs"],
        parameters=[SLUG],
        request={"application/json": EstimateIn},
        examples=[OpenApiExample("Two models by two methods", value=_LAUNCH | {"ledger": True}, request_only=True)],
        responses=answers(EstimateOut, 403, *BODY, why=WHY_REFUSED),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Estimate what a launch would ask and cost, and what it can show; nothing is made. Admins.

        With `ledger`, which takes longer, also the answers that the ledger has already, which cost nothing.
        """
        access = project_access(request.user, slug, role=Role.ADMIN)
        body = read_body(request, EstimateIn)
        launch = {name: value for name, value in body.given.items() if name != "ledger"}
        try:
            askings = estimates.askings_of_plans(_plans(access.project, launch))
            estimate = estimates.estimate_all(askings, cached_answers if body.ledger else None)
        except (RunRefused, BadPromptSet, SuiteFailed) as refusal:
            raise refused(refusal) from refusal
        return Response(EstimateOut(_estimated(askings, estimate)).data)


def _estimated(askings: Sequence[estimates.Asking], estimate: estimates.Estimate) -> Json:
    total = estimate.total
    return {
        "samples": len(estimate.stories),
        **_sums(total),
        "over_budget": estimates.is_over(askings, total),
        "lines": [
            {
                "model": line.model.name,
                "step": line.step,
                "asked": line.asked.name,
                "method": line.method,
                "control": line.control,
                "in_common": line.shared,
                "too_long": line.too_long,
                **_sums(estimates.sums_of([line])),
            }
            for line in estimate.lines
        ],
        "notes": estimate.notes,
        "can_show": can_show(askings[0].plan, estimate.stories),
    }


def _sums(sums: estimates.Sums) -> Json:
    return {
        "calls": sums.calls,
        "to_make": sums.to_make,
        "in_ledger": sums.cached,
        "tokens": {"input": sums.input_tokens, "output": sums.output_tokens},
        **sums.cost.as_json,
        "most": sums.most.as_json["cost"],
    }


class RunAction(GenericAPIView):
    @extend_schema(
        operation_id="runs_steer",
        tags=["runs"],
        parameters=[SLUG, RUN, ACTION],
        request={"application/json": RunActionIn},
        examples=[EXAMPLE, OpenApiExample("All runs of its launch", value={"launch": True}, request_only=True)],
        responses=answers(RunActionOut, 403, *BODY, why=why_refused("run")),
    )
    def post(self, request: Request, slug: str, run: str, action: str) -> Response:
        """Pauses, resumes or cancels a run with the runs under its controls, or asks its own failed items again
        (retry). Admins.

        `resume` goes on with a paused run, with a new `budget` or the one that it has. With `launch` it is done to all
        runs that were launched together with this one, by a method each. 422 where the run's state does not fit.
        """
        access = run_access(request.user, slug, run, role=Role.ADMIN)
        done: Json = {}

        def do(body: RunActionIn) -> None:
            if body.launch:
                launch = act_on_launch(access.run, action)
                done.update(controls_taken_along=0, runs_of_launch=launch.runs, left=list(launch.left))
            else:
                along = act_on(access.run, action, budget=body.budget)
                done.update(controls_taken_along=along.controls, runs_of_launch=0, left=list(along.left))

        do_action(request, action, do, RunActionIn)
        access.run.job.refresh_from_db()
        answer = run_answer(access)
        answer.data.update(done)
        return answer


class Extend(GenericAPIView):
    @extend_schema(
        operation_id="runs_extend",
        tags=["runs"],
        parameters=[SLUG, RUN, PARAMETER],
        request={"application/json": ExtendIn},
        examples=[OpenApiExample("One more model", value={"endpoints": ["large"]}, request_only=True)],
        responses=answers(RunDetailOut, 403, *BODY, why=WHY_REFUSED),
    )
    def post(self, request: Request, slug: str, run: str) -> Response:
        """Add models, or samples of its dataset, to a run; what is there stays. Admins."""
        access = run_access(request.user, slug, run, role=Role.ADMIN)
        body = read_body(request, ExtendIn)

        def make() -> str:
            more = _valid(ExtendForm, body.given, run=access.run).additions(access.run)
            added = extend_run(
                by=request.user, run=access.run, endpoints=more.endpoints, stories=more.stories, now=timezone.now()
            )
            return str(added)

        made(request, make)
        return run_answer(run_access(request.user, slug, run))


class Judge(GenericAPIView):
    @extend_schema(
        operation_id="runs_judge",
        tags=["runs"],
        parameters=[SLUG, RUN, PARAMETER],
        request={"application/json": JudgeIn},
        examples=[OpenApiExample("Another judge", value={"judge": "large"}, request_only=True)],
        responses=_MADE,
    )
    def post(self, request: Request, slug: str, run: str) -> Response:
        """Have the answers of a run judged anew: another run, of the same answers. Admins.

        Each of further `judges` makes a run of its own, in the same launch; the run by `judge` is answered.
        """
        access = run_access(request.user, slug, run, role=Role.ADMIN)
        body = read_body(request, JudgeIn)

        def make() -> str:
            form = _valid(JudgeForm, body.given, suite=suite_named(access.run.suite))
            plans = form.plans(access.run)
            return start_runs(by=request.user, plans=plans, now=timezone.now())[0].uid

        return run_answer(run_access(request.user, slug, made(request, make)), status=201)


class Again(GenericAPIView):
    @extend_schema(
        operation_id="runs_repeat",
        tags=["runs"],
        parameters=[SLUG, RUN, PARAMETER],
        request={"application/json": NothingIn},
        responses=_MADE,
    )
    def post(self, request: Request, slug: str, run: str) -> Response:
        """Launch a run once more. Answers that the ledger has are not asked for again. Admins."""
        access = run_access(request.user, slug, run, role=Role.ADMIN)
        read_body(request, NothingIn)
        again = made(request, lambda: run_again(by=request.user, run=access.run, now=timezone.now()).uid)
        return run_answer(run_access(request.user, slug, again), status=201)


_FILE = "answers.json"
_FIELDS = {"files": "answers", "__all__": "body"}
"""Fields of the form that bodies call otherwise."""
_EXAMPLE = {"dataset": 2, "model": "acme/large", "answers": {"batch-1/38997889/0": "No"}, "options": {"part": "coarse"}}


class ImportPreview(GenericAPIView):
    @extend_schema(
        operation_id="runs_import_preview",
        tags=["runs"],
        parameters=[SLUG],
        request={"application/json": ImportIn},
        examples=[OpenApiExample("Answers by id", value=_EXAMPLE, request_only=True)],
        responses=answers(ImportPreviewOut, 403, *BODY, why=WHY_REFUSED),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Say what would become of answers that were made elsewhere; nothing is made. Admins.

        `answers` are by the ids that `score_outputs` takes, or by the keys of samples: texts, or texts by step.
        """
        access = project_access(request.user, slug, role=Role.ADMIN)
        form = _form(access.project, read_body(request, ImportIn).given)
        try:
            return Response(ImportPreviewOut(form.preview().summary).data)
        except BadFile as error:
            raise CannotBeDone({"answers": [str(error)]}) from error
        except RunRefused as error:
            raise refused(error) from error


class ImportedRuns(GenericAPIView):
    @extend_schema(
        operation_id="runs_import",
        tags=["runs"],
        parameters=[SLUG, PARAMETER],
        request={"application/json": ImportIn},
        examples=[OpenApiExample("Answers by id", value=_EXAMPLE, request_only=True)],
        responses=answers(RunDetailOut, 403, *BODY, status=201, why=WHY_REFUSED),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Keep answers that were made elsewhere as a run, marked as imported; look at the preview first. Admins."""
        access = project_access(request.user, slug, role=Role.ADMIN)
        given = read_body(request, ImportIn).given

        def make() -> str:
            try:
                return _form(access.project, given).keep(by=request.user, now=timezone.now()).uid
            except BadFile as error:
                raise CannotBeDone({"answers": [str(error)]}) from error

        return run_answer(run_access(request.user, slug, made(request, make)), status=201)


def _form(project: Project, given: Mapping[str, Any]) -> AnswersForm:
    """Return the form of the page with these values, valid. Raises CannotBeDone."""
    about = {"project": project, "suite": suite_of_version(project, str(given["dataset"]), given.get("suite"))}
    blank = AnswersForm(**about)
    fields = {name: blank.field_of(name) for name in given.get("options") or {}}
    if unknown := [name for name, field in fields.items() if not field]:
        raise CannotBeDone({f"options.{name}": ["There is no such setting."] for name in unknown})
    chosen = {name: value for name, value in given.items() if name not in ("options", "answers")}
    if absent := [name for name, value in chosen.items() if value and name not in blank.fields]:
        raise CannotBeDone({name: ["This version has nothing to choose here; leave it out."] for name in absent})
    chosen |= {fields[name]: value for name, value in (given.get("options") or {}).items()}
    file = SimpleUploadedFile(_FILE, json.dumps(given["answers"]).encode())
    form = AnswersForm(as_posted(blank, chosen), MultiValueDict({"files": [file]}), **about)
    if not form.is_valid():
        named = {field: f"options.{name}" for name, field in fields.items()} | _FIELDS
        raise CannotBeDone({named.get(name, name): list(map(str, errors)) for name, errors in form.errors.items()})
    return form
