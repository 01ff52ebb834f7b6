"""Watches of judges and models, for admins."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import project_access
from annotation.api.description import SLUG, answers
from annotation.forms.votes import UID
from annotation.models import Role
from benchmark.api.shapes.watches import WatchDetailOut, WatchOut
from benchmark.models import AnchorWatch
from benchmark.services.anchor_charts import report_of_watch
from benchmark.services.anchor_documents import document_of_watch, line_of_watch
from core.api.description import path_parameter
from core.api.fields import Strict, read_query
from core.api.listing import Listing
from core.plain import plain

WATCH = path_parameter("watch", "uid of the watch.", {"type": "string", "pattern": UID})


class Watches(Listing):
    @extend_schema(
        operation_id="watches_list",
        tags=["runs"],
        parameters=[SLUG],
        responses=answers(WatchOut(many=True), 400, 403),
    )
    def get(self, request: Request, slug: str) -> Response:
        """The judges and models of a project that are asked the same again on a schedule, newest first. Admins."""
        access = project_access(request.user, slug, role=Role.ADMIN)
        read_query(request, Strict)
        rows = AnchorWatch.objects.filter(project=access.project).select_related("run", "asked")
        return self.answer([plain(line_of_watch(watch)) for watch in self.paginate_queryset(rows)], WatchOut)


class OneWatch(GenericAPIView):
    @extend_schema(
        operation_id="watches_read",
        tags=["runs"],
        parameters=[SLUG, WATCH],
        responses=answers(WatchDetailOut, 400, 403),
    )
    def get(self, request: Request, slug: str, watch: str) -> Response:
        """A watch with its chart, every repeat, and what was noticed. Admins."""
        access = project_access(request.user, slug, role=Role.ADMIN)
        read_query(request, Strict)
        rows = AnchorWatch.objects.select_related("run__dataset", "run__judge", "asked")
        anchor_watch = get_object_or_404(rows, project=access.project, uid=watch)
        document = document_of_watch(report_of_watch(anchor_watch, now=timezone.now()))
        return Response(WatchDetailOut(document.as_json()).data)
