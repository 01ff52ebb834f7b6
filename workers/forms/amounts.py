"""Amounts of money, prices and factors as people type them."""

from decimal import Decimal
from typing import Any

from django import forms

from core.incoming.shapes import Like
from workers.domain.pricing import AS_WRITTEN


class AmountField(forms.DecimalField):
    """A number that is written as the API takes it; what is below zero is said by others."""

    def __init__(self, like: Like, **options: Any) -> None:
        self.like = like
        super().__init__(**options)

    def clean(self, value: Any) -> Decimal | None:
        number = super().clean(value)
        if number is not None and number >= 0 and isinstance(value, str) and self.like.sentence_on(value.strip()):
            raise forms.ValidationError(AS_WRITTEN, code="invalid")
        return number
