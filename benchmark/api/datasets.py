"""Versions of a project's gold and imported copies: what runs are on."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import project_access
from annotation.api.description import answers
from annotation.models import Role
from benchmark.access import dataset_of
from benchmark.api.description import SLUG, VERSION
from benchmark.api.shapes.datasets import BenchmarkOut, DatasetDetailOut, DatasetOut
from benchmark.models import Dataset
from benchmark.services.datasets import samples_by
from benchmark.suites.contract import Suite
from benchmark.suites.registry import suites, suites_of
from core.api.fields import Strict, read_query
from core.api.listing import Listing
from core.plain import Json


class Datasets(Listing):
    @extend_schema(
        operation_id="datasets_list",
        tags=["runs"],
        parameters=[SLUG],
        responses=answers(DatasetOut(many=True), 400, 403),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Published versions of the gold and imported copies, the newest first. Experts and admins."""
        access = project_access(request.user, slug, role=Role.EXPERT)
        read_query(request, Strict)
        rows = Dataset.objects.filter(project=access.project).select_related("created_by")
        return self.page(rows.counting_runs().order_by("-version"), DatasetOut)


class Benchmarks(GenericAPIView):
    pagination_class = None  # as many as there are suites

    @extend_schema(
        operation_id="benchmarks_list",
        tags=["runs"],
        parameters=[SLUG],
        responses=answers(BenchmarkOut(many=True), 400, 403),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Benchmarks whose copies become datasets: where users get one, which files are read, under which terms.
        Experts and admins."""
        project_access(request.user, slug, role=Role.EXPERT)
        read_query(request, Strict)
        importable = [suite for suite in suites().values() if suite.copied.load]
        return Response(BenchmarkOut(importable, many=True).data)


class OneDataset(GenericAPIView):
    @extend_schema(
        operation_id="datasets_read",
        tags=["runs"],
        parameters=[SLUG, VERSION],
        responses=answers(DatasetDetailOut, 403),
    )
    def get(self, request: Request, slug: str, version: int) -> Response:
        """A version with its origin, its splits and categories, and what a run on it lets choose. Experts and
        admins."""
        dataset: Any = dataset_of(project_access(request.user, slug, role=Role.EXPERT), version)
        dataset.runs_count = dataset.runs.originals().count()
        dataset.splits, dataset.categories = (samples_by(dataset, name) for name in ("split", "category"))
        able = suites_of(dataset.suite, dataset.schema)
        dataset.suites, dataset.asked = [suite.name for suite in able], _asked(able[0]) if able else None
        return Response(DatasetDetailOut(dataset).data)


def _asked(suite: Suite) -> Json:
    return {
        "suite": suite.name,
        "title": suite.title,
        "steps": suite.launched,
        "settings": [
            {
                "name": setting.name,
                "label": setting.label,
                "default": setting.default,
                "choices": [choice for choice, _ in setting.choices],
            }
            for setting in suite.settings
        ],
    }
