"""Watches: anchors asked again on schedule by runs of their own, drift and changes noticed, and nothing where nothing
drifted; what is missed, fails or cannot begin is shown."""

import json
import os
from datetime import timedelta
from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from annotation.models import User
from benchmark.models import Run, RunItem
from benchmark.services.archiving import archive_run, delete_run
from benchmark.services.plans import RunRefused
from benchmark.suites.omnitom import judging
from config.celery import app, due_tasks
from judge.models import AnchorRepeat, AnchorWatch
from judge.services.watch_reports import DRIFT, IDENTITY, MISSED, NOT_BEGUN, OTHERWISE, UNANSWERED, UNREADABLE
from judge.services.watch_reports import read_watch as read
from judge.services.watches import WatchPlan, ask_due, change_watch, estimate_of_repeat, start_watch, watchable_of
from judge.tasks import ask_anchors
from tests.benchmark.evaluation import endpoint, worked_off
from tests.benchmark.results_world import ResultsWorld, results_world
from tests.benchmark.test_run_commands import refused
from tests.copies import copied
from workers.models import Call, Endpoint
from workers.providers.scripted.functions import FUNCTIONS

pytestmark = pytest.mark.django_db(transaction=True)
SCRIPT = "anchors.json"
STEADY = [{"fingerprint": "fp1"}]


def write_script(rules: list[dict]) -> None:
    Path(os.environ["SCRIPTED_DIR"], SCRIPT).write_text(json.dumps(rules))


@pytest.fixture(autouse=True)
def own_scripts(tmp_path, monkeypatch) -> None:
    """A folder of scripts of the test's own: processes that run tests share the usual one."""
    folder = tmp_path / "scripts"
    folder.mkdir()
    monkeypatch.setenv("SCRIPTED_DIR", str(folder))


@pytest.fixture
def labelled(tmp_path) -> tuple[ResultsWorld, Run]:
    """A run of a scripted model that labels, made once; what it answers is in a file, as a provider changes without a
    word."""
    made = copied("labelled by a script", lambda: _labelled(tmp_path))
    write_script(STEADY)
    return made


def _labelled(folder: Path) -> tuple[ResultsWorld, Run]:
    world = results_world(folder)
    write_script(STEADY)
    world.models["watched"] = endpoint("watched", options={"script": SCRIPT}, price_input="1", price_output="2")
    return world, world.another("watched", steps=("label",), judge=None, answer_format="structured")


@pytest.fixture
def watched(tmp_path) -> tuple[ResultsWorld, Run, AnchorWatch]:
    """The labelled run, and a watch of it whose first questions are answered, made once."""

    def made() -> tuple[ResultsWorld, Run, AnchorWatch]:
        world, run = _labelled(tmp_path)
        return world, run, started(world, run)

    found = copied("watched", made)
    write_script(STEADY)
    return found


def plan_of(run: Run, **fields) -> WatchPlan:
    [what] = [one for one in watchable_of(run) if not one.judges]
    return WatchPlan(run, what, **({"stories": 6, "drop": 0.2} | fields))


def started(world, run: Run, **fields) -> AnchorWatch:
    watch = start_watch(by=world.alice, plan=plan_of(run, **fields), now=timezone.now())
    for repeat in watch.repeats.exclude(run=None):
        worked_off(repeat.run)
    return watch


def repeated(watch: AnchorWatch) -> AnchorRepeat:
    """The next repeat, begun by the schedule and worked off."""
    AnchorWatch.objects.filter(pk=watch.pk).update(due_at=timezone.now() - timedelta(minutes=1))
    ask_anchors()
    repeat = watch.repeats.last()
    if repeat.run:
        worked_off(repeat.run)
    return repeat


def read_watch(watch: AnchorWatch):
    return read(watch, now=timezone.now())


def kinds(watch: AnchorWatch) -> list[tuple[str, int]]:
    watch.refresh_from_db()
    return [(one["kind"], one["number"]) for one in read_watch(watch).concerns]


@pytest.fixture
def admin() -> Client:
    """Alice, once `world.alice` is there."""
    client = Client()
    client.force_login(User.objects.get(username="alice"))
    return client


def shown(client: Client, path: str) -> str:
    return " ".join(client.get(path).content.decode().split())


def test_anchors_are_asked_again_by_schedule_and_what_changed_is_noticed(watched, admin):
    world, labelled, watch = watched
    assert len(watch.anchors) == 6 and watch.rounds == 17 and watch.repeats.count() == 18
    before = Call.objects.count()
    quiet = repeated(watch)
    # the very same six questions, asked again and paid again; no other page lists the run
    assert Call.objects.count() == before + 6 and quiet.run.job.items.filter(made=True).count() == 6
    assert Call.objects.filter(items__job=quiet.run.job).values("body").distinct().count() == 6
    bodies = Call.objects.filter(items__job=watch.repeats.first().run.job).values_list("body", flat=True)
    assert set(bodies) == set(Call.objects.filter(items__job=quiet.run.job).values_list("body", flat=True))
    assert quiet.run not in Run.objects.listed() and labelled in Run.objects.listed()
    watch.refresh_from_db()
    assert watch.due_at == quiet.due_at + timedelta(days=7) and kinds(watch) == []
    report = read_watch(watch)
    assert report.answers == 102 and report.chart and report.repeats[-1].mean == 1
    assert len(report.repeats[18].points) == 6
    ask_anchors()
    assert watch.repeats.count() == 19, "nothing is due"
    # the provider answers by another system, and otherwise
    write_script([{"fingerprint": "fp2", "text": "I would rather not."}])
    repeated(watch)
    assert kinds(watch) == [(UNREADABLE, 19), (DRIFT, 19), (IDENTITY, 19)]
    watch.refresh_from_db()
    assert {one["kind"] for one in watch.concerns} == {UNREADABLE, DRIFT, IDENTITY}
    page = shown(admin, f"{world.base}/watches/{watch.uid}/")
    # none of 102 answers differed, which promises nothing of false alarms: 1 - .05 ** (1 / 102) is 2.89 %
    assert "up to 2.89% of answers may differ" in page and "alarms in 0.00% of watches" not in page
    assert "watched (fp1)" in page and "watched (fp2)" in page and "has fallen" in page
    assert "1 of 1 watch needs a look" in admin.get(f"{world.base}/").content.decode()
    read_before = AnchorWatch.objects.get(pk=watch.pk)
    change_watch(by=world.alice, watch=watch, action="note", now=timezone.now())
    read_before.keep_concerns([{"kind": DRIFT}])  # worked out from what was read before somebody took note
    watch.refresh_from_db()
    assert watch.concerns == []
    read_watch(watch)
    assert watch.concerns == [] and "needs a look" not in admin.get(f"{world.base}/").content.decode()


def test_what_is_missed_fails_or_cannot_begin_is_never_silent(labelled, admin):
    world, run = labelled
    watch = started(world, run, every=2)
    AnchorWatch.objects.filter(pk=watch.pk).update(due_at=timezone.now() - timedelta(days=5))
    watch.refresh_from_db()
    assert read_watch(watch).overdue
    write_script([{"fail": "rejected"}])
    late = ask_due(now=timezone.now())[0]
    assert late.missed == 2 and ask_due(now=timezone.now()) == []
    worked_off(late.run)
    Endpoint.objects.filter(pk=watch.asked_id).update(active=False)
    refused = repeated(watch)
    assert refused.run is None and refused.why_not == "The endpoint watched is switched off."
    Endpoint.objects.filter(pk=watch.asked_id).update(active=True, options={"script": SCRIPT, "delay": 0})
    repeated(watch)
    assert kinds(watch)[:3] == [(MISSED, 18), (UNANSWERED, 18), (NOT_BEGUN, 19)]
    assert (OTHERWISE, 20) in kinds(watch) and not any(kind == DRIFT for kind, _ in kinds(watch))
    Endpoint.objects.filter(pk=watch.asked_id).update(active=False)
    pressed = admin.post(f"{world.base}/watches/{watch.uid}/", {"action": "ask", "once": "off"}, follow=True)
    assert "Repeat 21 could not begin" in pressed.content.decode() and "is asked." not in pressed.content.decode()
    change_watch(by=world.alice, watch=watch, action="stop", now=timezone.now())
    assert ask_due(now=timezone.now() + timedelta(days=400)) == []


def test_answers_that_were_never_usable_agree_with_nothing(labelled, admin):
    write_script([{"text": "I would rather not."}])
    world, run = labelled
    watch = started(world, run)
    repeated(watch)
    # at the start, and each time that nothing else came
    assert kinds(watch) == [(UNREADABLE, number) for number in range(19)]
    report = read_watch(watch)
    assert report.answers == 0 and report.chart is None and not report.is_quiet
    assert [one.mean for one in report.repeats] == [None] * 19 and report.repeats[-1].unreadable == 6
    page = shown(admin, f"{world.base}/watches/{watch.uid}/")
    assert "Repeat 18: 6 answers cannot be used." in page and "agreed with its first answers" not in page
    assert "Nothing: every repeat was answered as at the start" not in page


def test_a_story_whose_first_answer_cannot_be_used_has_no_agreement(watched):
    _, _, watch = watched
    items = RunItem.objects.filter(entrant__run=watch.repeats.first().run, sample__number=watch.anchors[0])
    assert items.update(repaired=None, unreadable=True) == 1
    cache.clear()
    assert kinds(watch) == [(UNREADABLE, 0)]
    repeated(watch)
    assert kinds(watch) == [(UNREADABLE, 0)]  # fewer than at the start are no news
    assert len(read_watch(watch).repeats[-1].values) == 5


def test_a_judge_is_watched_by_its_verdicts_on_the_same_tables(world, monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "words", lambda body: judging.answer(body | {"threshold": 0.9}))
    judge = endpoint("words", options={"function": "words"})
    run = world.another("omniscient", steps=("extract", "judge"), judge=judge)
    assert [one.key for one in watchable_of(run)] == ["judge"]
    plan = WatchPlan(run, watchable_of(run)[0], stories=9, drop=0.2, budget=Decimal(1))
    assert estimate_of_repeat(plan).total.calls == 9
    with pytest.raises(RunRefused, match="The run has answers about 9 stories; 10 were asked for"):
        estimate_of_repeat(WatchPlan(run, plan.what, stories=10))
    watch = start_watch(by=world.alice, plan=plan, now=timezone.now())
    assert watch.repeats.count() == 13  # the first verdicts, and 12 × 9 answers to compare them with
    [first, *_] = [worked_off(repeat.run) for repeat in watch.repeats.all()]
    assert first.source == run and first.entrants.get().endpoint.name == "omniscient"
    repeated(watch)
    assert kinds(watch) == [] and read_watch(watch).is_quiet


def test_a_run_that_a_watch_rests_on_is_archived_and_not_deleted(watched, admin):
    world, labelled, watch = watched
    why = "Watches or studies rest on this run: “watched”. Archive it instead."
    for run in (labelled, watch.repeats.first().run, repeated(watch).run):
        address = f"{world.base}/runs/{run.uid}/delete/"
        assert why in admin.get(address).content.decode()
        assert admin.post(address)["Location"] == address and why in admin.get(address).content.decode()
        assert refused("runs", "delete", run.uid, "--yes") == why
    assert archive_run(by=None, run=labelled, now=timezone.now()) and repeated(watch).run
    start_watch(by=None, plan=plan_of(labelled), now=timezone.now())
    with pytest.raises(RunRefused, match="rest on this run: “watched”, “watched”"):
        delete_run(by=None, run=labelled, now=timezone.now())
    assert delete_run(by=None, run=world.run, now=timezone.now()).items


def test_a_run_whose_tables_a_watched_judge_judges_stays(world):
    write_script([])
    judge = endpoint("words", options={"script": SCRIPT})
    run = world.another("omniscient", steps=("extract",), judge=None)
    judged = world.another("omniscient", steps=("judge",), judge=judge, source=run)
    watch = WatchPlan(judged, watchable_of(judged)[0], stories=9, drop=0.2)
    start_watch(by=None, plan=watch, now=timezone.now())
    with pytest.raises(RunRefused, match="rest on this run: “words”"):
        delete_run(by=None, run=run, now=timezone.now())


def test_pages_command_and_api_are_for_admins(labelled, admin):
    world, run = labelled
    address, new = f"{world.base}/watches/", f"{world.base}/runs/{run.uid}/watch/"
    assert "No watch yet" in admin.get(address).content.decode()
    form = {"what": "label:watched", "stories": "6", "every": "7", "drop": "20", "seed": "1", "budget": ""}
    preview = admin.get(f"{new}estimate/", form).content.decode()
    assert "108 calls" in preview and ">6 calls" in preview
    assert admin.post(new, form | {"stories": "2"}).status_code == 200 and not AnchorWatch.objects.exists()
    made = [admin.post(new, form | {"once": "key"})["Location"] for _ in range(2)]
    watch = AnchorWatch.objects.get()
    assert set(made) == {f"{address}{watch.uid}/"}
    one = f"{address}{watch.uid}/"
    assert "is still being asked" in admin.get(one).content.decode()
    assert admin.post(one, {"action": "stop"}).status_code == 302
    watch.refresh_from_db()
    assert watch.due_at is None
    out = StringIO()
    call_command("watches", "resume", watch.uid, stdout=out)
    asked = [admin.post(one, {"action": "ask", "once": "now"}).status_code for _ in range(2)]
    assert asked == [302, 302] and watch.repeats.count() == 19
    call_command("watches", "show", watch.uid, json=True, stdout=(out := StringIO()))
    told = json.loads(out.getvalue())
    assert told["due_at"] and told["rounds"] == 17 and len(told["repeats"]) == 19
    api = admin.get(f"/api/v1/projects/{world.dataset.project.slug}/watches/{watch.uid}/").json()
    assert api["asked"] == "watched" and api["repeats"][0]["run"] == watch.repeats.first().run.uid
    call_command("watches", "list", project=world.dataset.project.slug, json=True, stdout=(out := StringIO()))
    assert [row["watch"] for row in json.loads(out.getvalue())["watches"]] == [watch.uid]
    call_command("watches", "show", watch.uid, stdout=(out := StringIO()))
    told = out.getvalue()
    assert "{" not in told and f"{watch.uid}  watched, label: 6 stories every 7 days" in told
    assert "No chart: a chart needs at least" in told and "answered by" in told
    assert sum(line.startswith(("0 (start)", "17 (start)", "18 ")) for line in told.splitlines()) == 3
    call_command("watches", "list", project=world.dataset.project.slug, stdout=(out := StringIO()))
    assert out.getvalue().count("\n") == 1 and "nothing to look at" in out.getvalue()
    with pytest.raises(CommandError, match="There is no watch 'nothing'"):
        call_command("watches", "stop", "nothing")
    for person, status in ((world.esi, 403), (world.bob, 403), (world.charlie, 404)):
        admin.force_login(person)
        assert [admin.get(page).status_code for page in (address, one, new)] == [status] * 3
        assert admin.post(one, {"action": "stop"}).status_code == status


def test_every_worker_keeps_the_schedule_by_itself():
    app.loader.import_default_modules()
    assert {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} <= set(app.tasks)
    done: dict[str, float] = {}
    assert due_tasks(done, 100.0) == ["judge.ask_anchors"] and due_tasks(done, 159.0) == []
    assert due_tasks(done, 160.0) == ["judge.ask_anchors"]
