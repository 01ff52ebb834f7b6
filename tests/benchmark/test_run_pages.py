"""The pages of runs: how they stand while they move, buttons, what made them, and who may."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchmark.models import Audience, ResultsVisibility, Run, RunItem
from benchmark.services.datasets import publish_version
from benchmark.services.watching import step_progress, to_come_of, total_of
from benchmark.suites.omnitom.data import EXTRACT
from tests.benchmark.settled import baselines, make_endpoint, published, settle, started, work_off, written
from workers.models import Call, Item, ItemState, Job, JobState

pytestmark = pytest.mark.django_db(transaction=True)
ALL = ("extract", "judge", "label")


@pytest.fixture(autouse=True)
def no_digest_known():
    cache.clear()


@pytest.fixture
def alice(cast, client):
    client.force_login(cast.alice)
    return client


@pytest.fixture
def models(db):
    return baselines()


@pytest.fixture
def gold(cast, make_story):
    return published(cast, make_story)


@pytest.fixture
def run(cast, gold, models):
    """Waiting: extraction by omniscient with its judgement, labelling by majority, of four stories."""
    return started(cast, gold, [models["omniscient"], models["majority"]], ALL, judge=models["lexical-judge"])


def page(client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, response.content[:300]
    return written(response)


def at(run, tail: str = "") -> str:
    return f"/p/minds/runs/{run.uid}/{tail}"


def rows(run) -> dict:
    run = Run.objects.select_related("job").get(pk=run.pk)
    return {(row.name, row.step): row for row in step_progress(run, now=timezone.now())}


# --- counts
# ----------------------------------------------------------------------------------------------------------------------
def test_judgements_that_are_to_come_count_as_waiting(run):
    found = rows(run)
    assert {key: (row.total, row.waiting) for key, row in found.items()} == {
        ("omniscient", "extract"): (4, 4), ("omniscient", "judge"): (4, 4), ("majority", "label"): (4, 4),
    }  # fmt: skip
    assert RunItem.objects.filter(step="judge").count() == 0 and to_come_of([run]) == {run.pk: 4}
    assert total_of(list(found.values())).total == 12


def test_a_failed_extraction_is_not_awaited_by_the_judge(cast, gold, models):
    model = make_endpoint("shaky", options={"script": [{"when": "Story 1.", "fail": "rejected"}]})
    run = work_off(started(cast, gold, [model], ["extract", "judge"], judge=models["lexical-judge"]))
    found = rows(run)
    extracted, judged = found["shaky", "extract"], found["shaky", "judge"]
    assert (extracted.failed, extracted.ended, judged.total, judged.ended) == (1, 4, 3, 3)
    assert run.job.state == JobState.FINISHED and to_come_of([run]) == {}


def test_half_way_every_state_is_counted(run):
    extract = list(Item.objects.filter(step="extract").order_by("id"))
    for item, state in zip(extract, ("claimed", "done", "unreadable", "failed"), strict=True):
        Item.objects.filter(pk=item.pk).update(
            state=state, finished_at=timezone.now(), made=state != "failed", cost=Decimal("0.5")
        )
    row = rows(run)["omniscient", "extract"]
    assert (row.in_flight, row.done, row.unreadable, row.failed, row.waiting) == (1, 1, 1, 1, 0)
    assert (row.made, row.reused, row.cost) == (3, 0, 2)
    assert rows(run)["omniscient", "judge"].waiting == 3  # of the failed one none is to come
    # Four items ended within the last 30 seconds; the run is younger than that, so the span is its age, at least a
    # second.
    assert row.rate == pytest.approx(60 * 4 / row.span) and row.seconds_left == pytest.approx(row.span / 4)


def test_what_is_taken_over_counts_as_done(cast, gold, models, run):
    work_off(run)
    anew = started(cast, gold, [models["omniscient"]], ["judge"], judge=models["lexical-judge"], source=run)
    found = rows(anew)
    assert (found["omniscient", "extract"].done, found["omniscient", "judge"].waiting) == (4, 4)


# --- pages
# ---------------------------------------------------------------------------------------------------------------------------  # noqa: E501
def test_the_page_moves_while_it_runs_and_then_stands_still(alice, run):
    told = page(alice, at(run))
    assert "0 / 12" in told and 'hx-trigger="every 1s"' in told and "when the run has come to its end" in told
    seen = re.search(r"progress/(\?seen=[^\"]+)", told)[1]
    fragment = page(alice, at(run, f"progress/{seen}"))
    assert "hx-swap-oob" not in fragment, "nothing changed, so nothing moves under the reader's hands"
    work_off(run)
    fragment = page(alice, at(run, f"progress/{seen}"))
    assert "12 / 12" in fragment and "every 1s" not in fragment
    assert fragment.count('hx-swap-oob="true"') == 2 and f"{at(run)}results/" in fragment


def test_figures_wait_for_what_is_in_flight_after_a_pause(alice, run):
    items = list(Item.objects.filter(job=run.job, step=EXTRACT))
    work_off(run)
    Job.objects.filter(pk=run.job.pk).update(state="paused", outcome="")
    Item.objects.filter(pk=items[0].pk).update(state="claimed")
    told = page(alice, at(run))
    assert "when what is in flight has come to its end" in told and f"{at(run)}results/" not in told
    Item.objects.filter(pk=items[0].pk).update(state="done")
    fragment = page(alice, at(run, "progress/?seen=paused-0-moves"))
    assert f"{at(run)}results/" in fragment and "every 1s" not in fragment


def test_why_a_run_is_paused_is_said_once_and_whole(alice, run):
    note = f"quick: The server cannot be reached. ({'No connection. ' * 14})"
    Job.objects.filter(pk=run.job.pk).update(state="paused", outcome="", note=note)
    told = page(alice, at(run))
    assert told.count(note) == 1 and told.count("The server cannot be reached.") == 1


def test_what_was_cancelled_stands_in_a_column(alice, run):
    assert "Cancelled</th>" not in page(alice, at(run))
    Item.objects.filter(job=run.job).update(state="cancelled")
    told = page(alice, at(run))
    assert "Cancelled</th>" in told and "state=cancelled" in told


def test_the_list_shows_state_progress_and_staleness(alice, cast, gold, models, run):
    told = page(alice, "/p/minds/runs/")
    assert "0 / 12" in told and "running" in told and "Extraction, judging, labelling" in told and "stale" not in told
    settle(cast.project.stories.first(), context="Deceptive")
    publish_version(by=cast.alice, project=cast.project)
    assert 'class="gold-1"' in page(alice, "/p/minds/runs/") and 'class="gold-1"' in page(alice, at(run))
    told = page(alice, "/p/minds/runs/gold/?mark=1&mark=2")
    assert "The present gold is version 2." in told and 'hx-swap-oob="innerHTML:.gold-1"' in told
    assert "/p/minds/datasets/1/2/" in told and told.count(">stale<") == 1
    assert "mark=1" in page(alice, "/p/minds/runs/") and "mark=1" in page(alice, at(run))
    assert "hx-swap-oob" not in page(alice, "/p/minds/runs/gold/")  # a page without places for marks gets none


def test_a_run_on_gold_that_returned_is_not_stale(alice, cast, gold, models, run):
    story = cast.project.stories.first()
    settle(story, context="Deceptive")
    second = publish_version(by=cast.alice, project=cast.project)[0]
    started(cast, second, [models["majority"]])
    settle(story)
    cache.clear()  # an import would be logged; this test writes past the log
    told = page(alice, "/p/minds/runs/gold/?mark=1&mark=2")
    assert "The present gold is version 1." in told
    assert ".gold-2" in told and ".gold-1" not in told
    settle(story, context="Temporal")
    cache.clear()
    told = page(alice, "/p/minds/runs/gold/?mark=1&mark=2")
    assert "not a published version" in told and ".gold-2" in told and ".gold-1" in told


def test_a_mark_links_to_the_difference_only_for_who_may_open_it(client, cast, gold, run):
    ResultsVisibility.objects.create(project=cast.project, audience=Audience.EVERYONE)
    settle(cast.project.stories.first(), context="Deceptive")
    publish_version(by=cast.alice, project=cast.project)
    for person, linked in ((cast.esi, True), (cast.bob, False)):
        client.force_login(person)
        told = page(client, "/p/minds/runs/gold/?mark=1")
        assert ">stale<" in told and ("/datasets/1/2/" in told) == linked


def test_an_empty_list_says_what_to_do(alice, cast, make_story, client):
    assert "Publish one first" in page(alice, "/p/minds/runs/")
    published(cast, make_story, 1)
    assert "see what it costs" in page(alice, "/p/minds/runs/")
    ResultsVisibility.objects.create(project=cast.project, audience=Audience.EVERYONE)
    client.force_login(cast.bob)
    assert "Admins launch runs" in page(client, "/p/minds/runs/")


def test_a_budget_below_a_cent_is_written_as_it_is_and_what_made_it_names_both(alice, cast, gold):
    dear = make_endpoint("dear", price_input=1, price_output=1, options={"default": "x"})
    run = started(cast, gold, [dear], budget=Decimal("0.0001"))
    Job.objects.update(state=JobState.PAUSED)
    shown = page(alice, at(run))
    assert "$0.0000 of at most $0.0001" in shown and 'value="0.0001"' in shown and "$0.00<" not in shown
    assert "<dt>budget</dt><dd><span>$0.0001</span></dd>" in page(alice, at(run, "made/"))
    alice.post(at(run, "do/resume/"), {"budget": "5"})
    assert "of at most $5.00" in page(alice, at(run))
    assert "<dt>budget</dt><dd><span>$5.00, launched with $0.0001</span></dd>" in page(alice, at(run, "made/"))


def test_a_budget_finer_than_is_kept_is_refused(alice, run):
    Job.objects.update(state=JobState.PAUSED, budget=Decimal("0.5"))
    told = alice.post(at(run, "do/resume/"), {"budget": "0.00004"}, follow=True).content.decode()
    assert "with up to four decimals" in told and Job.objects.get().budget == Decimal("0.5")


def test_pause_resume_with_a_budget_and_cancel(alice, run):
    def press(action, **data):
        return alice.post(at(run, f"do/{action}/"), data, follow=True).content.decode()

    assert "Resume" in press("pause") and Job.objects.get().state == JobState.PAUSED
    for said in ("much", "NaN", "-3", "1e99"):
        assert "callout-error" in press("resume", budget=said), said
        assert Job.objects.get().state == JobState.PAUSED
    press("resume", budget="2.5")
    job = Job.objects.get()
    assert (job.state, job.budget) == (JobState.RUNNING, Decimal("2.5"))
    assert "cancelled" in press("cancel") and set(Item.objects.values_list("state", flat=True)) == {ItemState.CANCELLED}
    assert alice.post(at(run, "do/explode/")).status_code == 404


def test_failed_questions_are_asked_again(alice, cast, gold):
    model = make_endpoint("shaky", options={"script": [{"when": "Story 1.", "fail": "rejected", "times": 1}]})
    run = work_off(started(cast, gold, [model]))
    assert rows(run)["shaky", "label"].failed == 1
    told = page(alice, at(run))
    assert "Retry failed" in told and "state=failed" in told
    alice.post(at(run, "do/retry/"))
    model.options = {}
    model.save()
    work_off(run)
    assert rows(run)["shaky", "label"].failed == 0


def test_what_is_held_back_is_resumed_while_the_rest_goes_on(alice, run):
    held = Item.objects.filter(job=run.job).first()
    Item.objects.filter(pk=held.pk).update(state=ItemState.HELD)
    told = page(alice, at(run))
    assert "1 held back; the other models go on" in told and "Resume what is held back" in told
    alice.post(at(run, "do/resume/"))
    held.refresh_from_db()
    assert held.state == ItemState.WAITING
    assert "Resume what is held back" not in page(alice, at(run))


def test_what_made_it_is_stated(alice, cast, gold, models):
    model = make_endpoint("paid", revision="abc123", options={"delay": 0})
    run = work_off(started(cast, gold, [model], ALL, judge=models["lexical-judge"], seed=7))
    told = page(alice, at(run, "made/"))
    for part in (gold.digest, *run.spec["prompts"].values(), "abc123", "lexical-judge", "max_tokens: 6000", "seed: 7"):
        assert part in told, part
    assert "django 5" in told and "tiny-1" in told and "once" not in told and "{&quot;delay&quot;: 0}" in told


def test_buttons_are_the_admins_alone(client, cast, run):
    ResultsVisibility.objects.create(project=cast.project, audience=Audience.EVERYONE)
    for person in (cast.esi, cast.bob):
        client.force_login(person)
        told = page(client, at(run))
        assert "job-pause" not in told and "Run again" not in told
        for tail in ("do/pause/", "again/", "extend/", "judge/"):
            assert client.post(at(run, tail)).status_code == 403, tail
    assert Job.objects.get().state == JobState.RUNNING and Run.objects.count() == 1


def test_a_run_of_another_project_is_not_there(alice, cast, run):
    from annotation.models import Membership, Project, Role

    other = Project.objects.create(slug="other", name="Other")
    Membership.objects.create(project=other, user=cast.alice, role=Role.ADMIN)
    for tail in ("", "progress/", "made/", "items/", "extend/", "judge/"):
        assert alice.get(f"/p/other/runs/{run.uid}/{tail}").status_code == 404
    for tail in ("do/cancel/", "again/"):
        assert alice.post(f"/p/other/runs/{run.uid}/{tail}").status_code == 404


def test_names_are_shown_harmlessly(alice, cast, gold, models):
    run = started(cast, gold, [models["majority"]], title='<script>alert("x")</script>')
    for address in (at(run), "/p/minds/runs/", at(run, "items/")):
        assert '<script>alert("x")' not in page(alice, address)


def test_queries_do_not_grow_with_models_or_stories(alice, cast, make_story, gold, models):
    small = started(cast, gold, [models["omniscient"]], ALL, judge=models["lexical-judge"], limit=1)
    work_off(small)
    large = started(
        cast, gold, [models["majority"], models["random"], models["omniscient"]], ALL, judge=models["lexical-judge"]
    )
    work_off(large)

    def queries(address: str) -> int:
        page(alice, address)
        with CaptureQueriesContext(connection) as held:
            page(alice, address)
        return len(held)

    for tail in ("", "progress/", "items/"):
        assert queries(at(large, tail)) == queries(at(small, tail)), tail
    both = queries("/p/minds/runs/")
    for _ in range(3):
        started(cast, gold, [models["majority"]])
    assert queries("/p/minds/runs/") <= both + 1  # running ones ask once for the judgements to come
    assert Call.objects.exists()


def test_the_list_names_the_models_of_a_run(alice, cast, gold, models, run):
    many = [make_endpoint(f"model-{at}") for at in range(6)]
    started(cast, gold, many, ("label",))
    newest, oldest = alice.get("/p/minds/runs/").context["rows"]
    assert (newest["named"], newest["more"]) == (["model-0", "model-1", "model-2", "model-3"], 2)
    assert (oldest["named"], oldest["more"]) == (["omniscient", "majority"], 0)
    text = page(alice, "/p/minds/runs/")
    assert "and 2 more" in text and "omniscient" in text and "model-4" not in text
