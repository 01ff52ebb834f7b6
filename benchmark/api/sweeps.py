"""The sweep of a launch: every model at every level, and which was chosen by a paired test."""

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.description import answers
from annotation.models import Role
from benchmark.access import run_access
from benchmark.api.description import NO_ACCESS, RUN, SLUG
from benchmark.api.requests import SweepFilter
from benchmark.api.shapes import MetricOut
from benchmark.services.runs import sweep_of
from benchmark.services.sweep_results import choosings_of
from core.api.fields import read_query

_CANDIDATE = {
    "key": serializers.CharField(help_text="As rankings have it."),
    "model": serializers.CharField(),
    "level": serializers.IntegerField(),
    "score": serializers.FloatField(allow_null=True),
}
_AGAINST = _CANDIDATE | {
    "difference": serializers.FloatField(allow_null=True, help_text="The score of the one looked at less this one's."),
    "interval": serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="95 % interval of the difference, over stories."
    ),
    "n": serializers.IntegerField(help_text="Samples that the difference is over."),
    "p": serializers.FloatField(allow_null=True, help_text="Of a sign-flip test over stories; null where none can be."),
    "adjusted": serializers.FloatField(allow_null=True, help_text="p after Holm's correction over all pairs."),
    "shown": serializers.BooleanField(help_text="Whether the two are shown to differ."),
}
_PICK = {
    "model": serializers.CharField(),
    "level": serializers.IntegerField(),
    "reason": serializers.CharField(),
    "by": serializers.CharField(allow_null=True, help_text="User name; null for who is not here any more."),
    "at": serializers.DateTimeField(),
}
_GROUP = {
    "group": serializers.CharField(source="group.key", help_text="Key of the metric group."),
    "chosen": inline_serializer("ChosenModelOut", _PICK, source="pick", allow_null=True),
    "candidates": inline_serializer("CandidateOut", _CANDIDATE, many=True),
    "looked": serializers.CharField(
        source="looked.key", help_text="Key of the candidate that is tested against all others."
    ),
    "found": serializers.CharField(source="finding", help_text="What the test says of it."),
    "beyond": serializers.CharField(
        allow_null=True, help_text="Why no test here can show a difference; null if one can."
    ),
    "without_optimism": MetricOut(
        allow_null=True,
        help_text="Its score and interval, corrected for choosing the highest; null where another one is higher.",
    ),
    "against": inline_serializer("AgainstOut", _AGAINST, many=True),
}


class SweepOut(serializers.Serializer):
    runs = serializers.ListField(child=serializers.CharField(), help_text="uids, in the order of the launch.")
    groups = inline_serializer("SweepGroupOut", _GROUP, many=True)


class Sweep(GenericAPIView):
    @extend_schema(
        operation_id="runs_sweep_read",
        tags=["runs"],
        parameters=[SLUG, RUN, SweepFilter],
        responses=answers(SweepOut, 400, 403, why=NO_ACCESS),
    )
    def get(self, request: Request, slug: str, run: str) -> Response:
        """Every model at every level of the sweep that a run was launched in, by metric group, with the one that was
        chosen and why. That one, else the best, is tested against all others. Of a run of no sweep there are none."""
        runs = sweep_of(run_access(request.user, slug, run, role=Role.ADMIN).run)
        beside = read_query(request, SweepFilter).get("beside")
        groups = choosings_of(runs, [beside] if beside else [])
        return Response(SweepOut({"runs": [sweep_run.uid for sweep_run in runs], "groups": groups}).data)
