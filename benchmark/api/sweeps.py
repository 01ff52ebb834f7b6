"""The sweep of a launch: every model at every level, and which was chosen by a paired test."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.description import answers
from annotation.models import Role
from benchmark.access import run_access
from benchmark.api.description import NO_ACCESS, RUN, SLUG
from benchmark.api.requests import SweepFilter
from benchmark.api.shapes.sweeps import SweepOut
from benchmark.services.sweep_choices import choosing_document, choosings_of
from benchmark.services.sweeps import sweep_of
from core.api.fields import read_query


class Sweep(GenericAPIView):
    @extend_schema(
        operation_id="runs_sweep_read",
        tags=["runs"],
        parameters=[SLUG, RUN, SweepFilter],
        responses=answers(SweepOut, 400, 403, why=NO_ACCESS),
    )
    def get(self, request: Request, slug: str, run: str) -> Response:
        """Every model at every level of the sweep that a run was launched in, by metric group, with the one that was
        chosen and why. That one, else the best, is tested against all others. Of a run of no sweep there are none."""
        runs = sweep_of(run_access(request.user, slug, run, role=Role.ADMIN).run)
        beside = read_query(request, SweepFilter).get("beside")
        groups = [choosing_document(choosing) for choosing in choosings_of(runs, [beside] if beside else [])]
        return Response(SweepOut({"runs": [sweep_run.uid for sweep_run in runs], "groups": groups}).data)
