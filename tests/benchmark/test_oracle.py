"""The whole way over HTTP against an oracle of known accuracy: what is measured is what was served, and no call is made
twice."""

from __future__ import annotations

import json
import time
from collections import Counter
from datetime import timedelta
from statistics import mean

import pytest
from django.utils import timezone

from benchmark.models import RunItem
from benchmark.services.extending import extend_run
from benchmark.services.launches import run_again
from benchmark.services.reports import scores_of
from benchmark.suites.omnitom.data import EXTRACT
from benchmark.suites.omnitom.labels import COLUMNS, DIMENSIONS
from tests.benchmark.evaluation import OracleWorld, corpus, generated, started, worked_off
from tests.patience import PATIENCE
from tests.servers import ModelServer
from tests.workers.process import MANAGE, start_process
from workers.models import Attempt, Call, Endpoint, Worker
from workers.services.progress import progress_of

pytestmark = pytest.mark.django_db(transaction=True)

ACCURACY = dict(zip(DIMENSIONS, (0.95, 0.6, 0.7, 0.9, 0.5, 0.8, 0.85), strict=True))
STORIES = 16
CALLS = 3 * STORIES
"""Of one model: each story is extracted, judged and labelled."""
SKILLS = {
    "model": {"recall": 0.8, "invented": 0.15, "accuracy": ACCURACY, "spread": 0.04, "unreadable": 0.15},
    "weak": {"recall": 0.35, "invented": 0.5, "accuracy": dict.fromkeys(DIMENSIONS, 0.4), "seed": 5},
    "judge": {"misjudged": 0.02},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with ModelServer(folder=tmp_path_factory.mktemp("oracle")) as running:
        yield running


@pytest.fixture
def world(tmp_path, server):
    return OracleWorld(tmp_path, generated(STORIES), server, SKILLS)


def by_hand(served: dict[str, dict[int, dict]]) -> dict:
    """Official figures from the oracle's own counts (scoring specification, section 6): a story's figures with six
    decimals, then the mean of these. F1 = 2PR / (P + R); accuracy of a dimension = right labels / gold rows."""
    stage1, stage2 = [], []
    for story in sorted(served["judge"]):
        told = served["judge"][story]["counts"]
        p = told["matched"] / told["predicted"] if told["predicted"] else 0.0
        r = told["gold_matched"] / told["gold"]
        stage1.append({"precision": p, "recall": r, "f1": 2 * p * r / (p + r) if p + r else 0.0})
    for story in sorted(served["label"]):
        told = served["label"][story]["counts"]
        shares = {f"acc_{COLUMNS[name]}": told[name] / told["rows"] for name in DIMENSIONS}
        stage2.append({"overall_accuracy": sum(shares.values()) / 7, **shares})
    return {
        group: {name: f"{mean(float(f'{row[name]:.6f}') for row in rows):.6f}" for name in rows[0]}
        for group, rows in (("stage1", stage1), ("stage2", stage2))
    }


def equals_what_was_served(world: OracleWorld, run, *, stories: int, model: str = "model") -> None:
    official, served = scores_of(run)["official"], world.served(model)
    for group, expected in by_hand(served).items():
        overall = official[group]["overall"]
        assert {name: overall[name] for name in expected} == expected
        assert overall["stories"] == str(stories)
    rows = {int(row["story_id"]): row for row in official["stage1"]["stories"]}
    names = {"pred_total": "predicted", "pred_matched": "matched", "gt_total": "gold", "gt_matched": "gold_matched"}
    for story, one in served["judge"].items():
        assert {name: int(rows[story][name]) for name in names} == {a: one["counts"][b] for a, b in names.items()}


def test_official_scores_are_what_was_served_to_the_last_digit(world):
    run = world.run()
    equals_what_was_served(world, run, stories=STORIES)
    # 16 stories at three steps of one model: 48 calls, each made once and paid once
    done = progress_of(run.job)
    assert (done.made, done.reused, done.done + done.unreadable) == (48, 0, 48)
    assert world.paid == 48
    assert run.job.state == "finished"


@pytest.mark.once
def test_unreadable_answers_are_zeros_officially_and_missing_when_repaired(world):
    run = world.run()
    scores, served = scores_of(run), world.served("model")
    silent = {
        step: {story for story, one in served[step].items() if not one["usable"]} for step in ("extract", "label")
    }
    assert silent["extract"] and silent["label"]
    for group, name in (("stage1", "extract"), ("stage2", "label")):
        repaired = scores["repaired"][group]
        assert repaired["overall"]["stories"] == STORIES - len(silent[name])
        assert {row["story_id"] for row in repaired["stories"] if row["unreadable"]} == silent[name]
    # the repaired mean is that of the stories with an answer, from the oracle's own counts
    rest = [one["counts"] for story, one in served["label"].items() if story not in silent["label"]]
    expected = mean(one["order"] / one["rows"] for one in rest)
    assert scores["repaired"]["stage2"]["overall"]["acc_order"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.once
def test_structured_output_is_scored_as_served(world):
    run = world.run(answer_format="structured")
    scores, served = scores_of(run), world.served("model")
    assert (scores["official"]["stage1"], scores["official"]["stage2"]) == (None, None)
    usable = {story for story, one in served["extract"].items() if one["usable"]}
    told = [served["judge"][story]["counts"] for story in usable]
    overall = scores["repaired"]["stage1"]["overall"]
    assert overall["precision"] == pytest.approx(mean(one["matched"] / one["predicted"] for one in told), abs=1e-12)
    assert overall["recall"] == pytest.approx(mean(one["gold_matched"] / one["gold"] for one in told), abs=1e-12)
    body = json.loads(Call.objects.filter(endpoint=world.models["model"]).first().body)
    assert body["response_format"]["type"] == "json_schema"


def test_a_second_run_and_a_run_again_make_no_call(world):
    first = world.run()
    before = world.paid
    for second in (world.run(), worked_off(run_again(by=None, run=first, now=timezone.now()))):
        done = progress_of(second.job)
        assert (done.made, done.reused, world.paid) == (0, CALLS, before)
        assert scores_of(second) == scores_of(first)


def test_a_judge_run_again_alone_makes_judge_calls_only(world):
    first = world.run(steps=("extract", "judge"))
    before = world.paid
    again = worked_off(
        started(
            dataset=world.dataset,
            endpoints=[world.models["model"]],
            steps=["judge"],
            judge=world.models["judge"],
            source=first,
        )
    )
    assert (progress_of(again.job).reused, world.paid) == (STORIES, before)  # the same judge: its answers are there
    assert scores_of(again) == scores_of(first)
    other = worked_off(
        started(
            dataset=world.dataset,
            endpoints=[world.models["model"]],
            steps=["judge"],
            judge=world.models["weak"],
            source=first,
        )
    )
    assert (progress_of(other.job).made, world.paid - before) == (STORIES, STORIES)
    assert Call.objects.filter(endpoint=world.models["model"]).count() == STORIES  # the extractions, untouched
    held = RunItem.objects.filter(entrant__run=other, step=EXTRACT)
    assert set(held.values_list("call", flat=True)) == set(
        RunItem.objects.filter(entrant__run=first, step=EXTRACT).values_list("call", flat=True)
    )


def test_an_extended_run_makes_only_what_is_new(world):
    run = world.run(limit=8)
    assert world.paid == 24
    more = list(world.dataset.samples.selected()[:14])
    assert extend_run(by=None, run=run, stories=more, now=timezone.now()) == 12  # 6 stories, two steps; judging follows
    worked_off(run)
    assert world.paid == 42
    equals_what_was_served(world, run, stories=14)
    extend_run(by=None, run=run, endpoints=[world.models["weak"]], now=timezone.now())
    worked_off(run)
    assert world.paid == 84
    assert set(scores_of(run)) == {"model", "weak"}
    again = worked_off(run_again(by=None, run=run, now=timezone.now()))
    assert (progress_of(again.job).made, scores_of(again)) == (0, scores_of(run))


@pytest.mark.once
def test_two_models_side_by_side(world):
    run = world.run("model", "weak", steps=("label",))
    scores = scores_of(run)
    for model in ("model", "weak"):
        served = world.served(model)["label"]
        accuracy = mean(float(f"{one['counts']['context'] / one['counts']['rows']:.6f}") for one in served.values())
        assert scores[model]["official"]["stage2"]["overall"]["acc_context"] == f"{accuracy:.6f}"


@pytest.mark.dear
@pytest.mark.xdist_group("waiting")
def test_a_run_killed_in_the_middle_and_worked_on_ends_the_same(world, tmp_path):
    world.server.control(latency=0.3)
    Endpoint.objects.update(repeat_unknown=1)  # left alone, a call that may have been paid waits for a person
    run = world.run(work=False)
    process = start_process(MANAGE, "work", folder=tmp_path)
    try:
        until(lambda: world.paid >= STORIES)
    finally:
        process.kill()
        process.communicate()
        world.server.control(latency=0.0)
    left = RunItem.objects.filter(entrant__run=run, call=None).count()
    assert left > 0
    Worker.objects.update(heartbeat_at=timezone.now() - timedelta(hours=1))  # its lease has run out
    worked_off(run)
    equals_what_was_served(world, run, stories=STORIES)
    done = progress_of(run.job)
    assert (done.done + done.unreadable, done.failed) == (CALLS, 0)
    # what it had sent and not written down when it died may have been paid, and is paid once more: at most 16 calls at
    # each of two endpoints on their way, and as many whose answers had just come
    unknown = Attempt.objects.filter(outcome="unknown").count()
    assert CALLS <= world.paid <= CALLS + unknown <= CALLS + 2 * 2 * 16
    twice = Counter(one["sha"] for one in world.server.paid()[-world.paid :])
    assert len(twice) == CALLS and max(twice.values()) <= 2


def until(condition, *, seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


@pytest.mark.once
@pytest.mark.slow
def test_real_stories(tmp_path, server, shared):
    """Every fortieth of its 895 stories; bench/benchmarking.py has them all."""
    stories = list(corpus(shared / "data" / "ToMBench"))[::40]
    world = OracleWorld(tmp_path, stories, server, SKILLS)
    run = world.run()
    equals_what_was_served(world, run, stories=len(stories))
    assert world.paid == 3 * len(stories)
    assert progress_of(world.run().job).reused == 3 * len(stories)
    assert world.paid == 3 * len(stories)
    states = Counter(RunItem.objects.filter(entrant__run=run).values_list("item__state", flat=True))
    assert states["failed"] == 0
