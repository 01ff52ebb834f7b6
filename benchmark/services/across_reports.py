"""The page across suites as a report: its rankings as data, and what made the runs that they rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q

from annotation.models import Project
from benchmark.models import Run
from benchmark.services.across import Place, SuiteRanking, models_across
from benchmark.services.across_tables import CHANCE_NOTE, METRIC_NOTE, NEWEST_NOTE, PAIR_NOTE, RANK_NOTE
from benchmark.services.documents import Document
from benchmark.services.methods_text import facts_of
from benchmark.services.reports import reports_of
from benchmark.suites.registry import group_named

ACROSS = "across"
"""The kind of such a document; it has "rankings", and no "stages"."""


def across_report(rankings: Sequence[SuiteRanking], runs: Sequence[Run]) -> Document:
    """Return the rankings as a document to be frozen; `runs` are those that they have places of."""
    reports = reports_of(runs)
    ranked = [[f"Ranking {ranking.title}", _ranked_told(ranking)] for ranking in rankings]
    return {
        "title": "",
        "kind": ACROSS,
        "stages": {},
        "rankings": rankings_as_data(rankings),
        "facts": [*ranked, *(fact for run in runs for fact in facts_of(run, reports[run.pk]))],
        "methods": [
            {"heading": "Figures and ranks", "text": " ".join((METRIC_NOTE, CHANCE_NOTE, RANK_NOTE, NEWEST_NOTE))},
            {"heading": "Correlations", "text": PAIR_NOTE},
        ],
    }


def _ranked_told(ranking: SuiteRanking) -> str:
    return ", ".join(filter(None, [ranking.score, ranking.dataset, ranking.over, ranking.within]))


def rankings_as_data(rankings: Sequence[SuiteRanking]) -> list[dict[str, Any]]:
    """Return rankings ready for JSON; of a model there is its name, told apart from namesakes, and nothing of its
    endpoint."""
    names = {model.key: {"name": model.name, "spec": {}} for model in models_across(rankings)}
    named = [replace(ranking, models={key: names[key] for key in ranking.models}) for ranking in rankings]
    return [
        asdict(ranking)
        | {
            "numbers": sorted(ranking.numbers),
            "places": {key: _place_as_data(place) for key, place in ranking.places.items()},
        }
        for ranking in named
    ]


def _place_as_data(place: Place) -> dict[str, Any]:
    data = asdict(place)
    return {"figure": data.pop("metric")} | data


def _place_from(data: Mapping[str, Any]) -> Place:
    return Place(metric=data["figure"], **{name: value for name, value in data.items() if name != "figure"})


def rankings_from(document: Mapping[str, Any]) -> list[SuiteRanking]:
    """Return the rankings that a document was made of."""
    return [
        SuiteRanking(
            **row
            | {
                "numbers": frozenset(row["numbers"]),
                "places": {key: _place_from(place) for key, place in row["places"].items()},
            }
        )
        for row in document["rankings"]
    ]


def items_behind(rankings: Sequence[SuiteRanking], project: Project) -> Q | None:
    """Return what finds the items with the figures of the rankings; None where nobody has a place."""
    sizes = dict(project.datasets.values_list("version", "stories_count"))
    found = []
    for ranking in rankings:
        entrants = [place.entrant for place in ranking.places.values() if place.entrant]
        own = Q(entrant__in=entrants, stage=group_named(ranking.stage).scored)
        if len(ranking.numbers) < sizes[int(ranking.query["version"])]:
            own &= Q(sample__number__in=ranking.numbers)
        found += [own] if entrants else []
    return reduce(or_, found) if found else None
