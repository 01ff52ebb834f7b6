"""From a person's figures down to the labels that they rest on."""

from __future__ import annotations

import html
import re

import pytest

from benchmark.models import Audience
from benchmark.services.reports import forget_report, report_of
from benchmark.suites.omnitom.labels import DIMENSIONS
from tests.benchmark.results_world import ResultsWorld, results_world
from tests.copies import copied

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    """Bob labelled stories 1 to 3 as gold has them, but for the order of the first proposition of story 2; Esi decided
    one cell of story 3."""
    return copied("people of a run", lambda: _labelled(tmp_path))


def _labelled(folder) -> ResultsWorld:
    held = results_world(folder)
    for story in held.dataset.samples.order_by("position")[:3]:
        labels = [[belief["labels"][one] for one in DIMENSIONS] for belief in story.beliefs]
        if story.number == 2:
            labels[0][0] = "1" if labels[0][0] != "1" else "2"
        story.votes = {"bob": labels}
        if story.number == 3:
            empty = [[""] * len(DIMENSIONS) for _ in story.beliefs]
            empty[0][1] = labels[0][1]
            story.adjudications = {"esi": empty}
        story.save(update_fields=["votes", "adjudications"])
    forget_report(held.run)
    report_of(held.run)
    return held


@pytest.fixture
def page(world, client):
    client.force_login(world.alice)

    def get(address: str) -> str:
        response = client.get(address)
        assert response.status_code == 200
        return response.content.decode()

    return get


def of_people(text: str) -> list[str]:
    return [html.unescape(one) for one in re.findall(r'href="([^"]+/people/[^"]+)"', text)]


def test_a_persons_figure_opens_stories_and_labels(world, page):
    run = f"{world.base}/runs/{world.run.uid}"
    links = of_people(page(f"{run}/results/"))
    assert f"{run}/people/p1/" in links and f"{run}/people/p2/" in links
    assert any("category=" in one for one in links)
    told = page(f"{run}/people/p1/")
    assert "Annotator 1" in told and "bob" not in told
    stories = of_people(told)
    # story 2 has the one wrong label, so it comes first
    assert [one.split("/")[-2] for one in stories] == ["2", "1", "3"]
    told = page(stories[0])
    assert told.count("cell-wrong") == 1 and "bob" not in told
    assert page(stories[1]).count("cell-wrong") == 0


def test_a_category_has_its_own_stories(world, page):
    category = world.dataset.samples.get(number=2).category
    told = page(f"{world.base}/runs/{world.run.uid}/people/p1/?category={category}")
    assert [one.split("/")[-2] for one in of_people(told)] == ["2"]
    assert "labelled none" in page(f"{world.base}/runs/{world.run.uid}/people/p1/?category=none")


def test_an_experts_decisions_are_those_cells_alone(world, page):
    told = page(f"{world.base}/runs/{world.run.uid}/people/p2/")
    assert "Expert 1" in told and "esi" not in told
    [story] = of_people(told)
    told = page(story)
    # one decision; of every other cell only the gold stands there
    cells = len(world.dataset.samples.get(number=3).beliefs) * len(DIMENSIONS)
    assert told.count("icon-check") == 1 and told.count(">gold ") == cells - 1


def test_who_is_not_there_is_not_found(world, client):
    client.force_login(world.alice)
    base = f"{world.base}/runs/{world.run.uid}/people"
    for address in (f"{base}/p9/", f"{base}/x/", f"{base}/p1/9/", f"{base}/p1/99/"):
        assert client.get(address).status_code == 404
    client.force_login(world.bob)
    assert client.get(f"{base}/p1/").status_code == 403


def test_annotators_do_not_see_how_one_of_them_labelled(world, page, client):
    world.show_to(Audience.EVERYONE)
    client.force_login(world.bob)
    base = f"{world.base}/runs/{world.run.uid}/people/p1/"
    told = client.get(base)
    assert told.status_code == 200 and "Annotator 1" in told.content.decode() and not of_people(told.content.decode())
    assert client.get(f"{base}2/").status_code == 403


def test_who_still_labels_the_story_does_not_see_its_gold(world, client, monkeypatch):
    world.show_to(Audience.EVERYONE)
    client.force_login(world.esi)
    address = f"{world.base}/runs/{world.run.uid}/people/p1/2/"
    assert client.get(address).status_code == 200
    monkeypatch.setattr("benchmark.access.closed_to", lambda access, suite="": frozenset({2}))
    assert client.get(address).status_code == 403
