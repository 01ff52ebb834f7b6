"""What takes seconds of a large run is made when the run ends, so that nobody waits for a page."""

from __future__ import annotations

from benchmark.models import Run
from benchmark.services.boards import board
from benchmark.services.documents import document_of

MOST_SELECTIONS = 8
"""Of the parts of a dataset that leaderboards can be about; the rest are compared when somebody asks."""


def prepare(run: Run) -> None:
    """The figures of a run, the comparison of its models, and that of all models on each part of the stories."""
    document_of(run)
    whole = board(run.dataset, run.form, None)
    for one in whole["selections"][:MOST_SELECTIONS]:
        if one != whole["chosen"]:
            board(run.dataset, run.form, one.key)
