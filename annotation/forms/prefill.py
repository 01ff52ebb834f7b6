from __future__ import annotations

from django import forms

from annotation.models import Project
from annotation.services.prefill_scope import labelling_endpoints
from workers.models import Endpoint

LEVELS = [
    (1, "1: one sentence"),
    (2, "2: a paragraph"),
    (3, "3: stepwise sub-tasks"),
    (4, "4: criteria, definitions and a worked example"),
]


class PrefillForm(forms.Form):
    endpoint = forms.ModelChoiceField(Endpoint.objects.none(), to_field_name="name", label="Model", empty_label=None)
    level = forms.TypedChoiceField(choices=LEVELS, coerce=int, initial=3, label="Prompt level")
    split = forms.ChoiceField(required=False)
    category = forms.ChoiceField(required=False)
    budget = forms.DecimalField(
        required=False, min_value=0, max_digits=12, decimal_places=4, label="Budget in US dollars",
        help_text="A hard cap: no call is made that could exceed it.",
    )  # fmt: skip
    reasoning_tokens = forms.IntegerField(
        required=False, min_value=0, max_value=1_000_000, label="Room for reasoning, in tokens",
        help_text="Empty: as the model’s page says. A model that reasons needs some thousands beside its answer.",
    )  # fmt: skip
    batch = forms.BooleanField(required=False, label="As a batch, at the provider’s lower price; it may take a day")

    def __init__(self, data=None, *, project: Project) -> None:
        super().__init__(data)
        self.fields["endpoint"].queryset = labelling_endpoints()
        for name, rows in (("split", project.splits), ("category", project.categories)):
            names = list(rows.values_list("name", flat=True))
            self.fields[name].choices = [("", "All"), *((value, value) for value in names)]

    def clean(self) -> dict:
        cleaned = super().clean()
        endpoint = cleaned.get("endpoint")
        if cleaned.get("batch") and endpoint and not endpoint.batches:
            self.add_error("batch", f"{endpoint.name} has no batch form.")
        return cleaned
