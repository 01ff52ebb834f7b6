"""Texts written in English elsewhere, in the language of the page."""

from __future__ import annotations

from typing import Any

from django import template
from django.forms import BoundField, ModelChoiceField

from core import joints
from core.catalogues.sentences import translated as translated_text
from core.views.charts import Mark

register = template.Library()


@register.filter(is_safe=True)
def translated(text: Any) -> Any:
    """Return a text that code wrote in English, or each of several, in the language of the page; what is not text, or a
    name that somebody gave, as it is."""
    if isinstance(text, str):
        return translated_text(text)
    if isinstance(text, (list, tuple)):
        return [translated(part) for part in text]
    return text


@register.simple_tag
def in_words(mark: Mark) -> str:
    """Return a row of a chart as it is read out, in the language of the page: `tiny: repaired 93.8 (78.1 to 98.5)`."""
    parts = [" ".join(filter(None, (_within(what), translated(value)))) for what, value in mark.descriptions]
    return joints.labelled(translated(mark.label), joints.joint(",").join(parts))


def _within(title: str) -> str:
    """Return a title as it stands within a sentence."""
    words = str(translated(title))
    return words.lower() if words == title else words


@register.filter
def spoken(field: BoundField) -> BoundField:
    """Return a field with what it offers in the language of the page; objects, and values that are shown as they are,
    keep their names."""
    if hasattr(field.field, "choices") and not isinstance(field.field, ModelChoiceField):
        widget = field.field.widget
        widget.choices = [(value, label if value == label else translated(label)) for value, label in widget.choices]
    return field
