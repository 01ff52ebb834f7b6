"""The kinds of questions of OpenToM and the labels of their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

COARSE, FINE, FULLNESS, ACCESSIBILITY, ATTITUDE = "coarse", "fine", "fullness", "accessibility", "attitude"
UNREADABLE = -1
"""The label of an answer that cannot be read."""
NEITHER = 3
"""The label of a place that is as much the one as the other."""
OUTSIDE = -2
"""The label of an answer that is none of those that there are, in the repaired parse: it is read, and wrong."""


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """A file of questions: how many it has of each narrative, its `type` and, but for files of several, its kind."""

    name: str
    questions: int
    type: str
    kind: str = ""


FILES = (
    QuestionFile("location_cg_fo", 2, "location-fo", COARSE),
    QuestionFile("location_cg_so", 2, "location-so", COARSE),
    QuestionFile("location_fg_fo_new", 4, "location-fo", FINE),
    QuestionFile("location_fg_so_new", 2, "location-so", FINE),
    QuestionFile("multihop_fo", 6, "multihop-fo"),
    QuestionFile("multihop_so", 6, "multihop-so"),
    QuestionFile("attitude", 1, "attitude", ATTITUDE),
)
"""The files of questions, in the order in which the released code asks them."""

LABELS: Mapping[str, Mapping[str, int]] = {
    COARSE: {"No": 0, "Yes": 1},
    FULLNESS: {"less full": 1, "more full": 2, "equally full": 3},
    ACCESSIBILITY: {"more accessible": 1, "less accessible": 2, "equally accessible": 3},
    ATTITUDE: {"positive": 1, "negative": 2, "neutral": 3},
}
"""By kind, the number that official scoring gives to each answer; those of a place are 1 for the original and 2 for the
new one."""

PARTS = (COARSE, FINE)
"""The two parts of the benchmark: they differ in the questions about places, the others are in both."""


def question_kind(question: str) -> str:
    """Return the kind of a multi-hop question."""
    return FULLNESS if "fullness" in question else ACCESSIBILITY
