"""All pairs of a leaderboard: the tests that its letters rest on, kept and shown."""

from __future__ import annotations

import json

import pytest

from benchmark.domain.averaging import StoryMetrics
from benchmark.models import AnswerFormat, Audience
from benchmark.services.comparison_tables import pair_table
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.services.reports import scores_of
from benchmark.suites.figures import lacking, official_columns, official_metrics, with_intervals
from benchmark.suites.questions import Columns
from core.statistics import holm
from tests.benchmark.results_world import HOSTILE, STORIES, ResultsWorld, results_world

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


def pairs(world, parse="repaired", group="stage2"):
    return pair_table(leaderboard_of(world.dataset, AnswerFormat.TEXT, None), group, parse)


def test_every_pair_is_tested_over_all_stories_and_in_each_category(world):
    table = pairs(world, "official")
    # three models are three pairs; nine stories lie in seven categories: 3 · (1 + 7) tests
    assert len(table.rows) == 24 and {row["category"] for row in table.rows} > {""}
    assert len({(row["first"], row["second"]) for row in table.rows}) == 3
    assert any("all pairs, over all stories and in each category (24 tests)" in note for note in table.notes)
    adjusted = [row["p_adjusted"] for row in table.rows]
    assert adjusted == pytest.approx(holm([row["p"] for row in table.rows]))
    # the biggest come first
    sizes = [abs(row["value"].value) for row in table.rows]
    assert sizes == sorted(sizes, reverse=True)


def test_a_difference_is_the_mean_of_the_stories_differences(world):
    held = scores_of(world.run)
    by_story = {
        name: {row["story_id"]: row["overall_accuracy"] for row in held[name]["repaired"]["stage2"]["stories"]}
        for name in ("majority", "random")
    }
    gaps = [by_story["majority"][story] - by_story["random"][story] for story in by_story["majority"]]
    rows = pairs(world).rows
    [row] = [row for row in rows if {row["first"], row["second"]} == {"majority", "random"} and not row["category"]]
    assert abs(row["value"].value) == pytest.approx(abs(sum(gaps) / STORIES)) and row["n"] == STORIES
    # nobody could read the third model: it counts at its worst, and no story was answered by both
    unreadable = [row for row in rows if row["second"] == HOSTILE]
    assert len(unreadable) == 16 and all(row["answered_n"] == 0 for row in unreadable)
    assert all(row["value"].value >= 0 and row["answered_value"] is None for row in unreadable)


def test_they_are_computed_once(world, monkeypatch):
    table = pairs(world)
    monkeypatch.setattr("benchmark.services.leaderboards._compare", lambda *found: pytest.fail("compared again"))
    assert pairs(world) == table


def test_the_page_filters_sorts_and_opens_the_comparison(world, client):
    client.force_login(world.alice)
    page = client.get(f"{world.base}/results/differences/?group=stage2")
    shown = page.content.decode()
    assert page.status_code == 200 and "<script>alert" not in shown and "<h2" in shown.partition("<h3")[0]
    assert len(page.context["table"]["rows"]) == 3  # over all stories

    def texts(query: str, column: int) -> list[str]:
        answer = client.get(f"{world.base}/results/differences/?group=stage2&{query}")
        return [row["cells"][column]["text"] for row in answer.context["table"]["rows"]]

    assert len(texts("over=every", 0)) == 24
    category = world.dataset.samples.first().category
    assert set(texts(f"over={category}", 2)) == {category}
    assert texts("model=no such", 0) == []
    assert len(texts("model=RANDOM", 0)) == 2
    sizes = [float(text.replace("−", "-")) for text in texts("over=every&sort=value&parse=official", 3) if text != "–"]
    assert sizes == sorted(sizes) and len(sizes) == 24
    address = next(row["cells"][3]["href"] for row in page.context["table"]["rows"] if row["cells"][3]["href"])
    assert client.get(address).status_code == 200
    assert f"{world.base}/results/differences/" in client.get(f"{world.base}/results/").content.decode()


def test_all_rows_download_whatever_is_shown(world, client):
    client.force_login(world.alice)
    page = client.get(f"{world.base}/results/differences/?group=stage2&parse=official&model=random")
    assert [one["label"] for one in page.context["files"]] == ["CSV", "JSON", "LaTeX"]
    for one in page.context["files"]:
        assert client.get(one["href"]).status_code == 200
    held = json.loads(client.get(page.context["files"][1]["href"]).content)
    assert len(held["rows"]) == 24 and "official parse" in held["title"]
    tested = {"first", "second", "over", "value", "p", "p_adjusted", "shown", "n"}
    assert set(held["rows"][0]) == tested | {"answered_value", "answered_n"}
    assert "value" in held["rows"][0]["value"]
    assert client.get(f"{world.base}/results/differences/stage3.csv").status_code == 404
    assert client.get(f"{world.base}/results/differences/stage2.xls").status_code == 404


def test_who_may_not_see_results_sees_no_differences(world, client):
    world.show_to(Audience.ADMINS)
    client.force_login(world.bob)
    assert client.get(f"{world.base}/results/differences/").status_code == 403
    assert client.get(f"{world.base}/results/differences/stage2.csv").status_code == 403


def test_one_model_has_nothing_to_be_compared_with(world, client):
    client.force_login(world.alice)
    world.another("majority", answer_format=AnswerFormat.STRUCTURED, steps=("label",))
    page = client.get(f"{world.base}/results/differences/?answer_format=structured")
    assert "Nothing to compare" in page.content.decode()
    assert page.context["parses"] == ["repaired"]


def test_the_compare_page_says_which_tests_it_adjusts_over(world, client):
    client.force_login(world.alice)
    asked = {"a": world.entrant("majority"), "b": world.entrant("random"), "group": "stage2"}
    page = client.get(f"{world.base}/results/compare/", asked).content.decode()
    # overall, seven dimensions, seven categories
    assert "over the 15 tests of the table below" in page and "not over all pairs of models" in page
    assert (
        f"{world.base}/results/differences/?version=1&amp;answer_format=text&amp;group=stage2&amp;parse=repaired"
        in page
    )


def columns_of(*rows: tuple[int, str, float]) -> Columns:
    metrics = [StoryMetrics(story, {"precision": f1, "recall": f1, "f1": f1}) for story, _, f1 in rows]
    return official_columns(metrics, [category for _, category, _ in rows], "stage1")


def test_categories_that_read_alike_keep_their_own_intervals():
    """Verbatim "A" and "A " are two categories of official scoring, printed alike."""
    low, high = (
        ((at, "A", 0.1 * (1 + at % 2)) for at in range(6)),
        ((at, "A ", 0.1 * (8 + at % 2)) for at in range(6, 12)),
    )
    columns = columns_of(*low, *high)
    stories = set(range(12))
    averages = official_metrics(columns, stories, "stage1")
    found = with_intervals(averages, columns, stories, "stage1", seed=1, resamples=200).told()
    assert [(row["story_category"], row["f1"]) for row in found["by_category"]] == [
        ("A", "0.150000"),
        ("A", "0.850000"),
    ]
    # the categories are each other's mirror at 1/2, and so are their intervals, but for what was drawn
    first, second = (row["interval"]["f1"] for row in found["by_category"])
    assert first[0] < 0.15 < first[1] < 0.5 and first == pytest.approx([1 - second[1], 1 - second[0]], abs=0.02)
    # the mean of the two categories' means: (0.15 + 0.85) / 2
    assert found["overall"]["f1_category_mean"] == "0.500000"


def test_a_selection_has_official_figures_only_with_all_of_its_stories():
    columns = columns_of((1, "A", 0.5), (3, "B", 1.0))
    assert official_metrics(columns, {1, 3}, "stage1").as_json()["overall"]["f1"] == "0.750000"
    assert official_metrics(columns, {1, 2, 3}, "stage1") is None
    assert lacking(columns, {1, 2, 3}).startswith("Story 2 has no official parse")
    assert lacking(columns, {3}) == "" and lacking(None, {3}) and lacking(columns, set()) == "No story is selected."
