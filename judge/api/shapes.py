"""Shapes of answers about the alignment of tables by people."""

from __future__ import annotations

from rest_framework import serializers

from judge.models import AlignmentStudy

CLUSTERS = "what the suite resamples whole (stories, of some suites conversations)"


class StudyOut(serializers.ModelSerializer):
    class Meta:
        model = AlignmentStudy
        fields = ("uid", "name", "seed", "overlap", "most_links", "blind_share", "audience", "created_at", "closed_at")
        read_only_fields = fields


class StudyProgressOut(serializers.Serializer):
    tables = serializers.IntegerField()
    settled = serializers.IntegerField(help_text="Tables of which every row is settled.")
    open_rows = serializers.IntegerField(help_text="Rows without a majority, which wait for an expert.")
    open_tables = serializers.IntegerField(help_text="Tables with such rows.")
    handed_in = serializers.IntegerField(help_text="Alignments that people have handed in.")
    wanted = serializers.IntegerField(help_text="Alignments that the study asks for.")
    free = serializers.IntegerField(help_text="Alignments that nobody has been given.")


class OpenTablesOut(serializers.Serializer):
    tables = serializers.ListField(
        source="uids", child=serializers.CharField(), help_text="uids of tables that you may decide."
    )
    own = serializers.IntegerField(help_text="Tables that you aligned yourself, and so may not decide.")
    busy = serializers.IntegerField(help_text="Tables on whose texts you still have work.")
    deciders = serializers.ListField(child=serializers.CharField(), help_text="Who may decide your own.")
    stuck = serializers.IntegerField(help_text="Tables of your own that no member may decide.")


class StudyDetailOut(StudyOut):
    class Meta(StudyOut.Meta):
        fields = (*StudyOut.Meta.fields, "progress", "open", "agreement")
        read_only_fields = fields

    progress = serializers.SerializerMethodField()
    open = serializers.SerializerMethodField(help_text="Tables with open rows, as far as you may decide them.")
    agreement = serializers.SerializerMethodField(help_text=f"How far people agree, with intervals over {CLUSTERS}.")

    def get_progress(self, study: AlignmentStudy) -> StudyProgressOut:
        return StudyProgressOut(self.context["progress"]).data

    def get_open(self, study: AlignmentStudy) -> OpenTablesOut:
        return OpenTablesOut(self.context["open"]).data

    def get_agreement(self, study: AlignmentStudy) -> serializers.DictField:
        return self.context["agreement"]


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
