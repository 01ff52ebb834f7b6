"""Texts in the language of the present reader: the edge at which sentences are translated."""

import re
from functools import reduce

from django.utils.translation import get_language, gettext

from core import joints
from core.messages import Sentence

_PLACE = re.compile(r"\{(\w+)\}")


def translated(text: str) -> str:
    """Return a text in the language of the present reader: a sentence with its parameters, any other text as a
    catalogue has it; in English where no catalogue does."""
    language = get_language()
    if not text or language is None or language.startswith("en"):
        return text
    return _put_together(text) if isinstance(text, Sentence) else _looked_up(text)


def _looked_up(text: str) -> str:
    """Return a text as a catalogue has it, also where it has it with another first letter, as labels of forms do."""
    if (words := gettext(text)) != text:
        return words
    other = text[:1].swapcase() + text[1:]
    return words if (words := gettext(other)) != other else text


def _put_together(sentence: Sentence) -> str:
    if not sentence.parameters:
        return _looked_up(sentence.id)
    parts = _PLACE.split(gettext(sentence.id))
    values = {
        name: _put_together(value) if isinstance(value, Sentence) else value
        for name, value in sentence.parameters.items()
    }
    return reduce(joints.seamed, (values.get(part, "") if at % 2 else part for at, part in enumerate(parts)), "")
