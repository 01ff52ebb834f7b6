"""A leaderboard that somebody saved: it stays as it was, down to its items, whatever becomes of its runs."""

from __future__ import annotations

import html
import re

import pytest
from django.utils import timezone

from annotation.models import AuditEvent
from benchmark.models import Audience, RunItem, Snapshot
from benchmark.services.archiving import archive_run, delete_run
from benchmark.services.documents import Document, document_from, tables_of
from benchmark.services.leaderboard_scope import Leaderboard, leaderboard_of
from benchmark.services.plot_data import plots_of
from benchmark.services.snapshots import save_leaderboard_snapshot
from tests.benchmark.results_world import ResultsWorld, results_world
from tests.benchmark.test_run_commands import refused, told
from workers.models import Call

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path, client) -> ResultsWorld:
    world = results_world(tmp_path)
    client.force_login(world.alice)
    return world


def leaderboard(world, split: str = "") -> Leaderboard:
    return leaderboard_of(world.dataset, world.run.answer_format, split)


def saved(world, split: str = "") -> Snapshot:
    of = {"dataset": world.dataset, "leaderboard": leaderboard(world, split), "query": {"split": split}}
    return save_leaderboard_snapshot(by=world.alice, **of)


def shown(client, world, report: Snapshot, tail: str = "") -> str:
    response = client.get(f"{world.base}/results/snapshots/{report.uid}/{tail}")
    assert response.status_code == 200
    return response.content.decode()


def ranking(text: str) -> list[str]:
    """The cells of the tables, whatever they link to."""
    return [" ".join(re.sub("<[^>]+>", " ", row).split()) for row in re.findall(r"<tr.*?</tr>", text, re.S)]


def test_a_saved_leaderboard_stays_as_it_was(world, client):
    answer = client.post(f"{world.base}/results/snapshot/", {"query": "split=", "title": "For the paper"})
    report = Snapshot.objects.get()
    assert answer["Location"] == f"{world.base}/results/snapshots/{report.uid}/" and report.title == "For the paper"
    before = ranking(shown(client, world, report))
    assert {"majority", "random", "omniscient"} <= {row.partition(" ")[0] for row in before}
    live, kept = (
        re.findall(r">(\d+\.\d\d)<", page)
        for page in (client.get(f"{world.base}/results/").content.decode(), shown(client, world, report))
    )
    assert live == kept[: len(live)], "the figures are the leaderboard's"
    delete_run(by=world.alice, run=world.run, now=timezone.now())
    assert ranking(shown(client, world, report)) == before
    assert AuditEvent.objects.filter(action="snapshot.saved", target=report.uid).exists()


def test_its_links_open_the_items_of_their_time(world, client):
    report = saved(world)
    assert report.items.count() == RunItem.objects.count()
    # it has the files of the leaderboard
    live, kept = Document(kind="leaderboard", groups=leaderboard(world).entrants), document_from(report.metrics)
    assert {*tables_of(kept)} == {*tables_of(live)} and {*plots_of(kept)} == {*plots_of(live)}
    assert "majority" in shown(client, world, report, "tables/stage2.csv")
    assert "<svg" in shown(client, world, report, "figures/leaderboard-stage2.svg")
    links = [html.unescape(link) for link in re.findall(r'href="([^"]+/items/\?[^"]+)"', shown(client, world, report))]
    assert links and all(f"/results/snapshots/{report.uid}/items/" in link for link in links)
    RunItem.objects.update(score=None, official=None)
    for link in [link for link in links if "problem=" not in link][:3]:
        assert re.search(r'id="item-\d+"', client.get(link).content.decode()), link


def test_it_says_what_it_ranks_and_what_made_its_runs_and_keeps_the_items_of_a_part_of_the_stories(world, client):
    few = world.another("majority", steps=("label",), judge=None, limit=3)
    report = saved(world, f"run:{few.uid}")
    assert len(report.metrics["numbers"]) == 3
    assert {*report.items.values_list("sample__number", flat=True)} == {*report.metrics["numbers"]}
    report = saved(world)
    facts = dict(map(tuple, report.metrics["facts"]))
    assert facts["Ranked over"] == "All 9 stories" and "1 run" in facts["Rows"]
    assert "lexical-judge" in facts["Ranking of Stage 1: extraction"]
    assert any(world.run.uid in value for _, value in report.metrics["facts"])
    headings = [part["heading"] for part in report.metrics["methods"]]
    assert "Data" in headings and len(headings) == len({*headings})
    text = shown(client, world, report)
    assert "The leaderboard as it is now" in text and f"{world.base}/results/?split=" in text


def test_who_may_save_it_and_who_may_open_it(world, client):
    address = f"{world.base}/results/snapshot/"
    world.show_to(Audience.EXPERTS)
    for person, status in ((world.charlie, 404), (world.bob, 403), (world.esi, 302)):
        client.force_login(person)
        assert client.post(address, {"query": ""}).status_code == status
    page = f"{world.base}/results/snapshots/{Snapshot.objects.get().uid}/"
    for person, status in ((world.charlie, 404), (world.bob, 403), (world.esi, 200), (world.alice, 200)):
        client.force_login(person)
        assert client.get(page).status_code == status


def test_a_command_saves_it_and_an_empty_one_is_not_kept(world, client):
    calls = Call.objects.count()
    slug = world.dataset.project.slug
    made = told("save_snapshot", "--page", "leaderboard", "--project", slug, "--title", "March")
    report = Snapshot.objects.get()
    assert made["snapshot"] == report.uid and report.title == "March"
    assert made["address"] == f"{world.base}/results/snapshots/{report.uid}/"
    assert report.metrics["query"]["split"] == "" and Call.objects.count() == calls
    assert refused("save_snapshot", "--title", "March") == "Name a run, or a page with --page."
    archive_run(by=None, run=world.run, now=timezone.now())
    answer = client.post(f"{world.base}/results/snapshot/", {"query": ""}, follow=True)
    assert "The leaderboard has no row to keep." in answer.content.decode() and Snapshot.objects.count() == 1
