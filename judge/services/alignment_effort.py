"""Aligning as a part of a project's time on task."""

from __future__ import annotations

from annotation.services.effort_sources import Source, register
from judge.models import AlignmentEvent


def register_effort() -> None:
    """Let the time that people align count in the time on task of their project."""
    source = Source(
        AlignmentEvent, "alignment__annotator", "alignment__task__story", "changed_at", "received_at",
        measured=("duration_ms",), project="alignment__task__study__project",
    )  # fmt: skip
    register("alignment", source)
