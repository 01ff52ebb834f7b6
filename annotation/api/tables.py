"""Experts' own drafts of belief tables, and the reconciliation in which two of them become one."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Annotated, Any

from django.http import Http404
from django.utils import timezone
from pydantic import Field
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import project_access, story_of
from annotation.api.description import STORY, operation
from annotation.domain.drafts import Change
from annotation.domain.reconciliation import PairKind, Status
from annotation.forms.drafts import MAX_DECISIONS, ChangeIn, DraftRowIn, PairIn
from annotation.forms.drafts import LinkIn as LinkOnPageIn
from annotation.forms.votes import Key, Uid
from annotation.models import Origin, Role, Story, User
from annotation.services import drafts, reconciliation
from annotation.services.drafts import MAX_CHANGES
from core.api.bodies import read_body
from core.api.description import path_parameter
from core.api.errors import refusing
from core.api.fields import Strict, read_query
from core.incoming.shapes import Counted, NothingIn, Shape
from core.plain import Json, plain


class _ChangeIn(ChangeIn):
    row: Uid = Field(description="uid of the row; made by you for a new one.")
    idempotency_key: Key = Field(description="Made by you, unique to the change: sent again, it counts once.")


class DraftChangeIn(_ChangeIn):
    base: DraftRowIn | None = Field(None, description="The row as you saw it; left out for a new one.")
    state: DraftRowIn

    @property
    def change(self) -> Change:
        kind = "delete" if self.state.removed else "paste"
        return replace(super().change, kind=kind, origin=Origin.PASTED.value)


class DraftRowsIn(Shape):
    """Changes of rows of your own draft."""

    changes: Annotated[list[DraftChangeIn], Counted(1, MAX_CHANGES)]


class PairChangeIn(_ChangeIn):
    base: PairIn | None = Field(None, description="The row as you saw it; left out for a new one.")
    state: PairIn


class PairRowsIn(Shape):
    """Decisions on rows of the pairs."""

    changes: Annotated[list[PairChangeIn], Counted(1, MAX_DECISIONS)]


class LinkIn(LinkOnPageIn):
    """Two rows that are one, or one that is two."""

    idempotency_key: Key = Field(description="Made by you, unique to the link: sent again, it counts once.")


class WordsOut(serializers.Serializer):
    """A row of a table that an expert wrote."""

    actor = serializers.CharField(allow_blank=True)
    belief = serializers.CharField(allow_blank=True)
    order = serializers.CharField(allow_blank=True)
    remark = serializers.CharField(allow_blank=True)


class DraftRowOut(WordsOut):
    row = serializers.CharField(help_text="uid of the row.")
    place = serializers.FloatField(help_text="Rows stand in its order.")
    removed = serializers.BooleanField()
    warnings = serializers.ListField(child=serializers.CharField(), help_text="What sits oddly; nothing was refused.")


class DraftOut(serializers.Serializer):
    handed_in_at = serializers.DateTimeField(allow_null=True)
    closed = serializers.CharField(
        allow_blank=True, help_text="Why you cannot write the table now; empty where you can."
    )
    rows = DraftRowOut(many=True)


class PairRowOut(WordsOut):
    row = serializers.CharField(help_text="uid of the row.")
    kind = serializers.ChoiceField([kind.value for kind in PairKind])
    a = WordsOut(allow_null=True, help_text="What the first expert wrote.")
    b = WordsOut(allow_null=True, help_text="What the second one wrote.")
    status = serializers.ChoiceField([status.value for status in Status], allow_blank=True)
    place = serializers.FloatField(help_text="Rows stand in its order.")
    decided_by = serializers.CharField(allow_null=True)
    quicker = serializers.CharField(allow_blank=True, help_text="Who decided the row before you; yours was not taken.")


class PairsOut(serializers.Serializer):
    opened = serializers.BooleanField()
    settled = serializers.BooleanField(help_text="The story has its gold table.")
    agreed = serializers.ListField(child=serializers.CharField(), help_text="Experts who agreed to the rows.")
    rows = PairRowOut(many=True)


_ROW = {"actor": "Ines", "belief": "The key is in the bag", "order": "1", "place": 2.0}
_CHANGE = {"row": "k7m2p9x4c3ta", "changed_at": "2026-10-05T09:30:00Z", "idempotency_key": "6b0c9d0e-0d5f"}
_NEW = {"A new row": {"changes": [_CHANGE | {"state": _ROW}]}}
_KEPT = {"A row that is kept": {"changes": [_CHANGE | {"state": _ROW | {"status": "kept"}}]}}
Act = Callable[[User, Story], object]
_DRAFT_ACTIONS: Mapping[str, Act] = {
    "hand-in": lambda by, story: drafts.hand_in(by=by, story=story, now=timezone.now()),
    "take-back": lambda by, story: drafts.take_back(by=by, story=story),
}
_PAIR_ACTIONS: Mapping[str, Act] = {
    "open": lambda by, story: reconciliation.open_pairs(story=story, by=by, now=timezone.now()),
    "agree": lambda by, story: reconciliation.agree(by=by, story=story, now=timezone.now()),
    "disagree": lambda by, story: reconciliation.agree(by=by, story=story, now=None),
    "finish": lambda by, story: reconciliation.finish(by=by, story=story, now=timezone.now()),
    "reopen": lambda by, story: reconciliation.reopen(by=by, story=story),
}


def _described(name: str, answer: Any, *, body: Any = None, **more: Any) -> Any:
    """Return the description of an operation on the table of a story; `on` and `actions` are of one that acts."""
    parameters, actions = [STORY], more.pop("actions", None)
    if actions:
        kinds = {"type": "string", "enum": list(actions)}
        parameters.append(path_parameter("action", f"What is done to the {more.pop('on')}.", kinds))
    return operation(
        name, "corpus", *parameters, answer=answer, errors=(403,) if body else (400, 403), body=body, **more
    )


class _Table(GenericAPIView):
    """Operations on the table of one story: for experts."""

    def story(self, request: Request, slug: str, story: str) -> Story:
        return story_of(project_access(request.user, slug, role=Role.EXPERT), story)

    def act(self, request: Request, story: Story, actions: Mapping[str, Act], action: str) -> None:
        """Do the action on a story. Raises Http404 for an unknown action, and CannotBeDone."""
        if action not in actions:
            raise Http404(f"There is no action {action}; expected {', '.join(actions)}.")
        read_body(request, NothingIn)
        with refusing(drafts.Refused):
            actions[action](request.user, story)


class Draft(_Table):
    @_described("draft_read", DraftOut)
    def get(self, request: Request, slug: str, story: str) -> Response:
        """Your own draft of a story's belief table, for experts; nobody else's. `closed` says why you cannot write it
        now."""
        row = self.story(request, slug, story)
        read_query(request, Strict)
        return _draft(request.user, row)

    @_described("draft_save", DraftOut, body=DraftRowsIn, examples=_NEW)
    def post(self, request: Request, slug: str, story: str) -> Response:
        """Saves changes of rows of your own draft, all or none; answers with the draft as it stands.

        A change sent again is known by its idempotency_key. `base` is the row as you saw it: where it changed since,
        both are merged, and words that would be lost get a row of their own. 422 where the table cannot be written.
        """
        row = self.story(request, slug, story)
        changes = [entry.change for entry in read_body(request, DraftRowsIn).changes]
        with refusing(drafts.Refused):
            drafts.save_rows(by=request.user, story=row, changes=changes, now=timezone.now())
        return _draft(request.user, row)


class DraftAction(_Table):
    @_described("draft_action", DraftOut, body=NothingIn, on="draft", actions=_DRAFT_ACTIONS)
    def post(self, request: Request, slug: str, story: str, action: str) -> Response:
        """Hands your draft in, or takes it back, which is possible until the pairs are open. 422 where it is not."""
        row = self.story(request, slug, story)
        self.act(request, row, _DRAFT_ACTIONS, action)
        return _draft(request.user, row)


class Pairs(_Table):
    @_described("pairs_read", PairsOut)
    def get(self, request: Request, slug: str, story: str) -> Response:
        """The rows of both drafts beside each other, for experts; none before both are handed in and somebody opened
        the pairs."""
        row = self.story(request, slug, story)
        read_query(request, Strict)
        return _pairs(request.user, row)

    @_described("pairs_decide", PairsOut, body=PairRowsIn, examples=_KEPT)
    def post(self, request: Request, slug: str, story: str) -> Response:
        """Decides rows, all or none; answers with the pairs as they stand.

        `status` is kept or dropped, or empty for an open row. `base` is the row as you saw it, left out for a new row:
        where somebody else decided it since, it stays as it is, and `quicker` names who that was by row. What the
        experts agreed to before is agreed to no more. 422 before the pairs are open, and once the table is made.
        """
        row = self.story(request, slug, story)
        decisions = [entry.change for entry in read_body(request, PairRowsIn).changes]
        with refusing(drafts.Refused):
            decided = reconciliation.decide(by=request.user, story=row, decisions=decisions, now=timezone.now())
        return _pairs(request.user, row, {pair.uid for pair, quicker in decided if quicker})


class PairLink(_Table):
    @_described("pairs_link", PairsOut, body=LinkIn)
    def post(self, request: Request, slug: str, story: str) -> Response:
        """Makes one row of two that say the same, one of each expert; without `other`, two rows of one that was linked.
        The same key again is the same link."""
        row = self.story(request, slug, story)
        posted = read_body(request, LinkIn)
        key, now = posted.idempotency_key, timezone.now()
        with refusing(drafts.Refused):
            reconciliation.link(by=request.user, story=row, first=posted.row, second=posted.other, key=key, now=now)
        return _pairs(request.user, row)


class PairAction(_Table):
    @_described("pairs_action", PairsOut, body=NothingIn, on="pairs", actions=_PAIR_ACTIONS)
    def post(self, request: Request, slug: str, story: str, action: str) -> Response:
        """Opens the pairs, agrees to them as one of their experts or no more, makes the gold table of the rows that are
        kept, or opens them again while nothing is labelled. 422 where the story is in another state."""
        row = self.story(request, slug, story)
        self.act(request, row, _PAIR_ACTIONS, action)
        return _pairs(request.user, row)


def _draft(by: User, story: Story) -> Response:
    own = drafts.own_draft(story=story, expert=by)
    warnings = drafts.warnings_of(own, story)
    rows = [
        plain(row.state) | {"row": row.uid, "warnings": [warned["text"] for warned in warnings.get(row.uid, ())]}
        for row in drafts.live_rows(own)
    ]
    closed = drafts.closed_to(story=story, draft=own)
    return Response(DraftOut({"handed_in_at": own and own.submitted_at, "closed": closed, "rows": rows}).data)


def _pairs(by: User, story: Story, lost: Collection[str] = ()) -> Response:
    """Answer with the pairs as they stand; `lost` are those that somebody else was quicker to decide."""
    state = reconciliation.state_of(story=story, expert=by)
    agreed: list[str] = []
    rows: list[Json] = []
    if state.opened:
        agreed = [draft.author.username for draft in state.submitted if draft.agreed_at and draft.author]
        for pair in reconciliation.pairs_of(story):
            name = pair.decided_by.username if pair.decided_by else None
            quicker = (name or "") if pair.uid in lost else ""
            about = {"row": pair.uid, "kind": pair.kind.value, "decided_by": name, "quicker": quicker}
            sides = {
                side: {**row.words._asdict(), "remark": row.remark} if row else None
                for side, row in (("a", pair.a), ("b", pair.b))
            }
            rows.append(about | sides | plain(pair.state))
    values = {"opened": state.opened, "settled": state.has_gold, "agreed": agreed, "rows": rows}
    return Response(PairsOut(values).data)
