"""Dataset versions, prompts, runs, and what they came to. One aggregate a file."""

from benchmark.models.dataset import Dataset, DatasetSample, StoredPromptSet
from benchmark.models.entered import EnteredKind, EnteredRow
from benchmark.models.judge_test import JudgeTest, JudgeTestItem
from benchmark.models.report import Snapshot, SnapshotItem, StoryScores
from benchmark.models.run import (
    AnswerFormat,
    Entrant,
    Run,
    RunItem,
    RunParcel,
    RunPreparation,
    RunReport,
    UnmatchedReport,
    UnreadParcel,
)
from benchmark.models.second_look import SecondLook
from benchmark.models.sweep_pick import SweepPick
from benchmark.models.visibility import Audience, ResultsVisibility

__all__ = [
    "AnswerFormat",
    "Audience",
    "Dataset",
    "DatasetSample",
    "EnteredKind",
    "EnteredRow",
    "Entrant",
    "JudgeTest",
    "JudgeTestItem",
    "ResultsVisibility",
    "Run",
    "RunItem",
    "RunParcel",
    "RunPreparation",
    "RunReport",
    "SecondLook",
    "Snapshot",
    "SnapshotItem",
    "StoredPromptSet",
    "StoryScores",
    "SweepPick",
    "UnmatchedReport",
    "UnreadParcel",
]
