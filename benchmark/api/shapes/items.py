"""Shapes of answers about the items of a run."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from benchmark.services.items import STATE_NAMES


class MessageOut(serializers.Serializer):
    role = serializers.CharField(help_text="system, user, …; data of a baseline, which reads no prompt.")
    text = serializers.CharField(allow_blank=True)


@extend_schema_field({})
class Content(serializers.JSONField):
    """Any JSON: what it is depends on the suite."""


class RunItemOut(serializers.Serializer):
    """One question of a run to one model, with its answer and both parses of it."""

    item = serializers.IntegerField(help_text="Number of the item in the addresses of its page and of the API.")
    model = serializers.CharField()
    step = serializers.CharField()
    sample = serializers.IntegerField(help_text="Number of the sample in its version: a story's own number.")
    key = serializers.CharField(help_text="Name of the sample in the file that it came from.")
    cluster = serializers.CharField(help_text="Samples of one cluster are resampled together.")
    category = serializers.CharField(allow_blank=True)
    split = serializers.CharField(allow_blank=True)
    repetition = serializers.IntegerField(help_text="From 1.")
    state = serializers.ChoiceField(STATE_NAMES)
    problem = serializers.CharField(allow_blank=True, help_text="Why there is no answer, or why it cannot be used.")
    answer = serializers.CharField(allow_null=True, allow_blank=True, help_text="As it came.")
    answered_by = serializers.CharField(allow_null=True, allow_blank=True, help_text="What the provider says answered.")
    official = Content(allow_null=True, help_text="What the published code reads in the answer.")
    repaired = Content(allow_null=True, help_text="What a careful parser reads in it.")
    official_score = serializers.FloatField(allow_null=True)
    repaired_score = serializers.FloatField(allow_null=True)
    rows_not_judged = serializers.IntegerField()
    prompt = MessageOut(many=True, required=False, help_text="With full: what was sent.")
    content = Content(required=False, help_text="With full: what the sample shows.")
    gold = Content(required=False, help_text="With full: what it is scored against.")


class ScoreOut(serializers.Serializer):
    """Scores of one item. Of a story that you still have work to do on, that they are withheld, and nothing else."""

    model = serializers.CharField()
    step = serializers.CharField(help_text="Key of the step.")
    story_id = serializers.IntegerField(help_text="Number of the sample.")
    story_category = serializers.CharField(allow_blank=True)
    official = serializers.FloatField(allow_null=True)
    repaired = serializers.FloatField(allow_null=True)
    unreadable = serializers.CharField(allow_blank=True)
    state = serializers.CharField()
    rows_not_judged = serializers.IntegerField(allow_null=True)
    repetition = serializers.IntegerField()
    sample = serializers.CharField(help_text="Name of the sample in the file that it came from.")
    cluster = serializers.CharField()
