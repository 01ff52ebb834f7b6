"""Shapes of answers about judges beside people."""

from __future__ import annotations

from rest_framework import serializers

from judge.api.shapes import CLUSTERS


class ChosenJudgeOut(serializers.Serializer):
    judge = serializers.CharField()
    version = serializers.CharField()
    reason = serializers.CharField()
    by = serializers.CharField(allow_null=True, help_text="User name; null for who is not here any more.")
    at = serializers.DateTimeField()


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
    chosen = ChosenJudgeOut(allow_null=True, help_text="The judge that the study chose.")
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
