"""Runs of models: what they are and how they stand."""

from collections.abc import Iterable

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.description import answers
from benchmark.access import RunAccess, closed_in, results_access, run_access
from benchmark.api.description import NO_ACCESS, RUN, SLUG
from benchmark.api.shapes import RunDetailOut, RunOut
from benchmark.controls.chosen import CONTROLS
from benchmark.models import Run, UnmatchedReport
from benchmark.services.conditions import parameters_of, settings_in_words
from benchmark.services.items import numbers_of
from benchmark.services.runs import beside_by_method, missing_rows, progress_rows, run_rows
from benchmark.suites.registry import suite_named
from core.api.fields import Strict, read_query
from core.api.listing import Listing


class Runs(Listing):
    @extend_schema(
        operation_id="runs_list",
        tags=["runs"],
        parameters=[SLUG],
        responses=answers(RunOut(many=True), 400, 403, why=NO_ACCESS),
    )
    def get(self, request: Request, slug: str) -> Response:
        """The runs of a project without archived ones, the newest first, for those to whom it shows results."""
        access = results_access(request.user, slug)
        read_query(request, Strict)
        page = self.paginate_queryset(Run.objects.listed().filter(project=access.project).in_list())
        return self.answer(run_rows(page), RunOut)


class OneRun(GenericAPIView):
    @extend_schema(
        operation_id="runs_read",
        tags=["runs"],
        parameters=[SLUG, RUN],
        responses=answers(RunDetailOut, 403, why=NO_ACCESS),
    )
    def get(self, request: Request, slug: str, run: str) -> Response:
        """A run: what was chosen, how each model stands at each step, and why answers are missing."""
        return run_answer(run_access(request.user, slug, run))


def run_answer(access: RunAccess, status: int = 200) -> Response:
    """Return a run as `RunDetailOut`, as this person may see it."""
    run, closed = access.run, closed_in(access.project, access.run)
    parameters = parameters_of(run)
    if not run.imported:  # of answers made elsewhere the prompts are not known
        levels = {"level": run.level} if suite_named(run.suite).asking.prompting else {}
        parameters |= {"prompt_set": run.prompt_set} | levels
    detail = {
        "entrants": [
            {
                "key": f"{run.uid}.{entrant.pk}",
                "name": entrant.name,
                "asked_as": {name: value for name, value in entrant.spec.items() if name != "base_url"},
            }
            for entrant in run.entrants.all()
        ],
        "methods": _beside(beside_by_method(run)),
        "controls": _beside(
            (control.control, CONTROLS[control.control].title, control)
            for control in run.controls.select_related("job").order_by("pk")
        ),
        "settings": settings_in_words(run),
        "parameters": parameters,
        "progress": progress_rows(run, now=timezone.now()),
        "missing": missing_rows(run, closed),
        "left_out": UnmatchedReport.objects.filter(run=run)
        .values("unmatched", "double", "missing", "unanswered")
        .first(),
        "withheld": len(closed & numbers_of(run)) if closed else 0,
    }
    return Response(RunDetailOut(run_rows([run])[0] | detail).data, status=status)


def _beside(runs: Iterable[tuple[str, str, Run]]) -> list[dict[str, str]]:
    return [{"name": name, "title": title, "run": run.uid, "state": run.job.standing} for name, title, run in runs]
