"""Two suites on one project, whose gold either asks about: none sees the other's runs, versions or answer formats."""

import io

import pytest
from django.core.management import call_command
from django.urls import reverse

from benchmark.models import AnswerFormat, Dataset, Run
from benchmark.services.items import parts_of
from benchmark.services.leaderboard_scope import answer_format_to_show, leaderboard_of, version_to_show
from benchmark.services.leaderboards import selection_named
from benchmark.suites import registry
from benchmark.suites.contract import Asking, Suite
from benchmark.suites.measuring import accuracy_group, is_read_right, measured_samples, scored_by
from benchmark.suites.questions import Parsed, Question, Step
from tests.benchmark.results_world import ResultsWorld, results_world
from tests.benchmark.settled import baselines, make_endpoint, published, started, work_off, written
from workers.models import Endpoint
from workers.providers.baseline.baseline import Baseline
from workers.providers.contract import Message, Request

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]


@pytest.fixture
def world(tmp_path, tiny) -> ResultsWorld:
    """Beside OmniToM's run a later one of the tiny suite on the same version, structured and not finished."""
    held = results_world(tmp_path)
    held.other = beside(held.run, held.dataset)
    return held


def beside(run: Run, dataset: Dataset) -> Run:
    """A copy of the run's row as a run of the tiny suite on this version; its items are not copied."""
    job = type(run.job).objects.get(pk=run.job_id)
    job.pk, job.uid, job.state, job.outcome = None, "job000000000", "running", ""
    job.save()
    copy = Run.objects.get(pk=run.pk)
    copy.pk, copy.uid, copy.title, copy.suite = None, "tiny00000000", "Sums", "tiny"
    copy.answer_format, copy.job, copy.dataset = AnswerFormat.STRUCTURED, job, dataset
    copy.save()
    return copy


def test_none_sees_the_others_runs_versions_and_answer_formats(world, client):
    client.force_login(world.alice)
    page = written(client.get(f"{world.base}/results/", {"suite": "omnitom"}))
    assert f"/runs/{world.run.uid}/" in page and f"/runs/{world.other.uid}/" not in page
    assert "not finished" not in page
    leaderboard = leaderboard_of(world.dataset, AnswerFormat.TEXT, f"run:{world.other.uid}", suite="omnitom")
    assert leaderboard.chosen.key == "" and leaderboard.runs == [world.run]
    assert answer_format_to_show(world.dataset, "omnitom") == AnswerFormat.TEXT
    assert answer_format_to_show(world.dataset, "tiny") == AnswerFormat.STRUCTURED
    key = f"run:{world.run.uid}"
    assert selection_named(world.dataset, key, "omnitom").stories == frozenset(range(1, 10))
    assert selection_named(world.dataset, key, "tiny") is None
    assert selection_named(world.dataset, f"run:{world.other.uid}", "omnitom") is None
    assert (parts_of(world.run, key)[0][0], parts_of(world.other, key)) == (key, [])
    # a newer version has a run of another suite alone: whoever asks for OmniToM sees the version before
    newer = Dataset.objects.create(
        project=world.dataset.project, version=world.dataset.version + 1, digest="1" * 64, schema_version="1",
        rule_version="1", stories_count=1, propositions_count=0,
    )  # fmt: skip
    Run.objects.filter(pk=world.other.pk).update(dataset=newer)
    project = world.dataset.project
    assert version_to_show(project) == newer and version_to_show(project, "omnitom") == world.dataset
    page = written(client.get(f"{world.base}/results/", {"suite": "omnitom"}))
    assert f"/runs/{world.run.uid}/" in page
    opened = written(client.get(f"{world.base}/results/"))
    assert "No finished run on this version" in opened
    earlier = f"?version={world.dataset.version}&amp;suite=omnitom&amp;answer_format={world.run.answer_format}"
    assert f'href="{earlier}"' in opened
    assert "have figures:" not in page, "where there are figures nobody is sent elsewhere"
    told = io.StringIO()
    call_command("leaderboard", project=project.slug, suite="omnitom", json=True, stdout=told)
    assert f'"dataset": {world.dataset.version}' in told.getvalue()
    Run.objects.filter(pk=world.other.pk).update(suite="gone")  # its folder was taken out
    assert version_to_show(project) == world.dataset


# --- two that ask about a project's own gold
STEP = Step("count", "Counting", task="lengths-count")
GROUP = accuracy_group(
    "lengths", "Lengths", step="count", rests_on=("count",), facets={}, notes=(), mean_of="categories",
    score_title="Right lengths",
)  # fmt: skip


def _request(question: Question) -> Request:
    text = f"How many propositions are in: {question.sample.content['story']}"
    return Request(messages=(Message("user", text),), max_tokens=20, task={"kind": STEP.task})


def _expected(question: Question) -> str:
    return str(len(question.sample.gold["beliefs"]))


def _parse(question: Question, answer: str) -> Parsed:
    right = answer == _expected(question)
    return Parsed({"right": right}, {"right": right}, float(right), float(right))


LENGTHS = Suite(
    name="lengths",
    title="Lengths of tables",
    steps=(STEP,),
    groups=(GROUP,),
    request=_request,
    parse=_parse,
    expected=_expected,
    measure=lambda entered: {GROUP.key: measured_samples(entered, GROUP, scored_by(is_read_right))},
    noun=("story", "stories"),
    asking=Asking(baselines=(Baseline(name="two", task=STEP.task, answer=lambda body: "2", sample={}),)),
)


@pytest.fixture
def gold(monkeypatch, own_registry, cast, make_story, client):
    """Published gold of a project, about which two suites can ask, and its admin signed in."""
    registry.suites()
    monkeypatch.setattr(registry, "_suites", dict(registry._suites))
    monkeypatch.setattr(registry, "_groups", dict(registry._groups))
    registry.register(LENGTHS)
    client.force_login(cast.alice)
    return published(cast, make_story, 2)


def test_either_is_launched_and_has_a_leaderboard_of_its_own(gold, cast, client):
    baselines()
    make_endpoint("two", provider="baseline", model="two")
    address = reverse("benchmark:launch", args=[cast.project.slug])
    first = written(client.get(address))
    second = written(client.get(address, {"dataset": gold.version, "suite": "lengths"}))
    assert "OmniToM: choose" in first and "Lengths of tables: choose" in second and "Counting" in second
    for page in (first, second):
        assert all(f"?dataset={gold.version}&amp;suite={suite}" in page for suite in ("lengths", "omnitom"))
    asked = {"dataset": gold.version, "endpoints": ["two"], "steps": ["count"]}
    sent = {"suite": "lengths", **asked, "repetitions": 1, "max_tokens": 20, "seed": 1}
    assert "2 stories" in written(client.get(reverse("benchmark:estimate", args=[cast.project.slug]), sent))
    assert client.post(address, sent).status_code == 302
    assert work_off(Run.objects.get()).suite == "lengths"
    leaderboard = reverse("benchmark:leaderboard", args=[cast.project.slug])
    assert "Right lengths" in (alone := written(client.get(leaderboard))) and 'name="suite"' not in alone
    work_off(started(cast, gold, [Endpoint.objects.get(name="majority")]))
    newest, other = (written(client.get(leaderboard, asked)) for asked in ({}, {"suite": "lengths"}))
    assert "Accuracy of labelling" in newest and "Right lengths" in other and "Accuracy of labelling" not in other
    assert 'name="suite"' in newest
    base, runs = f"/api/v1/projects/{cast.project.slug}", Run.objects.count()

    def post(suite: str):
        headers = {"Idempotency-Key": suite}
        return client.post(f"{base}/runs/", asked | {"suite": suite}, content_type="application/json", headers=headers)

    refused = post("tombench")
    assert refused.status_code == 422 and Run.objects.count() == runs
    why = "does not ask about this version; expected omnitom, lengths."
    assert why in str(refused.json()["error"]["fields"]["suite"])
    made = post("lengths")
    assert made.status_code == 201 and made.json()["suite"] == "lengths"
    assert client.get(f"{base}/datasets/{gold.version}/").json()["suites"] == ["omnitom", "lengths"]
