"""The pages of runs: how they stand while they move, buttons, what made them, and who may."""

import re
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Membership, Project, Role
from benchmark.models import Audience, ResultsVisibility, Run, RunItem
from benchmark.services.datasets import publish_version
from benchmark.services.watching import step_progress, to_come_of, total_of
from benchmark.suites.omnitom.data import EXTRACT
from tests.benchmark.settled import make_endpoint, published, settle, started, work_off, written
from workers.models import Item, ItemState, Job, JobState

pytestmark = pytest.mark.django_db(transaction=True)
ALL = ("extract", "judge", "label")


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


def shown_to_everyone(cast) -> None:
    ResultsVisibility.objects.create(project=cast.project, audience=Audience.EVERYONE)


def test_judgements_that_are_to_come_count_as_waiting(run, cast, gold, models):
    found = rows(run)
    assert {key: (row.total, row.waiting) for key, row in found.items()} == {
        ("omniscient", "extract"): (4, 4), ("omniscient", "judge"): (4, 4), ("majority", "label"): (4, 4),
    }  # fmt: skip
    assert RunItem.objects.filter(step="judge").count() == 0 and to_come_of([run]) == {run.pk: 4}
    assert total_of(list(found.values())).total == 12
    extract = list(Item.objects.filter(step="extract").order_by("id"))
    for item, state in zip(extract, ("claimed", "done", "unreadable", "failed"), strict=True):
        ended = {"finished_at": timezone.now(), "made": state != "failed", "cost": Decimal("0.5")}
        Item.objects.filter(pk=item.pk).update(state=state, **ended)
    row = rows(run)["omniscient", "extract"]
    assert (row.in_flight, row.done, row.unreadable, row.failed, row.waiting) == (1, 1, 1, 1, 0)
    assert (row.made, row.reused, row.cost) == (3, 0, 2)
    assert rows(run)["omniscient", "judge"].waiting == 3  # of the failed one none is to come
    # four items ended within the last 30 seconds; the run is younger, so that the span is its age, at least a second
    assert row.rate == pytest.approx(60 * 4 / row.span) and row.seconds_left == pytest.approx(row.span / 4)
    model = make_endpoint("shaky", options={"script": [{"when": "Story 1.", "fail": "rejected"}]})
    run = work_off(started(cast, gold, [model], ["extract", "judge"], judge=models["lexical-judge"]))
    found = rows(run)
    extracted, judged = found["shaky", "extract"], found["shaky", "judge"]
    # the judge does not wait for an extraction that failed
    assert (extracted.failed, extracted.ended, judged.total, judged.ended) == (1, 4, 3, 3)
    assert run.job.state == JobState.FINISHED and to_come_of([run]) == {}
    anew = started(cast, gold, [model], ["judge"], judge=models["lexical-judge"], source=run)
    found = rows(anew)
    # extractions that are taken over count as done
    assert (found["shaky", "extract"].done, found["shaky", "judge"].waiting) == (3, 3)


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
    # paused, figures wait for what is in flight
    item = Item.objects.filter(job=run.job, step=EXTRACT)[:1].get()
    Job.objects.filter(pk=run.job.pk).update(state="paused", outcome="")
    Item.objects.filter(pk=item.pk).update(state="claimed")
    told = page(alice, at(run))
    assert "when what is in flight has come to its end" in told and f"{at(run)}results/" not in told
    Item.objects.filter(pk=item.pk).update(state="done")
    fragment = page(alice, at(run, "progress/?seen=paused-0-moves"))
    assert f"{at(run)}results/" in fragment and "every 1s" not in fragment


def test_what_holds_a_run_up_is_said(alice, run, cast, gold):
    note = f"quick: The server cannot be reached. ({'No connection. ' * 14})"
    Job.objects.filter(pk=run.job.pk).update(state="paused", outcome="", note=note)
    told = page(alice, at(run))
    assert told.count(note) == told.count("The server cannot be reached.") == 1
    Job.objects.filter(pk=run.job.pk).update(state="running", note="")
    held = Item.objects.filter(job=run.job).first()
    Item.objects.filter(pk=held.pk).update(state=ItemState.HELD)
    told = page(alice, at(run))
    assert "1 held back; the other models go on" in told and "Resume what is held back" in told
    alice.post(at(run, "do/resume/"))
    held.refresh_from_db()
    assert held.state == ItemState.WAITING
    told = page(alice, at(run))
    assert "Resume what is held back" not in told and "Cancelled</th>" not in told
    Item.objects.filter(job=run.job).update(state="cancelled")
    told = page(alice, at(run))
    assert "Cancelled</th>" in told and "state=cancelled" in told
    # failed questions are asked again
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


def test_the_list_shows_state_progress_models_and_staleness(alice, client, cast, gold, run):
    started(cast, gold, [make_endpoint(f"model-{number}") for number in range(6)])
    newest, oldest = alice.get("/p/minds/runs/").context["rows"]
    assert (newest["named"], newest["more"]) == (["model-0", "model-1", "model-2", "model-3"], 2)
    assert (oldest["named"], oldest["more"]) == (["omniscient", "majority"], 0)
    told = page(alice, "/p/minds/runs/")
    for part in ("0 / 12", "running", "Extraction, judging, labelling", "and 2 more", "omniscient"):
        assert part in told, part
    assert "stale" not in told and "model-4" not in told
    settle(cast.project.stories.first(), context="Deceptive")
    publish_version(by=cast.alice, project=cast.project)
    for address in ("/p/minds/runs/", at(run)):
        told = page(alice, address)
        assert 'class="gold-1"' in told and "mark=1" in told
    told = page(alice, "/p/minds/runs/gold/?mark=1&mark=2")
    assert "The present gold is version 2." in told and 'hx-swap-oob="innerHTML:.gold-1"' in told
    assert "/p/minds/datasets/1/2/" in told and told.count(">stale<") == 1
    assert "hx-swap-oob" not in page(alice, "/p/minds/runs/gold/")  # a page without places for marks gets none
    # a mark links to the difference only for who may open it
    shown_to_everyone(cast)
    for person, linked in ((cast.esi, True), (cast.bob, False)):
        client.force_login(person)
        told = page(client, "/p/minds/runs/gold/?mark=1")
        assert ">stale<" in told and ("/datasets/1/2/" in told) == linked


def test_an_empty_list_says_what_to_do(alice, cast, make_story, client):
    assert "Publish one first" in page(alice, "/p/minds/runs/")
    published(cast, make_story, 1)
    assert "see what it costs" in page(alice, "/p/minds/runs/")
    shown_to_everyone(cast)
    client.force_login(cast.bob)
    assert "Admins launch runs" in page(client, "/p/minds/runs/")


def test_a_budget_is_written_as_it_is_and_raised_on_the_page(alice, cast, gold):
    dear = make_endpoint("dear", price_input=1, price_output=1, options={"default": "x"})
    run = started(cast, gold, [dear], budget=Decimal("0.0001"))

    def press(action, **data):
        return alice.post(at(run, f"do/{action}/"), data, follow=True).content.decode()

    assert "Resume" in press("pause") and Job.objects.get().state == JobState.PAUSED
    shown = page(alice, at(run))
    assert "$0.0000 of at most $0.0001" in shown and 'value="0.0001"' in shown and "$0.00<" not in shown
    assert "<dt>budget</dt><dd><span>$0.0001</span></dd>" in page(alice, at(run, "made/"))
    for said in ("much", "NaN", "-3", "1e99", "0.00004"):
        told = press("resume", budget=said)
        assert "callout-error" in told, said
        assert (Job.objects.get().state, Job.objects.get().budget) == (JobState.PAUSED, Decimal("0.0001"))
    assert "with up to four decimals" in told
    press("resume", budget="5")
    assert (Job.objects.get().state, Job.objects.get().budget) == (JobState.RUNNING, 5)
    assert "of at most $5.00" in page(alice, at(run))
    assert "<dt>budget</dt><dd><span>$5.00, launched with $0.0001</span></dd>" in page(alice, at(run, "made/"))
    assert "cancelled" in press("cancel") and set(Item.objects.values_list("state", flat=True)) == {ItemState.CANCELLED}
    assert alice.post(at(run, "do/explode/")).status_code == 404


def test_buttons_are_only_the_admins_and_a_run_is_its_projects(alice, client, cast, gold, models):
    run = started(cast, gold, [models["majority"]], title='<script>alert("x")</script>')
    for address in (at(run), "/p/minds/runs/", at(run, "items/")):
        assert '<script>alert("x")' not in page(alice, address)
    Membership.objects.create(project=Project.objects.create(slug="other"), user=cast.alice, role=Role.ADMIN)
    for tail in ("", "progress/", "made/", "items/", "extend/", "judge/", "do/cancel/", "again/"):
        send = alice.post if tail in ("do/cancel/", "again/") else alice.get
        assert send(f"/p/other/runs/{run.uid}/{tail}").status_code == 404, tail
    shown_to_everyone(cast)
    for person in (cast.esi, cast.bob):
        client.force_login(person)
        told = page(client, at(run))
        assert "job-pause" not in told and "Run again" not in told
        for tail in ("do/pause/", "again/", "extend/", "judge/"):
            assert client.post(at(run, tail)).status_code == 403, tail
    assert Job.objects.get().state == JobState.RUNNING and Run.objects.count() == 1


def test_what_made_it_is_stated(alice, cast, gold, models):
    model = make_endpoint("paid", revision="abc123", options={"delay": 0})
    run = work_off(started(cast, gold, [model], ALL, judge=models["lexical-judge"], seed=7))
    told = page(alice, at(run, "made/"))
    for part in (
        gold.digest, *run.spec["prompts"].values(), "abc123", "lexical-judge", "max_tokens: 6000", "seed: 7",
        "django 5", "tiny-1", "{&quot;delay&quot;: 0}",
    ):  # fmt: skip
        assert part in told, part
    assert "once" not in told


def test_queries_do_not_grow_with_models_or_stories(alice, cast, gold, models):
    judge = models["lexical-judge"]
    small = work_off(started(cast, gold, [models["omniscient"]], ALL, judge=judge, limit=1))
    chosen = [models["majority"], models["random"], models["omniscient"]]
    large = work_off(started(cast, gold, chosen, ALL, judge=judge))

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
