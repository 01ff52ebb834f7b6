"""The entrants that tables and pictures show, and what their rows say of them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from benchmark.domain.provenance import EndpointSpec
from benchmark.domain.tables import OF, Cell, Cells, Column, Items, Row, ShortNames, Source, Table, with_items
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import group_named, group_suite, suite_named
from benchmark.suites.reports import Facet, FindingT, Repetitions
from benchmark.suites.results import EntrantResults
from core.messages import Sentence, clauses, gettext_noop, listed, noted, worded

REPETITIONS = "repetitions"
"""The setting that says how often everything was asked, where that is more than once."""


class Nameable(Protocol):
    """Object with a name, which others may have, and what tells it from them."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, str]: ...
    @property
    def spec(self) -> EndpointSpec: ...


def label(entrants: Sequence[EntrantResults]) -> tuple[list[EntrantResults], Mapping[str, str]]:
    """Return the entrants with their `labels_of`, and the settings that all share."""
    models, owns, common = labels_of(entrants)
    named = zip(entrants, models, owns, strict=True)
    return [replace(entrant, model=model, own=own) for entrant, model, own in named], common


def labels_of(entrants: Sequence[Nameable]) -> tuple[list[str], list[str], Mapping[str, str]]:
    """Return for each entrant a name that no other has, made of the settings in which those of its model differ; the
    settings that not all have, in words; and those that all share."""
    common = {}
    for name in dict.fromkeys(name for entrant in entrants for name in entrant.settings):
        # a model without the setting has it at its default; a baseline is asked as often as the run says
        kinds = ("model", "baseline") if name == REPETITIONS else ("model",)
        having = [entrant for entrant in entrants if name in entrant.settings or entrant.kind in kinds]
        if _alike(having, name):
            common[name] = having[0].settings.get(name, "–")
    models: list[str] = []
    taken: dict[str, int] = {}
    distinct = [{name: value for name, value in entrant.settings.items() if name not in common} for entrant in entrants]
    for entrant, settings in zip(entrants, distinct, strict=True):
        namesakes = [other for other in entrants if other.name == entrant.name]
        differing = {name: value for name, value in settings.items() if not _alike(namesakes, name)}
        for name in ENDPOINT_S:
            if len({json.dumps(getattr(other.spec, name), sort_keys=True) for other in namesakes}) > 1:
                value = getattr(entrant.spec, name)
                text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value or "–")
                differing[name] = text if len(text) <= 40 else f"{text[:39]}…"  # options can be of any length
        model = noted(entrant.name, _settings_text(differing)) if differing else entrant.name
        taken[model] = taken.get(model, 0) + 1
        models.append(f"{model} #{taken[model]}" if taken[model] > 1 else model)
    return models, [_settings_text(settings) for settings in distinct], common


def _settings_text(settings: Mapping[str, str]) -> str:
    return listed((f"{name} {value}" for name, value in settings.items()))


ENDPOINT_S = ("provider", "model", "revision", "base_url", "options")
"""Fields of an endpoint's spec that tell two of one name apart."""


def _alike(entrants: Sequence[Nameable], name: str) -> bool:
    return len({entrant.settings.get(name) for entrant in entrants}) == 1


JUDGE_TEST = "judge_test"
"""The key of a row under which it says what the self-test of its judge came to."""


def models_of(entrants: Iterable[EntrantResults]) -> list[EntrantResults]:
    """Return the entrants that are not people."""
    return [entrant for entrant in entrants if entrant.kind != "person"]


def parses_in(entrants: Iterable[EntrantResults]) -> list[str]:
    """Both, or only the repaired one where nobody has an official one: structured output."""
    listed = list(entrants)
    return [name for name in PARSES if name == "repaired" or any(entrant.parses.of(name) for entrant in listed)]


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


def row_of(entrant: EntrantResults, group: str, cells: Row, where: Mapping[str, Items] | None = None) -> Cells:
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
        unranked=entrant.unranked,
        study=entrant.corrected.study if entrant.corrected else "",
        version=entrant.corrected.version if entrant.corrected else "",
    )
    result = entrant.judge_test.told if entrant.judge_test else None
    return {**with_items(cells, where or {}), "model": entrant.model, JUDGE_TEST: result, OF: source}


def measured(group: str, name: str, parse: str) -> dict[str, str]:
    """The items behind the measure `name` of a metric group."""
    if where := group_named(group).measured_in.get(name):
        return dict(where) | {"parse": parse}
    return {"problem": "used"} if parse == "repaired" else {}


def short_names_of(group: str) -> ShortNames:
    """The categories that the suite of a metric group names."""
    return suite_named(group_suite(group)).results.categories


def score_of(entrant: EntrantResults, parse: str, group: str) -> Cell | None:
    """Return the figure of a parse that the group is ranked by, with the number of samples that it is of and of those
    that the parse leaves out. Returns None if the parse has no figures."""
    if not entrant.parses.of(parse):
        return None
    overall = entrant.parses.overall(parse)
    return replace(overall.cell(group_named(group).score), n=overall.samples, unreadable=overall.unreadable or 0)


WITHIN = {"prompts": gettext_noop("asked with"), "judge": gettext_noop("judged by")}
"""Models are ranked among those that were asked and judged alike; how a sentence says so."""


def ranked_within(entrants: Sequence[EntrantResults]) -> list[str]:
    """Name the prompts and the judge that all models of a ranking have in common."""
    scope = _within(entrants)
    return (
        [
            Sentence(
                "One ranking: {scope}. What was asked or judged otherwise has a ranking of its own.",
                scope=listed(scope),
            )
        ]
        if scope
        else []
    )


def ranked_by(entrants: Sequence[EntrantResults]) -> str:
    """The name of the ranking, as files have it."""
    return clauses(gettext_noop("worst case (missing answers at their worst)"), *_within(entrants))


def _within(entrants: Sequence[EntrantResults]) -> list[str]:
    names_of = {field: {name for entrant in entrants if (name := entrant.within.get(field))} for field in WITHIN}
    return [worded(label, clauses(*sorted(names_of[field]))) for field, label in WITHIN.items() if names_of[field]]


def in_rank_order(entrants: Sequence[EntrantResults], parse: str) -> list[EntrantResults]:
    """Return the entrants that are ranked in the parse, by their rank."""
    ranks = [(model.rank, entrant) for entrant in entrants if (model := entrant.ranking.get(parse))]
    return [
        entrant for _, entrant in sorted(((rank, ranked) for rank, ranked in ranks if rank), key=lambda pair: pair[0])
    ]


def with_settings(table: Table) -> Table:
    """Return the table with a column of the settings that not all rows share, where there are any."""
    if not any(_own(row) for row in table.rows):
        return table
    rows, totals = ([{**row, "settings": _own(row) or None} for row in rows] for rows in (table.rows, table.totals))
    columns = [*table.columns, Column(key="settings", header=gettext_noop("Settings"))]
    return replace(table, columns=columns, rows=rows, totals=totals)


def _own(row: Row) -> str:
    return row[OF].own if OF in row else ""
