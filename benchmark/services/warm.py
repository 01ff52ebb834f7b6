"""Fill the caches of a finished run, so that nobody waits seconds for the first view of a page."""

from benchmark.models import Run
from benchmark.services.documents import document_of
from benchmark.services.leaderboard_scope import finished_runs, leaderboard_of_runs, with_corrections
from benchmark.services.reports import reports_of

MOST_SELECTIONS = 8
"""Parts of a dataset whose leaderboards are computed ahead; the others are computed when first asked for."""


def warm(run: Run) -> None:
    """Compute and cache the run's figures, the comparison of its models, and the leaderboards of the largest selections
    of stories."""
    document_of(run)
    runs = finished_runs(run.dataset, run.answer_format, run.suite)
    reports = reports_of(runs)  # read once: they are megabytes where there are many runs
    leaderboard = with_corrections(leaderboard_of_runs(run.dataset, run.suite, runs, reports))
    for selection in leaderboard.selections[:MOST_SELECTIONS]:
        if selection != leaderboard.chosen:
            with_corrections(leaderboard_of_runs(run.dataset, run.suite, runs, reports, selection.key))
