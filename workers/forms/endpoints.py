from __future__ import annotations

from django import forms

from workers.models import Endpoint

GROUPS = (
    ("The model", ("name", "provider", "model", "revision", "family", "active")),
    ("Where", ("base_url", "api_key_env", "options")),
    ("What it can do", ("sets_temperature", "json_schema", "batches", "context_tokens")),
    ("Prices", ("price_input", "price_cached", "price_cache_write", "price_output", "price_batch")),
    (
        "Limits",
        (
            "max_concurrency", "requests_per_minute", "tokens_per_minute", "timeout_seconds", "max_attempts", "repeat_unknown",
            "retry_after_cap",
        ),
    ),
)  # fmt: skip


class EndpointForm(forms.ModelForm):
    class Meta:
        model = Endpoint
        fields = [name for _, names in GROUPS for name in names]
        widgets = {"options": forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "class": "mono"})}

    @property
    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        return [(title, [self[name] for name in names]) for title, names in GROUPS]

    def clean_options(self) -> dict:
        options = self.cleaned_data["options"] or {}
        if not isinstance(options, dict):
            raise forms.ValidationError("A JSON object is expected, such as {} for none.")
        return options


class LedgerFilter(forms.Form):
    text = forms.CharField(label="Text or id", required=False, max_length=200)
    endpoint = forms.CharField(required=False)
    state = forms.CharField(required=False)
    purpose = forms.CharField(required=False)
    day = forms.DateField(required=False)
