"""Shapes of answers about watches."""

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import project_access
from annotation.api.description import SLUG, answers
from annotation.forms.votes import UID
from annotation.models import Role
from core.api.description import path_parameter
from core.api.fields import Strict, read_query
from core.api.listing import Listing
from judge.models import AnchorWatch
from judge.services.watch_reports import document_of_watch, line_of_watch, report_of_watch


class NoticedOut(serializers.Serializer):
    kind = serializers.CharField(
        help_text="drift, identity (another model or system answered), otherwise (other settings), unanswered, "
        "unreadable (answers that cannot be used), not begun, or missed."
    )
    number = serializers.IntegerField(help_text="The repeat at which it was noticed.")
    at = serializers.DateTimeField()
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)
    count = serializers.IntegerField()


class WatchOut(serializers.Serializer):
    watch = serializers.CharField(help_text="uid of the watch.")
    run = serializers.CharField(help_text="uid of the run whose questions are asked again.")
    asked = serializers.CharField(help_text="Name of the endpoint.")
    step = serializers.CharField()
    stories = serializers.IntegerField(help_text="How many anchors.")
    every = serializers.IntegerField(help_text="Days between repeats.")
    drop = serializers.FloatField(help_text="Drop of agreement that the chart is for, a share.")
    seed = serializers.IntegerField()
    rounds = serializers.IntegerField(help_text="How often the anchors were asked again at the start.")
    due_at = serializers.DateTimeField(allow_null=True, help_text="Of the next repeat; null where it is stopped.")
    concerns = NoticedOut(many=True, help_text="What was noticed and nobody has noted yet.")


class ChartOut(serializers.Serializer):
    mean = serializers.FloatField(help_text="Agreement with the first answers when asked again at the start.")
    spread = serializers.FloatField(help_text="Standard deviation of an answer around the level of its own anchor.")
    limit = serializers.FloatField(help_text="The cumulative sum beyond which it alarms.")
    false_alarms = serializers.FloatField(help_text="Share of unchanged watches of `horizon` stories that alarm.")
    horizon = serializers.IntegerField()
    noticed_half = serializers.IntegerField(
        allow_null=True, help_text="Stories within which the drop is noticed in half of all cases."
    )
    noticed_most = serializers.IntegerField(allow_null=True, help_text="The same in nine of ten cases.")


class RepeatOut(serializers.Serializer):
    number = serializers.IntegerField()
    due_at = serializers.DateTimeField()
    missed = serializers.IntegerField(help_text="Repeats before it that nobody began.")
    baseline = serializers.BooleanField(help_text="Whether it was asked at the start.")
    run = serializers.CharField(allow_null=True, help_text="uid of its run, null where it could not begin.")
    state = serializers.CharField()
    problem = serializers.CharField(allow_blank=True, help_text="Why it could not begin.")
    asked = serializers.IntegerField()
    unanswered = serializers.IntegerField()
    unreadable = serializers.IntegerField(help_text="Answers that cannot be used.")
    agreement = serializers.FloatField(
        allow_null=True, help_text="Mean over stories, with the first answers; null where there is nothing to compare."
    )
    stories = serializers.IntegerField(help_text="Stories with an agreement.")
    low = serializers.FloatField(allow_null=True, help_text="What an unchanged one keeps above.")
    high = serializers.FloatField(allow_null=True)
    sum = serializers.FloatField(allow_null=True, help_text="The highest cumulative sum within it.")
    alarm = serializers.BooleanField()
    answered_by = serializers.ListField(child=serializers.CharField(), help_text="Models with their fingerprints.")
    asked_otherwise = serializers.BooleanField(help_text="Whether the endpoint's settings were changed since.")
    cost = serializers.FloatField(
        allow_null=True, help_text="US dollars, without calls of unknown price; null where no run could begin."
    )
    unpriced = serializers.IntegerField(help_text="Calls of unknown price.")


class WatchDetailOut(WatchOut):
    anchors = serializers.ListField(child=serializers.IntegerField(), help_text="Numbers of the samples.")
    overdue = serializers.BooleanField()
    chart = ChartOut(allow_null=True)
    no_chart = serializers.CharField(allow_blank=True, help_text="Why there is no chart.")
    without_level = serializers.IntegerField(help_text="Anchors without an answer at the start: not in the chart.")
    repeats = RepeatOut(many=True)
    noticed = NoticedOut(many=True)


WATCH = path_parameter("watch", "uid of the watch.", {"type": "string", "pattern": UID})


class Watches(Listing):
    @extend_schema(
        operation_id="watches_list", tags=["runs"], parameters=[SLUG], responses=answers(WatchOut(many=True), 400, 403)
    )
    def get(self, request: Request, slug: str) -> Response:
        """The judges and models of a project that are asked the same again on a schedule, newest first. Admins."""
        access = project_access(request.user, slug, role=Role.ADMIN)
        read_query(request, Strict)
        rows = AnchorWatch.objects.filter(project=access.project).select_related("run", "asked")
        return self.answer([line_of_watch(watch) for watch in self.paginate_queryset(rows)], WatchOut)


class OneWatch(GenericAPIView):
    @extend_schema(
        operation_id="watches_read",
        tags=["runs"],
        parameters=[SLUG, WATCH],
        responses=answers(WatchDetailOut, 400, 403),
    )
    def get(self, request: Request, slug: str, watch: str) -> Response:
        """A watch with its chart, every repeat, and what was noticed. Admins."""
        access = project_access(request.user, slug, role=Role.ADMIN)
        read_query(request, Strict)
        rows = AnchorWatch.objects.select_related("run__dataset", "run__judge", "asked")
        anchor_watch = get_object_or_404(rows, project=access.project, uid=watch)
        document = document_of_watch(report_of_watch(anchor_watch, now=timezone.now()))
        return Response(WatchDetailOut(document).data)
