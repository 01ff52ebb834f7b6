"""The figures on the page of a run: what they are, what they open, and what there is to choose."""

import re
from itertools import product

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmark.models import AnswerFormat, RunItem, RunReport
from benchmark.services.documents import document_of, tables_of
from benchmark.services.reports import forget_report, report_of, scores_of
from benchmark.suites.omnitom.labels import DIMENSIONS
from tests.benchmark.evaluation import endpoint, started
from tests.benchmark.results_world import HOSTILE, STORIES, values

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.once
def test_page_and_tables_hold_what_the_domain_counts(world, client):
    page = client.get(f"{world.live}results/").content.decode()
    tables = {name: make() for name, make in tables_of(document_of(world.run)).items()}
    rows = {name: {row["model"]: values(row) for row in table.rows if "model" in row} for name, table in tables.items()}
    expected = scores_of(world.run)
    for parse in ("official", "repaired"):
        scores = {model: expected[model][parse] for model in ("omniscient", "majority")}
        extracted, labelled = scores["omniscient"]["stage1"], scores["majority"]["stage2"]
        figures = [extracted["overall"][name] for name in ("f1", "f1_category_mean")]
        for figure in (labelled["overall"]["overall_accuracy"], *figures):
            assert f"{100 * float(figure):.2f}" in page
        mean = "f1" if parse == "repaired" else "f1_category_mean"  # as the paper's table 3 has it
        assert rows[f"main-{parse}"]["omniscient"][mean] == extracted["overall"][mean]
        assert parse in tables[f"main-{parse}"].title
        for group, model, held, name in (
            ("stage1", "omniscient", extracted, "f1"),
            ("stage2", "majority", labelled, "overall_accuracy"),
        ):
            for row in held["by_category"]:
                assert rows[f"categories-{group}"][model][f"{parse} {row['story_category']}"] == row[name]
        predicted, gold = (sum(int(row[name]) for row in extracted["stories"]) for name in ("pred_total", "gt_total"))
        assert rows[f"match-counts-{parse}"]["omniscient"]["total"] == predicted
        held = rows[f"volume-{parse}"]["omniscient"]
        assert (held["predicted"], held["gold"], held["stories"]) == (predicted, gold, STORIES)
        assert held["f1"] == extracted["overall"]["f1"]
        for name, kinds in (("orders", ("0", "1", "2+")), ("roles", ("world", "actors"))):
            [row] = [row for row in tables[f"{name}-{parse}"].rows if row["model"] == "omniscient"]
            assert sum(row[f"{kind} recall"].n for kind in kinds) == gold
            assert sum(row[f"{kind} precision"].n for kind in kinds) == predicted
        pairs = sum(int(row["pairs"]) for row in labelled["stories"])
        for name in (one.replace("_", "-") for one in DIMENSIONS):
            assert sum(values(row)["total"] for row in tables[f"confusion-1-{name}-{parse}"].rows) == pairs
            assert rows[f"labels-{name}-{parse}"]["majority"]["total"] == pairs
            [gold] = tables[f"labels-{name}-{parse}"].totals
            assert gold["model"] == "Gold of all stories" and gold["total"] == pairs
        cells = [row["truth_status"] for row in tables[f"orders-dimensions-{parse}"].rows if row["model"] == "majority"]
        assert sum(cell.n for cell in cells if cell.value is not None) == pairs
        by_category = {row["story_category"]: row for row in labelled["by_category"]}
        for row in tables[f"dimensions-{parse}"].rows:
            if row["model"] == "majority" and row["dimension"] == "Truth status":
                for category, found in by_category.items():
                    cell = row[f"in {category}"]
                    assert (cell.value, cell.n) == (found["acc_truth-status"], int(found["stories"]))
    low, high = expected["majority"]["repaired"]["stage2"]["overall"]["interval"]["acc_order"]
    assert f"[{100 * low:.1f}, {100 * high:.1f}]" in page
    assert rows["unreadable-repaired"][HOSTILE]["stage2"] == 1.0
    assert rows["unreadable-repaired"]["majority"]["stage2_unreadable"] == 0
    assert rows["unreadable-official"][HOSTILE]["stage1_unreadable"] == STORIES
    # whatever has a value and rests on rows of all nine stories has an interval around it, in both parses
    seen = 0
    analyses = ("orders", "roles", "match-counts", "volume", "unreadable", "labels", "confusion")
    for name, table in tables.items():
        for row, column in product(table.rows, table.columns) if name.startswith(analyses) else ():
            cell = column.cell(row)
            if ends := cell.interval:
                seen += 1
                assert ends[0] - 1e-5 <= float(cell.value) <= ends[1] + 1e-5, (name, row["model"], column.key)
    assert seen > 1000
    row = next(row for row in tables["orders-official"].rows if row["model"] == "omniscient")
    assert row["0 f1"].interval and row["0 f1"].n == row["0 recall"].n > 0


def _links(table, wanted: str) -> list[tuple[str, str, str]]:
    """(model, text, address) of the cells under a column's heading in a table of the page."""
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
    pages = response.context["page"].paginator
    rows = [row for at in range(pages.num_pages) for row in client.get(f"{link}&page={at + 1}").context["rows"]]
    return pages.count, sum(row["meant"][0] for row in rows if row["meant"])


def test_cells_open_the_items_that_they_rest_on(world, client):
    """MatchCount cells open items with as many such rows, order cells with as many rows as precision and recall rest
    on, cells of matrices and label counts their own."""
    for parse in ("official", "repaired"):
        response = client.get(
            f"{world.live}results/", {"parse": parse, "confusion_model": "2", "dimension": "truth-status"}
        )
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
        steps = {"stage1_unreadable": "extract", "stage2_unreadable": "label"}
        for (column, step), (model, text, link) in (
            (of, cell) for of in steps.items() for cell in _links(tables[f"unreadable-{parse}"], of[0])
        ):
            if text not in ("–", "0"):
                assert parse == "official" or f"step={step}" in link
                assert _meant(client, link)[0] == int(text), (model, column)
    tables, page = _tables(client.get(f"{world.live}results/")), client.get(f"{world.live}results/").content.decode()
    told = {model: link for model, _, link in _links(tables["main-repaired"], "acc_truth-status") if link}
    assert "dimension=truth_status" in told["majority"] and _meant(client, told["majority"])[0] == STORIES
    assert all("step=judge" in link for _, _, link in _links(tables["main-official"], "f1") if link)
    entrant = world.run.entrants.get(name="omniscient").pk
    of_category = re.findall(rf'href="([^"]*model={entrant}&amp;step=judge&amp;category=[^"]*)"', page)
    assert client.get(of_category[0].replace("&amp;", "&")).status_code == 200
    # four of nine items have a repaired score: the repaired figure opens these four, the official one all nine
    world.models["partly"] = endpoint("partly", options={"default": "no table"})
    run = world.another("partly", steps=("label",))
    used = list(RunItem.objects.filter(entrant__run=run, step="label")[:4])
    RunItem.objects.filter(pk__in=[one.pk for one in used]).update(repaired_score=0.5)
    for problem, count in (("", 9), ("used", 4)):
        listed = client.get(f"{world.base}/runs/{run.uid}/items/?step=label&problem={problem}").content.decode()
        assert listed.count('id="item-') == count
    row = tables_of(document_of(world.run))["stage2"]().rows[0]
    assert row["repaired_overall_accuracy"].items.filters == {"problem": "used"}
    assert row["official_overall_accuracy"].items.filters == {}


@pytest.mark.once
def test_a_model_a_dimension_and_a_reading_are_chosen(world, client):
    response = client.get(f"{world.live}results/", {"confusion_model": "2", "dimension": "truth-status"})
    explorer = response.context["explorer"]
    assert explorer["matrix"]["title"] == "Truth status: gold labels and those of random, repaired parse"
    assert [row["gold"] for row in explorer["matrix"]["rows"]] == ["True", "False", "Unknown"]
    page = response.content.decode()
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page, "hostile names are text"
    for name, nonsense in (("confusion_model", "99"), ("confusion_model", "-1"), ("confusion_model", "9" * 5000),
                           ("dimension", "<b>")):  # fmt: skip
        assert client.get(f"{world.live}results/", {name: nonsense}).status_code == 200
    for parse in ("repaired", "official"):
        response = client.get(f"{world.live}results/", {"parse": parse, "dimension": "context"})
        assert response.context["explorer"]["matrix"]["title"].endswith(f"{parse} parse")
        metrics = [one["name"] for part in response.context["sections"]["parts"] for one in part["plots"]]
        assert metrics and all(name.endswith(f"-{parse}") for name in metrics)
    assert client.get(f"{world.live}results/", {"parse": "<b>"}).context["sections"]["parse"] == "repaired"


def test_a_run_without_answers_and_one_of_structured_output_say_so(world, client):
    waiting = started(dataset=world.dataset, endpoints=[world.models["majority"]], steps=("label",))
    page = client.get(f"{world.base}/runs/{waiting.uid}/results/").content.decode()
    assert "not finished" in page and f"{STORIES}" in page
    run = world.another("majority", answer_format=AnswerFormat.STRUCTURED, steps=("label",))
    page = client.get(f"{world.base}/runs/{run.uid}/results/").content.decode()
    assert "Official parse (%)" not in page and "no official layout" in page


def test_people_are_rows_with_a_caution_and_without_their_names(world, client):
    """Bob labelled three stories as gold has them, so he is right in every cell of these."""
    for story in world.dataset.samples.order_by("position")[:3]:
        story.votes = {"bob": [[belief["labels"][one] for one in DIMENSIONS] for belief in story.beliefs]}
        story.save(update_fields=["votes"])
    forget_report(world.run)
    response = client.get(f"{world.live}results/")
    page = response.content.decode()
    assert "against gold without their own vote" in page and "bob" not in page
    rows = {one.model: one for one in response.context["document"].groups["stage2"]}
    person = rows["Annotator 1"]
    assert person.kind == "person" and person.group == {"official": None, "repaired": None}
    overall = person.parses.overall("repaired")
    assert (overall.value_of("overall_accuracy"), overall.stories) == (1.0, 3)
    assert person.parses.official is None  # three stories of nine
    with CaptureQueriesContext(connection) as asked:
        client.get(f"{world.live}results/")
    assert len(asked) <= 18, "figures are read, not computed"
    held = RunReport.objects.get()
    RunReport.objects.update(metrics=held.metrics | {"version": 1, "entrants": []})
    assert report_of(world.run).entrants, "an older report is computed anew"
