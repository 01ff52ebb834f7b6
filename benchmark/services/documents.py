"""A report as data: what is on its page, made once from a run and drawn the same way when it was saved.

Its tables and figures are made from the entrants by name. Names of what has one parse end in it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from django.db.models import prefetch_related_objects

from benchmark.domain.asked_again import AskedAgainResults
from benchmark.domain.drawn import PaperRow
from benchmark.domain.tables import Absent, Table
from benchmark.models import Run
from benchmark.services.absences import Absence, unscored, without_metrics
from benchmark.services.across import SuiteRanking
from benchmark.services.asked_again import control_results, method_results
from benchmark.services.asked_again_tables import control_tables, method_tables
from benchmark.services.calibration import calibration
from benchmark.services.comparison_tables import CORRECTED, correction_table
from benchmark.services.comparisons import Comparison
from benchmark.services.entered_rows import rows_of, with_entered
from benchmark.services.leaderboards import ranked_entrants_of_run
from benchmark.services.methods_text import Facts, facts_of, methods_of
from benchmark.services.repetition_tables import (
    flips_of,
    prompt_splits,
    prompt_table,
    repetition_story_table,
    repetition_table,
)
from benchmark.services.reports import report_of
from benchmark.services.result_tables import category_table, group_table
from benchmark.suites.contract import Suite
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import group_named, group_suite, keys_of, ordered_keys, suite_named
from benchmark.suites.results import EntrantResults, EntrantsByGroup, ParseResults, ShownTable
from benchmark.suites.showing.entrants import repetitions_of
from benchmark.suites.showing.judges import judge_test_table, tests_of
from core.plain import NOT_KEPT, Json, read_as
from core.plain import plain as as_plain
from judge.domain.corrections import Corrections

Result = TypeVar("Result")
ACROSS = "across"
"""The kind of a document with `rankings` and no `groups`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A report. Documents of some kinds have parts that others lack."""

    title: str = ""
    kind: str
    """run, leaderboard, comparison or across"""
    groups: EntrantsByGroup = field(default_factory=dict)
    facts: Facts = field(default_factory=list)
    """[name, value] of what made it."""
    methods: Sequence[Mapping[str, str]] = ()
    """{heading, text} of the paragraphs of a methods section."""
    absent: Mapping[str, Sequence[Absent]] | None = None
    """By metric group the models that are not among its entrants."""
    answer_format: str | None = None
    stories: int | None = None
    numbers: Sequence[int] | None = None
    """The number and the numbers of the samples that it is about."""
    controls: AskedAgainResults | None = None
    by_method: AskedAgainResults | None = None
    """What its models came to under controls, and by other methods."""
    corrections: Corrections | None = None
    """Scores corrected by people who aligned some stories. A reader who may not know whose tables they align has
    none, of a kept document too."""
    prompt_splits: Mapping[str, Sequence[Json]] | None = None
    """Variance by prompt (`variance`)."""
    entered: Sequence[PaperRow] | None = None
    unscored: Sequence[Absent] | None = None
    """A model for each reason why its suite could not score somebody."""
    query: Mapping[str, str] | None = None
    """The address of a leaderboard."""
    keys: Sequence[str] | None = None
    """The keys that the two of a comparison were found by."""
    comparison: Comparison | None = None
    rankings: Sequence[SuiteRanking] | None = None
    withheld: int = field(default=0, metadata=NOT_KEPT)
    """The number of stories that wait for the work of the reader. Tables and figures that are not over all stories are
    left out then."""


def document_of(run: Run) -> Document:
    prefetch_related_objects([run], "entrants")
    report = report_of(run)
    groups = {group: ranked_entrants_of_run(run, report, group) for group in keys_of(run.suite)}
    failed = unscored(run.suite, [run], {run.pk: report})
    return Document(
        title=run.title,
        kind="run",
        answer_format=run.answer_format,
        groups=groups,
        absent={
            group: [absence.absent_model for absence in failed if absence.group == group] for group in groups if failed
        },
        facts=facts_of(run, report),
        methods=methods_of(run, report, groups),
        stories=report.stories,
        numbers=report.numbers,
        controls=control_results(run, groups) or None,
        by_method=method_results(run, groups) or None,
        corrections=calibration.of_run(run, groups),
        prompt_splits=prompt_splits(run, groups) or None,
        entered=rows_of(run.project, run.suite) or None,
        unscored=list({absence.why: absence.absent_model for absence in failed}.values()) or None,
    )


def leaderboard_document(
    title: str,
    groups: EntrantsByGroup,
    absent: Sequence[Absence] = (),
    entered: Sequence[PaperRow] = (),
    *,
    withheld: int = 0,
) -> Document:
    absent_rows = {group: [absence.absent_model for absence in absent if absence.group == group] for group in groups}
    return Document(
        title=title, kind="leaderboard", groups=groups, absent=absent_rows, entered=list(entered) or None,
        withheld=withheld,
    )  # fmt: skip


def as_json(document: Document) -> Json:
    """Return the document as it is kept, without what it lacks."""
    return {name: value for name, value in as_plain(document).items() if name in _ALWAYS or value is not None}


_ALWAYS = ("title", "kind", "groups", "facts", "methods")


def document_from(kept: Mapping[str, Any]) -> Document:
    """Return the document that `as_json` made."""
    return read_as(Document, kept)


def absent_from(document: Document, *groups: str) -> list[Absent]:
    """Models that the document's rankings of these metric groups do not have, each reason once."""
    rows = [row for group in groups for row in (document.absent or {}).get(group, ())]
    return [row for at, row in enumerate(rows) if row not in rows[:at]]


def by_group(document: Document) -> dict[str, Sequence[EntrantResults]]:
    """The entrants by metric group, in the order of its suite."""
    return {group: document.groups[group] for group in ordered_keys(document.groups)}


def suites_of(document: Document) -> list[Suite]:
    """The suites that its metric groups are of: one, and none of a saved comparison."""
    return [suite_named(name) for name in dict.fromkeys(map(group_suite, by_group(document)))]


def results_of(document: Document, suite: Suite, parse: str) -> ParseResults:
    """Return the results of each metric group of the suite. A leaderboard has no analyses: its figures are of chosen
    stories, analyses of a run's."""
    entrants = {group.key: document.groups.get(group.key, ()) for group in suite.groups}
    read = {group: [entrant for entrant in rows if entrant.parses.of(parse)] for group, rows in entrants.items()}
    analysed = {
        group: [entrant for entrant in rows if document.kind != "leaderboard" and entrant.metrics.analysed(parse)]
        for group, rows in read.items()
    }
    return ParseResults(parse, entrants, read, analysed)


def tables_of(document: Document, failed: list[str] | None = None) -> dict[str, Callable[[], Table]]:
    """Return the tables by name, made when they are asked for, each with the models that it does not have; what makes
    one of a suite's own raises SuiteFailed. `failed` gets a sentence for each suite that could not say its own tables.
    """
    tables = {name: (name, table, "") for name, table in _of_groups(document)}
    for parse in PARSES:
        controls = control_tables(document.controls, parse) if document.controls else ()
        methods = method_tables(document.by_method, parse) if document.by_method else ()
        beside = dict([*controls, *methods])
        for suite in suites_of(document):
            results = results_of(document, suite, parse)
            own = {**own_of(suite.results.tables, results, failed)}
            for group, entrants in results.analysed.items():
                repeated = [entrant for entrant in entrants if repetitions_of(entrant, parse) is not None]
                if repeated:
                    own[f"repetitions-{group}"] = ShownTable(partial(repetition_table, repeated, group, parse))
                if parse == "repaired" and any(flips_of(entrant) for entrant in repeated):
                    own[f"repetition-stories-{group}"] = ShownTable(partial(repetition_story_table, repeated, group))
            own |= beside
            tables |= {f"{name}-{parse}": (name, table, parse) for name, table in own.items()}
    return {
        key: partial(_table, document, *given)
        for key, given in tables.items()
        if given[1].whole or not document.withheld
    }


def own_of(
    own: Callable[[ParseResults], Mapping[str, Result]], results: ParseResults, failed: list[str] | None
) -> Mapping[str, Result]:
    """The tables or pictures of a suite's own, none where it could not say them; then `failed` gets its sentence."""
    try:
        return own(results)
    except SuiteFailed as error:
        if failed is not None and str(error) not in failed:
            failed.append(str(error))
        return {}


def _table(document: Document, name: str, shown: ShownTable, parse: str) -> Table:
    """Return a table with the rows of papers that have a figure in it and the models that it lacks."""
    suites = suites_of(document)
    table = with_entered(shown.make(), name, document.entered, suites[0]) if document.entered else shown.make()
    papers = (section for suite in suites for section in suite.results.sections if section.paper)
    absent = absent_from(document, *shown.groups)
    for group in () if shown.keeps_unreadable else shown.groups:
        unread = [entrant for entrant in document.groups.get(group, ()) if not entrant.parses.of(parse)]
        absent += without_metrics(unread, group, parse)
    beside = any({name, f"{name}-{parse}"} & {*section.tables} for section in papers)
    return replace(table, absent=absent or table.absent, beside_a_paper=beside)


def _of_groups(document: Document) -> Iterator[tuple[str, ShownTable]]:
    """Yield what every metric group has, both parses in one table."""
    judged: list[EntrantResults] = []
    for group, entrants in by_group(document).items():
        if entrants:
            yield group, ShownTable(partial(group_table, entrants, group), (group,), keeps_unreadable=True, whole=True)
            make = partial(category_table, entrants, group)
            if group_named(group).by_category:
                yield f"categories-{group}", ShownTable(make, (group,), keeps_unreadable=True)
        judged += entrants if group_named(group).judged else []
        if splits := (document.prompt_splits or {}).get(group):
            yield f"prompts-{group}", ShownTable(partial(prompt_table, splits, group))
    if document.corrections:
        yield CORRECTED, ShownTable(partial(correction_table, document.corrections))
    if tests_of(judged):
        yield "judge-tests", ShownTable(partial(judge_test_table, judged))
