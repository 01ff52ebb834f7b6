"""Renaming, archiving and deleting runs: what goes, what stays, and what waits for it."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import AuditEvent
from benchmark.models import Run, RunItem, RunReport, SnapshotItem, StoryScores
from benchmark.services import archiving
from benchmark.services.comparisons import NotComparable, pair_of
from benchmark.services.extending import extend_run
from benchmark.services.launches import run_again
from benchmark.services.leaderboard_scope import finished_runs, version_to_show
from benchmark.services.plans import RunRefused
from benchmark.services.runs import refused_action
from benchmark.services.snapshots import save_run_snapshot
from tests.benchmark.results_world import ResultsWorld, results_world
from tests.benchmark.test_run_commands import refused, told
from tests.pressing import all_at_once
from workers.models import Attempt, Call, Item

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


@pytest.fixture
def alice(world, client) -> Client:
    client.force_login(world.alice)
    return client


def page(world, tail: str = "") -> str:
    return f"{world.base}/runs/{world.run.uid}/{tail}"


def text(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def delete(world, run: Run | None = None) -> archiving.Deletion:
    return archiving.delete_run(by=world.alice, run=run or world.run, now=timezone.now())


def archive(world, run: Run | None = None) -> bool:
    return archiving.archive_run(by=world.alice, run=run or world.run, now=timezone.now())


def events(verb: str) -> list[dict]:
    return list(AuditEvent.objects.filter(action=f"run.{verb}").values_list("details", flat=True))


def test_a_run_is_renamed_with_its_job(world, alice):
    before = world.run.title
    answer = alice.post(page(world, "rename/"), {"title": "  Prompts\tof March "})
    assert answer.status_code == 302 and answer["Location"] == page(world)
    run = Run.objects.select_related("job").get()
    assert run.title == run.job.title == "Prompts of March"
    assert not archiving.rename_run(by=None, run=run, title="Prompts of March")
    for title, why in ((" \x00 ", "needs a name"), ("x" * 201, "201 characters; expected up to 200")):
        with pytest.raises(RunRefused, match=why):
            archiving.rename_run(by=None, run=run, title=title)
    assert alice.post(page(world, "rename/"), {"title": " "}).status_code == 200
    assert events("renamed") == [{"title": "Prompts of March", "before": before}]


def test_an_archived_run_opens_by_its_address_alone(world, alice):
    assert finished_runs(world.dataset, world.run.answer_format) == [world.run]
    newer = type(world.dataset).objects.create(
        project=world.dataset.project, version=world.dataset.version + 1, digest="1" * 64, schema_version="1",
        rule_version="1", stories_count=1, propositions_count=0,
    )  # fmt: skip
    assert version_to_show(world.dataset.project) == world.dataset
    alice.post(page(world, "archive/"))
    assert not archive(world), "twice archived is archived once"
    assert version_to_show(world.dataset.project) == newer, "it decides no longer which version is shown"
    newer.delete()
    assert finished_runs(world.dataset, world.run.answer_format) == []
    assert page(world) not in text(alice, f"{world.base}/runs/") + text(alice, f"{world.base}/results/")
    assert page(world) in text(alice, f"{world.base}/runs/?archived=1")
    shown = text(alice, page(world))
    assert "lists, leaderboards and comparisons leave this run out" in shown and "extend/" not in shown
    items = RunItem.objects.count()
    with pytest.raises(RunRefused, match="restore it first"):
        extend_run(by=None, run=world.run, endpoints=[world.models["lexical-judge"]], now=timezone.now())
    shown = alice.post(page(world, "do/retry/"), follow=True).content.decode()
    assert "The run is archived; restore it first." in shown
    assert "restore it first" in refused("runs", "retry", world.run.uid)
    assert RunItem.objects.count() == items, "nothing is added to it"
    alice.post(page(world, "restore/"))
    assert finished_runs(world.dataset, world.run.answer_format) == [world.run]
    assert not archiving.restore_run(by=None, run=world.run)
    assert len(events("archived")) == len(events("restored")) == 1


def test_a_run_that_works_or_whose_answers_are_judged_anew_stays(world, alice):
    other = world.another("omniscient", steps=("extract",), judge=None, title="Extractions")
    judged = world.another("omniscient", steps=("judge",), source=other, title="Judged")
    with pytest.raises(RunRefused, match="1 run judges its answers anew: “Judged”"):
        delete(world, other)
    for state in ("running", "paused"):
        type(world.run.job).objects.filter(pk=world.run.job_id).update(state=state, outcome="")
        for act in (archive, delete):
            with pytest.raises(RunRefused, match=f"The run is {state}: let it end or cancel it before it is"):
                act(world)
        assert f"The run is {state}" in text(alice, page(world, "delete/"))
        assert alice.post(page(world, "delete/"))["Location"] == page(world, "delete/")
    assert world.run.entrants.exists() and not events("deleted") and not events("archived")
    delete(world, judged)
    assert delete(world, other).items


def _body(client: Client, address: str) -> str:
    """What a page has between its frame, without what is drawn anew for each request."""
    return re.sub(r'value="[^"]{64}"|data-relative\s*>[^<]+', "", text(client, address).partition("<main")[2])


def test_a_deleted_run_is_gone_and_its_answers_and_snapshots_stay(world, alice):
    report = save_run_snapshot(by=world.alice, run=world.run, title="For the paper")
    before = {model: model.objects.count() for model in (Call, Attempt, Item, SnapshotItem)}
    items, answered = RunItem.objects.count(), RunItem.objects.filter(call__isnull=False).count()
    saved = f"{world.base}/results/snapshots/{report.uid}/"
    pages = [f"{saved}items/", f"{saved}items/{report.items.first().pk}/"]
    kept = [_body(alice, address) for address in pages]
    keys = [world.entrant(name) for name in ("majority", "random")]
    question = " ".join(text(alice, page(world, "delete/")).split())
    for stays in (f"{items} items", f"{answered} answers in the ledger", report.uid, "For the paper"):
        assert stays in question
    for _ in range(2):  # the second press comes late
        assert alice.post(page(world, "delete/"))["Location"] == f"{world.base}/runs/"
    [event] = events("deleted")
    assert event["items"] == items and event["title"] == world.run.title
    assert "Its answers stay in the ledger" in text(alice, f"{world.base}/runs/")
    assert not any(model.objects.exists() for model in (Run, RunItem, RunReport, StoryScores))
    assert {model: model.objects.count() for model in before} == before
    assert all(alice.get(page(world, tail)).status_code == 404 for tail in ("", "report/", "items/", "rename/"))
    assert [_body(alice, address) for address in pages] == kept
    shown = text(alice, saved)
    assert "The run was deleted since" in shown and page(world) not in shown
    with pytest.raises(NotComparable, match="was deleted"):
        pair_of(world.dataset.project, *keys)
    compared = alice.get(f"{world.base}/results/compare/", dict(zip("ab", keys, strict=True)))
    assert "was deleted" in compared.content.decode()
    # nothing is built on a run that was deleted meanwhile
    for build in (
        lambda: run_again(by=None, run=world.run, now=timezone.now()),
        lambda: save_run_snapshot(by=None, run=world.run),
        lambda: extend_run(by=None, run=world.run, stories=[], endpoints=[], now=timezone.now()),
        lambda: world.another("omniscient", steps=("judge",), source=world.run),
        lambda: archive(world),
        lambda: delete(world),
    ):
        with pytest.raises(RunRefused, match="deleted"):
            build()
    assert Item.objects.count() == before[Item] and not Run.objects.exists()
    world.another("majority", "random")
    assert Attempt.objects.count() == before[Attempt], "what was asked before costs nothing"


JUDGED_ANEW = {
    "judge": "lexical-judge", "judge_level": "4", "shots": "0", "judge_answer_format": "same", "passes": "1",
    "settle": "none",
}  # fmt: skip


@pytest.mark.parametrize(
    ("tail", "said"), [("extend/", {"endpoints": ["lexical-judge"]}), ("judge/", JUDGED_ANEW), ("again/", {})]
)
def test_a_deletion_and_a_press_at_the_same_moment(world, tail, said):
    presses = [("delete/", {}), (tail, said)]
    clients = [Client(raise_request_exception=True) for _ in range(6)]
    for client in clients:
        client.force_login(world.alice)
    answers = all_at_once(lambda at: clients[at].post(page(world, presses[at % 2][0]), presses[at % 2][1]))
    assert {answer.status_code for answer in answers} <= {200, 302, 404}
    there = Run.objects.filter(pk=world.run.pk).exists()
    assert there == RunItem.objects.filter(entrant__run=world.run).exists()
    assert there or not Run.objects.filter(source=world.run).exists()
    assert there or not Item.objects.filter(job=world.run.job).still_open().exists()


def test_commands_do_the_same(world):
    uid = world.run.uid
    assert told("runs", "rename", uid, "--title", "March") == {"run": uid, "changed": True, "title": "March"}
    assert refused("runs", "rename", uid) == "Say the new name: --title TEXT."
    assert told("runs", "archive", uid) == {"run": uid, "changed": True, "archived": True}
    assert told("runs", "restore", uid) == {"run": uid, "changed": True, "archived": False}
    items = RunItem.objects.count()
    assert f"This takes away “March” with {items} items" in refused("runs", "delete", uid)
    assert RunItem.objects.count() == items
    assert told("runs", "delete", uid, "--yes")["items"] == items
    assert "There is no run" in refused("runs", "archive", uid)


def test_the_job_of_a_run_that_is_put_away_is_not_taken_up_again(world, client):
    job, item = world.run.job, Item.objects.filter(job=world.run.job).first()
    Item.objects.filter(pk=item.pk).update(state="failed", problem="No answer came.")
    type(world.charlie).objects.filter(pk=world.charlie.pk).update(is_superuser=True)
    client.force_login(world.charlie)
    address = reverse("workers:job", args=[job.uid])
    assert f"{address}retry/" in text(client, address)
    for put_away, why in ((archive, archiving.ARCHIVED), (delete, "The run was deleted.")):
        put_away(world)
        shown = text(client, address)
        assert f"{address}retry/" not in shown and why in shown
        for action in ("retry", "resume"):
            answer = client.post(reverse("workers:job_action", args=[job.uid, action]), follow=True)
            assert answer.content.decode().count(why) == 2  # as the refusal, and where the buttons were
        item.refresh_from_db()
        job.refresh_from_db()
        assert (item.state, job.state) == ("failed", "finished")
    # the job of a control is put away with its original
    control = Run(control="renamed", original=Run(archived_at=timezone.now()))
    assert refused_action(control) == archiving.ARCHIVED
    assert refused_action(Run(control="renamed", original=Run())) == ""
