"""Shapes of answers about reports, leaderboards, comparisons and their tables."""

from __future__ import annotations

from rest_framework import serializers

from benchmark.api.shapes.values import Anything
from benchmark.models import AnswerFormat
from benchmark.suites.questions import PARSES
from core.api.fields import Ends


class MetricOut(serializers.Serializer):
    """A fraction with its 95 % interval."""

    value = serializers.FloatField(allow_null=True)
    interval = Ends()
    reason = serializers.CharField(required=False, help_text="Why there is no interval.")
    bounds = Ends(required=False, help_text="With what is missing at its worst and at its best.")
    n = serializers.IntegerField(required=False, help_text="How many samples it is of.")
    unreadable = serializers.IntegerField(required=False, help_text="How many samples the parse leaves out.")


class CorrectionOut(serializers.Serializer):
    """Scores without the judge's error, or why there are none."""

    reason = serializers.CharField(allow_blank=True, help_text="Why there are none; empty where there are.")
    scores = serializers.DictField(child=MetricOut(), help_text="Precision, recall and F1: n counts aligned stories.")
    study = serializers.CharField(allow_blank=True, help_text="The alignment study that they rest on.")
    study_name = serializers.CharField(allow_blank=True)
    judge = serializers.CharField(allow_blank=True)
    version = serializers.CharField(allow_blank=True, help_text="Digest of what makes the judge what it is.")
    aligned = serializers.IntegerField(help_text="Stories that people aligned.")
    judged = serializers.IntegerField(help_text="Stories that the judge judged and that could be drawn.")
    unjudged = serializers.IntegerField(
        allow_null=True, help_text="Rows without a verdict of the judge, which are in no score of the judge."
    )
    unseen = serializers.FloatField(
        allow_null=True, help_text="Share of the judged stories that are of categories of which people aligned none."
    )
    effective = serializers.FloatField(
        allow_null=True, help_text="Aligned stories that people alone would need for as narrow an interval."
    )
    differing = serializers.FloatField(
        allow_null=True, help_text="p of the judge's error being as large for all models of the run."
    )
    warns = serializers.BooleanField(help_text="Whether the judge's error is shown to differ by model.")


class RankedOut(serializers.Serializer):
    """A model, a baseline or a person in a ranking."""

    key = serializers.CharField(help_text="What comparisons call it.")
    model = serializers.CharField()
    kind = serializers.ChoiceField(["model", "baseline", "person"])
    run = serializers.CharField()
    run_title = serializers.CharField()
    settings = serializers.DictField(child=serializers.CharField(allow_null=True, allow_blank=True))
    rank = serializers.IntegerField(allow_null=True, help_text="By the repaired parse, missing answers at their worst.")
    ranks = serializers.ListField(
        child=serializers.IntegerField(), min_length=2, max_length=2, allow_null=True, help_text="95 % interval of it."
    )
    group = serializers.CharField(
        allow_null=True, allow_blank=True, help_text="Letters: models that share one are not shown to differ."
    )
    official = MetricOut(allow_null=True)
    repaired = MetricOut(allow_null=True)
    bounds = Ends(help_text="Null where nothing is missing.")
    left_out = serializers.FloatField(allow_null=True, help_text="Share of the samples without a score.")
    corrected = CorrectionOut(
        allow_null=True, help_text="On a leaderboard, where figures rest on a judge; null for who may not know."
    )


class AbsentOut(serializers.Serializer):
    model = serializers.CharField()
    why = serializers.CharField()


class LevelOut(serializers.Serializer):
    """A score that follows from gold alone, over `n` samples."""

    value = serializers.FloatField(help_text="A fraction.")
    n = serializers.IntegerField()


class GroupOut(serializers.Serializer):
    """The ranking of one metric group."""

    key = serializers.CharField()
    title = serializers.CharField()
    score = serializers.CharField(help_text="What its score is called.")
    entrants = RankedOut(many=True)
    absent = AbsentOut(many=True, help_text="Models that the ranking does not have.")
    chance = LevelOut(allow_null=True, help_text="The score to be expected of answers drawn by chance.")
    majority = LevelOut(allow_null=True, help_text="The score of the answer that is right most often.")


class ParagraphOut(serializers.Serializer):
    heading = serializers.CharField()
    text = serializers.CharField()


class ReportOut(serializers.Serializer):
    title = serializers.CharField()
    samples = serializers.IntegerField()
    withheld = serializers.IntegerField(help_text="Stories of it that you still have work to do on.")
    facts = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField(allow_blank=True)),
        help_text="[name, value] of what made the run.",
    )
    methods = ParagraphOut(many=True, help_text="Paragraphs of a methods section.")
    groups = GroupOut(many=True)
    tables = serializers.ListField(child=serializers.CharField(), help_text="Names of the tables that you may see.")


class SelectionOut(serializers.Serializer):
    key = serializers.CharField(allow_blank=True, help_text="What split says in addresses; empty for all samples.")
    label = serializers.CharField()
    samples = serializers.IntegerField()


class ConditionsOut(serializers.Serializer):
    prompts = serializers.ListField(child=serializers.CharField())
    judge = serializers.ListField(child=serializers.CharField())


class LeaderboardOut(serializers.Serializer):
    version = serializers.IntegerField()
    suite = serializers.CharField()
    answer_format = serializers.ChoiceField(AnswerFormat.choices)
    selection = SelectionOut(allow_null=True, help_text="The samples that it is over; null without a finished run.")
    selections = SelectionOut(many=True, help_text="Those that there are.")
    conditions = ConditionsOut(help_text="What rankings are within.")
    withheld = serializers.IntegerField()
    groups = GroupOut(many=True)
    tables = serializers.ListField(child=serializers.CharField())


class DifferenceOut(serializers.Serializer):
    """One figure of both, and the difference: first minus second, missing answers at their worst."""

    what = serializers.CharField()
    key = serializers.CharField()
    category = serializers.CharField(allow_blank=True)
    first = serializers.FloatField(allow_null=True)
    second = serializers.FloatField(allow_null=True)
    value = serializers.FloatField(allow_null=True)
    interval = Ends()
    n = serializers.IntegerField()
    p = serializers.FloatField(allow_null=True)
    p_adjusted = serializers.FloatField(allow_null=True)


class DifferingOut(serializers.Serializer):
    number = serializers.IntegerField()
    category = serializers.CharField(allow_blank=True)
    first = serializers.FloatField(allow_null=True)
    second = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(allow_null=True)


class CorrectedDifferenceOut(DifferenceOut):
    reason = serializers.CharField(allow_null=True, help_text="Why there is no interval.")
    aligned = serializers.IntegerField(help_text="Aligned stories of the model that has fewer.")


class CorrectedComparisonOut(serializers.Serializer):
    """The corrected scores of both, or the reason why there are none."""

    reason = serializers.CharField(allow_blank=True)
    sides = CorrectionOut(many=True, help_text="Of the first and the second.")
    rows = CorrectedDifferenceOut(many=True)
    tests = serializers.IntegerField(help_text="How many tests Holm's correction is over.")


class ComparisonOut(serializers.Serializer):
    first = serializers.CharField()
    second = serializers.CharField()
    group = serializers.CharField()
    parse = serializers.ChoiceField(PARSES)
    split = serializers.CharField(allow_blank=True)
    differ = serializers.CharField(allow_blank=True, help_text="In which settings the two differ.")
    lead = serializers.ListField(child=serializers.CharField(), help_text="What is to be read first.")
    method = serializers.CharField()
    n = serializers.IntegerField()
    tests = serializers.IntegerField()
    rows = DifferenceOut(many=True)
    corrected = CorrectedComparisonOut(
        allow_null=True, help_text="The same without the judge's error; null where nothing can be corrected."
    )
    stories = DifferingOut(many=True, help_text="Samples, the largest difference first.")
    withheld = serializers.IntegerField(default=0)


class ColumnOut(serializers.Serializer):
    key = serializers.CharField()
    header = serializers.CharField(allow_blank=True)
    unit = serializers.CharField(required=False)
    kind = serializers.ChoiceField(["text", "count", "number", "share"], help_text="A share is a fraction.")
    group = serializers.CharField(required=False)
    interval = serializers.CharField(required=False, help_text="Key under which rows have [low, high].")
    n = serializers.CharField(required=False)
    best = serializers.CharField(required=False)
    worst = serializers.CharField(required=False)
    bounds = serializers.CharField(required=False)


class TableOut(serializers.Serializer):
    """A table as data: what its columns mean, and its rows by their keys."""

    title = serializers.CharField()
    columns = ColumnOut(many=True)
    rows = serializers.ListField(child=Anything())
    totals = serializers.ListField(child=Anything(), help_text="Rows below the line.")
    lead = serializers.ListField(child=serializers.CharField())
    notes = serializers.ListField(child=serializers.CharField())
    ranking = serializers.CharField(required=False)
    absent = AbsentOut(many=True, required=False)
    section = serializers.CharField(required=False)
    entered = serializers.ListField(
        child=Anything(), required=False, help_text="Rows that were entered from papers, with their source."
    )
