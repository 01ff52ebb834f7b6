"""Fill the caches of a finished run, so that nobody waits seconds for the first view of a page."""

from __future__ import annotations

from benchmark.models import Run
from benchmark.services.documents import document_of
from benchmark.services.leaderboard_scope import Leaderboard, finished_runs, leaderboard_of_runs, with_corrections
from benchmark.services.reports import reports_of
from benchmark.suites.registry import suite_named

MOST_SELECTIONS = 8
"""Parts of a dataset whose leaderboards are computed ahead; the others are computed when first asked for."""


def warm(run: Run) -> None:
    """Compute and cache the run's figures, the comparison of its models, the leaderboards of the largest selections of
    stories, and what its structures or answers come to beside those of other runs."""
    document_of(run)
    runs = finished_runs(run.dataset, run.answer_format, run.suite)
    reports = reports_of(runs)  # read once: they are megabytes where there are many runs
    leaderboard = with_corrections(leaderboard_of_runs(run.dataset, run.suite, runs, reports))
    for selection in leaderboard.selections[:MOST_SELECTIONS]:
        if selection != leaderboard.chosen:
            with_corrections(leaderboard_of_runs(run.dataset, run.suite, runs, reports, selection.key))
    _warm_items(leaderboard)
    if any(group.tells for group in suite_named(run.suite).groups):
        _warm_structure(run)


def _warm_structure(run: Run) -> None:
    """Hold the structures of the project's newest runs against their answers, as the page does that nothing is chosen
    on."""
    from benchmark.services.structure import association_of  # loads SciPy
    from benchmark.services.structure_sides import choice_of, lacking, sides_of

    sides = sides_of(run.project)
    if not lacking(sides):
        association_of(sides, choice_of(sides, {}, ())[0])


def _warm_items(leaderboard: Leaderboard) -> None:
    """Fit which items within samples tell the models of the largest selection apart: answers of a corpus take long to
    read."""
    from benchmark.services.item_statistics import finer_metrics_of, items_of  # loads SciPy

    stories = leaderboard.chosen.stories if leaderboard.chosen else frozenset()
    for group, entrants in leaderboard.entrants.items():
        metric = next(iter(finer_metrics_of(group)), "")
        if metric and leaderboard.runs:
            items_of(entrants, group, "repaired", metric, stories, leaderboard.runs[0].dataset)
