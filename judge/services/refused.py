"""The refusal of a step of aligning, as people read it."""

from __future__ import annotations


class Refused(ValueError):
    """The step is not possible, or not now; the message is one sentence for the person who tried, in their
    language."""


class Superseded(Refused):
    """The step rests on a state that somebody else has changed since."""
