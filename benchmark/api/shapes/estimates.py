"""Shapes of answers about estimates of runs."""

from __future__ import annotations

from rest_framework import serializers

from benchmark.api.shapes.values import COST
from workers.api.shapes import TokensOut


class _EstimatedOut(serializers.Serializer):
    calls = serializers.IntegerField()
    to_make = serializers.IntegerField(help_text="Without those that the ledger has.")
    in_ledger = serializers.IntegerField(allow_null=True, help_text="Null where it was not looked up.")
    tokens = TokensOut()
    cost = serializers.FloatField(allow_null=True, help_text=f"Expected. {COST}")
    known_cost = serializers.FloatField()
    unpriced_calls = serializers.IntegerField()
    most = serializers.FloatField(allow_null=True, help_text="US dollars that cannot be exceeded; null where unknown.")


class EstimatedLineOut(_EstimatedOut):
    """The questions to one model at one step."""

    model = serializers.CharField()
    step = serializers.CharField()
    asked = serializers.CharField(help_text="Who answers: the model, or the judge about it.")
    method = serializers.CharField(allow_blank=True, help_text="In words; empty where the suite asks in one way.")
    control = serializers.CharField(allow_blank=True, help_text="In words; empty as published.")
    in_common = serializers.IntegerField(help_text="Calls that a line above makes, and that are counted there alone.")
    too_long = serializers.IntegerField(help_text="Questions that its context may have no room for.")


class DetectableOut(serializers.Serializer):
    score = serializers.CharField(source="name")
    difference = serializers.FloatField(
        allow_null=True, help_text="The smallest difference that a test shows with its power; null where none can be."
    )
    power = serializers.FloatField()
    alpha = serializers.FloatField()
    tests = serializers.IntegerField(help_text="How many are made at once.")


class EstimateOut(_EstimatedOut):
    """The questions and costs of a launch, and the differences that it can show."""

    samples = serializers.IntegerField()
    over_budget = serializers.BooleanField()
    lines = EstimatedLineOut(many=True)
    notes = serializers.ListField(child=serializers.CharField(), help_text="What controls leave out.")
    can_show = DetectableOut(many=True)
