"""Two suites that ask about a project's published gold: each is launched from the page, and has a leaderboard of its
own."""

from __future__ import annotations

import pytest
from django.urls import reverse

from benchmark.models import Run
from benchmark.suites import registry
from benchmark.suites.contract import Asking, Suite
from benchmark.suites.measuring import accuracy_group, is_read_right, measured_samples, scored_by
from benchmark.suites.questions import Parsed, Question, Step
from tests.benchmark.settled import baselines, make_endpoint, published, started, work_off, written
from workers.models import Endpoint
from workers.providers.baseline.baseline import Baseline
from workers.providers.contract import Message, Request

pytestmark = pytest.mark.django_db(transaction=True)
STEP = Step("count", "Counting", task="lengths-count")
GROUP = accuracy_group(
    "lengths",
    "Lengths",
    step="count",
    rests_on=("count",),
    facets={},
    notes=(),
    mean_of="categories",
    score_title="Right lengths",
)


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


def test_the_page_offers_both_and_launches_either(gold, cast, client):
    baselines()
    make_endpoint("two", provider="baseline", model="two")
    address = reverse("benchmark:launch", args=[cast.project.slug])
    first = written(client.get(address))
    second = written(client.get(address, {"dataset": gold.version, "suite": "lengths"}))
    assert "OmniToM: choose" in first and "Lengths of tables: choose" in second and "Counting" in second
    for page in (first, second):
        assert (
            f"?dataset={gold.version}&amp;suite=lengths" in page
            and f"?dataset={gold.version}&amp;suite=omnitom" in page
        )
    sent = {
        "suite": "lengths", "dataset": gold.version, "endpoints": ["two"], "steps": ["count"], "repetitions": 1,
        "max_tokens": 20, "seed": 1,
    }  # fmt: skip
    assert "2 stories" in written(client.get(reverse("benchmark:estimate", args=[cast.project.slug]), sent))
    assert client.post(address, sent).status_code == 302
    assert work_off(Run.objects.get()).suite == "lengths"
    leaderboard = reverse("benchmark:leaderboard", args=[cast.project.slug])
    assert "Right lengths" in (alone := written(client.get(leaderboard))) and 'name="suite"' not in alone
    work_off(started(cast, gold, [Endpoint.objects.get(name="majority")]))
    newest, other = (written(client.get(leaderboard, asked)) for asked in ({}, {"suite": "lengths"}))
    assert "Accuracy of labelling" in newest and "Right lengths" in other and "Accuracy of labelling" not in other
    assert 'name="suite"' in newest


def test_a_suite_that_does_not_ask_about_a_version_is_refused_in_words(gold, cast, client):
    make_endpoint("two", provider="baseline", model="two")
    asked = {"dataset": gold.version, "endpoints": ["two"], "steps": ["count"], "suite": "tombench"}
    base = f"/api/v1/projects/{cast.project.slug}"
    refused = client.post(f"{base}/runs/", asked, content_type="application/json", headers={"Idempotency-Key": "a"})
    assert refused.status_code == 422 and not Run.objects.exists()
    assert "does not ask about this version; expected omnitom, lengths." in str(
        refused.json()["error"]["fields"]["suite"]
    )
    made = client.post(
        f"{base}/runs/", asked | {"suite": "lengths"}, content_type="application/json", headers={"Idempotency-Key": "b"}
    )
    assert made.status_code == 201 and made.json()["suite"] == "lengths"
    assert client.get(f"{base}/datasets/{gold.version}/").json()["suites"] == ["omnitom", "lengths"]
