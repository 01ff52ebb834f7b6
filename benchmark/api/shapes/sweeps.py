"""Shapes of answers about the sweep of a launch."""

from __future__ import annotations

from rest_framework import serializers


class CandidateOut(serializers.Serializer):
    key = serializers.CharField(help_text="As rankings have it.")
    model = serializers.CharField()
    level = serializers.IntegerField()
    score = serializers.FloatField(allow_null=True)


class AgainstOut(CandidateOut):
    difference = serializers.FloatField(allow_null=True, help_text="The score of the one looked at less this one's.")
    interval = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="95 % interval of the difference, over stories."
    )
    n = serializers.IntegerField(help_text="Samples that the difference is over.")
    p = serializers.FloatField(allow_null=True, help_text="Of a sign-flip test over stories; null where none can be.")
    adjusted = serializers.FloatField(allow_null=True, help_text="p after Holm's correction over all pairs.")
    shown = serializers.BooleanField(help_text="Whether the two are shown to differ.")


class ChosenModelOut(serializers.Serializer):
    model = serializers.CharField()
    level = serializers.IntegerField()
    reason = serializers.CharField()
    by = serializers.CharField(allow_null=True, help_text="User name; null for who is not here any more.")
    at = serializers.DateTimeField()


class SweepGroupOut(serializers.Serializer):
    group = serializers.CharField(help_text="Key of the metric group.")
    chosen = ChosenModelOut(allow_null=True)
    candidates = CandidateOut(many=True)
    looked = serializers.CharField(help_text="Key of the candidate that is tested against all others.")
    found = serializers.CharField(help_text="What the test says of it.")
    beyond = serializers.CharField(
        allow_null=True, help_text="Why no test here can show a difference; null if one can."
    )
    without_optimism = serializers.DictField(
        allow_null=True,
        help_text="Its score and interval, corrected for choosing the highest; null where another one is higher.",
    )
    against = AgainstOut(many=True)


class SweepOut(serializers.Serializer):
    runs = serializers.ListField(child=serializers.CharField(), help_text="uids, in the order of the launch.")
    groups = SweepGroupOut(many=True)
