"""Threads of annotators and experts about single cells, as experts see them."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import unfinished
from annotation.api.cells import cell_of, gold_of
from annotation.api.description import DIMENSION, PROPOSITION, SLUG, answers
from annotation.api.shapes.threads import ReplyIn, SaidOut
from annotation.models import Proposition, adjudication_queue
from annotation.services import remarks
from core.api.bodies import read_body
from core.api.description import BODY
from core.api.errors import CannotBeDone
from core.api.fields import Strict, read_query
from core.api.listing import Listing
from core.idempotency.requests import PARAMETER, made_once

_REPLY = {"thread": "k7m2p9x4c3ta", "text": "Yes: anger is a state of mind."}


class Threads(Listing):
    @extend_schema(
        operation_id="threads_list",
        tags=["gold"],
        parameters=[SLUG, PROPOSITION, DIMENSION],
        responses=answers(SaidOut(many=True), 400, 403),
    )
    def get(self, request: Request, slug: str, proposition: str, dimension: str) -> Response:
        """The threads of annotators with the experts about a cell, message by message. While the cell is open, or you
        voted on it, annotators are not named. Experts and admins; 404 in a story that you still label."""
        row = self._row(request, slug, proposition, dimension)
        read_query(request, Strict)
        return self.page(self._messages(row, dimension), SaidOut)

    @extend_schema(
        operation_id="threads_reply",
        tags=["gold"],
        parameters=[SLUG, PROPOSITION, DIMENSION, PARAMETER],
        request={"application/json": ReplyIn},
        examples=[OpenApiExample("A reply", value=_REPLY, request_only=True)],
        responses=answers(SaidOut, 403, *BODY, status=201),
    )
    def post(self, request: Request, slug: str, proposition: str, dimension: str) -> Response:
        """Answers an annotator in their thread; nobody else who labels reads it. 422 for a thread that is not of this
        cell."""
        row = self._row(request, slug, proposition, dimension)
        reply = read_body(request, ReplyIn)
        thread = next((thread for thread in remarks.threads_of(row, dimension) if thread.uid == reply.thread), None)
        if thread is None:
            raise CannotBeDone({"thread": ["There is no such thread about this cell."]})
        add = {"by": request.user, "proposition": row, "dimension": dimension, "thread_of": thread.annotator}
        uid = made_once(request, lambda: remarks.add_comment(**add, text=reply.text).uid)
        answer = next(message for message in self._messages(row, dimension) if message["comment"] == uid)
        return Response(SaidOut(answer).data, status=201)

    def _row(self, request: Request, slug: str, proposition: str, dimension: str) -> Proposition:
        self.access, row = cell_of(request, slug, proposition, dimension)
        if row.table.story_id in unfinished(self.access):
            raise Http404("You still label this story.")
        return row

    def _messages(self, row: Proposition, dimension: str) -> list[dict[str, Any]]:
        """Return what `SaidOut` writes of each message, thread by thread."""
        voted = adjudication_queue.voted_on(self.access.user, [row.pk])
        named = remarks.annotators_named(gold_of(row, dimension), voted=(row.pk, dimension) in voted)
        return [
            {
                "thread": thread.uid,
                "comment": message.uid,
                "by": by.username if (by := thread.speaker(message, named=named)) else None,
                "text": message.text,
                "created_at": message.created_at,
            }
            for thread in remarks.threads_of(row, dimension)
            for message in thread.messages
        ]
