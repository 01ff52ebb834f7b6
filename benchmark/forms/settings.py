"""Fields of what suites let choose."""

from collections.abc import Sequence
from typing import Any

from django import forms

from benchmark.suites.settings import MOST_CHARACTERS, Setting
from core.messages import Sentence, gettext_noop

FEW = 10
"""Numbers that are chosen from a list rather than typed."""


def setting_field(setting: Setting, prompt_sets: Sequence[str] = ()) -> forms.Field:
    """Return the field of a suite's setting; one that names a prompt set offers `prompt_sets`."""
    options: dict[str, Any] = {"label": setting.label, "help_text": setting.help, "initial": setting.default}
    choices = [(name, name) for name in prompt_sets] if setting.prompt_set else _choices(setting)
    if choices:
        return forms.TypedChoiceField(choices=choices, coerce=type(setting.default), **options)
    if isinstance(setting.default, bool):
        return forms.BooleanField(required=False, **options)
    if isinstance(setting.default, int):
        return forms.IntegerField(min_value=setting.least, max_value=setting.most, **options)
    return forms.CharField(required=False, max_length=MOST_CHARACTERS, **options)


def methods_field(setting: Setting) -> forms.MultipleChoiceField:
    """Return the field of a setting of which a launch may take several choices."""
    return forms.MultipleChoiceField(
        choices=setting.choices, initial=[setting.default], label=setting.label, widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_noop("Tick at least one method.")},
    )  # fmt: skip


def swept_field(setting: Setting) -> forms.TypedMultipleChoiceField:
    """Return the field of a setting of which a launch may take several choices, a run each; none need be taken."""
    return forms.TypedMultipleChoiceField(
        choices=setting.choices, coerce=type(setting.default), required=False, widget=forms.CheckboxSelectMultiple,
        label=Sentence("Sweep of {setting}", setting=setting.label.lower()), empty_value=[],
        help_text=gettext_noop("A run at each that is ticked, in one launch, instead of the one above."),
    )  # fmt: skip


def _choices(setting: Setting) -> Sequence[tuple[str | int, str]]:
    is_integer = isinstance(setting.default, int) and not isinstance(setting.default, bool)
    if setting.choices or not is_integer or setting.most - setting.least >= FEW:
        return setting.choices
    return [(number, str(number) if number else "none") for number in range(setting.least, setting.most + 1)]
