"""Drafts of belief tables and their reconciliation: bodies and answers."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field
from rest_framework import serializers

from annotation.domain.drafts import Change
from annotation.domain.reconciliation import PairKind, Status
from annotation.forms import drafts
from annotation.forms.drafts import MAX_DECISIONS, ChangeIn, DraftRowIn, PairIn
from annotation.forms.votes import Key, Uid
from annotation.models import Origin
from annotation.services.drafts import MAX_CHANGES
from core.incoming.shapes import Counted, Shape


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


class LinkIn(drafts.LinkIn):
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
