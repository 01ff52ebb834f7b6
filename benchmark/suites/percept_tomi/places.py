"""Place that an answer names, as the released code and as a careful reader takes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from core.language import gettext_noop

NO_OUTPUT = "no output"
"""The text for an answer that never came; the released code leaves such a question out."""
SEVERAL = gettext_noop("names more than one container")
NONE = gettext_noop("names no place of the story")


def official_right(answer: str, gold: str) -> bool | None:
    """Return whether the place stands in the answer to the letter, even within a word or beside others; None of an
    answer that is left out."""
    return None if answer == NO_OUTPUT else gold in answer


def named_place(answer: str, containers: Sequence[str], candidates: Iterable[str]) -> tuple[str | None, str]:
    """Return (the one container that an answer names in whole words, why there is none).

    An answer that names none of the containers but another candidate, such as the room, is taken to mean that.
    """
    named = _named(answer, containers)
    if len(named) > 1:
        return None, SEVERAL
    places = named or _named(answer, [name for name in candidates if name not in containers])
    return (places[0], "") if places else (None, NONE)


def _named(answer: str, names: Iterable[str]) -> list[str]:
    """The names that stand in an answer, longest first; within a longer name a shorter one does not count."""
    named = []
    for name in sorted(dict.fromkeys(names), key=len, reverse=True):
        words = r"[\s_-]+".join(re.escape(word) for word in re.split(r"[\s_-]+", name))
        answer, count = re.subn(rf"(?<!\w){words}(?!\w)", " ", answer, flags=re.IGNORECASE)
        named += [name] if count else []
    return named
