"""After an upgrade, or once answers came, every page of results says at once that its figures are computed, and
follows."""

from __future__ import annotations

import html
import re
import subprocess
import sys
import threading

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

import judge.urls
from benchmark.models import Run, RunReport
from benchmark.services import at_once, leaderboards, reports
from benchmark.services.at_once import BeingComputed, answering_at_once
from benchmark.services.documents import document_of
from benchmark.services.judge_versions import judged_beside
from benchmark.services.reports import forget_report, reports_of
from benchmark.urls import results, runs
from judge.services import judges_beside
from judge.services.judges_beside import rows_of_judges
from tests.benchmark.controls.world import controlled_world
from tests.benchmark.methods.world import METHODS, methods_world
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
PARTS = {"benchmark:run_results", "benchmark:gold_kinds_cells"}
"""Parts of a page that is there already."""


@pytest.fixture
def world(tmp_path, client, monkeypatch):
    held = structure_world(tmp_path)
    monkeypatch.setattr(at_once, "AT_ONCE", 0)
    client.force_login(held.alice)
    for run in Run.objects.all():
        forget_report(run)
    return held


def queries(world, name: str) -> str:
    first, second = (world.entrant(model) for model in ("majority", "random"))
    return f"?a={first}&b={second}" if name == "benchmark:compare" else ""


def address(world, name: str) -> str:
    place = {"slug": world.dataset.project.slug, "uid": world.run.uid}
    return reverse(name, kwargs={of: place[of] for of in PAGES[name]}) + queries(world, name)


FOLLOWS = re.compile(r'<meta http-equiv="refresh" content="0; url=([^"]+)">')


def test_no_page_computes_reports_before_it_says_so(world, client, monkeypatch):
    def computed(run, scored):
        raise AssertionError("a report is computed while somebody waits")

    monkeypatch.setattr(reports, "_computed", computed)
    said = {name for name in PAGES if name not in PARTS and FOLLOWS.search(_text(client, address(world, name)))}
    of_results = (
        "across", "compare", "differences", "flips", "gold_kinds", "items_apart", "leaderboard", "run_report",
        "structure",
    )  # fmt: skip
    assert said >= {*(f"benchmark:{name}" for name in of_results), "judge:run_judges"}


def _text(client, url: str) -> str:
    return client.get(url).content.decode()


@pytest.mark.parametrize("name", ["benchmark:leaderboard", "benchmark:compare"])
def test_the_page_follows_and_is_there_from_then_on(world, client, name):
    url = address(world, name)
    said = _text(client, url)
    assert "Figures are being computed" in said and f'href="{world.base}/results/"' in said, "with the project's menu"
    follows = html.unescape(FOLLOWS.search(said)[1])
    page = _text(client, follows)
    assert "majority" in page and not FOLLOWS.search(page)
    assert at_once.FOLLOWS + "=" not in page, "nobody is led to wait again"
    assert "majority" in _text(client, url)


def test_of_readers_who_wait_together_one_computes(world, monkeypatch):
    waits, taken, computed, made = threading.Event(), at_once._taken, reports._computed, []

    def seen(file):
        free = taken(file)
        _ = free or waits.set()
        return free

    def slowly(run, places):
        made.append(run.pk)
        assert waits.wait(PATIENCE), "another reader waits"
        return computed(run, places)

    monkeypatch.setattr(at_once, "_taken", seen)
    monkeypatch.setattr(at_once, "_EVERY", 0.01)
    monkeypatch.setattr(reports, "_computed", slowly)
    readers, url = [Client() for _ in range(PRESSES)], f"{address(world, 'benchmark:leaderboard')}?computed=1"
    for reader in readers:
        reader.force_login(world.alice)
    pages = all_at_once(lambda at: readers[at].get(url))
    assert all("majority" in page.content.decode() for page in pages)
    assert made and len(made) == len({*made}), "nothing is computed twice"


HOLDS = """
import fcntl, sys, time
file = open(sys.argv[1], "w")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""


def test_who_waits_long_for_another_is_told_again_and_a_killed_process_leaves_nothing(world, client, monkeypatch):
    monkeypatch.setattr(at_once, "LOOKS_AGAIN", 0.0)
    url = f"{address(world, 'benchmark:run_report')}?computed=1"
    held = at_once.lock_of("report", str(world.run.pk))
    with subprocess.Popen([sys.executable, "-c", HOLDS, held], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        again = FOLLOWS.search(_text(client, url))
        other.kill()
    assert again and html.unescape(again[1]) == url
    page = _text(client, url)
    assert "majority" in page and not FOLLOWS.search(page)


def test_a_ranking_of_many_models_that_nobody_kept_follows_too(world, client, monkeypatch):
    url = address(world, "benchmark:leaderboard")
    client.get(f"{url}?computed=1")
    cache.clear()  # as after its time
    monkeypatch.setattr(leaderboards, "AS_LONG", 1)
    follows = FOLLOWS.search(_text(client, url))
    assert follows and "majority" in _text(client, html.unescape(follows[1]))
    assert "majority" in _text(client, url)


KEPT_BESIDE = {
    "benchmark:compare": "comparison",
    "benchmark:flips": "flips",
    "benchmark:items_apart": "items",
    "benchmark:gold_kinds": "gold-kinds",
}
"""Pages with what is kept beside reports and rankings, and what it is kept as."""


@pytest.mark.parametrize("name", KEPT_BESIDE)
def test_what_a_page_keeps_beside_the_reports_follows_too(world, client, monkeypatch, name):
    url = address(world, name)
    client.get(f"{url}{'&' if '?' in url else '?'}computed=1")
    made, compute = [], at_once.computing
    monkeypatch.setattr(at_once, "computing", lambda kind, key: made.append(kind) or compute(kind, key))
    get = cache.get
    monkeypatch.setattr(at_once.cache, "get", lambda key, *rest: None if _of(key, name, made) else get(key, *rest))
    said = _text(client, url)
    follows = FOLLOWS.search(said)
    assert follows and not made
    assert not FOLLOWS.search(_text(client, html.unescape(follows[1]))) and KEPT_BESIDE[name] in made
    assert not FOLLOWS.search(_text(client, url))


@pytest.mark.parametrize(
    ("kind", "made"),
    [
        ("methods", lambda folder: methods_world(folder, *METHODS)[1][0]),
        ("controls", lambda folder: controlled_world(folder, "renamed", "storyless")[1]),
    ],
)
def test_what_a_report_sets_beside_a_run_follows_too(tmp_path, monkeypatch, kind, made):
    run = made(tmp_path)
    document_of(run)
    monkeypatch.setattr(at_once, "AT_ONCE", 0)
    with answering_at_once():
        document_of(run)  # everything is kept
        get = cache.get
        lost = {"kept": True}
        monkeypatch.setattr(
            at_once.cache, "get", lambda key, *rest: None if key.startswith(f"{kind}:") and lost else get(key, *rest)
        )
        with pytest.raises(BeingComputed):
            document_of(run)
    document_of(run)
    lost.clear()
    with answering_at_once():
        document_of(run)


def _of(key: str, name: str, made: list[str]) -> bool:
    """Whether it is what that page keeps, as long as nobody made it anew."""
    return key.startswith(f"{KEPT_BESIDE[name]}:") and KEPT_BESIDE[name] not in made


def test_what_judges_said_is_counted_once_and_anew_with_the_figures(world, client, monkeypatch):
    url, runs = address(world, "judge:run_judges"), judged_beside(world.run)
    reports_of(runs)
    follows = FOLLOWS.search(_text(client, url))
    assert follows and "lexical-judge" in _text(client, html.unescape(follows[1]))
    rows = rows_of_judges(runs)
    assert rows[0].model == "omniscient" and rows[0].tally.rows

    def read(run):
        raise AssertionError("all judgements are read")

    monkeypatch.setattr(judges_beside, "judgements_of", read)
    assert rows_of_judges(runs) == rows and "lexical-judge" in _text(client, url)
    forget_report(world.run)
    with pytest.raises(AssertionError, match="all judgements are read"):
        rows_of_judges(runs)


def test_parts_of_pages_files_and_commands_take_their_time(world, client):
    slug, uid = world.dataset.project.slug, world.run.uid
    part = client.get(reverse("benchmark:run_results", args=[slug, uid]), headers={"HX-Request": "true"})
    assert "majority" in part.content.decode()
    forget_report(world.run)
    file = client.get(reverse("benchmark:run_table", args=[slug, uid, "stage2", "csv"]))
    assert file.status_code == 200 and "majority" in file.content.decode()
    forget_report(world.run)
    assert reports_of([world.run])[world.run.pk].stories


def test_few_answers_are_computed_at_once(world, client, monkeypatch):
    monkeypatch.setattr(at_once, "AT_ONCE", 100)
    assert "majority" in _text(client, address(world, "benchmark:leaderboard"))
    assert RunReport.objects.exists()
