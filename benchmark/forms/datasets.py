from __future__ import annotations

from django import forms

from benchmark.models import Audience


class FreezeForm(forms.Form):
    note = forms.CharField(required=False, max_length=200, label="Note", help_text="What this version is for.")


class AudienceForm(forms.Form):
    audience = forms.ChoiceField(
        choices=Audience.choices,
        label="Who sees results of models",
        help_text="Results can bias those who still label. Admins always see them.",
    )
    once_frozen = forms.BooleanField(
        required=False,
        label="Experts and annotators only while gold is frozen",
        help_text="While every story is settled and the present gold is a frozen version; any later change hides the results again.",
    )
