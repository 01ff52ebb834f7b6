"""Fields of what suites let choose."""

from __future__ import annotations

from django import forms

from benchmark.suites.settings import MOST_CHARACTERS, Setting


def setting_field(setting: Setting) -> forms.Field:
    """The field of a suite's setting."""
    told = {"label": setting.label, "help_text": setting.help, "initial": setting.default}
    if setting.choices:
        return forms.ChoiceField(choices=setting.choices, **told)
    if isinstance(setting.default, bool):
        return forms.BooleanField(required=False, **told)
    if isinstance(setting.default, int):
        return forms.IntegerField(min_value=setting.least, max_value=setting.most, **told)
    return forms.CharField(required=False, max_length=MOST_CHARACTERS, **told)
