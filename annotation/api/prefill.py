"""Rounds of suggestions: how they stand, and what their page's buttons do. Admins."""

from collections.abc import Sequence

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import ProjectAccess, project_access
from annotation.api.description import ACTION, ROUND, operation
from annotation.models import Prefill, Role, RoundKind
from annotation.services.prefill import discard_unseen, progress_of_rounds
from core.api.bodies import read_body
from core.api.fields import Strict, read_query
from core.api.listing import Listing
from core.incoming.shapes import NothingIn
from core.plain import Json
from workers.api.job_actions import do_action, why_refused
from workers.api.shapes import ActionIn, CallsOut, EndedOut, LackOut, TokensOut
from workers.services.jobs import require_action

_DISCARDED = {"discarded": serializers.IntegerField(help_text="Suggested labels, and rows of drafted tables.")}


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


def _admin(request: Request, slug: str) -> ProjectAccess:
    return project_access(request.user, slug, role=Role.ADMIN)


class Rounds(Listing):
    @operation("prefills_list", "pre-filling", answer=RoundOut(many=True), errors=(400, 403))
    def get(self, request: Request, slug: str) -> Response:
        """Rounds of suggestions of a project, the newest first."""
        rounds = _admin(request, slug).project.prefills.select_related("job", "endpoint", "created_by")
        read_query(request, Strict)
        return self.answer(_serialized(self.paginate_queryset(rounds)), RoundOut)


class Discarding(GenericAPIView):
    @operation(
        "prefills_discard", "pre-filling", answer=inline_serializer("DiscardedOut", _DISCARDED), errors=(403,),
        body=NothingIn,
    )  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        """Discards the suggested labels and the drafted tables of stories that nobody has opened with them yet, to try
        another model. Admins."""
        access = _admin(request, slug)
        read_body(request, NothingIn)
        return Response({"discarded": discard_unseen(by=request.user, project=access.project)})


class OneRound(GenericAPIView):
    @operation("prefills_read", "pre-filling", ROUND, answer=RoundOut, errors=(403,))
    def get(self, request: Request, slug: str, round: str) -> Response:
        """Return how a round stands: its state and why, its items, calls, tokens and money."""
        return _answer(_round(request, slug, round))


class RoundAction(GenericAPIView):
    @operation(
        "prefills_steer", "pre-filling", ROUND, ACTION, answer=RoundOut, errors=(403,), body=ActionIn,
        examples={"Going on with more money": {"budget": "25.00"}}, why=why_refused("round"),
    )  # fmt: skip
    def post(self, request: Request, slug: str, round: str, action: str) -> Response:
        """Pauses, resumes or cancels a round, or asks its failed items again (retry).

        `resume` goes on with a paused round, with a new `budget` or the one that it has, and asks again for what a
        round holds back; a running one that holds items back is resumed, too. 422 where the round's state does not fit.
        """
        prefill = _round(request, slug, round)
        do_action(request, action, lambda body: require_action(prefill.job, action, budget=body.budget, what="round"))
        prefill.job.refresh_from_db()
        return _answer(prefill)


def _answer(prefill: Prefill) -> Response:
    return Response(RoundOut(_serialized([prefill])[0]).data)


def _serialized(rounds: Sequence[Prefill]) -> list[Json]:
    """Return the rounds in the shape of `RoundOut`."""
    return [
        {
            "endpoint": row.endpoint.name,
            "kind": row.kind,
            "level": row.level,
            "created_at": row.created_at,
            "created_by": row.created_by and row.created_by.username,
            "note": row.job.note,
            "budget": row.job.budget,
        }
        | progress
        for row, (progress, _) in zip(rounds, progress_of_rounds(rounds), strict=True)
    ]


def _round(request: Request, slug: str, uid: str) -> Prefill:
    prefills = Prefill.objects.select_related("job", "endpoint", "created_by")
    return get_object_or_404(prefills, project=_admin(request, slug).project, uid=uid)
