"""Answers that were made elsewhere: what would become of each, and the run of them, by the form of the page. Admins."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

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
from benchmark.api.description import SLUG
from benchmark.api.launching import WHY_REFUSED, made, refused
from benchmark.api.requests import ImportIn
from benchmark.api.runs import run_answer
from benchmark.api.shapes.imports import ImportPreviewOut
from benchmark.api.shapes.runs import RunDetailOut
from benchmark.forms.answers import AnswersForm
from benchmark.forms.launch import as_posted
from benchmark.services.launching import suite_of_version
from benchmark.services.made_elsewhere.records import BadFile
from benchmark.services.plans import RunRefused
from core.api.bodies import read_body
from core.api.description import BODY
from core.api.refusals import CannotBeDone
from core.idempotency.requests import PARAMETER

_FILE = "answers.json"
_NAMES = {"files": "answers", "__all__": "body"}
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
        named = {field: f"options.{name}" for name, field in fields.items()} | _NAMES
        raise CannotBeDone({named.get(name, name): list(map(str, errors)) for name, errors in form.errors.items()})
    return form
