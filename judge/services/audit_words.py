"""Sentences of the audit log about alignment studies."""

from __future__ import annotations

from django.utils.translation import pgettext_lazy

from annotation.services.audit_words import register

ACTIONS = {
    "alignment.closed": pgettext_lazy("audit log", "alignment study closed"),
    "alignment.given": pgettext_lazy("audit log", "tables to align given"),
    "alignment.grown": pgettext_lazy("audit log", "tables to align added"),
    "alignment.made": pgettext_lazy("audit log", "alignment study made"),
    "alignment.reopened": pgettext_lazy("audit log", "alignment study opened again"),
    "alignment.released": pgettext_lazy("audit log", "table to align freed"),
}
DETAILS = {"alignments": pgettext_lazy("audit log", "alignments"), "worker": pgettext_lazy("audit log", "person")}


def register_words() -> None:
    """Have the audit log say these words."""
    register(ACTIONS, DETAILS)
