"""Words of the code in the language of the page."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext

from core.messages import gettext_noop

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

LABELS = (
    gettext_noop("Replaces"),
    gettext_noop("Annotators"),
    gettext_noop("Outcome"),
    gettext_noop("Files (.jsonl, .json, .csv, .xlsx)"),
    gettext_noop("Withdraw"),
    gettext_noop("Role"),
    gettext_noop("Split"),
    gettext_noop("Reason"),
    gettext_noop("Belief"),
    gettext_noop("Description"),
    gettext_noop("Stories"),
    gettext_noop("Error tag"),
    gettext_noop("Actor"),
    gettext_noop("Order"),
    gettext_noop("Language"),
    gettext_noop("Label"),
    gettext_noop("Seed"),
    gettext_noop("Status"),
    gettext_noop("Dimension"),
    gettext_noop("Encoding"),
    gettext_noop("Experts"),
    gettext_noop("Format"),
    gettext_noop("Archive (.zip)"),
    gettext_noop("Name"),
    gettext_noop("Category"),
    gettext_noop("User name"),
    gettext_noop("Display name"),
    gettext_noop("E-mail address"),
)
"""What Django makes of the names of fields that a form gives no words to."""


@register.filter
def word(value: str) -> str:
    """Return a word that the code keeps as the reader's language has it."""
    return gettext(value) if value else ""
