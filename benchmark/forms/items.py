from __future__ import annotations

from django import forms

from benchmark.models import Run, Stage
from benchmark.services.items import STATE_NAMES, categories_of


class ItemFilter(forms.Form):
    model = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    stage = forms.ChoiceField(required=False, choices=[("", "All"), *Stage.choices])
    state = forms.ChoiceField(required=False, choices=[("", "All"), *STATE_NAMES.items()])
    category = forms.ChoiceField(required=False)

    def __init__(self, data, *, run: Run) -> None:
        super().__init__(data)
        self.fields["model"].choices = [("", "All"), *run.entrants.values_list("pk", "name")]
        self.fields["category"].choices = [("", "All"), *((name, name) for name in categories_of(run))]
