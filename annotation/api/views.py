"""The API: the same access functions and services as the pages, another form."""

from __future__ import annotations

from django.http import Http404, StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import generics, status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import project_access, proposition_of, seat_of, story_of
from annotation.api import serializers as shapes
from annotation.api.errors import ApiError
from annotation.domain.schema import SCHEMAS
from annotation.models import (
    GoldLabel,
    Membership,
    Method,
    Project,
    Proposition,
    Role,
    Story,
    Vote,
    adjudication_queue,
    workload,
)
from annotation.services import adjudication
from annotation.services.agreement import agreement_report
from annotation.services.gold_export import omnitom_lines, vote_lines
from annotation.services.votes import Change, Refused, save_votes

ERRORS = {code: ApiError for code in (400, 401, 403, 404, 405, 406, 415)}
SPLIT = OpenApiParameter("split", str, description="Only stories of this split.")
CATEGORY = OpenApiParameter("category", str, description="Only stories of this category.")


class Conflict(APIException):
    status_code = status.HTTP_409_CONFLICT
    default_detail = "The object changed meanwhile."


def _query(request: Request, name: str) -> str | None:
    """A text of the query string. NUL characters reach no database. Raises ValidationError."""
    value = request.query_params.get(name, "")
    if "\x00" in value or len(value) > 200:
        raise ValidationError({name: ["Expected at most 200 characters, none of them NUL."]})
    return value or None


def _roles(user) -> dict[int, str]:
    return dict(Membership.objects.filter(user=user).values_list("project_id", "role"))


@extend_schema_view(get=extend_schema(operation_id="projects_list", responses={200: shapes.ProjectOut, **ERRORS}))
class Projects(generics.ListAPIView):
    """Projects that you are a member of."""

    serializer_class = shapes.ProjectOut

    def get_queryset(self):
        return Project.objects.visible_to(self.request.user).order_by("slug")

    def get_serializer_context(self) -> dict:
        return super().get_serializer_context() | {"roles": _roles(self.request.user)}


class OneProject(APIView):
    @extend_schema(operation_id="projects_read", responses={200: shapes.ProjectOut, **ERRORS})
    def get(self, request: Request, slug: str) -> Response:
        """One project, with its rules and your role."""
        access = project_access(request.user, slug)
        context = {"roles": {access.project.pk: access.role.value}}
        return Response(shapes.ProjectOut(access.project, context=context).data)


@extend_schema_view(
    get=extend_schema(
        operation_id="stories_list", parameters=[SPLIT, CATEGORY], responses={200: shapes.StoryOut, **ERRORS}
    )
)
class Stories(generics.ListAPIView):
    """Stories of a project, in order of number."""

    serializer_class = shapes.StoryOut
    queryset = Story.objects.none()

    def get_queryset(self):
        access = project_access(self.request.user, self.kwargs["slug"])
        rows = Story.objects.filter(project=access.project).select_related("category", "split").order_by("number")
        return rows.in_split(_query(self.request, "split")).in_category(_query(self.request, "category"))


@extend_schema_view(
    get=extend_schema(operation_id="propositions_list", responses={200: shapes.PropositionOut, **ERRORS})
)
class Propositions(generics.ListAPIView):
    """The belief table of a story, in its order."""

    serializer_class = shapes.PropositionOut
    queryset = Proposition.objects.none()

    def get_queryset(self):
        access = project_access(self.request.user, self.kwargs["slug"])
        return Proposition.objects.gold_of(story_of(access, self.kwargs["story"]))


class Assignments(APIView):
    @extend_schema(operation_id="assignments_list", responses={200: shapes.AssignmentOut(many=True), **ERRORS})
    def get(self, request: Request, slug: str) -> Response:
        """The stories that you label, with your progress."""
        access = project_access(request.user, slug)
        dimensions = len(SCHEMAS[access.project.schema_version].dimensions)
        rows = workload.of_annotator(access.project, request.user, dimensions)
        return Response(shapes.AssignmentOut(rows, many=True).data)


class Votes(APIView):
    @extend_schema(operation_id="votes_list", responses={200: shapes.VoteOut(many=True), **ERRORS})
    def get(self, request: Request, slug: str, story: str) -> Response:
        """Your own standing votes on a story. Nobody else's are ever shown here."""
        seat = seat_of(request.user, slug, story)
        rows = Vote.objects.cast().filter(annotator=request.user, proposition__table__story_id=seat.story_id)
        rows = rows.select_related("proposition").order_by("proposition__position", "dimension")
        return Response(shapes.VoteOut(rows, many=True).data)

    @extend_schema(operation_id="votes_save", request=shapes.ChangesIn, responses={200: shapes.ChangesOut, **ERRORS})
    def post(self, request: Request, slug: str, story: str) -> Response:
        """Saves up to 200 changes, all or none. A change sent twice counts once; the later of two by its own time stands."""
        seat = seat_of(request.user, slug, story)
        form = shapes.ChangesIn(data=request.data)
        form.is_valid(raise_exception=True)
        changes = [Change(**change) for change in form.validated_data["changes"]]
        try:
            saved = save_votes(by=request.user, seat=seat, changes=changes, now=timezone.now())
        except Refused as error:
            raise ValidationError({"changes": [str(error)]}) from error
        return Response(shapes.ChangesOut({"saved": saved}).data)


@extend_schema_view(
    get=extend_schema(
        operation_id="gold_list",
        parameters=[OpenApiParameter("method", str, enum=Method.values), OpenApiParameter("dimension", str)],
        responses={200: shapes.GoldOut, **ERRORS},
    )
)
class Gold(generics.ListAPIView):
    """Gold labels with their lineage, for experts and admins; stories that you still label yourself are left out."""

    serializer_class = shapes.GoldOut
    queryset = GoldLabel.objects.none()

    def get_queryset(self):
        access = project_access(self.request.user, self.kwargs["slug"], role=Role.EXPERT)
        dimensions = len(SCHEMAS[access.project.schema_version].dimensions)
        own = workload.of_annotator(access.project, self.request.user, dimensions)
        unfinished = [row["story"].pk for row in own if not row["finished"]]
        rows = adjudication_queue.of_project(access.project).exclude(proposition__table__story__in=unfinished)
        for name in ("method", "dimension"):
            if value := _query(self.request, name):
                rows = rows.filter(**{name: value})
        rows = rows.select_related("proposition__table__story", "decided_by")
        return rows.order_by("proposition__table__story__number", "proposition__position", "dimension")


class Decision(APIView):
    @extend_schema(
        operation_id="gold_decide",
        request=shapes.DecisionIn,
        responses={200: shapes.GoldOut, 409: ApiError, **ERRORS},
    )
    def post(self, request: Request, slug: str, proposition: str, dimension: str) -> Response:
        """Adjudicates one cell. 409 where somebody changed it after the revision that you saw; nothing is overwritten."""
        access = project_access(request.user, slug, role=Role.EXPERT)
        row = proposition_of(access, proposition)
        if dimension not in SCHEMAS[access.project.schema_version]:
            raise Http404("There is no such dimension.")
        form = shapes.DecisionIn(data=request.data)
        form.is_valid(raise_exception=True)
        try:
            gold = adjudication.adjudicate(
                by=request.user, proposition=row, dimension=dimension, now=timezone.now(), **form.validated_data
            )
        except adjudication.DecidedMeanwhile as error:
            raise Conflict(str(error)) from error
        except adjudication.AdjudicationRefused as error:
            raise ValidationError({"label": [str(error)]}) from error
        return Response(shapes.GoldOut(gold).data)


class Agreement(APIView):
    @extend_schema(
        operation_id="agreement_read", parameters=[SPLIT, CATEGORY], responses={200: shapes.AgreementOut, **ERRORS}
    )
    def get(self, request: Request, slug: str) -> Response:
        """Agreement between annotators, over cells that have all their votes."""
        access = project_access(request.user, slug, role=Role.EXPERT)
        split, category = _query(request, "split"), _query(request, "category")
        return Response(agreement_report(project=access.project, split=split, category=category))


class Export(APIView):
    @extend_schema(
        operation_id="export_read",
        parameters=[OpenApiParameter("kind", str, OpenApiParameter.PATH, enum=["omnitom", "long-csv"])],
        responses={
            (200, "application/jsonlines"): OpenApiTypes.STR,
            (200, "text/csv"): OpenApiTypes.STR,
            **{code: OpenApiResponse(ApiError) for code in ERRORS},
        },
    )
    def get(self, request: Request, slug: str, kind: str) -> StreamingHttpResponse:
        """Gold records or every vote with its lineage, as a stream."""
        access = project_access(request.user, slug, role=Role.ADMIN)
        kinds = {"omnitom": (omnitom_lines, "application/jsonlines"), "long-csv": (vote_lines, "text/csv")}
        if kind not in kinds:
            raise Http404("There is no such format.")
        lines, content_type = kinds[kind]
        return StreamingHttpResponse(lines(access.project), content_type=content_type)
