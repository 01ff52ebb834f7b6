"""A run's report states everything that made it, and whoever asks for it at the same moment sees one whole state of it;
a snapshot stays as it was, down to its answers, and is its project's alone."""

import html
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Assignment, AuditEvent, Membership, Project, Role
from benchmark.models import Audience, RunItem, RunReport, Snapshot, StoryScores
from benchmark.models.report import REPLACED_KEPT
from benchmark.services import reports
from benchmark.services.comparisons import compare, pair_of
from benchmark.services.leaderboards import ranked_entrants_of_run
from benchmark.services.methods_text import facts_of
from benchmark.services.reports import forget_report, report_of
from benchmark.services.snapshots import save_comparison_snapshot, save_run_snapshot
from benchmark.suites.omnitom.data import JUDGE, LABEL
from benchmark.suites.omnitom.labels import DIMENSIONS
from tests.benchmark.results_world import HOSTILE
from tests.benchmark.settled import written

pytestmark = pytest.mark.django_db(transaction=True)


def address_of(snapshot: Snapshot) -> str:
    return f"/p/{snapshot.project.slug}/results/snapshots/{snapshot.uid}/"


def share(client, world, title: str = "For the paper") -> Snapshot:
    client.post(f"{world.live}report/snapshot/", {"title": title})
    return Snapshot.objects.latest("id")


def test_it_states_everything_that_made_it_in_one_order(world, client):
    page, run = written(client.get(f"{world.live}report/")), world.run
    made_by = run.spec["made_by"]
    packages = [f"{name} {version}" for name, version in made_by["packages"].items()]
    for expected in (
        run.dataset.digest, *run.spec["prompts"].values(), made_by["code"], made_by["python"], run.uid, *packages,
        "lexical-judge", "omnitom-1, level 3", "uncalibrated", "Holm&#x27;s correction",
        "cluster bootstrap over stories (2000 resamples, seed 1)", "released code does",
        "commonest label of this very dataset",
    ):  # fmt: skip
        assert expected in page, expected

    def facts() -> list:
        return facts_of(run, report_of(run))

    before = facts()
    # the database keeps the names of an object in an order of its own
    kept = {"packages": dict(reversed(made_by["packages"].items()))}
    run.spec |= {"prompts": dict(reversed(run.spec["prompts"].items())), "made_by": made_by | kept}
    run.dataset.methods = {"votes": 3, "imported": 2}
    assert [*run.spec["prompts"]] == ["label", "extract"]
    settled = ["Gold settled by", "imported 2, votes 3"]
    assert facts() == [settled if fact[0] == settled[0] else fact for fact in before]
    labelled = world.another("majority", steps=("label",), judge=None)
    page = written(client.get(f"{world.base}/runs/{labelled.uid}/report/"))
    assert "uncalibrated" not in page and "Extraction: precision" not in page and "Labelling: accuracy" in page


def test_a_snapshot_is_recorded_and_listed_and_stays_as_it_was(world, client):
    saved = share(client, world)
    address = address_of(saved)
    assert saved.title == "For the paper" and saved.created_by == world.alice and saved.run == world.run
    assert AuditEvent.objects.filter(action="snapshot.saved", target=saved.uid).exists()
    assert "For the paper" in written(client.get(f"{world.base}/results/snapshots/"))
    files = [f"{address}tables/stage2.csv", f"{address}figures/leaderboard-stage2.svg"]
    before, held = client.get(address), [client.get(file).content for file in files]
    RunItem.objects.filter(entrant__run=world.run).update(official=None, repaired=None, call=None)
    forget_report(world.run)
    world.run.title = "Renamed"
    world.run.save()
    after = client.get(address)
    assert before.context["document"] == after.context["document"]
    assert "Renamed" not in after.context["document"].title
    assert [client.get(file).content for file in files] == held
    assert client.get(f"{world.live}tables/stage2.csv").content != held[0]
    other = Project.objects.create(slug="other", name="Other")
    Membership.objects.create(project=other, user=world.alice, role=Role.ADMIN)
    for elsewhere in (address, files[0]):
        assert client.get(elsewhere.replace(world.base, "/p/other")).status_code == 404


@pytest.mark.once
def test_a_snapshot_holds_no_user_name_and_hostile_names_as_text(world, client):
    for story in world.dataset.samples.all():
        story.votes = {"bob": [[belief["labels"][one] for one in DIMENSIONS] for belief in story.beliefs]}
        story.save(update_fields=["votes"])
    forget_report(world.run)
    saved = share(client, world, f"{HOSTILE} {'x' * 400}")
    assert "bob" not in str(saved.metrics) and "Annotator 1" in str(saved.metrics)
    assert len(saved.title) == 200
    for page in (f"{world.live}report/", address_of(saved), f"{world.base}/results/snapshots/"):
        assert "<script>alert" not in client.get(page).content.decode()


# --- one whole state of it
def test_two_who_compute_a_report_at_once_keep_one(world, monkeypatch):
    forget_report(world.run)
    together, compute = threading.Barrier(2), reports._rows

    def computed(run):
        rows = compute(run)
        together.wait(30)  # neither has written yet
        return rows

    def ranked(at: int):
        try:
            report = report_of(world.run)
            return report, ranked_entrants_of_run(world.run, report, "stage2")
        finally:
            connections.close_all()

    monkeypatch.setattr(reports, "_rows", computed)
    cache.clear()
    with ThreadPoolExecutor(2) as pool:
        (first, first_rows), (second, second_rows) = pool.map(ranked, range(2))
    assert first == second == report_of(world.run)
    assert [row.model for row in first_rows] == [row.model for row in second_rows]
    kept = set(StoryScores.objects.current().filter(run=world.run).values_list("pk", flat=True))
    assert {entrant.story_scores for entrant in first.entrants} == kept


def test_a_report_that_is_replaced_can_be_read_until_nobody_does(world):
    before = report_of(world.run)
    expected = {row.model: row.parses for row in ranked_entrants_of_run(world.run, before, "stage2")}
    item = RunItem.objects.filter(entrant__run=world.run, entrant__name="majority", step="label").first()
    RunItem.objects.filter(pk=item.pk).update(call=None, official=None, repaired=None, score=None, repaired_score=None)
    after = report_of(world.run)
    cache.clear()
    rows = {row.model: row for row in ranked_entrants_of_run(world.run, before, "stage2")}
    assert {name: row.parses for name, row in rows.items()} == expected
    assert all(row.ranking["official"] for row in rows.values() if row.parses.official)
    replaced, scores = {one.story_scores for one in before.entrants}, StoryScores.objects.values_list("pk", flat=True)
    assert not replaced & {one.story_scores for one in after.entrants} and replaced < {*scores.all()}
    long_ago = timezone.now() - REPLACED_KEPT - timedelta(seconds=1)
    StoryScores.objects.filter(pk__in=replaced).update(replaced_at=long_ago)
    forget_report(world.run)
    report_of(world.run)
    assert not replaced & {*scores.all()}


def test_a_run_that_is_deleted_meanwhile_has_no_rows(world, monkeypatch):
    forget_report(world.run)
    monkeypatch.setattr(reports.Run.objects, "select_for_update", lambda: reports.Run.objects.none())
    report = report_of(world.run)
    assert ranked_entrants_of_run(world.run, report, "stage2") == []
    assert not RunReport.objects.exists()


# --- what a snapshot opens
@pytest.fixture
def report(world) -> Snapshot:
    return save_run_snapshot(by=world.alice, run=world.run, title="March")


@pytest.fixture
def saved(report) -> str:
    return address_of(report)


@pytest.fixture
def get(client):
    def told(address: str) -> str:
        response = client.get(address)
        assert response.status_code == 200, address
        return response.content.decode()

    return told


def of_items(text: str) -> list[str]:
    return [html.unescape(one) for one in dict.fromkeys(re.findall(r'href="([^"]+/items/\?[^"]+)"', text))]


def rows(text: str) -> int:
    return len(re.findall(r'id="item-\d+"', text))


def test_every_cell_of_a_snapshot_opens_as_many_items_of_its_own_as_the_live_one(world, saved, get):
    links, live = of_items(get(saved)), world.live
    assert len(links) > 30 and all(f"{saved}items/" in one for one in links)
    assert {one.partition("?")[2] for one in links} == {
        one.partition("?")[2] for one in of_items(get(f"{live}report/"))
    }
    for link in links[:: max(1, len(links) // 12)]:
        assert rows(get(link)) == rows(get(f"{live}items/?{link.partition('?')[2]}")), link


def test_a_list_of_saved_items_asks_as_much_for_many_as_for_one(world, report, saved, get):
    entrant = world.run.entrants.get(name="majority")
    asked, shown = [], []
    for _ in ("many", "one"):
        with CaptureQueriesContext(connection) as statements:
            shown.append(rows(get(f"{saved}items/?model={entrant.pk}&step=label")))
        asked.append(len(statements))
        first = report.items.filter(entrant=entrant, step=LABEL).first()
        report.items.filter(entrant=entrant, step=LABEL).exclude(pk=first.pk).delete()
    assert shown[0] > 5 and shown[1] == 1 and asked[0] == asked[1]


def test_what_becomes_of_the_run_leaves_the_saved_answers(world, report, saved, get, client):
    """Every parse, score and answer of now is another one, and one model has none any more."""
    held = RunItem.objects.filter(entrant__run=world.run)
    count = report.items.count()
    assert count == held.count()
    entrant = world.run.entrants.get(name="majority")
    kept = report.items.get(entrant=entrant, step=LABEL, sample__number=1)
    addresses = [f"{saved}items/{kept.pk}/", f"{saved}items/?model={entrant.pk}&step=label"]
    before = [steady(get(address)) for address in addresses]
    assert "Unreadable" not in before[0] and kept.call.answer[:20] in html.unescape(before[0])
    lost = {"score": 0, "unreadable": "the answer is empty"}
    held.update(official=None, repaired=None, repaired_score=None, call=None, item=None, **lost)
    assert [steady(get(address)) for address in addresses] == before
    live = held.get(entrant=entrant, step=LABEL, sample__number=1)
    assert "Unreadable: the answer is empty" in get(f"{world.live}items/{live.pk}/")
    judged = report.items.get(entrant__name="omniscient", step=JUDGE, sample__number=1)
    assert "Predicted" in get(f"{saved}items/{judged.pk}/")
    file = client.get(f"{saved}items/{kept.pk}/answer/")
    assert file.content.decode() == kept.call.answer and "attachment" in file["Content-Disposition"]
    held.filter(sample__number=9).delete()
    assert report.items.count() == count


def steady(text: str) -> str:
    """Without what differs from request to request: tokens, and how long ago something was."""
    return re.sub(r"(?s)\b[A-Za-z0-9]{64}\b|<time.*?</time>", "", text)


def test_a_saved_comparison_opens_both_sides(world, get):
    project, keys = world.dataset.project, [world.entrant(name) for name in ("majority", "random")]
    runs, entries = pair_of(project, *keys)
    found = compare(entries["stage2"], "stage2", "repaired")
    report = save_comparison_snapshot(by=world.alice, project=project, runs=runs, keys=keys, comparison=found)
    links = of_items(get(address_of(report)))
    assert {re.search(r"model=(\d+)", one).group(1) for one in links} == {key.partition(".")[2] for key in keys}
    assert rows(get(next(one for one in links if "category" not in one and "dimension" not in one))) == 9
    assert set(report.items.values_list("entrant__name", flat=True)) == {"majority", "random"}


def test_only_members_who_see_results_open_it_and_only_what_is_closed_to_none(world, report, saved, client):
    """Strangers with the link see nothing; who still labels a story, nothing of it."""
    project = world.dataset.project
    kept = report.items.get(entrant__name="majority", step=LABEL, sample__number=3)
    addresses = [saved, f"{saved}items/", f"{saved}items/{kept.pk}/", f"{saved}items/{kept.pk}/answer/"]

    def statuses() -> list[int]:
        return [client.get(one).status_code for one in addresses]

    client.logout()
    assert statuses() == [302] * 4
    for person, audience, status in (
        (world.charlie, Audience.ADMINS, 404),
        (world.esi, Audience.ADMINS, 403),
        (world.esi, Audience.EXPERTS, 200),
        (world.bob, Audience.EXPERTS, 403),
        (world.bob, Audience.EVERYONE, 200),
    ):
        world.show_to(audience)
        client.force_login(person)
        assert statuses() == [status] * 4, (person, audience)
    assert client.post(f"{world.live}report/snapshot/").status_code == 403, "to see is not to share"
    story = project.stories.get(number=3)
    Assignment.objects.create(story=story, annotator=world.bob, slot=1, overlap=project.overlap)
    assert statuses() == [200, 200, 403, 403]
    other = save_run_snapshot(by=world.alice, run=world.run)
    assert client.get(f"{address_of(other)}items/{kept.pk}/").status_code == 404
