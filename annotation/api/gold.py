"""Gold labels with their lineage, experts' decisions on one cell or many, and the threads about cells."""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone
from django.utils.crypto import salted_hmac
from drf_spectacular.utils import extend_schema_field, inline_serializer
from pydantic import Field, ValidationInfo, field_validator
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import ProjectAccess, closed_gold, project_access, proposition_in_gold, unfinished
from annotation.api.corpus import StoryFilter
from annotation.api.description import DIMENSION, PROPOSITION, operation
from annotation.api.dimensions import DimensionKey, labels_of
from annotation.domain.resolution import from_json, shuffled
from annotation.domain.stories import MAX_CATEGORY_LENGTH, MAX_SPLIT_LENGTH
from annotation.forms.adjudication import CellIn, DecidedIn, Revision
from annotation.forms.values import MESSAGE, REMARK, Label, Tag
from annotation.forms.votes import DIMENSION_KEY, UID, Dimension, Uid
from annotation.models import ErrorTag, GoldLabel, Method, Proposition, Role, User, adjudication_queue
from annotation.services import adjudication, remarks
from annotation.services.adjudication import MOST_ALIKE, AdjudicationRefused, DecidedMeanwhile
from annotation.services.decisions import last_action
from annotation.services.gold import Cell
from core.api.bodies import read_body
from core.api.errors import CannotBeDone, Conflict, refusing
from core.api.fields import Pattern, Strict, read_query
from core.api.listing import Listing
from core.idempotency.requests import PARAMETER, made_once
from core.incoming.misfit import refusal
from core.incoming.shapes import Counted, Like, Moment, Shape
from core.plain import Json

NO_DIMENSION = "There is no such dimension."


class GoldFilter(StoryFilter):
    story = Pattern(UID, required=False, help_text="Only cells of this story.")
    dimension = DimensionKey(required=False)
    method = serializers.ChoiceField(
        Method.choices, required=False, help_text="How the cell was settled; open waits for an expert."
    )


class DecisionIn(DecidedIn):
    """An expert's decision on one cell."""

    label: Label = Field(description="One of the labels of the dimension.")
    version: Annotated[str, Like(r"^([0-9a-f]{20})?$", "20 hexadecimal digits, or nothing")] = Field(
        description="version of the gold label that you saw; empty where there was none."
    )
    guideline_flag: bool = Field(False, description="Puts the case on the guideline's list.")

    @field_validator("label")
    @classmethod
    def _is_known(cls, label: str, info: ValidationInfo[dict[str, Any]]) -> str:
        labels = labels_of([info.context["schema"]])
        if label not in labels:
            raise refusal(f"one of {', '.join(labels)}", f"{label!r} is not a label of this project")
        return label


class CaseIn(Shape):
    """Whether a cell is on the list of cases for the guideline."""

    filed: bool


class DecidedCellIn(CellIn):
    """A cell that you decided, as it was seen."""

    revision: Revision = Field(description="revision of its gold label.")


class TakenBackIn(Shape):
    """Decisions of your own that are taken back."""

    cells: Annotated[list[DecidedCellIn], Counted(1, MOST_ALIKE)]


class MajoritiesFilter(StoryFilter):
    dimension = DimensionKey(required=False)


class MajoritiesIn(Shape):
    """What the preview was asked for, and when it was made."""

    seen_until: Moment = Field(description="As the preview said it.")
    dimension: Annotated[str, Like(rf"^$|{DIMENSION_KEY}", "the key of a dimension, or nothing")] = ""
    category: Annotated[str, Like(r"^[^\u0000]*$", "the name of a category", max_length=MAX_CATEGORY_LENGTH)] = ""
    split: Annotated[str, Like(r"^[-\w]*$", "the name of a split", max_length=MAX_SPLIT_LENGTH)] = ""


class SeenCellIn(Shape):
    """An open cell of the dimension, as it was seen."""

    proposition: Uid
    version: Annotated[str, Like(r"^[0-9a-f]{20}$", "20 hexadecimal digits")]


class AlikeIn(Shape):
    """One decision for many open cells."""

    dimension: Dimension
    label: Label
    reason: Annotated[str, REMARK]
    error_tag: Tag = ""
    cells: Annotated[list[SeenCellIn], Counted(1, MOST_ALIKE)]


class ReplyIn(Shape):
    """An answer of the experts to an annotator."""

    thread: Uid = Field(description="As the list of messages says it.")
    text: Annotated[str, MESSAGE]


_VOTE = {
    "annotator": serializers.CharField(allow_null=True, help_text="null until the cell is settled."),
    "label": serializers.CharField(),
}


class GoldOut(serializers.ModelSerializer):
    # Context: `names` (user id → user name) and `voted`, the cells on which the reader voted.
    story = serializers.CharField(source="proposition.table.story.uid")
    number = serializers.IntegerField(source="proposition.table.story.number", help_text="The story's number.")
    proposition = serializers.CharField(source="proposition.uid")
    decided_by = serializers.CharField(source="decided_by.username", default=None, allow_null=True)
    error_tag = serializers.ChoiceField(ErrorTag.choices, allow_blank=True)
    agreement = serializers.SerializerMethodField(help_text="Largest share of one label, 0 to 1.")
    votes = serializers.SerializerMethodField(
        help_text="What the label rests on. Open cells: without names, shuffled. null on a cell that you voted on."
    )
    version = serializers.SerializerMethodField(help_text="Send it back with a decision on this cell.")

    class Meta:
        model = GoldLabel
        fields = (
            "story", "number", "proposition", "dimension", "label", "method", "agreement", "votes", "decided_by",
            "decided_at", "reason", "error_tag", "guideline_flag", "disturbed", "rule_version", "schema_version",
            "revision", "version",
        )  # fmt: skip
        read_only_fields = fields

    def get_agreement(self, gold: GoldLabel) -> float | None:
        return None if self._voted(gold) else gold.agreement

    @extend_schema_field(inline_serializer("GoldVoteOut", _VOTE, many=True, allow_null=True))
    def get_votes(self, gold: GoldLabel) -> list[Json] | None:
        if self._voted(gold):
            return None
        votes = from_json(gold.votes)
        if gold.method == Method.OPEN:
            labels = shuffled([vote.label for vote in votes], f"{gold.proposition.uid}:{gold.dimension}")
            return [{"annotator": None, "label": label} for label in labels]
        return [{"annotator": self.context["names"].get(vote.annotator), "label": vote.label} for vote in votes]

    def get_version(self, gold: GoldLabel) -> str:
        return version_of(gold)

    def _voted(self, gold: GoldLabel) -> bool:
        return (gold.proposition_id, gold.dimension) in self.context["voted"]


def version_of(gold: GoldLabel | None) -> str:
    """Return an opaque name of one state of one gold row, "" for no row. A row that was removed and made again has
    another version."""
    return salted_hmac("annotation.api.gold", f"{gold.pk}:{gold.revision}").hexdigest()[:20] if gold else ""


class CellsOut(serializers.Serializer):
    cells = GoldOut(many=True)


class LeadingOut(serializers.Serializer):
    total = serializers.IntegerField(help_text="Open cells that have a leading label.")
    by_dimension = serializers.DictField(child=serializers.IntegerField())
    tied = serializers.IntegerField(help_text="Open cells in which no label leads.")
    voted_on = serializers.IntegerField(help_text="Open cells on which you voted; others decide them.")
    seen_until = serializers.DateTimeField(help_text="Send it back to accept what was seen.")


_SETTLED = inline_serializer("SettledOut", {"settled": serializers.IntegerField(help_text="Cells that were decided.")})


class SaidOut(serializers.Serializer):
    """A message of a thread about a cell, as experts see it."""

    thread = serializers.CharField(help_text="Send it with a reply.")
    comment = serializers.CharField()
    by = serializers.CharField(
        allow_null=True, help_text="null for the annotator whose thread it is, while they may not be named."
    )
    text = serializers.CharField()
    created_at = serializers.DateTimeField()


def _expert(request: Request, slug: str) -> ProjectAccess:
    return project_access(request.user, slug, role=Role.EXPERT)


def _cell_of(request: Request, slug: str, proposition: str, dimension: str) -> tuple[ProjectAccess, Proposition]:
    access = _expert(request, slug)
    return access, proposition_in_gold(access, proposition, dimension)


def _gold_of(row: Proposition, dimension: str) -> GoldLabel | None:
    rows = GoldLabel.objects.filter(proposition=row, dimension=dimension)
    return rows.select_related("proposition__table__story", "decided_by").first()


def _context(user: User, page: Sequence[GoldLabel]) -> dict[str, Any]:
    voters = {vote.annotator for gold in page for vote in from_json(gold.votes)}
    names = dict(User.objects.filter(pk__in=voters).values_list("pk", "username"))
    return {"names": names, "voted": adjudication_queue.voted_on(user, {gold.proposition_id for gold in page})}


def _answer(access: ProjectAccess, gold: GoldLabel) -> Response:
    return Response(GoldOut(gold, context=_context(access.user, [gold])).data)


class Gold(Listing):
    @operation("gold_list", "gold", GoldFilter, answer=GoldOut(many=True), errors=(400, 403))
    def get(self, request: Request, slug: str) -> Response:
        """Cells that have all their votes, with method, who, when, why and the votes they rest on. Experts and admins.

        Stories that you have open work on are left out, but for those whose cells you may decide. A cell without a row
        here keeps the label of its imported record, if it has one; the export holds both.
        """
        access = _expert(request, slug)
        chosen = read_query(request, GoldFilter, schema=access.project.schema)
        filters = {name: chosen[name] for name in ("dimension", "category", "split") if name in chosen}
        rows = adjudication_queue.cells(access.project, unfinished=closed_gold(access), status="all", **filters)
        if "method" in chosen:
            rows = rows.filter(method=chosen["method"])
        if "story" in chosen:
            rows = rows.filter(proposition__table__story__uid=chosen["story"])
        rows = rows.select_related("proposition__table__story", "decided_by").defer(
            "proposition__table__story__text", "proposition__table__story__translations", "proposition__belief"
        )
        page = self.paginate_queryset(
            rows.order_by("proposition__table__story__number", "proposition__position", "dimension")
        )
        return self.answer(page, GoldOut, **_context(access.user, page))


class OneCell(GenericAPIView):
    @operation("gold_read", "gold", PROPOSITION, DIMENSION, answer=GoldOut, errors=(403,))
    def get(self, request: Request, slug: str, proposition: str, dimension: str) -> Response:
        """One cell; 404 where it has no gold label yet. Experts and admins."""
        access, row = _cell_of(request, slug, proposition, dimension)
        if row.table.story_id in unfinished(access):
            raise PermissionDenied("You still label this story yourself; finish it first.")
        if (gold := _gold_of(row, dimension)) is None:
            raise Http404("This cell has no gold label yet.")
        return _answer(access, gold)

    @operation(
        "gold_decide", "gold", PROPOSITION, DIMENSION, answer=GoldOut, errors=(403, 409), body=DecisionIn,
        examples={"A decision": {
            "label": "False", "version": "5d41402abc4b2a76b971", "reason": "Ines saw it moved.", "error_tag": "slip",
        }},
    )  # fmt: skip
    def post(self, request: Request, slug: str, proposition: str, dimension: str) -> Response:
        """Adjudicates a cell. Experts and admins who have not voted on it.

        409 where the cell is no longer what `version` names: nothing is overwritten. 422 where the rules refuse it,
        such as overruling settled votes without a reason.
        """
        access, row = _cell_of(request, slug, proposition, dimension)
        chosen = read_body(request, DecisionIn, schema=access.project.schema).model_dump(exclude_unset=True)
        chosen |= {"proposition": row, "dimension": dimension}
        seen = chosen.pop("version")
        gold = _gold_of(row, dimension)
        with refusing(AdjudicationRefused, past=DecidedMeanwhile):
            adjudication.check_independence(by=request.user, proposition=row, dimension=dimension)
            if version_of(gold) != seen:
                raise DecidedMeanwhile(gold)
            chosen |= {"revision": gold.revision, "row": gold.pk} if gold else {"revision": 0, "row": 0}
            decided = adjudication.adjudicate(by=request.user, now=timezone.now(), **chosen)
        return _answer(access, decided)


class GuidelineCase(GenericAPIView):
    @operation(
        "gold_file", "gold", PROPOSITION, DIMENSION, answer=GoldOut, errors=(403,), body=CaseIn,
        examples={"A case": {"filed": True}},
    )  # fmt: skip
    def post(self, request: Request, slug: str, proposition: str, dimension: str) -> Response:
        """Puts a cell on the list of cases for the guideline, or takes it off; the label stays as it is. Experts and
        admins. 422 for a cell without a gold label, and in a story that you still label."""
        access, row = _cell_of(request, slug, proposition, dimension)
        filed = read_body(request, CaseIn).filed
        with refusing(AdjudicationRefused):
            gold = adjudication.file_case(by=request.user, proposition=row, dimension=dimension, filed=filed)
        return _answer(access, gold)


class Undo(GenericAPIView):
    @operation("gold_last", "gold", answer=CellsOut, errors=(400, 403))
    def get(self, request: Request, slug: str) -> Response:
        """The decisions that you took last and can take back: one cell, or all that were decided at once; none where
        there is nothing. Experts and admins; without stories that you still label."""
        access = _expert(request, slug)
        read_query(request, Strict)
        labels = last_action(by=request.user, project=access.project)
        return _standing(access, {(gold.proposition_id, gold.dimension) for gold in labels})

    @operation(
        "gold_undo", "gold", answer=CellsOut, errors=(403, 409), body=TakenBackIn,
        examples={
            "One cell": {"cells": [{"proposition": "k7m2p9x4c3ta", "dimension": "truth_status", "revision": 2}]}
        },
    )  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        """Takes your last decision on each of these cells back, all or none: the decision before it returns, else the
        result of the rule. Sent again it changes nothing.

        The answer is the cells that still have a gold label. 409 where one has another `revision`; 422 where the
        decision that stands is not your own.
        """
        access = _expert(request, slug)
        asked = read_body(request, TakenBackIn).cells
        uids = {cell.proposition for cell in asked}
        rows = Proposition.objects.live_gold().filter(table__story__project=access.project, uid__in=uids)
        ids = dict(rows.values_list("uid", "pk"))
        if set(ids) != uids:
            raise CannotBeDone({"cells": ["There is no such proposition in a gold table."]})
        if any(cell.dimension not in access.project.schema for cell in asked):
            raise CannotBeDone({"cells": [NO_DIMENSION]})
        cells = {(ids[cell.proposition], cell.dimension): cell.revision for cell in asked}
        with refusing(AdjudicationRefused, past=DecidedMeanwhile):
            adjudication.undo_decisions(by=request.user, project=access.project, cells=cells, now=timezone.now())
        return _standing(access, set(cells))


def _standing(access: ProjectAccess, cells: Collection[Cell]) -> Response:
    """Return these cells as they are now, without those of stories that the expert still labels."""
    rows = GoldLabel.objects.filter(proposition__in={proposition for proposition, _ in cells})
    others = rows.exclude(proposition__table__story__in=unfinished(access)) if cells else rows
    labels = others.select_related("proposition__table__story", "decided_by").order_by("proposition", "dimension")
    standing = [gold for gold in labels if (gold.proposition_id, gold.dimension) in cells]
    return Response(CellsOut({"cells": standing}, context=_context(access.user, standing)).data)


class Majorities(GenericAPIView):
    @operation("majorities_preview", "gold", MajoritiesFilter, answer=LeadingOut, errors=(400, 403))
    def get(self, request: Request, slug: str) -> Response:
        """How many open cells have a label with more votes than any other, by dimension, and how many stay open.
        Experts and admins; nothing changes."""
        access, now = _expert(request, slug), timezone.now()
        chosen = read_query(request, MajoritiesFilter, schema=access.project.schema)
        leading = adjudication.preview(by=request.user, cells=_open(access, chosen))
        return Response(LeadingOut(leading | {"seen_until": now}).data)

    @operation("majorities_accept", "gold", answer=_SETTLED, errors=(403,), body=MajoritiesIn)
    def post(self, request: Request, slug: str) -> Response:
        """Settles these cells in your name by their leading label. Decided cells, ties, cells on which you voted and
        cells that changed after `seen_until`, the time of the preview, stay as they are."""
        access = _expert(request, slug)
        chosen = read_body(request, MajoritiesIn)
        cells = _open(access, chosen.model_dump(exclude={"seen_until"}))
        settled = adjudication.accept_plurality(
            by=request.user, project=access.project, cells=cells, seen_until=chosen.seen_until, now=timezone.now()
        )
        return Response({"settled": settled})


def _open(access: ProjectAccess, filters: Mapping[str, str]) -> QuerySet[GoldLabel]:
    return adjudication_queue.cells(access.project, unfinished=unfinished(access), status="open", **filters)


class Alike(GenericAPIView):
    @operation(
        "gold_decide_alike", "gold", answer=_SETTLED, errors=(403, 409), body=AlikeIn,
        examples={"One cell": {
            "dimension": "truth_status", "label": "False", "reason": "Nobody saw it moved.",
            "cells": [{"proposition": "k7m2p9x4c3ta", "version": "5d41402abc4b2a76b971"}],
        }},
    )  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        """Decides open cells of one dimension by one label, all or none; the reason stays with each.

        409 where a cell is no longer what its `version` names; 422 where the rules refuse it, such as a cell that is
        settled, or on which you voted.
        """
        access = _expert(request, slug)
        asked = read_body(request, AlikeIn)
        if asked.dimension not in access.project.schema:
            raise CannotBeDone({"dimension": [NO_DIMENSION]})
        seen = {cell.proposition: cell.version for cell in asked.cells}
        rows = adjudication_queue.of_project(access.project).filter(
            proposition__uid__in=seen, dimension=asked.dimension
        )
        standing = {gold.proposition.uid: gold for gold in rows.select_related("proposition")}
        if any(version_of(standing.get(uid)) != version for uid, version in seen.items()):
            raise Conflict("One of the cells changed since you saw it; nothing was decided.")
        cells = {(gold.proposition_id, gold.dimension): gold.revision for gold in standing.values()}
        decision = asked.model_dump(include={"label", "reason", "error_tag"})
        with refusing(AdjudicationRefused):
            adjudication.decide_alike(
                by=request.user, project=access.project, cells=cells, now=timezone.now(), **decision
            )
        return Response({"settled": len(cells)})


class Threads(Listing):
    @operation("threads_list", "gold", PROPOSITION, DIMENSION, answer=SaidOut(many=True), errors=(400, 403))
    def get(self, request: Request, slug: str, proposition: str, dimension: str) -> Response:
        """The threads of annotators with the experts about a cell, message by message. While the cell is open, or you
        voted on it, annotators are not named. Experts and admins; 404 in a story that you still label."""
        access, row = self._cell(request, slug, proposition, dimension)
        read_query(request, Strict)
        return self.page(_messages(access, row, dimension), SaidOut)

    @operation(
        "threads_reply", "gold", PROPOSITION, DIMENSION, PARAMETER, answer=SaidOut, errors=(403,), body=ReplyIn,
        examples={"A reply": {"thread": "k7m2p9x4c3ta", "text": "Yes: anger is a state of mind."}}, status=201,
    )  # fmt: skip
    def post(self, request: Request, slug: str, proposition: str, dimension: str) -> Response:
        """Answers an annotator in their thread; nobody else who labels reads it. 422 for a thread that is not of this
        cell."""
        access, row = self._cell(request, slug, proposition, dimension)
        reply = read_body(request, ReplyIn)
        thread = next((thread for thread in remarks.threads_of(row, dimension) if thread.uid == reply.thread), None)
        if thread is None:
            raise CannotBeDone({"thread": ["There is no such thread about this cell."]})
        add = {"by": request.user, "proposition": row, "dimension": dimension, "thread_of": thread.annotator}
        uid = made_once(request, lambda: remarks.add_comment(**add, text=reply.text).uid)
        answer = next(message for message in _messages(access, row, dimension) if message["comment"] == uid)
        return Response(SaidOut(answer).data, status=201)

    def _cell(self, request: Request, *place: str) -> tuple[ProjectAccess, Proposition]:
        access, row = _cell_of(request, *place)
        if row.table.story_id in unfinished(access):
            raise Http404("You still label this story.")
        return access, row


def _messages(access: ProjectAccess, row: Proposition, dimension: str) -> list[dict[str, Any]]:
    """Return the messages about a cell in the shape of `SaidOut`, thread by thread."""
    voted = (row.pk, dimension) in adjudication_queue.voted_on(access.user, [row.pk])
    named = remarks.annotators_named(_gold_of(row, dimension), voted=voted)
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
