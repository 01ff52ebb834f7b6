"""Rounds of suggestions: answers."""

from __future__ import annotations

from rest_framework import serializers

from annotation.models import RoundKind
from workers.api.shapes import CallsOut, EndedOut, LackOut, TokensOut


class DiscardedOut(serializers.Serializer):
    discarded = serializers.IntegerField(help_text="Suggested labels, and rows of drafted tables.")


class RoundOut(serializers.Serializer):
    """A round of suggestions, as the command `prefill` prints it."""

    round = serializers.CharField()
    job = serializers.CharField()
    endpoint = serializers.CharField()
    kind = serializers.ChoiceField(RoundKind.choices, help_text="What the model writes: labels, or drafts of tables.")
    level = serializers.IntegerField(allow_null=True, help_text="Of the prompt for labels; null for tables.")
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField(allow_null=True)
    state = serializers.CharField(help_text="running, paused, cancelled, or how it ended.")
    note = serializers.CharField(help_text="Why it is paused or holds items back, and what to do.")
    budget = serializers.DecimalField(12, 4, allow_null=True, help_text="US dollars. Null: no cap.")
    held_back = serializers.IntegerField(help_text="Items that wait for a person; resume asks for them again.")
    items = EndedOut(help_text="Those that ended.")
    failures = LackOut(allow_null=True)
    unreadable_answers = LackOut(allow_null=True)
    calls = CallsOut()
    tokens = TokensOut()
    cost = serializers.FloatField(allow_null=True, help_text="US dollars. Null where some calls have no price.")
    known_cost = serializers.FloatField(help_text="US dollars of the calls that have a price.")
    unpriced_calls = serializers.IntegerField(help_text="Calls of unknown price, which known_cost leaves out.")
