"""Frozen datasets, prompts, runs, and what they came to. One aggregate a file."""

from benchmark.models.dataset import Dataset, DatasetStory
from benchmark.models.prompts import StoredPromptSet
from benchmark.models.report import SharedReport, StoryScores
from benchmark.models.run import Entrant, Form, Run, RunItem, RunReport, Stage
from benchmark.models.visibility import Audience, ResultsVisibility

__all__ = [
    "Audience",
    "Dataset",
    "DatasetStory",
    "Entrant",
    "Form",
    "ResultsVisibility",
    "Run",
    "RunItem",
    "RunReport",
    "SharedReport",
    "Stage",
    "StoredPromptSet",
    "StoryScores",
]
