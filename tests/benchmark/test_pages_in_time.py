"""After an upgrade, or once answers came, every page of results says soon that its figures are computed, and then shows
them."""

from threading import Event

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

import judge.urls
from benchmark.models import Run
from benchmark.services import comparisons, flips, gold_kinds, item_statistics, leaderboards, reports
from benchmark.services.judges import judged_beside
from benchmark.services.reports import forget_report, reports_of
from benchmark.urls import results, runs
from core import kept as keeper
from judge.services import judges_beside
from judge.services.judges_beside import rows_of_judges
from tests.benchmark.structure_world import structure_world
from tests.patience import PATIENCE
from tests.pressing import PRESSES, all_at_once

pytestmark = pytest.mark.django_db(transaction=True)

PAGES = {
    f"{app}:{of.name}": {"slug", *of.pattern.converters}
    for app, patterns in (("benchmark", [*runs.urlpatterns, *results.urlpatterns]), ("judge", judge.urls.PAGES))
    for of in patterns
    if str(of.pattern).endswith("/") and {*of.pattern.converters} <= {"uid"}
}
"""The pages of a project, or of one of its runs, and their parts, with what their addresses hold."""
COMPUTING = '<meta http-equiv="refresh" content="1">'


@pytest.fixture
def world(tmp_path, client):
    held = structure_world(tmp_path)
    client.force_login(held.alice)
    for run in Run.objects.all():
        forget_report(run)
    cache.clear()
    return held


def address(world, name: str) -> str:
    place = {"slug": world.dataset.project.slug, "uid": world.run.uid}
    first, second = (world.entrant(model) for model in ("majority", "random"))
    query = f"?a={first}&b={second}" if name == "benchmark:compare" else ""
    return reverse(name, kwargs={of: place[of] for of in PAGES[name]}) + query


def _text(client, url: str, **headers: str) -> str:
    return client.get(url, headers=headers).content.decode()


def _refused():
    raise keeper.BeingComputed


def test_every_page_of_results_says_that_it_is_computed_and_comes(world, client, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(reports, "in_time", lambda key, compute: _refused())
        patch.setattr(keeper, "WAIT_SECONDS", 0)
        said = {name for name in PAGES if COMPUTING in _text(client, address(world, name))}
    of_results = (
        "across", "compare", "differences", "flips", "gold_kinds", "items_apart", "leaderboard", "run_report",
        "structure",
    )  # fmt: skip
    assert said >= {*(f"benchmark:{name}" for name in of_results), "judge:run_judges"}
    for name in ("benchmark:leaderboard", "benchmark:compare"):
        page = _text(client, address(world, name))
        assert "majority" in page and COMPUTING not in page


def test_what_a_page_keeps_beside_the_reports_is_waited_for_too(world, client, monkeypatch):
    for name, module, computes in (
        ("benchmark:compare", comparisons, "_compare"),
        ("benchmark:flips", flips, "_counts"),
        ("benchmark:gold_kinds", gold_kinds, "_gold_metrics"),
        ("benchmark:items_apart", item_statistics, "_fitted"),
        ("benchmark:leaderboard", leaderboards, "_compare"),
    ):
        url, made, compute = address(world, name), [], getattr(module, computes)

        def slowly(*args, name=name, made=made, compute=compute, **kwargs):
            made.append(name)
            Event().wait(0.3)
            return compute(*args, **kwargs)

        _text(client, url)
        cache.clear()  # as after its time
        with monkeypatch.context() as patch:
            patch.setattr(module, computes, slowly)
            patch.setattr(keeper, "WAIT_SECONDS", 0)
            assert COMPUTING in _text(client, url), name
            patch.setattr(keeper, "WAIT_SECONDS", PATIENCE)
            assert [COMPUTING in _text(client, url) for _ in range(2)] == [False, False], name
        assert made == [name], "it is computed once"


def test_of_readers_who_wait_together_one_computes(world, monkeypatch):
    computed, made = reports._computed, []
    monkeypatch.setattr(reports, "_computed", lambda run, places: made.append(run.pk) or computed(run, places))
    readers, url = [Client() for _ in range(PRESSES)], address(world, "benchmark:leaderboard")
    for reader in readers:
        reader.force_login(world.alice)
    pages = all_at_once(lambda at: readers[at].get(url))
    assert all("majority" in page.content.decode() for page in pages)
    assert made and len(made) == len({*made}), "nothing is computed twice"


def test_what_judges_said_is_counted_once_and_anew_with_the_figures(world, client, monkeypatch):
    runs = judged_beside(world.run)
    rows = rows_of_judges(runs)
    assert rows[0]["model"] == "omniscient" and rows[0]["rows"]

    def read(run):
        raise AssertionError("all judgements are read")

    monkeypatch.setattr(judges_beside, "judgements_of", read)
    assert rows_of_judges(runs) == rows and "lexical-judge" in _text(client, address(world, "judge:run_judges"))
    forget_report(world.run)
    with pytest.raises(AssertionError, match="all judgements are read"):
        rows_of_judges(runs)


def test_parts_of_pages_files_and_commands_take_their_time(world, client, monkeypatch):
    monkeypatch.setattr(keeper, "WAIT_SECONDS", 0)
    at = [world.dataset.project.slug, world.run.uid]
    assert "majority" in _text(client, reverse("benchmark:run_results", args=at), **{"HX-Request": "true"})
    forget_report(world.run)
    file = client.get(reverse("benchmark:run_table", args=[*at, "stage2", "csv"]))
    assert file.status_code == 200 and "majority" in file.content.decode()
    forget_report(world.run)
    assert reports_of([world.run])[world.run.pk].stories
