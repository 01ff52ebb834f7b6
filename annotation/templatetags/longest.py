"""The most characters that a text may have, for pages that write its field themselves."""

from __future__ import annotations

from django import template

from annotation.domain.story_rows import MAX_SPLIT_LENGTH
from annotation.forms.values import MAX_MESSAGE, MAX_REASON

register = template.Library()
LONGEST = {"message": MAX_MESSAGE, "reason": MAX_REASON, "split": MAX_SPLIT_LENGTH}


@register.simple_tag
def longest(name: str) -> int:
    """Return the most characters of a text by what it is."""
    return LONGEST[name]
