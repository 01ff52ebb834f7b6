"""A model of whose answers none can be read is nowhere the best."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from benchmark.domain.report_rows import BothParses, ParseRows, ReportRow
from benchmark.domain.tables import Cell, Table
from benchmark.suites.opentom import tables
from benchmark.suites.opentom.measure import Analyses, narratives_asked, unreadable_share
from benchmark.suites.opentom.metrics import Answer, macro_difference, macro_estimate, unfaithful_rates
from benchmark.suites.opentom.parsing import COARSE, FINE
from benchmark.suites.questions import Sample
from benchmark.suites.reports import Analysis, GroupMetrics, KeptAnalysis
from benchmark.suites.results import EntrantResults, ParseResults
from tests.benchmark.suites.opentom.small import answers_of, asked

GENRE = "Coarse location, first order"


def found_in(labels: list[int | None], **others) -> Analyses:
    """What is found in these labels of as many questions, of which 1 is right, in both kinds."""
    told = answers_of(*((1, label) for label in labels))
    both = [Answer(asked(at, kind), 1, label) for kind in (COARSE, FINE) for at, label in enumerate(labels)]
    found = Analyses(
        f1={GENRE: macro_estimate(told, 1)},
        gap={GENRE: macro_difference(told, told, 1)},
        kinds={},
        batches={},
        unreadable={GENRE: unreadable_share(told, 1)},
        unfaithful=unfaithful_rates(both, 1),
    )
    return replace(found, **others)


def entrant(name: str, labels: list[int | None], **others) -> EntrantResults:
    left = labels.count(None)
    overall = ReportRow(stories=len(labels) - left, unreadable=left, cells={"accuracy": Cell(bounds=[0.0, 1.0])})
    analysis = KeptAnalysis(Analysis(finding=found_in(labels, **others)).as_json())
    metrics = GroupMetrics(analyses={"repaired": analysis}, parses=BothParses(repaired=ParseRows(overall=overall)))
    return EntrantResults(
        key=name, name=name, model=name, kind="model", run="r", run_title="R", at=datetime.now(UTC), entrant=1,
        metrics=metrics,
    )  # fmt: skip


def marked(table: Table) -> set[tuple[str, str]]:
    return {(table.rows[at]["model"], mark) for (at, _), mark in table.marks().items()}


def test_who_cannot_be_read_has_no_mark_in_any_table():
    entrants = [
        entrant("fair", [1, 1, 1, 1, 0, 0]),
        entrant("one", [1, None, None, None, None, None]),
        entrant("hostile", [None] * 6),
    ]
    shown = tables.tables(ParseResults("repaired", {}, {}, {"opentom": entrants}))
    made = {name: shown[name].make() for name in ("genres", "gap", "unreadable", "unfaithful")}
    # one right answer of six has an F1 of 100 % of what was read: it is the second
    assert marked(made["genres"]) == marked(made["unfaithful"]) == {("fair", "best"), ("one", "second")}
    assert not made["unreadable"].marks() and not made["gap"].marks()
    assert "count them at their worst" in made["genres"].lead[0] and "bold" in made["genres"].lead[0]
    assert "bold" not in made["unreadable"].lead[0] and made["unreadable"].rows[2][GENRE].value == 1
    assert made["unreadable"].rows[0][GENRE].interval and made["unfaithful"].rows[0]["first of_all"].interval


def test_samples_that_are_not_whole_are_said_before_figures_over_them():
    fewer = (
        "Not the benchmark’s protocol: its samples are of 50 narratives, those here of 3 to 5, as no others were asked "
        "about."
    )
    for narratives, told in (([50, 50], []), ([3, 5], [fewer])):
        means = {"f1": 0.5, "deviation": 0.1, "accuracy": 0.5, "corrupted": 0.0, "bounds": None, "overlapping": False}
        model = entrant("fair", [1, 1, 1, 1, 0, 0], batches={GENRE: means | {"narratives": narratives}})
        shown = tables.tables(ParseResults("repaired", {}, {}, {"opentom": [model]}))
        assert list(shown["batches"].make().lead) == told


def test_narratives_are_counted_sample_by_sample():
    # of the first sample two narratives were asked about, one of them twice; of the second one
    rows = [("n0", 0), ("n0", 0), ("n1", 0), ("n2", 1)]
    answers = [
        Answer(Sample(key=f"{at}", cluster=cluster, content={}, gold={"batches": {"coarse": batch}}), 1, 1)
        for at, (cluster, batch) in enumerate(rows)
    ]
    assert narratives_asked(answers, "coarse") == (1, 2) and narratives_asked([], "coarse") == (0, 0)
