from types import MappingProxyType
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy

from annotation.forms.filters import PartsFilter
from annotation.models import Project, RoundKind
from annotation.services.prefill_rounds import PrefillRefused, check_able, endpoints_for
from workers.domain.pricing import BUDGET
from workers.forms.amounts import AmountField
from workers.models import Endpoint
from workers.services.endpoint_rules import BOUNDS

LEVELS = [
    (1, gettext_lazy("1: one sentence")),
    (2, "2: a paragraph"),
    (3, gettext_lazy("3: stepwise sub-tasks")),
    (4, gettext_lazy("4: criteria, definitions and a worked example")),
]


class PrefillForm(PartsFilter):
    field_order = ("kind", "endpoint", "level")
    kind = forms.ChoiceField(choices=RoundKind.choices, label=gettext_lazy("What the model writes"))
    endpoint = forms.ModelChoiceField(
        Endpoint.objects.none(), to_field_name="name", label=gettext_lazy("Model"), empty_label=None
    )
    level = forms.TypedChoiceField(
        choices=LEVELS, coerce=int, initial=3, label=gettext_lazy("Prompt level"),
        help_text=gettext_lazy("For labels; tables have one prompt."),
    )  # fmt: skip
    budget = AmountField(
        BUDGET, required=False, min_value=0, max_digits=12, decimal_places=4,
        label=gettext_lazy("Budget in US dollars"),
        help_text=gettext_lazy("A hard cap: no call is made that could exceed it."),
    )  # fmt: skip
    reasoning_tokens = forms.IntegerField(
        required=False, min_value=0, max_value=BOUNDS["reasoning_tokens"][1],
        label=gettext_lazy("Room for reasoning, in tokens"),
        help_text=gettext_lazy(
"Empty: as the model’s page says. A model that reasons needs some thousands beside its "
"answer."
),
    )  # fmt: skip
    batch = forms.BooleanField(
        required=False, label=gettext_lazy("As a batch, at the provider’s lower price; it may take a day")
    )

    defaults = MappingProxyType({"kind": RoundKind.LABELS.value, "level": "3"})

    def __init__(self, data: QueryDict | None = None, *, project: Project) -> None:
        super().__init__(data and self.defaults | data.dict(), project=project)
        self.fields["endpoint"].queryset = endpoints_for(RoundKind.LABELS) | endpoints_for(RoundKind.TABLES)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if cleaned.get("kind") == RoundKind.TABLES:
            cleaned["level"] = None
        endpoint = cleaned.get("endpoint")
        if endpoint and "kind" in cleaned:
            try:
                check_able(endpoint, cleaned["kind"])
            except PrefillRefused as error:
                self.add_error("endpoint", str(error))
        if cleaned.get("batch") and endpoint and not endpoint.batches:
            self.add_error("batch", gettext_lazy("{name} has no batch form.").format(name=endpoint.name))
        return cleaned
