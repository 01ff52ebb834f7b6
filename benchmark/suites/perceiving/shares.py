"""The share of sentences or utterances of which a model gave the right perceivers, and how the perceivers that it wrote
are read."""

from __future__ import annotations

from collections.abc import Sequence

ACCURACY, RECALL, WHOLE = "perception_accuracy", "perception_recall", "perception_whole"
SHARES = (ACCURACY, RECALL, WHOLE)
"""The share with the right perceivers of what a model wrote, that of what the story has, and whether all that it wrote
is right (official) or all of the story (repaired)."""

Shares = dict[str, float | None]


def makes_a_set(names: object) -> bool:
    """Return whether Python makes a set of it: a text becomes one of its letters."""
    return isinstance(names, str) or (isinstance(names, list) and all(isinstance(name, str) for name in names))


def names_in(names: object) -> list[str] | None:
    """Return the names without empty ones, those of a text between its commas; None of what holds no names."""
    listed = names.split(",") if isinstance(names, str) else names
    if not isinstance(listed, (list, tuple)) or not all(isinstance(name, str) for name in listed):
        return None
    return [name.strip() for name in listed if name.strip()]


def same_names(names: Sequence[str], gold: Sequence[str]) -> bool:
    """Return whether both name the same people; an empty name is nobody."""
    return {name.casefold() for name in names} == {name.casefold() for name in gold if name}
