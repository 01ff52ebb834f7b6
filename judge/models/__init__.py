"""One aggregate a file; this module only names them for Django."""

from judge.models.alignment import Alignment, AlignmentEvent, AlignmentState
from judge.models.alignment_study import AlignmentStudy, AlignmentTask
from judge.models.settled_alignment import SettledAlignment, SettledEvent

__all__ = [
    "Alignment",
    "AlignmentEvent",
    "AlignmentState",
    "AlignmentStudy",
    "AlignmentTask",
    "SettledAlignment",
    "SettledEvent",
]
