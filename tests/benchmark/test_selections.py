"""A part of the stories on the leaderboard, and everything that its figures lead to: items, comparisons, files."""

from __future__ import annotations

import csv
import html
import io
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from annotation.models import Split, Story
from benchmark.models import Snapshot
from benchmark.services.datasets import publish_version
from benchmark.services.reports import report_of
from tests.benchmark.results_world import HOSTILE, ResultsWorld, results_world
from tests.copies import copied

pytestmark = pytest.mark.django_db(transaction=True)
CHOSEN = {1, 4, 6, 8}


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    """Four of the nine stories are a split."""
    return copied("selections", lambda: _with_split(tmp_path))


def _with_split(folder) -> ResultsWorld:
    held = results_world(folder)
    split = Split.objects.create(project=held.dataset.project, name="held out")
    Story.objects.filter(project=held.dataset.project, number__in=CHOSEN).update(split=split)
    held.dataset, _ = publish_version(by=held.alice, project=held.dataset.project)
    held.run = held.another("majority", "random", "omniscient", HOSTILE)
    report_of(held.run)
    return held


@pytest.fixture
def page(world, client):
    """The text of a page under the project, as Alice has it."""
    client.force_login(world.alice)

    def get(path: str, **asked) -> str:
        response = client.get(f"{world.base}/{path}", asked)
        assert response.status_code == 200
        return response.content.decode()

    return get


def links(page: str, path: str) -> list[dict[str, list[str]]]:
    """The queries of a page's links to addresses that hold `path`."""
    found = [html.unescape(one) for one in re.findall(r'href="([^"]+)"', page)]
    return [parse_qs(urlsplit(one).query) for one in found if path in one]


def numbers(page: str) -> set[int]:
    return {int(one) for one in re.findall(r'aria-label="Story (\d+),', page)}


def test_a_cell_opens_the_items_of_the_split_alone(world, page, client):
    found = page("results/", split="held out")
    asked = links(found, "/items/?")
    assert asked and all(one["split"] == ["held out"] for one in asked)
    entrant = world.run.entrants.get(name="majority").pk
    items = page(f"runs/{world.run.uid}/items/", model=entrant, step="label", split="held out")
    assert numbers(items) == CHOSEN and 'value="held out" selected' in items
    assert len(numbers(page(f"runs/{world.run.uid}/items/", model=entrant, step="label"))) == 9


def test_items_of_the_stories_of_another_run(world, page):
    small = world.another("majority", limit=3)
    items = page(f"runs/{world.run.uid}/items/", step="label", split=f"run:{small.uid}")
    assert numbers(items) == {1, 2, 3} and "3 stories of" in items


def test_two_models_of_a_split_are_compared_on_it(world, page, client):
    names = {"a": world.entrant("majority"), "b": world.entrant("random"), "group": "stage2"}
    found = page("results/compare/", **names, split="held out")
    assert "over 4 stories" in found and "Split held out: 4 stories" in found
    assert all(one["split"] == ["held out"] for one in links(found, "/items/?"))
    assert links(found, "/results/differences/")[0]["split"] == ["held out"]
    data = client.get(f"{world.base}/results/compare/tables/stories.csv", {**names, "split": "held out"})
    rows = list(csv.DictReader(io.StringIO(data.content.decode(), newline="")))
    assert {int(row["Story"]) for row in rows} == CHOSEN
    assert "over 9 stories" in page("results/compare/", **names)  # and an unknown part is the whole
    assert "over 9 stories" in page("results/compare/", **names, split="nothing")


def test_a_comparison_of_a_split_is_saved_with_it(world, client):
    client.force_login(world.alice)
    names = {"a": world.entrant("majority"), "b": world.entrant("random"), "group": "stage2", "split": "held out"}
    response = client.post(f"{world.base}/results/compare/snapshot/", names | {"title": "A\x00 part"})
    held = Snapshot.objects.get()
    assert response.status_code == 302 and held.title == "A part"
    shown = client.get(response["Location"]).content.decode()
    assert "4 stories of Split held out" in shown
    assert links(shown, "/results/compare/?")[0]["split"] == ["held out"]


def test_pairs_of_a_split_lead_to_its_comparison(world, page):
    found = page("results/differences/", split="held out", group="stage2")
    assert all(one["split"] == ["held out"] for one in links(found, "/results/compare/?"))


def test_files_have_the_rows_and_columns_that_the_filters_leave(world, page, client):
    found = page("results/", show="baseline", model="ma", parse="official", split="held out")
    (csv_file,) = [one for one in re.findall(r'href="([^"]+stage2\.csv[^"]*)"', found)]
    rows = list(csv.DictReader(io.StringIO(client.get(html.unescape(csv_file)).content.decode(), newline="")))
    assert [row["Model"] for row in rows] == ["majority"]
    assert any("Official parse" in name for name in rows[0]) and not any("Repaired parse" in name for name in rows[0])
    pictures = [one for one in re.findall(r'href="([^"]+leaderboard-stage2\.svg[^"]*)"', found)]
    assert len(pictures) == 2  # as wide as the text, and as a column
    for picture in pictures:
        drawn = client.get(html.unescape(picture)).content.decode()
        assert "majority" in drawn and "random" not in drawn


def test_what_no_filter_can_mean_is_left_out(world, page):
    found = page("results/", show="nobody", parse="third")
    assert "random" in found and "None of" not in found
    assert "Figure:" not in page("results/", model="no such model")
