"""Studies of alignment, for those who see their pages."""

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
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
from core.plain import plain
from judge.access import aligns_still, closed_tables, study_of, visible_studies
from judge.models import AlignmentStudy
from judge.services.alignment_export import document_of_table, tables_of
from judge.services.alignment_report import agreement_report, open_tables, progress_of
from judge.services.settled_tables import settled_probabilities

CLUSTERS = "what the suite resamples whole (stories, of some suites conversations)"


class StudyOut(serializers.ModelSerializer):
    class Meta:
        model = AlignmentStudy
        fields: tuple[str, ...] = (
            "uid",
            "name",
            "seed",
            "overlap",
            "most_links",
            "blind_share",
            "audience",
            "created_at",
            "closed_at",
        )
        read_only_fields = fields


class StudyDetailOut(StudyOut):
    class Meta(StudyOut.Meta):
        fields = (*StudyOut.Meta.fields, "progress", "open", "agreement")
        read_only_fields = fields

    progress = inline_serializer(
        "StudyProgressOut",
        {
            "tables": serializers.IntegerField(),
            "settled": serializers.IntegerField(help_text="Tables of which every row is settled."),
            "open_rows": serializers.IntegerField(help_text="Rows without a majority, which wait for an expert."),
            "open_tables": serializers.IntegerField(help_text="Tables with such rows."),
            "handed_in": serializers.IntegerField(help_text="Alignments that people have handed in."),
            "wanted": serializers.IntegerField(help_text="Alignments that the study asks for."),
            "free": serializers.IntegerField(help_text="Alignments that nobody has been given."),
        },
        read_only=True,
    )
    open = inline_serializer(
        "OpenTablesOut",
        {
            "tables": serializers.ListField(
                child=serializers.CharField(), help_text="uids of tables that you may decide."
            ),
            "own": serializers.IntegerField(help_text="Tables that you aligned yourself, and so may not decide."),
            "busy": serializers.IntegerField(help_text="Tables on whose texts you still have work."),
            "deciders": serializers.ListField(child=serializers.CharField(), help_text="Who may decide your own."),
            "stuck": serializers.IntegerField(help_text="Tables of your own that no member may decide."),
        },
        read_only=True,
        help_text="Tables with open rows, as far as you may decide them.",
    )
    agreement = serializers.DictField(
        read_only=True, help_text=f"How far people agree, with intervals over {CLUSTERS}."
    )


class AnswerOut(serializers.Serializer):
    links = serializers.ListField(child=serializers.CharField(), help_text="The linked rows of the other table.")
    verdict = serializers.CharField(help_text="none or unclear; empty where rows are linked.")
    match_count = serializers.IntegerField(allow_null=True, help_text="null where the answer is unclear.")
    method = serializers.CharField(help_text="How the row was settled; empty in a person's own answer.")


class AlignmentOut(serializers.Serializer):
    by = serializers.CharField(help_text="A user name, or settled: what came of all alignments.")
    at = serializers.DateTimeField()
    answers = serializers.DictField(
        child=AnswerOut(), help_text="By row: p1, p2, … of the predictions, g1, g2, … of gold."
    )


class AlignedTableOut(serializers.Serializer):
    table = serializers.CharField(help_text="uid of the table.")
    story = serializers.IntegerField(
        help_text="Number of what the table is of in its dataset: a story, of some suites a question."
    )
    category = serializers.CharField()
    place = serializers.IntegerField(help_text="The place in which it was drawn of its model and category.")
    probability = serializers.FloatField(help_text="With which it was drawn into the study’s sample.")
    settled_probability = serializers.FloatField(
        required=False,
        allow_null=True,
        help_text="With which it is in the sample of the tables that are settled, by which calibration weights it. "
        "null where it is not settled, or settled before an earlier table of its model and category; left out while "
        "you still align.",
    )
    model = serializers.CharField(required=False, help_text="Whose table it is; left out while you still align.")
    key = serializers.CharField(required=False, help_text="The table in the frame; left out while you still align.")
    origin = serializers.DictField(required=False, help_text="Where it comes from; left out while you still align.")
    predictions = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()), help_text="Rows of actor and belief."
    )
    gold = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()), help_text="Rows of actor and belief."
    )
    alignments = AlignmentOut(many=True, help_text="Those that were handed in, then what was settled.")
    withheld = serializers.CharField(
        help_text="Why nothing of the table is here: you have open work on what it is of. Empty where it is."
    )


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
        access, alignment_study = study_of(request.user, slug, study)
        read_query(request, Strict)
        waiting = open_tables(alignment_study, request.user, but=open_work(access, before=Work.ALIGNED_ROWS))
        document = StudyOut(alignment_study).data | {
            "progress": plain(progress_of(alignment_study)),
            "open": waiting | {"tables": [table.task.uid for table in waiting["tables"]]},
            "agreement": agreement_report(alignment_study)[0].as_json(),
        }
        return Response(document)


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
        access, alignment_study = study_of(request.user, slug, study, role=Role.ADMIN)
        read_query(request, Strict)
        named = not aligns_still(request.user, alignment_study)
        page = self.paginate_queryset(tables_of(alignment_study))
        sampled = settled_probabilities(alignment_study) if named else {}
        closed = closed_tables(access, alignment_study)
        tables = [document_of_table(alignment_study, table, sampled, named=named, closed=closed) for table in page]
        return self.answer(tables, AlignedTableOut)
