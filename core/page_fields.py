"""Fields of pages' forms that take what JSON from outside may be (`core.incoming`), and nothing else."""

import json
from collections.abc import Collection
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from core.incoming.shapes import Like
from core.incoming.text import NotJson, json_of

MOST_DIGITS = 18
"""Digits of the largest keys that every database holds."""


class TickedRows(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # it takes none while the program runs
    """Rows chosen by their primary keys, each with a box. A key that no database could hold is refused as any other
    that there is not."""

    widget = forms.CheckboxSelectMultiple

    def clean(self, value: Collection[str]) -> QuerySet[Any]:
        for key in value if isinstance(value, (list, tuple)) else ():
            if len(str(key)) > MOST_DIGITS:
                raise ValidationError(self.error_messages["invalid_choice"], "invalid_choice", {"value": f"{key:.20}…"})
        return super().clean(value)


class PageForm(forms.Form):
    """A form whose fields are of many classes."""

    fields: dict[str, Any]

    def clean(self) -> dict[str, Any]:
        super().clean()
        return self.cleaned_data


class LikeField(forms.CharField):
    """A text that is as a mark says. That nothing was typed, or too much, is said as on every page."""

    def __init__(self, like: Like, **options: Any) -> None:
        self.like = like
        super().__init__(max_length=like.max_length, **options)

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value and (sentence := self.like.sentence_on(value)):
            raise forms.ValidationError(sentence, code="invalid")


class _Decoder(json.JSONDecoder):
    """Reads as the API does: no field twice, nothing that nests too deeply."""

    def decode(self, text: str, *_: Any) -> Any:
        try:
            return json_of(text.encode("utf-8", "surrogatepass"), nan=True)
        except NotJson as error:
            raise json.JSONDecodeError(str(error), text, 0) from error


class ReadField(forms.JSONField):
    """JSON that is typed. NaN gets by: who takes the value has a sentence of its own on it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"decoder": _Decoder})
