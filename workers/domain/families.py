"""Families of models: those that one maker trained alike, so that they err alike."""

import re

from core.messages import gettext_noop

FAMILIES = gettext_noop("model families")
"""The name of what correlations over models resample."""
_WORD = re.compile(r"[a-z]+")


def family_named(model: str, family: str = "") -> str:
    """Return the family of a model: the `family` that an admin entered, else the first word of the model's name after
    its last slash, in lower case: llama of meta-llama/Llama-3.1-8B, gpt of gpt-4o. Returns "" if there is no word."""
    if family.strip():
        return family.strip().lower()
    word = _WORD.search(model.rsplit("/", 1)[-1].lower())
    return word[0] if word else ""
