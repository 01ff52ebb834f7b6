"""What is kept as a word of the code, in the language of the page."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext, gettext_noop

register = template.Library()

WORDS = (
    gettext_noop("unanimous"),
    gettext_noop("majority"),
    gettext_noop("adjudicated"),
    gettext_noop("imported"),
    gettext_noop("open"),
    gettext_noop("waiting"),
    gettext_noop("unlabelled"),
    gettext_noop("annotator"),
    gettext_noop("expert"),
    gettext_noop("admin"),
    gettext_noop("accepted"),
    gettext_noop("declined"),
)
"""Ways in which a cell is settled or not, roles, and what becomes of a flag."""


@register.filter
def word(value: str) -> str:
    """Return a word that the code keeps as the reader's language has it."""
    return gettext(value) if value else ""
