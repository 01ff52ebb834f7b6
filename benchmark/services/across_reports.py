"""The page across suites as a report: its rankings as data, and what made the runs that they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from django.db.models import Q

from annotation.models import Project
from benchmark.models import Run
from benchmark.services.across_tables import CHANCE_NOTE, METRIC_NOTE, NEWEST_NOTE, PAIR_NOTE, RANK_NOTE
from benchmark.services.documents import Document
from benchmark.services.methods_text import facts_of
from benchmark.services.reports import reports_of
from benchmark.services.suite_rankings import SuiteRanking
from benchmark.suites.registry import group_named
from core.messages import Sentence, gettext_noop, listed, sentences

ACROSS = "across"
"""The kind of such a document; it has `rankings`, and no `groups`."""


def across_report(rankings: Sequence[SuiteRanking], runs: Sequence[Run]) -> Document:
    """Return the rankings as a document to be saved; `runs` are those that they have places of."""
    reports = reports_of(runs)
    ranked = [[Sentence("Ranking {ranking}", ranking=ranking.title), _ranked_text(ranking)] for ranking in rankings]
    return Document(
        kind=ACROSS,
        rankings=rankings,
        facts=[*ranked, *(fact for run in runs for fact in facts_of(run, reports[run.pk]))],
        methods=[
            {
                "heading": gettext_noop("Figures and ranks"),
                "text": sentences(METRIC_NOTE, CHANCE_NOTE, RANK_NOTE, NEWEST_NOTE),
            },
            {"heading": gettext_noop("Correlations"), "text": PAIR_NOTE},
        ],
    )


def _ranked_text(ranking: SuiteRanking) -> str:
    return listed([ranking.score, ranking.dataset, ranking.over, ranking.within])


def items_behind(rankings: Sequence[SuiteRanking], project: Project) -> Q | None:
    """Return what finds the items with the figures of the rankings; None where nobody has a place."""
    sizes = dict(project.datasets.values_list("version", "stories_count"))
    queries = []
    for ranking in rankings:
        entrants = [place.entrant for place in ranking.places.values() if place.entrant]
        own = Q(entrant__in=entrants, step=group_named(ranking.group).scored)
        if len(ranking.numbers) < sizes[int(ranking.query["version"])]:
            own &= Q(sample__number__in=ranking.numbers)
        queries += [own] if entrants else []
    return reduce(or_, queries) if queries else None
