"""The keys of the suite's steps and of its metric groups, by which plans, answers and reports are kept."""

from __future__ import annotations

from annotation.domain import tasks

EXTRACT, LABEL = tasks.EXTRACT, tasks.LABEL
JUDGE, FOLLOW_UP = "judge", "follow"
STAGE1, STAGE2 = "stage1", "stage2"
