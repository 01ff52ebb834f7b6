from __future__ import annotations

import re

import pytest
from django.test.utils import CaptureQueriesContext

from benchmark.domain.omnitom.labels import DIMENSIONS
from benchmark.models import Audience, Form, RunReport
from benchmark.services.documents import document_of, tables_of
from benchmark.services.reports import forget_report, scores_of
from tests.benchmark.results_world import HOSTILE, STORIES, ResultsWorld, results_world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


@pytest.fixture
def address(world) -> str:
    return f"{world.base}/runs/{world.run.uid}/results/"


def percent(value) -> str:
    return f"{100 * float(value):.2f}"


def test_the_page_shows_the_figures_of_score_outputs(world, client, address):
    client.force_login(world.alice)
    page = client.get(address).content.decode()
    expected = scores_of(world.run)
    for model, stage, name in (
        ("majority", "stage2", "overall_accuracy"),
        ("omniscient", "stage1", "f1"),
        ("omniscient", "stage1", "f1_category_mean"),
    ):
        for reading in ("official", "repaired"):
            assert percent(expected[model][reading][stage]["overall"][name]) in page
    low, high = expected["majority"]["repaired"]["stage2"]["overall"]["interval"]["acc_order"]
    assert f"[{100 * low:.1f}, {100 * high:.1f}]" in page


def test_every_table_holds_what_the_domain_counts(world):
    tables = {name: make() for name, make in tables_of(document_of(world.run)).items()}
    rows = {name: {row["model"]: row for row in table.rows if "model" in row} for name, table in tables.items()}
    expected = scores_of(world.run)
    for row in expected["omniscient"]["repaired"]["stage1"]["by_category"]:
        assert rows["categories-stage1"]["omniscient"][f"repaired {row['story_category']}"] == row["f1"]
    for row in expected["majority"]["official"]["stage2"]["by_category"]:
        assert rows["categories-stage2"]["majority"][f"official {row['story_category']}"] == row["overall_accuracy"]
    stories = expected["omniscient"]["repaired"]["stage1"]["stories"]
    assert rows["match-counts"]["omniscient"]["total"] == sum(row["pred_total"] for row in stories)
    assert rows["volume"]["omniscient"]["gold"] == sum(row["gt_total"] for row in stories)
    assert (
        sum(rows["orders"]["omniscient"][f"{order} gold"] for order in ("0", "1", "2+"))
        == rows["volume"]["omniscient"]["gold"]
    )
    assert rows["unusable"][HOSTILE]["stage2"] == 1.0 and rows["unusable"]["majority"]["stage2_unusable"] == 0
    gold = sum(row["pairs"] for row in expected["majority"]["repaired"]["stage2"]["stories"])
    for one in DIMENSIONS:
        name = one.replace("_", "-")
        matrix = tables[f"confusion-1-{name}"]
        assert sum(value for row in matrix.rows for key, value in row.items() if key != "gold") == gold
        assert (
            sum(
                value
                for key, value in rows[f"labels-{name}"]["majority"].items()
                if isinstance(value, int) and key[0] != "_"
            )
            == gold
        )


def test_the_paper_s_table_3_has_both_averages_and_one_reading_each(world):
    tables = tables_of(document_of(world.run))
    official, repaired = tables["main-official"](), tables["main-repaired"]()
    expected = scores_of(world.run)["omniscient"]
    row = next(row for row in official.rows if row["model"] == "omniscient")
    assert row["f1_category_mean"] == expected["official"]["stage1"]["overall"]["f1_category_mean"]
    row = next(row for row in repaired.rows if row["model"] == "omniscient")
    assert row["f1"] == expected["repaired"]["stage1"]["overall"]["f1"]
    assert "official" in official.title and "repaired" in repaired.title


def test_categories_open_their_own_items(world, client, address):
    client.force_login(world.alice)
    page = client.get(address).content.decode()
    entrant = world.run.entrants.get(name="omniscient").pk
    links = re.findall(rf'href="([^"]*model={entrant}&amp;stage=judge&amp;category=[^"]*)"', page)
    assert links
    items = client.get(links[0].replace("&amp;", "&"))
    assert items.status_code == 200


def test_a_model_and_a_dimension_are_chosen(world, client, address):
    client.force_login(world.alice)
    response = client.get(address, {"confusion_model": "2", "dimension": "truth-status"})
    labels = response.context["labels"]
    assert labels["title"] == "Truth status: gold labels and those of random"
    assert [row["gold"] for row in labels["matrix"]["rows"]] == ["True", "False", "Unknown"]
    for nonsense in (
        {"confusion_model": "99"},
        {"confusion_model": "-1"},
        {"dimension": "<b>"},
        {"confusion_model": "9" * 5000},
    ):
        assert client.get(address, nonsense).status_code == 200


def test_people_are_rows_with_a_caution_and_without_their_names(world, client, address):
    """Bob labelled three stories as gold has them, so he is right in every cell of these."""
    for story in world.dataset.stories.order_by("position")[:3]:
        story.votes = {"bob": [[belief["labels"][one] for one in DIMENSIONS] for belief in story.beliefs]}
        story.save(update_fields=["votes"])
    forget_report(world.run)
    client.force_login(world.alice)
    response = client.get(address)
    page = response.content.decode()
    assert "Gold rests on these very labels" in page and "bob" not in page
    rows = {one["model"]: one for one in response.context["document"]["stages"]["stage2"]}
    person = rows["Annotator 1"]
    assert person["kind"] == "person" and person["group"] == {"official": None, "repaired": None}
    assert person["readings"]["repaired"]["overall"]["overall_accuracy"] == 1.0
    assert person["readings"]["repaired"]["overall"]["stories"] == 3
    assert person["readings"]["official"] is None  # three stories of nine


def test_structured_output_has_no_official_columns(world, client):
    run = world.another("majority", form=Form.STRUCTURED, stages=("label",))
    client.force_login(world.alice)
    page = client.get(f"{world.base}/runs/{run.uid}/results/").content.decode()
    assert "Official reading (%)" not in page and "no official layout" in page


def test_a_run_without_answers_says_so(world, client):
    from tests.benchmark.evaluation import started

    run = started(dataset=world.dataset, endpoints=[world.models["majority"]], stages=("label",))
    client.force_login(world.alice)
    page = client.get(f"{world.base}/runs/{run.uid}/results/").content.decode()
    assert "not finished" in page and f"{STORIES}" in page


def test_hostile_names_are_text(world, client, address):
    client.force_login(world.alice)
    page = client.get(address).content.decode()
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page


def test_reading_figures_takes_few_questions(world, client, address):
    from django.db import connection

    client.force_login(world.alice)
    client.get(address)
    with CaptureQueriesContext(connection) as asked:
        client.get(address)
    assert len(asked) <= 16
    assert RunReport.objects.count() == 1


def test_who_may_see_them(world, client, address):
    for audience, allowed in (
        (Audience.ADMINS, {"alice"}),
        (Audience.EXPERTS, {"alice", "esi"}),
        (Audience.EVERYONE, {"alice", "esi", "bob"}),
    ):
        world.show_to(audience)
        for name in ("alice", "esi", "bob"):
            client.force_login(getattr(world, name))
            assert client.get(address).status_code == (200 if name in allowed else 403)
    client.force_login(world.charlie)
    assert client.get(address).status_code == 404
