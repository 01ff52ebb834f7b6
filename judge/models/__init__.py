"""One aggregate a file; this module only names them for Django."""

from judge.models.alignment import Alignment, AlignmentEvent, AlignmentState, SettledAlignment, SettledEvent
from judge.models.alignment_study import AlignmentStudy, AlignmentTask
from judge.models.watch import AnchorRepeat, AnchorWatch

__all__ = [
    "Alignment",
    "AlignmentEvent",
    "AlignmentState",
    "AlignmentStudy",
    "AlignmentTask",
    "AnchorRepeat",
    "AnchorWatch",
    "SettledAlignment",
    "SettledEvent",
]
