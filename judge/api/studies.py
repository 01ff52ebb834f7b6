"""Studies of alignment, for those who see their pages."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import open_work, project_access
from annotation.api.description import SLUG, answers
from annotation.forms.votes import UID
from annotation.models import Role
from annotation.services.open_work import Work
from core.api.description import path_parameter
from core.api.fields import Strict, read_query
from core.api.listing import Listing
from judge.access import aligns_still, closed_tables, study_of, visible_studies
from judge.api.shapes import AlignedTableOut, StudyDetailOut, StudyOut
from judge.services.alignment_export import document_of_table, tables_of
from judge.services.alignment_report import agreement_report, progress_of
from judge.services.deciding import open_tables
from judge.services.settled_tables import settled_probabilities

STUDY = path_parameter("study", "uid of the study.", {"type": "string", "pattern": UID})


class Studies(Listing):
    @extend_schema(
        operation_id="alignment_studies_list",
        tags=["alignment"],
        parameters=[SLUG],
        responses=answers(StudyOut(many=True), 400),
    )
    def get(self, request: Request, slug: str) -> Response:
        """The studies in which people align models' tables with gold, newest first: those for your role, as the page
        lists them; none for annotators."""
        access = project_access(request.user, slug)
        read_query(request, Strict)
        return self.page(visible_studies(access), StudyOut)


class OneStudy(GenericAPIView):
    @extend_schema(
        operation_id="alignment_studies_read",
        tags=["alignment"],
        parameters=[SLUG, STUDY],
        responses=answers(StudyDetailOut, 400, 403),
    )
    def get(self, request: Request, slug: str, study: str) -> Response:
        """A study, how far it is and how far its people agree. Experts and admins, as far as the study is for them."""
        access = study_of(request.user, slug, study)
        alignment_study = access.study
        read_query(request, Strict)
        waiting = open_tables(alignment_study, request.user, but=open_work(access.project, before=Work.ALIGNED_ROWS))
        counts = {
            "progress": progress_of(alignment_study),
            "open": waiting,
            "agreement": agreement_report(alignment_study).as_json(),
        }
        return Response(StudyDetailOut(alignment_study, context=counts).data)


class Tables(Listing):
    @extend_schema(
        operation_id="alignment_tables_list",
        tags=["alignment"],
        parameters=[SLUG, STUDY],
        responses=answers(AlignedTableOut(many=True), 400, 403),
    )
    def get(self, request: Request, slug: str, study: str) -> Response:
        """The tables of a study with every answer that was handed in, what was settled, and where they come from.
        Admins; whose tables they are is left out while you still align in the study, and all of a table while you have
        open work on its story."""
        access = study_of(request.user, slug, study, role=Role.ADMIN)
        read_query(request, Strict)
        named = not aligns_still(access)
        page = self.paginate_queryset(tables_of(access.study))
        sampled = settled_probabilities(access.study) if named else {}
        options = {"named": named, "closed": closed_tables(access)}
        tables = [document_of_table(access.study, table, sampled, **options).as_json() for table in page]
        return self.answer(tables, AlignedTableOut)
