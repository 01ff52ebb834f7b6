"""Rows that a form has people tick."""

from collections.abc import Collection
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet

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
