"""A part of the stories on the leaderboard, and everything that its figures lead to: items, comparisons, files."""

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


def links(page: str, path: str) -> list[dict[str, list[str]]]:
    """The queries of a page's links to addresses that hold `path`."""
    found = [html.unescape(one) for one in re.findall(r'href="([^"]+)"', page)]
    return [parse_qs(urlsplit(one).query) for one in found if path in one]


def numbers(page: str) -> set[int]:
    return {int(one) for one in re.findall(r'aria-label="Story (\d+),', page)}


def read(response) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(response.content.decode(), newline="")))


def test_a_split_leads_to_its_items_comparisons_and_files_alone(world, client):
    client.force_login(world.alice)

    def page(path: str, **asked) -> str:
        response = client.get(f"{world.base}/{path}", asked)
        assert response.status_code == 200
        return response.content.decode()

    def of_split(found: str, path: str) -> bool:
        asked = links(found, path)
        return bool(asked) and all(one["split"] == ["held out"] for one in asked)

    assert of_split(page("results/", split="held out"), "/items/?")
    labels = {"model": world.run.entrants.get(name="majority").pk, "step": "label"}
    items = page(f"runs/{world.run.uid}/items/", **labels, split="held out")
    assert numbers(items) == CHOSEN and 'value="held out" selected' in items
    assert len(numbers(page(f"runs/{world.run.uid}/items/", **labels))) == 9
    small = world.another("majority", limit=3)
    items = page(f"runs/{world.run.uid}/items/", step="label", split=f"run:{small.uid}")
    assert numbers(items) == {1, 2, 3} and "3 stories of" in items, "stories of another run"
    # two models are compared on it
    names = {"a": world.entrant("majority"), "b": world.entrant("random"), "group": "stage2"}
    found = page("results/compare/", **names, split="held out")
    assert "over 4 stories" in found and "Split held out: 4 stories" in found
    assert of_split(found, "/items/?") and links(found, "/results/differences/")[0]["split"] == ["held out"]
    data = client.get(f"{world.base}/results/compare/tables/stories.csv", {**names, "split": "held out"})
    assert {int(row["Story"]) for row in read(data)} == CHOSEN
    for whole in ({}, {"split": "nothing"}):  # an unknown part is the whole
        assert "over 9 stories" in page("results/compare/", **names, **whole)
    assert of_split(page("results/differences/", split="held out", group="stage2"), "/results/compare/?")
    saved = {**names, "split": "held out", "title": "A\x00 part"}
    response = client.post(f"{world.base}/results/compare/snapshot/", saved)
    assert response.status_code == 302 and Snapshot.objects.get().title == "A part"
    shown = client.get(response["Location"]).content.decode()
    assert "4 stories of Split held out" in shown
    assert links(shown, "/results/compare/?")[0]["split"] == ["held out"]
    # files have the rows and columns that the filters leave
    found = page("results/", show="baseline", model="ma", parse="official", split="held out")
    (csv_file,) = re.findall(r'href="([^"]+stage2\.csv[^"]*)"', found)
    rows = read(client.get(html.unescape(csv_file)))
    assert [row["Model"] for row in rows] == ["majority"]
    assert any("Official parse" in name for name in rows[0]) and not any("Repaired parse" in name for name in rows[0])
    pictures = re.findall(r'href="([^"]+leaderboard-stage2\.svg[^"]*)"', found)
    assert len(pictures) == 2  # as wide as the text, and as a column
    for picture in pictures:
        drawn = client.get(html.unescape(picture)).content.decode()
        assert "majority" in drawn and "random" not in drawn
    found = page("results/", show="nobody", parse="third")
    assert "random" in found and "None of" not in found, "what no filter can mean is left out"
    assert "Figure:" not in page("results/", model="no such model")
