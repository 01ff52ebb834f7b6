"""Agreement and export."""

from functools import partial

from django.http import Http404, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import ProjectAccess, check_aggregate, check_whole_gold, project_access
from annotation.api.corpus import StoryFilter
from annotation.api.description import EXPORT_FORMAT, SLUG, answers, operation
from annotation.domain.formats import GOLD, STREAMED, VOTES
from annotation.models import Role
from annotation.services.gold_export import export_lines
from core.api.fields import Ends, Strict, read_query
from core.plain import Json, plain
from core.views.pages import streamed


class ExportOptions(Strict):
    complete = serializers.ChoiceField(
        ["true"], required=False, help_text=f"{GOLD.key}: only stories without an unlabelled cell."
    )
    pseudonyms = serializers.ChoiceField(
        ["true"], required=False, help_text=f"{VOTES.key}: annotators as A1, A2, … instead of user names."
    )


_Share = partial(serializers.FloatField, allow_null=True)
_MEASURES = ("strict", "pairwise", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1")


class MeasureOut(serializers.Serializer):
    """Shares are fractions; what is undefined is null, with a reason."""

    cells = serializers.IntegerField()
    agree = serializers.IntegerField()
    strict = _Share()
    pairwise = _Share()
    fleiss_kappa = _Share()
    krippendorff_alpha = _Share()
    gwet_ac1 = _Share()
    interval = inline_serializer("Intervals", {name: Ends() for name in _MEASURES})
    method = serializers.CharField()
    reasons = serializers.DictField(child=serializers.CharField(), help_text="Why a figure or its interval is null.")
    reason = serializers.CharField(required=False, help_text="The first of them.")


class AgreementOut(serializers.Serializer):
    stories = serializers.IntegerField()
    propositions = serializers.IntegerField()
    annotators = serializers.IntegerField()
    incomplete = serializers.IntegerField(help_text="Cells that still wait for votes; they are not measured.")
    overall = MeasureOut()
    dimensions = serializers.DictField(child=MeasureOut())


_PAIR = {
    "annotators": serializers.ListField(child=serializers.CharField(), min_length=2, max_length=2),
    "cells": serializers.IntegerField(help_text="Cells that both labelled."),
    "agree": serializers.IntegerField(),
    "cohens_kappa": _Share(help_text="The mean over dimensions."),
    "reason": serializers.CharField(allow_null=True),
}


class AgainstResolvedOut(serializers.Serializer):
    annotator = serializers.CharField()
    cells = serializers.IntegerField(help_text="Settled cells that the annotator labelled.")
    agree = serializers.IntegerField()


class AgainstOthersOut(AgainstResolvedOut):
    cells = serializers.IntegerField(help_text="Cells that the annotator labelled and that are settled without them.")
    votes = serializers.IntegerField(help_text="Settled by the other votes.")
    expert = serializers.IntegerField(help_text="Settled by an expert.")
    open = serializers.IntegerField(help_text="Not settled without the annotator; they do not count.")


class AnnotatorsOut(serializers.Serializer):
    """Agreement of annotators: by annotator, then by dimension."""

    pairs = inline_serializer("PairOut", _PAIR, many=True)
    against_others = serializers.DictField(child=serializers.DictField(child=AgainstOthersOut()))
    against_resolved = serializers.DictField(child=serializers.DictField(child=AgainstResolvedOut()))


class Agreement(GenericAPIView):
    @operation("agreement_read", "results", StoryFilter, answer=AgreementOut, errors=(400, 403))
    def get(self, request: Request, slug: str) -> Response:
        """Agreement between annotators over the cells that have all their votes. Experts and admins.

        404 where the project has no such split or category.
        """
        from annotation.services.agreement import agreement_report  # the statistics libraries take a second to load

        access, chosen = _chosen(request, slug)
        return Response(plain(agreement_report(project=access.project, **chosen)))


class Annotators(GenericAPIView):
    @operation("agreement_annotators", "results", StoryFilter, answer=AnnotatorsOut, errors=(400, 403))
    def get(self, request: Request, slug: str) -> Response:
        """Pairs of annotators, and each annotator against the settled labels by dimension. Experts and admins.

        `against_others` are the labels that stand without the annotator's own vote and decision; `against_resolved`
        contain the annotator's own vote, which flatters. 404 where the project has no such split or category.
        """
        from annotation.services.agreement import annotator_report  # the statistics libraries take a second to load

        access, chosen = _chosen(request, slug)
        return Response(plain(annotator_report(project=access.project, **chosen)))


def _chosen(request: Request, slug: str) -> tuple[ProjectAccess, Json]:
    """The project, and the stories that the query asks for, if their figures may be shown to this person."""
    access = project_access(request.user, slug, role=Role.EXPERT)
    chosen = read_query(request, StoryFilter)
    for name, rows in (("split", access.project.splits), ("category", access.project.categories)):
        if name in chosen and not rows.filter(name=chosen[name]).exists():
            raise Http404(f"{access.project.name} has no {name} {chosen[name]!r}.")
    check_aggregate(access, split=chosen.get("split"), category=chosen.get("category"))
    return access, chosen


class JSONLines(BaseRenderer):
    """Media type for content negotiation alone: the view streams."""

    media_type = GOLD.media_type
    format = "file"


class CSV(BaseRenderer):
    media_type = VOTES.media_type
    format = "file"


class Export(GenericAPIView):
    RENDERERS = {GOLD.key: [JSONLines], VOTES.key: [CSV]}

    def get_renderers(self) -> list[BaseRenderer]:
        chosen = self.RENDERERS.get(self.kwargs.get("kind", ""), [JSONLines, CSV])
        return [renderer() for renderer in chosen]

    @extend_schema(
        operation_id="export_read",
        tags=["results"],
        parameters=[SLUG, EXPORT_FORMAT, ExportOptions],
        responses={
            (200, GOLD.media_type): OpenApiResponse(OpenApiTypes.STR, "One JSON record a line, a line a story."),
            (200, VOTES.media_type): OpenApiResponse(OpenApiTypes.STR, "A header, then one row a vote."),
            **{(code, "application/json"): answer for code, answer in answers(None, 400, 403).items() if code != 200},
        },
    )
    def get(self, request: Request, slug: str, kind: str) -> StreamingHttpResponse:
        """Gold as one record a story, or every vote with its lineage (long-csv), as a stream. Admins without open work
        on a story.

        Cells that start like a spreadsheet formula are defused in CSV.
        """
        access = project_access(request.user, slug, role=Role.ADMIN)
        options = read_query(request, ExportOptions)
        check_whole_gold(access)
        if kind not in STREAMED:
            raise Http404(f"There is no format {kind}; expected {' or '.join(STREAMED)}.")
        chosen = STREAMED[kind]
        flags = {"complete_only": "complete" in options, "pseudonyms": "pseudonyms" in options}
        lines = export_lines(access.project, chosen, **flags)
        return streamed(lines, chosen.file_name(slug), f"{chosen.media_type}; charset=utf-8")
