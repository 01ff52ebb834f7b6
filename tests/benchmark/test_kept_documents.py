"""Documents and figures as they are kept: they are read as they were written, and after an upgrade nothing of them is
shown: reports, comparisons, leaderboards and pictures are made anew."""

import json
from datetime import UTC, datetime

import pytest

from benchmark.domain.inference import Ahead, RankedModel
from benchmark.domain.report_rows import NO_FIGURES, BothParses, ParseRows, ReportRow, Unjudged
from benchmark.domain.tables import Cell
from benchmark.models import RunReport
from benchmark.services import comparisons, leaderboards, reports
from benchmark.services.comparisons import ComparedMetric, Comparison
from benchmark.services.documents import Document, as_json, document_from
from benchmark.suites.reports import Analysis, BaselineLevels, GroupMetrics, Level
from benchmark.suites.results import EntrantResults
from tests.benchmark.results_world import results_world

ROW = ReportRow(
    cells={"f1": Cell(0.5, [0.4, 0.6], bounds=[0.25, 0.75]), "recall": Cell(None, None, reason="no usable story")},
    stories=3, unreadable=2, unreadable_reasons={"refused": 2}, undefined=1, unjudged=Unjudged(1, 2, 3), category="A",
)  # fmt: skip


def read_again(document: Document) -> Document:
    return document_from(json.loads(json.dumps(as_json(document))))


def test_a_kept_leaderboard_is_read_as_it_was_written():
    levels = BaselineLevels(chance=Level(0.25, 6), by_category={"chance": {"A": Level(0.5, 2)}})
    metrics = GroupMetrics(
        parses=BothParses(None, ParseRows(overall=ROW, by_category=[ROW])),
        analyses={"repaired": Analysis({"facets": {}}), "official": None},
        levels=levels,
    )
    rank = RankedModel(
        model="r.1", value=0.5, n=6, interval=None, best=0.75, missing=2, lost=1, rank=1, ranks=[1, 2], group="a",
        against={"r.2": Ahead(0.25, 0.04, True)},
    )  # fmt: skip
    entrant = EntrantResults(
        key="r.1", name="m", kind="model", run="r", run_title="Run", at=datetime(2026, 11, 23, 11, tzinfo=UTC),
        entrant=1, metrics=metrics, ranking={"repaired": rank, "official": None}, person="bob", numbers=[1, 2],
    )  # fmt: skip
    document = Document(title="T", kind="leaderboard", groups={"stage1": [entrant]}, absent={"stage1": []}, withheld=3)
    again = read_again(document)
    [read] = again.groups["stage1"]
    assert read.metrics == metrics and read.ranking == entrant.ranking and read.at == entrant.at
    assert (read.person, read.numbers, again.withheld) == ("", (), 0), "what only the comparison needed is not kept"
    assert read.group == {"repaired": "a", "official": None}


def test_a_kept_comparison_is_read_as_it_was_written():
    row = ComparedMetric(
        value=0.25, n=6, interval=[0.1, 0.4], p=0.03, answered=None, p_adjusted=0.06, what="F1", key="f1", first=0.5,
        second=0.25,
    )  # fmt: skip
    stories = [{"number": 1, "category": "", "first": 0.5, "second": 0.25, "difference": 0.25}]
    told = {"lead": ["Read this."], "judge_tests": []}
    comparison = Comparison("a", "b", "stage1", "repaired", [row], stories, 1, "none", 0, **told)
    document = Document(title="T", kind="comparison", comparison=comparison)
    assert read_again(document).comparison == comparison


def test_a_row_of_a_report_says_what_there_is_of_a_figure():
    assert (ROW.samples, ROW.asked, ROW.value_of("f1"), ROW.bounds_of("f1")) == (3, 5, 0.5, [0.25, 0.75])
    assert ROW.told["unreadable_reasons"] == {"refused": 2} and ROW.told["reason"] == "no usable story"
    assert ROW.told["interval"] == {"f1": [0.4, 0.6], "recall": None} and ROW.told["story_category"] == "A"
    printed = ReportRow(cells={"f1": Cell("0.500000", bounds=[0.5, 0.5])}, stories=3, n=4, unreadable=0, printed=True)
    assert (printed.number_of("f1"), printed.samples, printed.told["stories"]) == (0.5, 4, "3")
    assert (NO_FIGURES.value_of("f1"), NO_FIGURES.bounds_of("f1"), NO_FIGURES.samples) == (None, None, 0)


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_what_another_release_kept_is_made_anew(tmp_path, settings, monkeypatch, client):
    world = results_world(tmp_path)
    client.force_login(world.alice)
    first, second = (world.entrant(name) for name in ("majority", "random"))
    pages = [f"{world.base}/results/", f"{world.base}/results/compare/?a={first}&b={second}"]
    picture = f"{world.base}/runs/{world.run.uid}/figures/dimensions-repaired.svg?theme=light"
    made: list[str] = []
    for module in (leaderboards, comparisons):
        monkeypatch.setattr(module, "_compare", _noted(made, module.__name__, module._compare))
    [client.get(page) for page in pages]
    assert {"benchmark.services.leaderboards", "benchmark.services.comparisons"} <= set(made)
    made.clear()
    [client.get(page) for page in pages]
    assert made == []  # kept
    told = client.get(picture)["ETag"]
    assert client.get(picture, headers={"If-None-Match": told}).status_code == 304
    RunReport.objects.update(metrics=RunReport.objects.get().metrics | {"stories": -1})
    assert reports.report_of(world.run).stories == -1  # kept
    settings.CREDENCE_VERSION = "another release"
    assert reports.report_of(world.run).stories == 9
    [client.get(page) for page in pages]
    assert {"benchmark.services.leaderboards", "benchmark.services.comparisons"} <= set(made)
    again = client.get(picture, headers={"If-None-Match": told})
    assert again.status_code == 200 and again["ETag"] != told, "browsers take it"


def _noted(made: list[str], name: str, compute):
    def noted(*args, **named):
        made.append(name)
        return compute(*args, **named)

    return noted
