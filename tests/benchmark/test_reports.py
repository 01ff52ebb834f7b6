from __future__ import annotations

import pytest

from annotation.models import AuditEvent
from benchmark.models import Audience, RunItem, Snapshot
from benchmark.services.methods_text import facts_of
from benchmark.services.reports import forget_report, report_of
from tests.benchmark.results_world import HOSTILE, ResultsWorld, results_world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


@pytest.fixture
def live(world) -> str:
    return f"{world.base}/runs/{world.run.uid}/report/"


def share(client, world) -> Snapshot:
    client.post(f"{world.base}/runs/{world.run.uid}/report/snapshot/", {"title": "For the paper"})
    return Snapshot.objects.latest("id")


def told(page) -> str:
    return " ".join(page.content.decode().split())


def test_it_states_everything_that_made_it(world, client, live):
    client.force_login(world.alice)
    page = told(client.get(live))
    run = world.run
    for expected in (
        run.dataset.digest,
        *run.spec["prompts"].values(),
        run.spec["made_by"]["code"],
        run.spec["made_by"]["python"],
        run.uid,
        "lexical-judge",
        "omnitom-1, level 3",
    ):
        assert expected in page
    for name, version in run.spec["made_by"]["packages"].items():
        assert f"{name} {version}" in page
    for sentence in (
        "uncalibrated",
        "cluster bootstrap over stories (2000 resamples, seed 1)",
        "Holm&#x27;s correction",
        "released code does",
        "commonest label of this very dataset",
    ):
        assert sentence in page


def test_its_facts_stand_in_one_order_whatever_order_the_database_has_kept(world):
    def facts() -> list:
        return facts_of(world.run, report_of(world.run))

    before, run = facts(), world.run
    prompts, made_by = dict(reversed(run.spec["prompts"].items())), run.spec["made_by"]
    packages = dict(reversed(made_by["packages"].items()))
    run.spec = run.spec | {"prompts": prompts, "made_by": made_by | {"packages": packages}}
    run.dataset.methods = {"votes": 3, "imported": 2}
    assert [*run.spec["prompts"]] == ["label", "extract"]
    settled = ["Gold settled by", "imported 2, votes 3"]
    assert facts() == [settled if fact[0] == settled[0] else fact for fact in before]


def test_stage_1_is_not_described_where_nothing_was_judged(world, client):
    run = world.another("majority", steps=("label",), judge=None)
    client.force_login(world.alice)
    page = told(client.get(f"{world.base}/runs/{run.uid}/report/"))
    assert "uncalibrated" not in page and "Extraction: precision" not in page and "Labelling: accuracy" in page


def test_a_snapshot_stays_as_it_was(world, client, live):
    client.force_login(world.alice)
    report = share(client, world)
    address = f"{world.base}/results/snapshots/{report.uid}/"
    before = client.get(address)
    table = client.get(f"{address}tables/stage2.csv").content
    metric = client.get(f"{address}figures/leaderboard-stage2.svg").content
    RunItem.objects.filter(entrant__run=world.run).update(official=None, repaired=None, call=None)
    forget_report(world.run)
    world.run.title = "Renamed"
    world.run.save()
    after = client.get(address)
    assert before.context["document"] == after.context["document"]
    assert "Renamed" not in after.context["document"].title
    assert client.get(f"{address}tables/stage2.csv").content == table
    assert client.get(f"{address}figures/leaderboard-stage2.svg").content == metric
    assert client.get(f"{world.base}/runs/{world.run.uid}/tables/stage2.csv").content != table


def test_sharing_is_recorded_and_listed(world, client):
    client.force_login(world.alice)
    report = share(client, world)
    assert report.title == "For the paper" and report.created_by == world.alice and report.run == world.run
    assert AuditEvent.objects.filter(action="snapshot.saved", target=report.uid).exists()
    assert "For the paper" in told(client.get(f"{world.base}/results/snapshots/"))


@pytest.mark.once
def test_who_may_share_and_who_may_open(world, client, live):
    client.force_login(world.alice)
    report = share(client, world)
    address = f"{world.base}/results/snapshots/{report.uid}/"
    for audience, allowed in (
        (Audience.ADMINS, {"alice"}),
        (Audience.EXPERTS, {"alice", "esi"}),
        (Audience.EVERYONE, {"alice", "esi", "bob"}),
    ):
        world.show_to(audience)
        for name in ("alice", "esi", "bob"):
            client.force_login(getattr(world, name))
            expected = 200 if name in allowed else 403
            for page in (
                address,
                live,
                f"{world.base}/results/snapshots/",
                f"{address}tables/stage2.csv",
                f"{address}figures/dimensions-repaired.svg",
            ):
                assert client.get(page).status_code == expected, (audience, name, page)
    client.force_login(world.bob)  # sees everything now, and may still not share
    assert client.post(f"{world.base}/runs/{world.run.uid}/report/snapshot/").status_code == 403
    client.force_login(world.charlie)
    assert client.get(address).status_code == 404 and client.get(live).status_code == 404


def test_a_report_belongs_to_its_project(world, client):
    from annotation.models import Membership, Project, Role

    client.force_login(world.alice)
    report = share(client, world)
    other = Project.objects.create(slug="other", name="Other")
    Membership.objects.create(project=other, user=world.alice, role=Role.ADMIN)
    assert client.get(f"/p/other/results/snapshots/{report.uid}/").status_code == 404
    assert client.get(f"/p/other/results/snapshots/{report.uid}/tables/stage2.csv").status_code == 404


@pytest.mark.once
def test_a_snapshot_holds_no_user_name(world, client):
    from benchmark.suites.omnitom.labels import DIMENSIONS

    for story in world.dataset.samples.all():
        story.votes = {"bob": [[belief["labels"][one] for one in DIMENSIONS] for belief in story.beliefs]}
        story.save(update_fields=["votes"])
    forget_report(world.run)
    client.force_login(world.alice)
    report = share(client, world)
    assert "bob" not in str(report.metrics) and "Annotator 1" in str(report.metrics)


@pytest.mark.once
def test_hostile_names_and_titles_are_text(world, client, live):
    client.force_login(world.alice)
    client.post(f"{world.base}/runs/{world.run.uid}/report/snapshot/", {"title": f"{HOSTILE} {'x' * 400}"})
    report = Snapshot.objects.latest("id")
    assert len(report.title) == 200
    for page in (live, f"{world.base}/results/snapshots/{report.uid}/", f"{world.base}/results/snapshots/"):
        assert "<script>alert" not in client.get(page).content.decode()
