"""Rounds of suggestions: how they stand, and what their page's buttons do. Admins."""

from __future__ import annotations

from collections.abc import Sequence

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import project_access
from annotation.api.description import ACTION, ROUND, SLUG, answers
from annotation.api.shapes.prefill import DiscardedOut, RoundOut
from annotation.models import Prefill, Role
from annotation.services.prefill import discard_unseen
from annotation.services.prefill_progress import progress_of_rounds
from core.api.bodies import read_body
from core.api.description import BODY
from core.api.fields import Strict, read_query
from core.api.listing import Listing
from core.incoming.shapes import NothingIn
from core.plain import Json
from workers.api.job_actions import EXAMPLE, do_action, why_refused
from workers.api.shapes import ActionIn
from workers.services.jobs import require_action


class Rounds(Listing):
    @extend_schema(
        operation_id="prefills_list",
        tags=["pre-filling"],
        parameters=[SLUG],
        responses=answers(RoundOut(many=True), 400, 403),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Rounds of suggestions of a project, the newest first."""
        access = project_access(request.user, slug, role=Role.ADMIN)
        read_query(request, Strict)
        page = self.paginate_queryset(access.project.prefills.select_related("job", "endpoint", "created_by"))
        return self.answer(_serialized(page), RoundOut)


class Discarding(GenericAPIView):
    @extend_schema(
        operation_id="prefills_discard",
        tags=["pre-filling"],
        parameters=[SLUG],
        request={"application/json": NothingIn},
        responses=answers(DiscardedOut, 403, *BODY),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Discards the suggested labels and the drafted tables of stories that nobody has opened with them yet, to try
        another model. Admins."""
        access = project_access(request.user, slug, role=Role.ADMIN)
        read_body(request, NothingIn)
        discarded = discard_unseen(by=request.user, project=access.project)
        return Response(DiscardedOut({"discarded": discarded}).data)


class OneRound(GenericAPIView):
    @extend_schema(
        operation_id="prefills_read",
        tags=["pre-filling"],
        parameters=[SLUG, ROUND],
        responses=answers(RoundOut, 403),
    )
    def get(self, request: Request, slug: str, round: str) -> Response:
        """Return how a round stands: its state and why, its items, calls, tokens and money."""
        return _answer(_round(request, slug, round))


class RoundAction(GenericAPIView):
    @extend_schema(
        operation_id="prefills_steer",
        tags=["pre-filling"],
        parameters=[SLUG, ROUND, ACTION],
        request={"application/json": ActionIn},
        examples=[EXAMPLE],
        responses=answers(RoundOut, 403, *BODY, why=why_refused("round")),
    )
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
    """Return what `RoundOut` writes of each round."""
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
        | progress.as_json()
        for row, progress in zip(rounds, progress_of_rounds(rounds), strict=True)
    ]


def _round(request: Request, slug: str, uid: str) -> Prefill:
    access = project_access(request.user, slug, role=Role.ADMIN)
    prefills = Prefill.objects.select_related("job", "endpoint", "created_by")
    return get_object_or_404(prefills, project=access.project, uid=uid)
