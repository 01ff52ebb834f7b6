"""A project may show results of models to experts and annotators only while its gold is published: on every page and
download."""

from __future__ import annotations

import re

import pytest
from django.core.cache import cache
from django.core.cache.backends.dummy import DummyCache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, get_resolver, reverse
from django.utils import timezone

from annotation.access import project_access
from annotation.models import AuditEvent, GoldLabel, Proposition
from annotation.services.adjudication import adjudicate, undo_decision
from benchmark.access import sees_results
from benchmark.models import Audience, ResultsVisibility, RunItem, Snapshot
from benchmark.services.datasets import publish_version
from benchmark.services.plot_data import Picture
from benchmark.services.reports import forget_report
from benchmark.services.snapshots import save_run_snapshot
from benchmark.services.visibility import set_audience
from benchmark.suites.omnitom.labels import DIMENSIONS
from tests.benchmark.results_world import ResultsWorld, results_world
from tests.copies import copied

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(request, tmp_path, monkeypatch) -> ResultsWorld:
    cache.clear()
    monkeypatch.setattr("benchmark.views.downloads.caches", {"plots": DummyCache("", {})})
    monkeypatch.setattr(Picture, "draw", lambda *_, **how: b"drawn")  # who sees a picture does not depend on its lines
    if "pages" in request.fixturenames:
        return copied("pages of results", lambda: _with_pages(tmp_path))
    return _shown(tmp_path)


def _shown(folder) -> ResultsWorld:
    held = results_world(folder)
    project = held.dataset.project
    set_audience(by=held.alice, project=project, audience=Audience.EVERYONE, once_published=True)
    return held


def _with_pages(folder) -> ResultsWorld:
    held = _shown(folder)
    held.pages = _pages(held)
    return held


@pytest.fixture
def pages(world) -> list[str]:
    """Every address below results and runs that shows something of models to who may see it.

    That all of them wait for the same, one test shows; of others, which show when they do, a third is enough.
    """
    return world.pages


def _pages(world: ResultsWorld) -> list[str]:
    story = world.dataset.samples.first()
    story.votes = {"zoe": [[belief["labels"][one] for one in DIMENSIONS] for belief in story.beliefs]}
    story.save(update_fields=["votes"])
    forget_report(world.run)
    report = save_run_snapshot(by=world.alice, run=world.run, title="For the paper")
    item = RunItem.objects.filter(entrant__run=world.run, call__isnull=False).first()
    saved = report.items.filter(call__isnull=False).first()
    first, second = (world.entrant(name) for name in ("majority", "random"))
    values = {
        "slug": world.dataset.project.slug, "uid": world.run.uid, "report": report.uid, "pk": item.pk,
        "entrant": item.entrant_id,
        "person": "p1", "number": story.number, "table": "stage2", "data": "json", "plot": "dimensions-repaired",
        "picture": "svg",
    }  # fmt: skip
    ours = next(one for one in get_resolver().url_patterns if getattr(one, "namespace", "") == "benchmark")
    patterns = [one for part in ours.url_patterns for one in part.url_patterns if isinstance(one, URLPattern)]
    found = []
    for one in patterns:
        route = str(one.pattern)
        if route.startswith(("runs/", "results/")) and one.name not in NO_PARSE:
            own = {"pk": saved.pk} if one.name in ("snapshot_item", "snapshot_answer") else SPECIAL.get(one.name, {})
            known = values | own
            address = reverse(
                f"benchmark:{one.name}", kwargs={"slug": values["slug"]} | {k: known[k] for k in one.pattern.converters}
            )
            found.append(f"{address}?a={first}&b={second}")
    return found


NO_PARSE = {
    "launch", "estimate", "prompt_preview", "extend_run", "add_controls", "estimate_controls", "judge_anew",
    "run_again", "run_action", "save_run_snapshot", "save_comparison_snapshot",
    "save_leaderboard_snapshot", "rename_run", "archive_run", "restore_run", "delete_run", "leaderboard",
    "save_across_snapshot",
    "enter_row", "edit_row", "remove_row", "estimate_extension", "estimate_judging", "estimate_again", "read_again",
    "judge_test", "run_judges", "run_judges_table", "run_sweep", "run_sweep_table", "follow_up",
    "import_answers", "align_runs", "grow_alignment", "new_watch", "estimate_watch",
    "doubtful", "doubtful_file", "second_look", "save_looks", "undo_looks", "doubtful_cell",
}  # fmt: skip
"""The admins' or experts' alone, or what changes data, and the leaderboard, which says why it shows nothing."""
SPECIAL = {
    "comparison_table": {"table": "differences"},
    "comparison_plot": {"plot": "two-models"},
    "leaderboard_plot": {"plot": "leaderboard-stage2"},
    "across_table": {"table": "across"},
    "gold_kinds_table": {"table": "by-kind"},
    "across_plot": {"plot": "across"},
}


def decide(world) -> GoldLabel:
    row = Proposition.objects.filter(table__story__project=world.dataset.project).first()
    label = "Deceptive" if row.imported_labels["context"] != "Deceptive" else "Neutral"
    told = {"label": label, "revision": 0, "now": timezone.now(), "reason": "The text says so."}
    return adjudicate(by=world.alice, proposition=row, dimension="context", **told)


def statuses(client, person, pages) -> dict[str, int]:
    client.force_login(person)
    found = {one: client.get(one).status_code for one in pages}
    # nobody answered questions about these stories: whoever may see that is led to the page that says so
    for one in found:
        if "/results/structure/" in one and found[one] == 302:
            found[one] = client.get(one, follow=True).status_code
    if person.username == "bob":  # an annotator never sees how one of them labelled, published gold or not
        labels = [one for one in pages if re.search(r"/people/p1/\d+/", one)]
        assert [found.pop(one) for one in labels] == [403] * len(labels)
    return found


@pytest.mark.dear
def test_every_page_and_download_waits_for_published_gold(world, client, pages):
    """A page that is shown takes much longer than one that is refused: what one sees before a decision, another sees
    once it is published."""
    assert len(pages) > 20
    half, other = pages[::2], pages[1::2]
    people = ((world.alice, half), (world.esi, other), (world.bob, half))
    for person, seen in people:  # gold is what was published
        assert set(statuses(client, person, seen).values()) == {200}
    decide(world)
    for person in (world.esi, world.bob):
        assert set(statuses(client, person, pages).values()) == {403}
    assert set(statuses(client, world.alice, other).values()) == {200}
    publish_version(by=world.alice, project=world.dataset.project)
    for person, seen in ((world.esi, half), (world.bob, other)):
        assert set(statuses(client, person, seen).values()) == {200}


def test_admins_choose_it_on_the_page(world, client):
    client.force_login(world.alice)
    address = f"{world.base}/datasets/audience/"
    told = client.post(address, {"audience": "expert"}, follow=True).content.decode()
    assert "shown to: admins and experts." in told and not ResultsVisibility.objects.get().once_published
    told = client.post(address, {"audience": "expert", "once_published": "on"}, follow=True).content.decode()
    assert "shown to: admins, and experts while gold is published." in told
    assert ResultsVisibility.objects.get().once_published
    assert AuditEvent.objects.filter(action="results.shown").first().details == {
        "before": "expert", "after": "expert", "once_published": True,
    }  # fmt: skip
    events = AuditEvent.objects.count()
    client.post(address, {"audience": "expert", "once_published": "on"})
    assert AuditEvent.objects.count() == events


def test_a_page_asks_for_little_more_than_before(world):
    """The digest of the present gold is read once, not at every page."""
    access = project_access(world.bob, world.dataset.project.slug)
    assert sees_results(access)
    with CaptureQueriesContext(connection) as asked:
        assert sees_results(access)
    assert len(asked) <= 6


def test_the_leaderboard_and_refusals_say_what_they_wait_for(world, client):
    client.force_login(world.bob)
    address = f"{world.base}/results/"
    assert "Stage 2: labelling" in client.get(address).content.decode()
    decide(world)
    page = client.get(address).content.decode()
    assert "Stage 2: labelling" not in page and "majority" not in page
    assert "admins, and every member while gold is published" in page
    assert "an admin has published the gold as it is" in page
    client.force_login(world.esi)
    page = client.get(f"{world.base}/runs/{world.run.uid}/")
    assert page.status_code == 403
    assert "om shows results of models to admins, and every member while gold is published." in page.content.decode()
    assert client.post(f"{world.base}/runs/{world.run.uid}/report/snapshot/", {"title": "x"}).status_code == 403
    assert not Snapshot.objects.exists()


def test_what_one_sees_follows_gold_and_the_audience(world, client, pages):
    decision = decide(world)
    told = {"proposition": decision.proposition, "dimension": "context", "revision": decision.revision}
    undo_decision(by=world.alice, **told, now=timezone.now())
    assert set(statuses(client, world.bob, pages[::3]).values()) == {200}, "gold that returns shows results again"
    set_audience(by=world.alice, project=world.dataset.project, audience=Audience.EXPERTS)
    assert ResultsVisibility.objects.get().once_published  # a change of the audience leaves the rest
    assert set(statuses(client, world.esi, pages[1::3]).values()) == {200}
    assert set(statuses(client, world.bob, pages).values()) == {403}
    decide(world)
    assert set(statuses(client, world.esi, pages).values()) == {403}
