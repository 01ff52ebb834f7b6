"""Shapes of answers about reports, leaderboards, comparisons and their tables."""

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


class AbsentOut(serializers.Serializer):
    model = serializers.CharField()
    why = serializers.CharField()


class ColumnOut(serializers.Serializer):
    key = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    unit = serializers.CharField(required=False)
    kind = serializers.ChoiceField(["text", "count", "number", "share"], help_text="A share is a fraction.")
    group = serializers.CharField(required=False, help_text="A heading over several columns.")
    best = serializers.CharField(required=False, help_text="The end of the scale that is best: high or low.")


ROWS = "A value under the key of a column, or {value, interval, n, reason, bounds}."


class TableOut(serializers.Serializer):
    """A table as data: its columns, and its rows by their keys. A row of a model has its key, kind and run under
    `entrant`."""

    title = serializers.CharField()
    columns = ColumnOut(many=True)
    rows = serializers.ListField(child=Anything(), help_text=ROWS)
    totals = serializers.ListField(child=Anything(), help_text="Rows below the line.")
    lead = serializers.ListField(child=serializers.CharField(), help_text="Sentences to read first.")
    notes = serializers.ListField(child=serializers.CharField())
    ranking = serializers.CharField(required=False, help_text="The order of the rows.")
    absent = AbsentOut(many=True, required=False, help_text="Models that the table does not have.")
    section = serializers.CharField(required=False)
    entered = serializers.ListField(child=Anything(), required=False, help_text="Rows of papers, with their source.")


class GroupOut(TableOut):
    """The ranking of one metric group."""

    key = serializers.CharField()
    score = serializers.CharField(help_text="The name of the figure that it is ranked by.")


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


class ComparisonOut(serializers.Serializer):
    """Two models on the same samples. Differences are first minus second, missing answers at their worst."""

    first = serializers.CharField()
    second = serializers.CharField()
    group = serializers.CharField()
    parse = serializers.ChoiceField(PARSES)
    split = serializers.CharField(allow_blank=True)
    differ = serializers.CharField(allow_blank=True, help_text="In which settings the two differ.")
    n = serializers.IntegerField()
    tests = serializers.IntegerField()
    withheld = serializers.IntegerField(default=0)
    differences = TableOut()
    corrected = TableOut(required=False, help_text="The same without the judge's error.")
    stories = TableOut(help_text="Samples, the largest difference first.")
