"""Shapes of answers about imports of answers."""

from __future__ import annotations

from rest_framework import serializers


class NotTakenOut(serializers.Serializer):
    where = serializers.CharField(help_text="Which answer.")
    why = serializers.CharField()


class ImportPreviewOut(serializers.Serializer):
    """The fate of answers that were made elsewhere."""

    model = serializers.CharField()
    digest = serializers.CharField(help_text="SHA-256 of the answers.")
    steps = serializers.ListField(child=serializers.CharField(), help_text="What is answered.")
    settings = serializers.DictField(help_text="Settings of the suite that the answers would be read by.")
    repetitions = serializers.IntegerField()
    samples = serializers.IntegerField(help_text="Samples that were chosen of the version.")
    taken = serializers.IntegerField(help_text="Samples of the run: those with an answer, or all that were chosen.")
    records = serializers.IntegerField(help_text="Answers that were sent.")
    by_id = serializers.IntegerField(help_text="Matched by id.")
    by_text = serializers.IntegerField(help_text="Matched by the texts of their sample, or by what was asked.")
    answers = serializers.IntegerField(help_text="Questions that get an answer.")
    missing_answers = serializers.IntegerField()
    missing = serializers.ListField(child=serializers.CharField(), help_text="Samples that lack answers.")
    unmatched = NotTakenOut(many=True)
    double = NotTakenOut(many=True)
    unanswered = NotTakenOut(many=True, help_text="Records of a sample without an answer.")
