"""Shapes of answers about judges beside people."""

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.description import SLUG, answers
from core.api.errors import refusing
from core.api.fields import Pattern, Strict, read_query
from judge.access import calibrated_study
from judge.api.studies import CLUSTERS, STUDY
from judge.services.calibration import calibration_document, reports_of
from judge.services.panels import TOO_FEW, bridge_document, panel_document
from judge.services.settling import Refused


class PanelFilter(Strict):
    own = serializers.ChoiceField(["true"], required=False, help_text="Judges vote on models of their family, too.")


_VERSION = r"^[0-9a-f]{1,64}$"


class BridgeFilter(Strict):
    old = Pattern(_VERSION, help_text="Version of the old judge; its beginning is enough.")
    new = Pattern(_VERSION, help_text="Version of the new judge; its beginning is enough.")


class RivalOut(serializers.Serializer):
    name = serializers.CharField()
    agreement = serializers.DictField(help_text="Its agreement with people by table, with its interval.")
    difference = serializers.DictField(help_text="Its agreement less the rival's, over rows with verdicts of both.")
    p = serializers.FloatField(
        allow_null=True, help_text=f"Of a sign-flip test over {CLUSTERS}; null where none can be."
    )
    adjusted = serializers.FloatField(allow_null=True, help_text="p after Holm's correction over all pairs of judges.")


class JudgeReportOut(serializers.Serializer):
    judge = serializers.CharField()
    version = serializers.CharField()
    level = serializers.IntegerField(allow_null=True, help_text="Of its prompt; null where it reads none.")
    runs = serializers.ListField(child=serializers.CharField(), help_text="uids of the runs that it judged.")
    aligned_tables = serializers.IntegerField(help_text="Tables that people aligned and it judged.")
    known = serializers.IntegerField(help_text="Rows of them on which both have a verdict.")
    tables = serializers.DictField(child=serializers.IntegerField(), help_text="Tables in no agreement, by why.")
    self_test = serializers.CharField(help_text="Outcome of its contrast self-test.")
    price = serializers.FloatField(allow_null=True, help_text="US dollars a table; null where unknown.")
    calibration = serializers.DictField(help_text="Agreement overall and by group, confusion of MatchCounts, flips.")
    differing = serializers.DictField(help_text="Whether its error differs by model, and the test of that.")
    corrected = serializers.DictField(help_text="By model: scores without its error, with intervals.")
    reason = serializers.CharField(help_text="What the paired test says of it beside the other judges.")
    caution = serializers.CharField(
        allow_null=True, help_text="What that test takes for granted, or why it can show nothing."
    )
    highest = serializers.CharField(
        allow_null=True, help_text="The same in words; null where another judge agrees more."
    )
    without_optimism = serializers.DictField(
        allow_null=True,
        help_text="Its agreement, corrected for choosing the highest; null where another judge agrees more.",
    )
    rivals = RivalOut(many=True, help_text="Every other judge of the study, paired with it.")


class WordsOut(serializers.Serializer):
    score = serializers.CharField(help_text="What is corrected, as F1.")
    table = serializers.CharField(help_text="What one table is of: story, of some suites question.")


class CalibrationOut(WordsOut):
    study = serializers.CharField()
    settled = serializers.IntegerField(help_text="Tables that people settled.")
    chosen = inline_serializer(
        "ChosenJudgeOut",
        {
            "judge": serializers.CharField(),
            "version": serializers.CharField(),
            "reason": serializers.CharField(),
            "by": serializers.CharField(allow_null=True, help_text="User name; null for who is not here any more."),
            "at": serializers.DateTimeField(),
        },
        allow_null=True,
        help_text="The judge that the study chose.",
    )
    judges = JudgeReportOut(many=True)


class PanelOut(WordsOut):
    tables = serializers.IntegerField(help_text="Tables that people aligned and all judges judged.")
    own_family_left_out = serializers.BooleanField()
    families = serializers.DictField(child=serializers.CharField(allow_blank=True), help_text="By model.")
    judges = serializers.DictField(help_text="By version: family, skill, weights, agreement, self-preference.")
    majority = serializers.DictField(help_text="Agreement of the majority with people.")
    weighted = serializers.DictField(help_text="Agreement of the vote weighted by calibration.")


class JudgeVersionOut(serializers.Serializer):
    judge = serializers.CharField()
    version = serializers.CharField()


class BridgeOut(serializers.Serializer):
    old = JudgeVersionOut()
    new = JudgeVersionOut()
    tables = serializers.IntegerField(help_text="Tables that both judged.")
    judged_by_one = serializers.IntegerField(help_text="Tables that one of the two judged.")
    reordered = serializers.BooleanField(
        allow_null=True, help_text="Whether models change places; null: cannot be told."
    )
    compared = serializers.IntegerField(help_text="Models with a score by both.")
    models = serializers.ListField(child=serializers.DictField(), help_text="Scores of every model by both.")
    rows = serializers.IntegerField(help_text="Rows on which both have a verdict.")
    same = serializers.DictField(help_text="The share of them with the same verdict, with its interval.")
    gained = serializers.IntegerField(help_text="Rows that only the new one matches.")
    lost = serializers.IntegerField(help_text="Rows that only the old one matches.")


_NO_VERSION = "No judge of version 1f2e judged tables of this study."


class Calibration(GenericAPIView):
    @extend_schema(
        operation_id="calibration_read",
        tags=["alignment"],
        parameters=[SLUG, STUDY],
        responses=answers(CalibrationOut, 400, 403),
    )
    def get(self, request: Request, slug: str, study: str) -> Response:
        """The calibration report of every version of a judge that judged tables of the study: agreement with people,
        MatchCount by MatchCount, and every model's corrected scores. Admins who align no table of it any more."""
        _, alignment_study = calibrated_study(request.user, slug, study)
        read_query(request, Strict)
        kept = reports_of(alignment_study)
        document = calibration_document(alignment_study, alignment_study.uid, kept.settled, kept.reports)
        return Response(CalibrationOut(document).data)


class PanelOfJudges(GenericAPIView):
    @extend_schema(
        operation_id="calibration_panel_read",
        tags=["alignment"],
        parameters=[SLUG, STUDY, PanelFilter],
        responses=answers(PanelOut, 400, 403, 422, why={422: ("There are too few judges.", TOO_FEW)}),
    )
    def get(self, request: Request, slug: str, study: str) -> Response:
        """All judges of the study together, beside people: each alone, their majority, and their vote weighted by
        calibration. Admins who align no table of it any more."""
        _, alignment_study = calibrated_study(request.user, slug, study)
        own = read_query(request, PanelFilter).get("own")
        with refusing(Refused):
            return Response(PanelOut(panel_document(alignment_study, apart=not own)).data)


class ChangeOfJudge(GenericAPIView):
    @extend_schema(
        operation_id="calibration_bridge_read",
        tags=["alignment"],
        parameters=[SLUG, STUDY, BridgeFilter],
        responses=answers(BridgeOut, 400, 403, 422, why={422: ("One of the two is not to be had.", _NO_VERSION)}),
    )
    def get(self, request: Request, slug: str, study: str) -> Response:
        """What changes from one version of a judge to another, on all tables that both judged, aligned or not. Admins
        who align no table of the study any more."""
        _, alignment_study = calibrated_study(request.user, slug, study)
        asked = read_query(request, BridgeFilter)
        with refusing(Refused):
            return Response(BridgeOut(bridge_document(alignment_study, asked["old"], asked["new"])).data)
