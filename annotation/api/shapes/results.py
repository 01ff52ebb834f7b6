"""Agreement and export: options and answers."""

from __future__ import annotations

from rest_framework import serializers

from annotation.domain.formats import GOLD, VOTES
from core.api.fields import Ends, Strict


class ExportOptions(Strict):
    complete = serializers.ChoiceField(
        ["true"], required=False, help_text=f"{GOLD.key}: only stories without an unlabelled cell."
    )
    pseudonyms = serializers.ChoiceField(
        ["true"], required=False, help_text=f"{VOTES.key}: annotators as A1, A2, … instead of user names."
    )


class _Share(serializers.FloatField):
    def __init__(self, **kwargs) -> None:
        super().__init__(allow_null=True, **kwargs)


class IntervalsOut(serializers.Serializer):
    strict = Ends()
    pairwise = Ends()
    fleiss_kappa = Ends()
    krippendorff_alpha = Ends()
    gwet_ac1 = Ends()


class MeasureOut(serializers.Serializer):
    """Shares are fractions; what is undefined is null, with a reason."""

    cells = serializers.IntegerField()
    agree = serializers.IntegerField()
    strict = _Share()
    pairwise = _Share()
    fleiss_kappa = _Share()
    krippendorff_alpha = _Share()
    gwet_ac1 = _Share()
    interval = IntervalsOut()
    method = serializers.CharField()
    reasons = serializers.DictField(child=serializers.CharField(), help_text="Why a figure or its interval is null.")
    reason = serializers.CharField(required=False, help_text="The first of them.")


class AgreementOut(serializers.Serializer):
    stories = serializers.IntegerField()
    propositions = serializers.IntegerField()
    annotators = serializers.IntegerField()
    incomplete = serializers.IntegerField(help_text="Cells that still wait for votes; they are not measured.")
    overall = MeasureOut()
    dimensions = serializers.DictField(child=MeasureOut())


class PairOut(serializers.Serializer):
    annotators = serializers.ListField(child=serializers.CharField(), min_length=2, max_length=2)
    cells = serializers.IntegerField(help_text="Cells that both labelled.")
    agree = serializers.IntegerField()
    cohens_kappa = _Share(help_text="The mean over dimensions.")
    reason = serializers.CharField(allow_null=True)


class AgainstResolvedOut(serializers.Serializer):
    annotator = serializers.CharField()
    cells = serializers.IntegerField(help_text="Settled cells that the annotator labelled.")
    agree = serializers.IntegerField()


class AgainstOthersOut(AgainstResolvedOut):
    cells = serializers.IntegerField(help_text="Cells that the annotator labelled and that are settled without them.")
    votes = serializers.IntegerField(help_text="Settled by the other votes.")
    expert = serializers.IntegerField(help_text="Settled by an expert.")
    open = serializers.IntegerField(help_text="Not settled without the annotator; they do not count.")


class AnnotatorsOut(serializers.Serializer):
    """Agreement of annotators: by annotator, then by dimension."""

    pairs = PairOut(many=True)
    against_others = serializers.DictField(child=serializers.DictField(child=AgainstOthersOut()))
    against_resolved = serializers.DictField(child=serializers.DictField(child=AgainstResolvedOut()))
