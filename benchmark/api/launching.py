"""Launching runs with an estimate first, pausing, resuming and cancelling them, and making more of them: the forms
and services of the pages. Admins.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

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
from benchmark.api.shapes import EstimateOut, ImportPreviewOut, RunActionOut, RunDetailOut
from benchmark.forms.answers import AnswersForm
from benchmark.forms.launch import ExtendForm, JudgeForm, LaunchForm, RefusableForm, as_posted
from benchmark.services import estimates
from benchmark.services.cached_answers import cached_answers
from benchmark.services.detectable import can_show
from benchmark.services.extending import extend_run
from benchmark.services.launches import ExtendIn, JudgeIn, LaunchIn, run_again, start_runs, suite_of_version
from benchmark.services.made_elsewhere.files import BadFile
from benchmark.services.plans import Plan, RunRefused
from benchmark.services.runs import act_on, act_on_launch
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.prompt_sets import BadPromptSet
from benchmark.suites.registry import suite_named
from core.api.bodies import read_body
from core.api.description import BODY
from core.api.errors import CannotBeDone
from core.idempotency.requests import PARAMETER, made_once
from core.incoming.shapes import NothingIn, Shape
from core.plain import Json
from workers.api.job_actions import do_action, why_refused

Form = TypeVar("Form", bound=RefusableForm)
WHY_REFUSED = {
    422: ("Well-formed, and refused; `fields` says why.", "The request holds fields that are not as expected.")
}
_FIELDS = {"__all__": "body", "files": "answers"}
"""Fields of forms that bodies call otherwise."""
_LAUNCH = {
    "dataset": 2,
    "endpoints": ["small", "large"],
    "budget": "25.00",
    "methods": ["plain", "cot"],
    "controls": ["renamed"],
}
_IMPORT = {"dataset": 2, "model": "acme/large", "answers": {"batch-1/38997889/0": "No"}, "options": {"part": "coarse"}}


def _described(
    operation: str, parameters: Sequence[Any], shape: type[Shape], success: Any, *examples: Any, **more: Any
) -> Any:
    """Return the description of an operation on runs; `examples` are (name, body)."""
    return extend_schema(
        operation_id=operation,
        tags=["runs"],
        parameters=list(parameters),
        request={"application/json": shape},
        examples=[OpenApiExample(name, value=body, request_only=True) for name, body in examples],
        responses=answers(success, 403, *BODY, **{"why": WHY_REFUSED} | more),
    )


class LaunchableRuns(Runs):
    @_described(
        "runs_launch", [SLUG, PARAMETER], LaunchIn, RunDetailOut, ("Two models by two methods", _LAUNCH), status=201
    )
    def post(self, request: Request, slug: str) -> Response:
        """Launch a run, as the page does; estimate it first. Admins.

        What is left out is as on a new page. `options` are the settings of the suite, which the dataset names. Of
        several `methods` the run by the first is answered; its `methods` and `controls` name those that were launched
        with it. 422 where the launch is refused, with a sentence for each field.
        """
        access = project_access(request.user, slug, role=Role.ADMIN)
        given = read_body(request, LaunchIn).given
        return _made(request, slug, lambda: _started(request, _launch_form(access.project, given).plans()))


def _started(request: Request, plans: Sequence[Plan]) -> str:
    return start_runs(by=request.user, plans=plans, now=timezone.now())[0].uid


def _made(request: Request, slug: str, make: Callable[[], str]) -> Response:
    """Answer the run that `make` made, now or under the same key before. Raises CannotBeDone."""
    with _refusals():
        uid = made_once(request, make)
    return run_answer(run_access(request.user, slug, uid), status=201)


@contextmanager
def _refusals() -> Iterator[None]:
    """Answer the refusal of a launch next to its field."""
    try:
        yield
    except BadFile as error:
        raise CannotBeDone({"answers": [str(error)]}) from error
    except (RunRefused, BadPromptSet, SuiteFailed) as error:
        field = getattr(error, "field", "")
        raise CannotBeDone({_FIELDS.get(field, field): [str(error)]} if field else str(error)) from error


def _launch_form(project: Project, given: Mapping[str, Any]) -> LaunchForm:
    suite = suite_of_version(project, str(given["dataset"]), given.get("suite"))
    return _filled(LaunchForm, given, project=project, suite=suite)


def _filled(kind: type[Form], given: Mapping[str, Any], files: Any = None, **about: Any) -> Form:
    """Return the valid form of a page with these values; others are as on a new page. Raises CannotBeDone."""
    blank = kind(**about)
    own, method = blank.option_fields, getattr(blank, "methods", None)
    options = dict(given.get("options") or {})
    chosen = {name: value for name, value in given.items() if name != "options"}
    if method and "methods" in chosen:
        if method.name in options:
            raise CannotBeDone({"methods": [f"options.{method.name} says the same: leave one of them out."]})
        options[method.name] = chosen.pop("methods")
    if unknown := [name for name in options if name not in own]:
        expected = ", ".join(own) or "none"
        raise CannotBeDone({f"options.{name}": [f"There is no such setting; expected {expected}."] for name in unknown})
    if absent := [name for name, value in chosen.items() if value and name not in blank.fields]:
        raise CannotBeDone({name: ["This version has nothing to choose here; leave it out."] for name in absent})
    data = as_posted(blank, chosen | {own[name]: value for name, value in options.items()})
    form = kind(data, *([files] if files else []), **about)
    if not form.is_valid():
        names = _FIELDS | {field: f"options.{name}" for name, field in own.items()}
        names |= {method.name: "methods"} if method and "methods" in given else {}
        raise CannotBeDone({names.get(name, name): list(map(str, errors)) for name, errors in form.errors.items()})
    return form


class EstimateOfRun(GenericAPIView):
    @_described(
        "runs_estimate", [SLUG], EstimateIn, EstimateOut, ("Two models by two methods", _LAUNCH | {"ledger": True})
    )
    def post(self, request: Request, slug: str) -> Response:
        """Estimate what a launch would ask and cost, and what it can show; nothing is made. Admins.

        With `ledger`, which takes longer, also the answers that the ledger has already, which cost nothing.
        """
        access = project_access(request.user, slug, role=Role.ADMIN)
        body = read_body(request, EstimateIn)
        launch = {name: value for name, value in body.given.items() if name != "ledger"}
        with _refusals():
            askings = estimates.askings_of_plans(_launch_form(access.project, launch).plans())
            estimate = estimates.estimate_all(askings, cached_answers if body.ledger else None)
        total = estimate.total
        answer = {
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
        return Response(EstimateOut(answer).data)


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
    @_described(
        "runs_steer", [SLUG, RUN, ACTION], RunActionIn, RunActionOut,
        ("Going on with more money", {"budget": "25.00"}), ("All runs of its launch", {"launch": True}),
        why=why_refused("run"),
    )  # fmt: skip
    def post(self, request: Request, slug: str, run: str, action: str) -> Response:
        """Pauses, resumes or cancels a run with the runs under its controls, or asks its own failed items again
        (retry). Admins.

        `resume` goes on with a paused run, with a new `budget` or the one that it has. With `launch` it is done to all
        runs that were launched together with this one, by a method each. 422 where the run's state does not fit.
        """
        access = run_access(request.user, slug, run, role=Role.ADMIN)
        done: Json = {}

        def do(body: RunActionIn) -> None:
            act = act_on_launch if body.launch else partial(act_on, budget=body.budget)
            count, left, _ = act(access.run, action)
            along, of_launch = (0, count) if body.launch else (count, 0)
            done.update(controls_taken_along=along, runs_of_launch=of_launch, left=left)

        do_action(request, action, do, RunActionIn)
        access.run.job.refresh_from_db()
        answer = run_answer(access)
        answer.data.update(done)
        return answer


class Extend(GenericAPIView):
    @_described(
        "runs_extend", [SLUG, RUN, PARAMETER], ExtendIn, RunDetailOut, ("One more model", {"endpoints": ["large"]})
    )
    def post(self, request: Request, slug: str, run: str) -> Response:
        """Add models, or samples of its dataset, to a run; what is there stays. Admins."""
        access = run_access(request.user, slug, run, role=Role.ADMIN)
        given = read_body(request, ExtendIn).given

        def make() -> str:
            endpoints, stories = _filled(ExtendForm, given, run=access.run).additions(access.run)
            extend = partial(extend_run, by=request.user, run=access.run, now=timezone.now())
            return str(extend(endpoints=endpoints, stories=stories))

        with _refusals():
            made_once(request, make)
        return run_answer(run_access(request.user, slug, run))


class Judge(GenericAPIView):
    @_described(
        "runs_judge", [SLUG, RUN, PARAMETER], JudgeIn, RunDetailOut, ("Another judge", {"judge": "large"}), status=201
    )
    def post(self, request: Request, slug: str, run: str) -> Response:
        """Have the answers of a run judged anew: another run, of the same answers. Admins.

        Each of further `judges` makes a run of its own, in the same launch; the run by `judge` is answered.
        """
        access = run_access(request.user, slug, run, role=Role.ADMIN)
        given, suite = read_body(request, JudgeIn).given, suite_named(access.run.suite)
        return _made(request, slug, lambda: _started(request, _filled(JudgeForm, given, suite=suite).plans(access.run)))


class Again(GenericAPIView):
    @_described("runs_repeat", [SLUG, RUN, PARAMETER], NothingIn, RunDetailOut, status=201)
    def post(self, request: Request, slug: str, run: str) -> Response:
        """Launch a run once more. Answers that the ledger has are not asked for again. Admins."""
        access = run_access(request.user, slug, run, role=Role.ADMIN)
        read_body(request, NothingIn)
        return _made(request, slug, lambda: run_again(by=request.user, run=access.run, now=timezone.now()).uid)


class ImportPreview(GenericAPIView):
    @_described("runs_import_preview", [SLUG], ImportIn, ImportPreviewOut, ("Answers by id", _IMPORT))
    def post(self, request: Request, slug: str) -> Response:
        """Say what would become of answers that were made elsewhere; nothing is made. Admins.

        `answers` are by the ids that `score_outputs` takes, or by the keys of samples: texts, or texts by step.
        """
        access = project_access(request.user, slug, role=Role.ADMIN)
        form = _import_form(access.project, read_body(request, ImportIn).given)
        with _refusals():
            return Response(ImportPreviewOut(form.preview().summary).data)


class ImportedRuns(GenericAPIView):
    @_described("runs_import", [SLUG, PARAMETER], ImportIn, RunDetailOut, ("Answers by id", _IMPORT), status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Keep answers that were made elsewhere as a run, marked as imported; look at the preview first. Admins."""
        access = project_access(request.user, slug, role=Role.ADMIN)
        given = read_body(request, ImportIn).given
        make = partial(_import_form, access.project, given)
        return _made(request, slug, lambda: make().keep(by=request.user, now=timezone.now()).uid)


def _import_form(project: Project, given: Mapping[str, Any]) -> AnswersForm:
    suite = suite_of_version(project, str(given["dataset"]), given.get("suite"))
    file = SimpleUploadedFile("answers.json", json.dumps(given["answers"]).encode())
    chosen = {name: value for name, value in given.items() if name != "answers"}
    return _filled(AnswersForm, chosen, MultiValueDict({"files": [file]}), project=project, suite=suite)
