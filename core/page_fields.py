"""Fields of pages' forms that take what JSON from outside may be (`core.incoming`), and nothing else."""

import json
from typing import Any

from django import forms

from core.incoming.shapes import Like
from core.incoming.text import NotJson, json_of


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
