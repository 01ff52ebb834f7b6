"""The effect of pre-filled labels on votes: randomised arms, their comparison, and the alternative annotator test."""

from annotation.domain.anchoring.alternative_annotator import AlternativeAnnotator, alternative_annotator_test, wins
from annotation.domain.anchoring.arms import Arm, DrawUnit, Votes, draw_arm, is_drawn_blind, untouched
from annotation.domain.anchoring.gold import (
    FEWEST_BLIND_VOTES,
    Accuracy,
    BlindEvidence,
    accuracy_on,
    blind_evidence,
    gold_from_blind,
)
from annotation.domain.anchoring.over_stories import OverStories, alternative_annotator_over_stories
from annotation.domain.anchoring.report import anchoring_report

__all__ = [
    "FEWEST_BLIND_VOTES",
    "Accuracy",
    "AlternativeAnnotator",
    "Arm",
    "BlindEvidence",
    "DrawUnit",
    "OverStories",
    "Votes",
    "accuracy_on",
    "alternative_annotator_over_stories",
    "alternative_annotator_test",
    "anchoring_report",
    "blind_evidence",
    "draw_arm",
    "gold_from_blind",
    "is_drawn_blind",
    "untouched",
    "wins",
]
