"""After an upgrade nothing that was kept is shown: reports, comparisons, leaderboards and pictures are made anew."""

from __future__ import annotations

import pytest

from benchmark.models import RunReport
from benchmark.services import comparisons, leaderboards, reports
from tests.benchmark.results_world import ResultsWorld, results_world

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


@pytest.fixture
def upgrade(settings):
    return lambda: setattr(settings, "CREDENCE_VERSION", "another release")


def test_a_report_of_another_release_is_computed_anew(world, upgrade):
    reports.report_of(world.run)
    RunReport.objects.update(metrics=RunReport.objects.get().metrics | {"stories": -1})
    assert reports.report_of(world.run).stories == -1  # kept
    upgrade()
    assert reports.report_of(world.run).stories == 9


def test_boards_and_comparisons_of_another_release_are_made_anew(world, upgrade, monkeypatch, client):
    client.force_login(world.alice)
    first, second = (world.entrant(name) for name in ("majority", "random"))
    pages = [f"{world.base}/results/", f"{world.base}/results/compare/?a={first}&b={second}"]
    made: list[str] = []
    for module in (leaderboards, comparisons):
        monkeypatch.setattr(module, "_compare", _noted(made, module.__name__, module._compare))
    [client.get(page) for page in pages]
    made.clear()
    [client.get(page) for page in pages]
    assert made == []  # kept
    upgrade()
    [client.get(page) for page in pages]
    assert {"benchmark.services.leaderboards", "benchmark.services.comparisons"} <= set(made)


def _noted(made: list[str], name: str, compute):
    def noted(*args, **named):
        made.append(name)
        return compute(*args, **named)

    return noted


def test_a_picture_of_another_release_is_drawn_anew_and_browsers_take_it(world, upgrade, client):
    client.force_login(world.alice)
    address = f"{world.base}/runs/{world.run.uid}/figures/dimensions-repaired.svg?theme=light"
    told = client.get(address)["ETag"]
    assert client.get(address, headers={"If-None-Match": told}).status_code == 304
    upgrade()
    again = client.get(address, headers={"If-None-Match": told})
    assert again.status_code == 200 and again["ETag"] != told
