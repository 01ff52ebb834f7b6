"""Experts' own drafts of belief tables, and the lanes in which two of them become one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import project_access, story_of
from annotation.api.description import SLUG, STORY, answers
from annotation.api.shapes.tables import DraftOut, DraftRowsIn, LaneRowsIn, LanesOut, LinkIn
from annotation.models import LaneRow, Role, Story, User
from annotation.services import drafts, reconciliation
from core.api.bodies import read_body
from core.api.description import BODY, path_parameter
from core.api.errors import CannotBeDone
from core.api.fields import Strict, read_query
from core.incoming.shapes import NothingIn
from core.plain import Json, plain

_ROW = {"actor": "Ines", "belief": "The key is in the bag", "order": "1", "place": 2.0}
_CHANGE = {"row": "k7m2p9x4c3ta", "changed_at": "2026-10-05T09:30:00Z", "idempotency_key": "6b0c9d0e-0d5f"}
_ROWS = OpenApiExample("A new row", value={"changes": [_CHANGE | {"state": _ROW}]}, request_only=True)
_KEPT = OpenApiExample(
    "A row that is kept", value={"changes": [_CHANGE | {"state": _ROW | {"status": "kept"}}]}, request_only=True
)


def _operation(name: str, answer: Any, *errors: Any, body: Any = None, example: Any = None, action: Any = None) -> Any:
    """Return the description of an operation on the table of a story."""
    return extend_schema(
        operation_id=name,
        tags=["corpus"],
        parameters=[SLUG, STORY, *([action] if action else [])],
        request={"application/json": body} if body else None,
        examples=[example] if example else [],
        responses=answers(answer, *(errors or (403, *BODY))),
    )


class _Of(GenericAPIView):
    """Operations on the table of one story: for experts."""

    def story(self, request: Request, slug: str, story: str) -> Story:
        return story_of(project_access(request.user, slug, role=Role.EXPERT), story)


def _done(act: Callable[[], object]) -> None:
    """Do the act. Raises CannotBeDone with the sentence that the page would show."""
    try:
        act()
    except drafts.Refused as refusal:
        raise CannotBeDone(str(refusal)) from refusal


class Draft(_Of):
    @_operation("draft_read", DraftOut, 400, 403)
    def get(self, request: Request, slug: str, story: str) -> Response:
        """Your own draft of a story's belief table, for experts; nobody else's. `closed` says why you cannot write it
        now."""
        row = self.story(request, slug, story)
        read_query(request, Strict)
        return _draft(request.user, row)

    @_operation("draft_save", DraftOut, body=DraftRowsIn, example=_ROWS)
    def post(self, request: Request, slug: str, story: str) -> Response:
        """Saves changes of rows of your own draft, all or none; answers with the draft as it stands.

        A change sent again is known by its idempotency_key. `base` is the row as you saw it: where it changed since,
        both are merged, and words that would be lost get a row of their own. 422 where the table cannot be written.
        """
        row = self.story(request, slug, story)
        changes = [entry.change for entry in read_body(request, DraftRowsIn).changes]
        now = timezone.now()
        _done(lambda: drafts.save_rows(by=request.user, story=row, changes=changes, now=now))
        return _draft(request.user, row)


Act = Callable[[User, Story], object]
_DRAFT_ACTIONS: Mapping[str, Act] = {
    "hand-in": lambda by, story: drafts.hand_in(by=by, story=story, now=timezone.now()),
    "take-back": lambda by, story: drafts.take_back(by=by, story=story),
}
_LANE_ACTIONS: Mapping[str, Act] = {
    "open": lambda by, story: reconciliation.open_lanes(story=story, by=by, now=timezone.now()),
    "agree": lambda by, story: reconciliation.agree(by=by, story=story, now=timezone.now()),
    "disagree": lambda by, story: reconciliation.agree(by=by, story=story, now=None),
    "finish": lambda by, story: reconciliation.finish(by=by, story=story, now=timezone.now()),
    "reopen": lambda by, story: reconciliation.reopen(by=by, story=story),
}


def _action(what: str, actions: Mapping[str, Act]) -> Any:
    return path_parameter("action", f"What is done to the {what}.", {"type": "string", "enum": list(actions)})


def _act(request: Request, story: Story, actions: Mapping[str, Act], action: str) -> None:
    """Do the action on a story. Raises Http404 for an unknown action, and CannotBeDone."""
    if action not in actions:
        raise Http404(f"There is no action {action}; expected {', '.join(actions)}.")
    read_body(request, NothingIn)
    _done(lambda: actions[action](request.user, story))


class DraftAction(_Of):
    @_operation("draft_action", DraftOut, body=NothingIn, action=_action("draft", _DRAFT_ACTIONS))
    def post(self, request: Request, slug: str, story: str, action: str) -> Response:
        """Hands your draft in, or takes it back, which is possible until the lanes are open. 422 where it is not."""
        row = self.story(request, slug, story)
        _act(request, row, _DRAFT_ACTIONS, action)
        return _draft(request.user, row)


class Lanes(_Of):
    @_operation("lanes_read", LanesOut, 400, 403)
    def get(self, request: Request, slug: str, story: str) -> Response:
        """The rows of both drafts beside each other, for experts; none before both are handed in and somebody opened
        the lanes."""
        row = self.story(request, slug, story)
        read_query(request, Strict)
        return _lanes(request.user, row)

    @_operation("lanes_decide", LanesOut, body=LaneRowsIn, example=_KEPT)
    def post(self, request: Request, slug: str, story: str) -> Response:
        """Decides rows, all or none; answers with the lanes as they stand.

        `status` is kept or dropped, or empty for an open row. `base` is the row as you saw it, left out for a new row:
        where somebody else decided it since, it stays as it is, and `quicker` names who that was by row. What the
        experts agreed to before is agreed to no more. 422 before the lanes are open, and once the table is made.
        """
        row = self.story(request, slug, story)
        decisions = [entry.decision for entry in read_body(request, LaneRowsIn).changes]
        decided: list[tuple[LaneRow, str]] = []
        now = timezone.now()
        _done(lambda: decided.extend(reconciliation.decide(by=request.user, story=row, decisions=decisions, now=now)))
        return _lanes(request.user, row, {stands.uid for stands, quicker in decided if quicker})


class LaneLink(_Of):
    @_operation("lanes_link", LanesOut, body=LinkIn)
    def post(self, request: Request, slug: str, story: str) -> Response:
        """Makes one row of two that say the same, one of each expert; without `other`, two rows of one that was linked.
        The same key again is the same link."""
        row = self.story(request, slug, story)
        link = read_body(request, LinkIn)
        by, key, now, other = request.user, link.idempotency_key, timezone.now(), link.other
        if other is None:
            _done(lambda: reconciliation.separate(by=by, story=row, row=link.row, key=key, now=now))
        else:
            _done(lambda: reconciliation.link(by=by, story=row, first=link.row, second=other, key=key, now=now))
        return _lanes(request.user, row)


class LaneAction(_Of):
    @_operation("lanes_action", LanesOut, body=NothingIn, action=_action("lanes", _LANE_ACTIONS))
    def post(self, request: Request, slug: str, story: str, action: str) -> Response:
        """Opens the lanes, agrees to them as one of their experts or no more, makes the gold table of the rows that are
        kept, or opens them again while nothing is labelled. 422 where the story is in another state."""
        row = self.story(request, slug, story)
        _act(request, row, _LANE_ACTIONS, action)
        return _lanes(request.user, row)


def _draft(by: User, story: Story) -> Response:
    own = drafts.own_draft(story=story, expert=by)
    warnings = drafts.warnings_of(own, story) if own else {}
    rows = [
        plain(drafts.state_of_row(row))
        | {"row": row.uid, "warnings": [warned.text for warned in warnings.get(row.uid, ())]}
        for row in drafts.live_rows(own)
    ]
    values = {
        "handed_in_at": own.submitted_at if own else None,
        "closed": drafts.closed_to(story=story, expert=by, draft=own),
        "rows": rows,
    }
    return Response(DraftOut(values).data)


def _lanes(by: User, story: Story, lost: Collection[str] = ()) -> Response:
    state = reconciliation.state_of(story=story, expert=by)
    agreed, rows = [], []
    if state.opened:
        agreed = [draft.author.username for draft in state.submitted if draft.agreed_at and draft.author]
        rows = [_lane_row(row, lost) for row in reconciliation.lanes_of(story)]
    values = {"opened": state.opened, "settled": state.has_gold, "agreed": agreed, "rows": rows}
    return Response(LanesOut(values).data)


def _lane_row(row: LaneRow, lost: Collection[str]) -> Json:
    """Return what `LaneRowOut` writes of a row."""
    by = row.decided_by.username if row.decided_by else None
    return {
        "row": row.uid,
        "lane": reconciliation.lane_of_row(row).value,
        "a": _row_fields(row.a),
        "b": _row_fields(row.b),
        "decided_by": by,
        "quicker": (by or "") if row.uid in lost else "",
        **plain(reconciliation.state_of_row(row)),
    }


def _row_fields(row: Any) -> dict[str, str] | None:
    return row and {"actor": row.actor, "belief": row.belief, "order": row.order_text, "remark": row.remark}
