"""A snapshot opens down to the answers of its time, whatever becomes of the run."""

from __future__ import annotations

import html
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Assignment
from benchmark.models import Audience, RunItem, Snapshot, SnapshotItem
from benchmark.services.comparisons import compare, pair_of
from benchmark.services.snapshots import save_comparison_snapshot, save_run_snapshot
from benchmark.suites.omnitom.data import JUDGE, LABEL
from tests.benchmark.results_world import ResultsWorld, results_world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


@pytest.fixture
def report(world) -> Snapshot:
    return save_run_snapshot(by=world.alice, run=world.run, title="March")


@pytest.fixture
def get(world, client):
    client.force_login(world.alice)

    def told(address: str) -> str:
        response = client.get(address)
        assert response.status_code == 200, address
        return response.content.decode()

    return told


def of_items(text: str) -> list[str]:
    return [html.unescape(one) for one in dict.fromkeys(re.findall(r'href="([^"]+/items/\?[^"]+)"', text))]


def rows(text: str) -> int:
    return len(re.findall(r'id="item-\d+"', text))


def test_every_link_of_a_snapshots_opens_items_of_that_report(world, report, get):
    links = of_items(get(f"{world.base}/results/snapshots/{report.uid}/"))
    assert len(links) > 30 and all(f"/results/snapshots/{report.uid}/items/" in one for one in links)
    live = of_items(get(f"{world.base}/runs/{world.run.uid}/report/"))
    assert {one.partition("?")[2] for one in links} == {one.partition("?")[2] for one in live}


def test_a_cell_opens_as_many_items_as_the_live_one(world, report, get):
    links = of_items(get(f"{world.base}/results/snapshots/{report.uid}/"))
    for link in links[:: max(1, len(links) // 12)]:
        live = f"{world.base}/runs/{world.run.uid}/items/?{link.partition('?')[2]}"
        assert rows(get(link)) == rows(get(live)), link


def test_a_list_of_saved_items_asks_as_much_for_many_as_for_one(world, report, get):
    entrant = world.run.entrants.get(name="majority")
    address = f"{world.base}/results/snapshots/{report.uid}/items/?model={entrant.pk}&step=label"
    asked, shown = [], []
    for _ in ("many", "one"):
        with CaptureQueriesContext(connection) as statements:
            shown.append(rows(get(address)))
        asked.append(len(statements))
        first = report.items.filter(entrant=entrant, step=LABEL).first()
        report.items.filter(entrant=entrant, step=LABEL).exclude(pk=first.pk).delete()
    assert shown[0] > 5 and shown[1] == 1 and asked[0] == asked[1]


def test_answers_that_are_read_again_leave_the_saved_ones(world, report, get):
    """Every parse, score and answer of now is another one, and one model has none any more."""
    entrant = world.run.entrants.get(name="majority")
    kept = SnapshotItem.objects.get(snapshot=report, entrant=entrant, step=LABEL, sample__number=1)
    page = f"{world.base}/results/snapshots/{report.uid}/items/{kept.pk}/"
    before, listed = get(page), get(f"{world.base}/results/snapshots/{report.uid}/items/?model={entrant.pk}&step=label")
    RunItem.objects.filter(entrant__run=world.run).update(
        official=None,
        repaired=None,
        score=0,
        repaired_score=None,
        unreadable="the answer is empty",
        call=None,
        item=None,
    )
    assert (
        steady(get(page)) == steady(before)
        and "Unreadable" not in before
        and kept.call.answer[:20] in html.unescape(before)
    )
    assert steady(get(f"{world.base}/results/snapshots/{report.uid}/items/?model={entrant.pk}&step=label")) == steady(
        listed
    )
    live = RunItem.objects.get(entrant=entrant, step=LABEL, sample__number=1)
    assert "Unreadable: the answer is empty" in get(f"{world.base}/runs/{world.run.uid}/items/{live.pk}/")
    judged = SnapshotItem.objects.get(snapshot=report, entrant__name="omniscient", step=JUDGE, sample__number=1)
    assert "Predicted" in get(f"{world.base}/results/snapshots/{report.uid}/items/{judged.pk}/")


def steady(text: str) -> str:
    """Without what differs from request to request: tokens, and how long ago something was."""
    return re.sub(r"(?s)\b[A-Za-z0-9]{64}\b|<time.*?</time>", "", text)


def test_what_is_added_to_the_run_is_not_in_it(world, report, get):
    count = SnapshotItem.objects.filter(snapshot=report).count()
    assert count == RunItem.objects.filter(entrant__run=world.run).count()
    RunItem.objects.filter(entrant__run=world.run, sample__number=9).delete()
    assert SnapshotItem.objects.filter(snapshot=report).count() == count


def test_the_answer_itself_is_there_as_a_file(world, report, client):
    client.force_login(world.alice)
    kept = report.items.filter(call__isnull=False).first()
    response = client.get(f"{world.base}/results/snapshots/{report.uid}/items/{kept.pk}/answer/")
    assert response.content.decode() == kept.call.answer and "attachment" in response["Content-Disposition"]


def test_a_saved_comparison_opens_both_sides(world, get):
    keys = [world.entrant(name) for name in ("majority", "random")]
    runs, entries = pair_of(world.dataset.project, *keys)
    found = compare(entries["stage2"], "stage2", "repaired")
    report = save_comparison_snapshot(
        by=world.alice, project=world.dataset.project, runs=runs, keys=keys, comparison=found
    )
    links = of_items(get(f"{world.base}/results/snapshots/{report.uid}/"))
    assert {re.search(r"model=(\d+)", one).group(1) for one in links} == {key.partition(".")[2] for key in keys}
    assert rows(get(next(one for one in links if "category" not in one and "dimension" not in one))) == 9
    assert {one.name for one in map(lambda item: item.entrant, report.items.all())} == {"majority", "random"}


def test_only_members_who_see_results_open_it_and_only_what_is_closed_to_none(world, report, client):
    """Strangers with the link see nothing; who still labels a story, nothing of it."""
    project = world.dataset.project
    kept = report.items.get(entrant__name="majority", step=LABEL, sample__number=3)
    base = f"{world.base}/results/snapshots/{report.uid}/"
    addresses = [base, f"{base}items/", f"{base}items/{kept.pk}/", f"{base}items/{kept.pk}/answer/"]
    statuses = lambda: [client.get(one).status_code for one in addresses]  # noqa: E731
    assert statuses() == [302] * 4
    client.force_login(world.charlie)
    assert statuses() == [404] * 4
    client.force_login(world.bob)
    assert statuses() == [403] * 4
    world.show_to(Audience.EVERYONE)
    assert statuses() == [200] * 4
    story = project.stories.get(number=3)
    Assignment.objects.create(story=story, annotator=world.bob, slot=1, overlap=project.overlap)
    assert statuses() == [200, 200, 403, 403]
    other = save_run_snapshot(by=world.alice, run=world.run)
    assert client.get(f"{world.base}/results/snapshots/{other.uid}/items/{kept.pk}/").status_code == 404
