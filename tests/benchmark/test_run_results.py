from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmark.models import AnswerFormat, RunItem, RunReport
from benchmark.services.documents import document_of, tables_of
from benchmark.services.reports import forget_report, report_of, scores_of
from benchmark.suites.omnitom.labels import DIMENSIONS
from tests.benchmark.evaluation import endpoint, started
from tests.benchmark.results_world import HOSTILE, STORIES, ResultsWorld, results_world, values

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


@pytest.fixture
def address(world) -> str:
    return f"{world.base}/runs/{world.run.uid}/results/"


def percent(value) -> str:
    return f"{100 * float(value):.2f}"


@pytest.mark.once
def test_the_page_shows_the_figures_of_score_outputs(world, client, address):
    client.force_login(world.alice)
    page = client.get(address).content.decode()
    expected = scores_of(world.run)
    for model, step, name in (
        ("majority", "stage2", "overall_accuracy"),
        ("omniscient", "stage1", "f1"),
        ("omniscient", "stage1", "f1_category_mean"),
    ):
        for parse in ("official", "repaired"):
            assert percent(expected[model][parse][step]["overall"][name]) in page
    low, high = expected["majority"]["repaired"]["stage2"]["overall"]["interval"]["acc_order"]
    assert f"[{100 * low:.1f}, {100 * high:.1f}]" in page


@pytest.mark.once
def test_every_table_holds_what_the_domain_counts(world):
    tables = {name: make() for name, make in tables_of(document_of(world.run)).items()}
    rows = {name: {row["model"]: values(row) for row in table.rows if "model" in row} for name, table in tables.items()}
    expected = scores_of(world.run)
    for row in expected["omniscient"]["repaired"]["stage1"]["by_category"]:
        assert rows["categories-stage1"]["omniscient"][f"repaired {row['story_category']}"] == row["f1"]
    for row in expected["majority"]["official"]["stage2"]["by_category"]:
        assert rows["categories-stage2"]["majority"][f"official {row['story_category']}"] == row["overall_accuracy"]
    for parse in ("official", "repaired"):
        stories = expected["omniscient"][parse]["stage1"]["stories"]
        predicted, gold = (sum(int(row[name]) for row in stories) for name in ("pred_total", "gt_total"))
        assert rows[f"match-counts-{parse}"]["omniscient"]["total"] == predicted
        held = rows[f"volume-{parse}"]["omniscient"]
        assert (held["predicted"], held["gold"], held["stories"]) == (predicted, gold, STORIES)
        assert held["f1"] == expected["omniscient"][parse]["stage1"]["overall"]["f1"]
        for name, kinds in (("orders", ("0", "1", "2+")), ("roles", ("world", "actors"))):
            [row] = [row for row in tables[f"{name}-{parse}"].rows if row["model"] == "omniscient"]
            assert sum(row[f"{kind} recall"].n for kind in kinds) == gold
            assert sum(row[f"{kind} precision"].n for kind in kinds) == predicted
        stories = expected["majority"][parse]["stage2"]["stories"]
        pairs = sum(int(row["pairs"]) for row in stories)
        for one in DIMENSIONS:
            name = one.replace("_", "-")
            assert sum(values(row)["total"] for row in tables[f"confusion-1-{name}-{parse}"].rows) == pairs
            assert rows[f"labels-{name}-{parse}"]["majority"]["total"] == pairs
            [gold] = tables[f"labels-{name}-{parse}"].totals
            assert gold["model"] == "Gold of all stories" and gold["total"] == pairs
        cells = [
            row["truth_status"].n
            for row in tables[f"orders-dimensions-{parse}"].rows
            if row["model"] == "majority" and values(row)["truth_status"] is not None
        ]
        assert sum(cells) == pairs
        by_category = {row["story_category"]: row for row in expected["majority"][parse]["stage2"]["by_category"]}
        for row in tables[f"dimensions-{parse}"].rows:
            if row["model"] == "majority" and row["dimension"] == "Truth status":
                for category, found in by_category.items():
                    cell = row[f"in {category}"]
                    assert (cell.value, cell.n) == (found["acc_truth-status"], int(found["stories"]))
    assert rows["unreadable-repaired"][HOSTILE]["stage2"] == 1.0
    assert rows["unreadable-repaired"]["majority"]["stage2_unreadable"] == 0
    assert rows["unreadable-official"][HOSTILE]["stage1_unreadable"] == STORIES


@pytest.mark.once
def test_every_cell_of_the_analyses_has_an_interval_or_none_to_have(world):
    """Whatever has a value and rests on rows of all nine stories has an interval around it, in both parses."""
    tables = {name: make() for name, make in tables_of(document_of(world.run)).items()}
    seen = 0
    for name, table in tables.items():
        if not name.startswith(("orders", "roles", "match-counts", "volume", "unreadable", "labels", "confusion")):
            continue
        for row in table.rows:
            for column in table.columns:
                cell = column.cell(row)
                if ends := cell.interval:
                    seen += 1
                    assert ends[0] - 1e-5 <= float(cell.value) <= ends[1] + 1e-5, (name, row["model"], column.key)
    assert seen > 1000
    row = next(row for row in tables["orders-official"].rows if row["model"] == "omniscient")
    assert row["0 f1"].interval and row["0 f1"].n == row["0 recall"].n > 0


@pytest.mark.once
def test_the_paper_s_table_3_has_both_averages_and_one_reading_each(world):
    tables = tables_of(document_of(world.run))
    official, repaired = tables["main-official"](), tables["main-repaired"]()
    expected = scores_of(world.run)["omniscient"]
    row = next(row for row in official.rows if row["model"] == "omniscient")
    assert row["f1_category_mean"].value == expected["official"]["stage1"]["overall"]["f1_category_mean"]
    row = next(row for row in repaired.rows if row["model"] == "omniscient")
    assert row["f1"].value == expected["repaired"]["stage1"]["overall"]["f1"]
    assert "official" in official.title and "repaired" in repaired.title


def test_categories_open_their_own_items(world, client, address):
    client.force_login(world.alice)
    page = client.get(address).content.decode()
    entrant = world.run.entrants.get(name="omniscient").pk
    links = re.findall(rf'href="([^"]*model={entrant}&amp;step=judge&amp;category=[^"]*)"', page)
    assert links
    items = client.get(links[0].replace("&amp;", "&"))
    assert items.status_code == 200


def _links(table, wanted: str) -> list[tuple[dict, str]]:
    """(row's links, address) of the cells under a column's heading in a table of the page."""
    at = [column["key"] for column in table["columns"]].index(wanted)
    rows = [row["cells"] for row in table["rows"] if "cells" in row]
    return [(cells[0]["text"], cells[at]["text"], cells[at]["href"]) for cells in rows]


def _tables(response) -> dict:
    sections = response.context["sections"]
    return {table["name"]: table for part in (*sections["paper"], *sections["parts"]) for table in part["tables"]}


def _meant(client, link: str) -> tuple[int, int]:
    """(items, rows meant in them) of an items page."""
    response = client.get(link)
    assert response.status_code == 200
    rows = [
        row
        for number in range(1, response.context["page"].paginator.num_pages + 1)
        for row in _page(client, link, number)
    ]
    return response.context["page"].paginator.count, sum(row["meant"][0] for row in rows if row["meant"])


def _page(client, link: str, number: int):
    return client.get(f"{link}&page={number}").context["rows"]


def test_cells_open_the_items_that_they_rest_on(world, client, address):
    """MatchCount cells open items with as many such rows, order cells with as many rows as precision and recall rest
    on, cells of matrices and label counts their own."""
    client.force_login(world.alice)
    for parse in ("official", "repaired"):
        chosen = {"parse": parse, "confusion_model": "2", "dimension": "truth-status"}
        response = client.get(address, chosen)
        tables, explorer = _tables(response), response.context["explorer"]
        for bucket in ("0", "1"):
            for model, text, link in _links(tables[f"match-counts-{parse}"], bucket):
                if link and int(text.replace(",", "")):
                    assert _meant(client, link)[1] == int(text.replace(",", "")), (model, bucket)
        held = tables_of(document_of(world.run))[f"orders-{parse}"]()
        counted = {row["model"]: row["0 recall"].n + row["0 precision"].n for row in held.rows}
        for model, _, link in _links(tables[f"orders-{parse}"], "0 f1"):
            if link:
                assert "order=0" in link and _meant(client, link)[1] == counted[model]
        cells = [cell for row in explorer["matrix"]["rows"] for cell in row["cells"] if cell["count"]]
        assert len(cells) > 3
        for cell in cells:
            assert _meant(client, cell["href"])[1] == cell["count"]
        for _, text, link in _links(explorer["table"], "True"):
            if link and text != "0":
                assert _meant(client, link)[1] == int(text)


@pytest.mark.once
def test_a_model_a_dimension_and_a_reading_are_chosen(world, client, address):
    client.force_login(world.alice)
    response = client.get(address, {"confusion_model": "2", "dimension": "truth-status"})
    explorer = response.context["explorer"]
    assert explorer["matrix"]["title"] == "Truth status: gold labels and those of random, repaired parse"
    assert [row["gold"] for row in explorer["matrix"]["rows"]] == ["True", "False", "Unknown"]
    page = response.content.decode()
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page, "hostile names are text"
    for name, nonsense in (("confusion_model", "99"), ("confusion_model", "-1"), ("confusion_model", "9" * 5000),
                           ("dimension", "<b>")):  # fmt: skip
        assert client.get(address, {name: nonsense}).status_code == 200
    for parse in ("repaired", "official"):
        response = client.get(address, {"parse": parse, "dimension": "context"})
        assert response.context["explorer"]["matrix"]["title"].endswith(f"{parse} parse")
        metrics = [one["name"] for part in response.context["sections"]["parts"] for one in part["plots"]]
        assert metrics and all(name.endswith(f"-{parse}") for name in metrics)
    assert client.get(address, {"parse": "<b>"}).context["sections"]["parse"] == "repaired"


def test_a_run_without_answers_and_one_of_structured_output_say_so(world, client):
    client.force_login(world.alice)
    waiting = started(dataset=world.dataset, endpoints=[world.models["majority"]], steps=("label",))
    page = client.get(f"{world.base}/runs/{waiting.uid}/results/").content.decode()
    assert "not finished" in page and f"{STORIES}" in page
    run = world.another("majority", answer_format=AnswerFormat.STRUCTURED, steps=("label",))
    page = client.get(f"{world.base}/runs/{run.uid}/results/").content.decode()
    assert "Official parse (%)" not in page and "no official layout" in page


def test_unreadable_cells_and_table_3_open_their_items(world, client, address):
    client.force_login(world.alice)
    tables = _tables(client.get(address))
    for column, step in (("stage1_unreadable", "extract"), ("stage2_unreadable", "label")):
        for model, text, link in _links(tables["unreadable-repaired"], column):
            if text != "–":
                assert f"step={step}" in link and _meant(client, link)[0] == int(text), model
    for model, text, link in _links(
        _tables(client.get(address, {"parse": "official"}))["unreadable-official"], "stage1_unreadable"
    ):
        if text not in ("–", "0"):
            assert _meant(client, link)[0] == int(text), model
    links = _links(tables["main-repaired"], "acc_truth-status")
    told = {model: link for model, _, link in links if link}
    assert "dimension=truth_status" in told["majority"] and _meant(client, told["majority"])[0] == STORIES
    assert all("step=judge" in link for model, _, link in _links(tables["main-official"], "f1") if link)


def test_a_repaired_figure_opens_the_items_that_it_rests_on(world, client):
    """Four of nine items have a repaired score: the repaired figure opens these four, the official one all nine."""
    world.models["partly"] = endpoint("partly", options={"default": "no table"})
    run = world.another("partly", steps=("label",))
    used = list(RunItem.objects.filter(entrant__run=run, step="label")[:4])
    RunItem.objects.filter(pk__in=[one.pk for one in used]).update(repaired_score=0.5)
    client.force_login(world.alice)
    items = f"{world.base}/runs/{run.uid}/items/?step=label"
    assert client.get(items).content.decode().count('id="item-') == 9
    assert client.get(f"{items}&problem=used").content.decode().count('id="item-') == 4
    table = tables_of(document_of(world.run))["stage2"]()
    assert table.rows[0]["repaired_overall_accuracy"].items.filters == {"problem": "used"}
    assert table.rows[0]["official_overall_accuracy"].items.filters == {}


def test_people_are_rows_with_a_caution_and_without_their_names(world, client, address):
    """Bob labelled three stories as gold has them, so he is right in every cell of these."""
    for story in world.dataset.samples.order_by("position")[:3]:
        story.votes = {"bob": [[belief["labels"][one] for one in DIMENSIONS] for belief in story.beliefs]}
        story.save(update_fields=["votes"])
    forget_report(world.run)
    client.force_login(world.alice)
    response = client.get(address)
    page = response.content.decode()
    assert "against gold without their own vote" in page and "bob" not in page
    rows = {one.model: one for one in response.context["document"].groups["stage2"]}
    person = rows["Annotator 1"]
    assert person.kind == "person" and person.group == {"official": None, "repaired": None}
    assert person.parses.overall("repaired").value_of("overall_accuracy") == 1.0
    assert person.parses.overall("repaired").stories == 3
    assert person.parses.official is None  # three stories of nine


def test_reading_figures_takes_few_questions(world, client, address):
    client.force_login(world.alice)
    client.get(address)
    with CaptureQueriesContext(connection) as asked:
        client.get(address)
    assert len(asked) <= 18
    assert RunReport.objects.count() == 1
    held = RunReport.objects.get(run=world.run)
    RunReport.objects.update(metrics=held.metrics | {"version": 1, "entrants": []})
    assert report_of(world.run).entrants, "an older report is computed anew"
