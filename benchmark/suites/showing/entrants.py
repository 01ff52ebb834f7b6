"""The entrants that tables and pictures show, and what their rows say of them."""

from __future__ import annotations

from collections.abc import Iterable

from benchmark.domain.tables import Row, Source, SourcedRow, Where
from benchmark.domain.tables.categories import ShortNames
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import group_named, group_suite, suite_named
from benchmark.suites.reports import Facet, FindingT, Repetitions
from benchmark.suites.results import EntrantResults

JUDGE_TEST = "judge_test"
"""The key of a row under which it says what the self-test of its judge came to."""


def models_of(entrants: Iterable[EntrantResults]) -> list[EntrantResults]:
    """Return the entrants that are not people."""
    return [entrant for entrant in entrants if entrant.kind != "person"]


def parses_in(entrants: Iterable[EntrantResults]) -> list[str]:
    """Both, or only the repaired one where nobody has an official one: structured output."""
    listed = list(entrants)
    return [name for name in PARSES if name == "repaired" or any(entrant.parses.of(name) for entrant in listed)]


def unranked(entrant: EntrantResults) -> bool:
    """Return whether the entrant is out of the ranking: a person, or a model of which too much was lost."""
    ranking = entrant.ranking.get("repaired")
    return entrant.kind == "person" or bool(ranking and ranking.rank is None)


def unjudged(entrant: EntrantResults) -> int:
    """Rows of both tables without a judgement."""
    counts = entrant.parses.overall("repaired").unjudged
    return counts.rows if counts else 0


def finding_of(entrant: EntrantResults, parse: str, kind: type[FindingT]) -> FindingT | None:
    """Return what a suite found in an entrant's answers in the parse, None where there is nothing of that kind."""
    analysis = entrant.metrics.analysed(parse)
    return analysis.finding(kind) if analysis else None


def findings_of(
    entrants: Iterable[EntrantResults], parse: str, kind: type[FindingT]
) -> list[tuple[EntrantResults, FindingT]]:
    """Return the entrants in whose answers a suite found something of that kind, each with it."""
    return [(entrant, finding) for entrant in entrants if (finding := finding_of(entrant, parse, kind)) is not None]


def facet_of(entrant: EntrantResults, parse: str, name: str) -> Facet | None:
    """Return an entrant's score by the value of a facet in the parse, None where there is none."""
    analysis = entrant.metrics.analysed(parse)
    return analysis.facets.get(name) if analysis else None


def repetitions_of(entrant: EntrantResults, parse: str) -> Repetitions | None:
    """Return what an entrant's single repetitions came to in the parse, None where nothing was asked several times."""
    analysis = entrant.metrics.analysed(parse)
    return analysis.repetitions if analysis else None


def row_of(entrant: EntrantResults, group: str, cells: Row, where: Where | None = None) -> SourcedRow:
    """A row of an entrant: its name, what the self-test of its judge came to, and `cells`, which rest on the items
    `where`."""
    source = Source(
        key=entrant.key,
        kind=entrant.kind,
        run=entrant.run,
        run_title=entrant.run_title,
        entrant=entrant.entrant,
        group=group,
        own=entrant.own,
        others=entrant.others or 0,
        unranked=unranked(entrant),
        where=where or {},
        study=entrant.corrected.study if entrant.corrected else "",
        version=entrant.corrected.version if entrant.corrected else "",
    )
    result = entrant.judge_test.told if entrant.judge_test else None
    return SourcedRow({**cells, "model": entrant.model, JUDGE_TEST: result}, source)


def measured(group: str, name: str, parse: str) -> dict[str, str]:
    """The items behind the measure `name` of a metric group."""
    if where := group_named(group).measured_in.get(name):
        return dict(where) | {"parse": parse}
    return {"problem": "used"} if parse == "repaired" else {}


def short_names_of(group: str) -> ShortNames:
    """The categories that the suite of a metric group names."""
    return suite_named(group_suite(group)).results.categories
