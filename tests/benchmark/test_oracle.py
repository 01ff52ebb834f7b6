"""The whole way over HTTP against an oracle of known accuracy: what is measured is what was served, no call is made
twice, and a run's official figures are one thing wherever they are read: report, leaderboard, command, download,
score_outputs."""

import io
import json
import time
import zipfile
from collections import Counter
from datetime import timedelta
from statistics import mean

import pytest
from django.utils import timezone

from benchmark.models import AnswerFormat, Run, RunItem
from benchmark.services.comparisons import NotComparable, compare, pair_of, why_unreadable
from benchmark.services.downloads import output_files, zipped
from benchmark.services.launches import run_again
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.services.reports import report_of, scores_of
from benchmark.services.result_tables import group_table
from benchmark.suites.omnitom.data import EXTRACT, record_of
from benchmark.suites.omnitom.labels import COLUMNS, DIMENSIONS
from benchmark.suites.omnitom.official import STRUCTURED, score_official
from tests.benchmark.evaluation import OracleWorld, corpus, generated, started, worked_off
from tests.benchmark.test_hostile_answers import LONG, labelled, record, saying
from tests.patience import PATIENCE
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


def test_what_was_served_is_measured_to_the_last_digit_and_asked_once(world):
    run = world.run()
    equals_what_was_served(world, run, stories=STORIES)
    # 16 stories at three steps of one model: 48 calls, each made once and paid once
    done = progress_of(run.job)
    assert (done.made, done.reused, done.done + done.unreadable, world.paid) == (48, 0, 48, 48)
    assert run.job.state == "finished"
    unreadable_is_missing_when_repaired(world, run)
    for second in (world.run(), worked_off(run_again(by=None, run=run, now=timezone.now()))):
        done = progress_of(second.job)
        assert (done.made, done.reused, world.paid) == (0, CALLS, 48)
        assert scores_of(second) == scores_of(run)
    plan = {"dataset": world.dataset, "endpoints": [world.models["model"]], "steps": ["judge"], "source": run}
    again = worked_off(started(judge=world.models["judge"], **plan))
    assert (progress_of(again.job).reused, world.paid) == (STORIES, 48), "the same judge: its answers are there"
    assert scores_of(again)["official"]["stage1"] == scores_of(run)["official"]["stage1"]
    other = worked_off(started(judge=world.models["weak"], **plan))
    assert (progress_of(other.job).made, world.paid) == (STORIES, 48 + STORIES)
    taken, held = (RunItem.objects.filter(entrant__run=one, step=EXTRACT) for one in (other, run))
    assert {*taken.values_list("call", flat=True)} == {*held.values_list("call", flat=True)}
    both = world.run("model", "weak", steps=("label",))
    for model in ("model", "weak"):
        served = world.served(model)["label"]
        accuracy = mean(float(f"{one['counts']['context'] / one['counts']['rows']:.6f}") for one in served.values())
        assert scores_of(both)[model]["official"]["stage2"]["overall"]["acc_context"] == f"{accuracy:.6f}"


def unreadable_is_missing_when_repaired(world, run) -> None:
    """Officially such answers are zeros."""
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


# --- official figures
TALES = 7
PERFECT = {"recall": 1.0, "invented": 0.0, "accuracy": dict.fromkeys(DIMENSIONS, 1.0)}
TOO_LONG = labelled(lambda _: LONG)


@pytest.fixture
def tales(server, tmp_path):
    """Stories about which nobody errs, but as the rules of the server say."""
    records = [record(number) for number in range(1, TALES + 1)]
    return OracleWorld(tmp_path, records, server, {"model": PERFECT, "second": PERFECT, "judge": {}})


def scored_elsewhere(run: Run) -> dict:
    """What score_outputs makes of the very answers of the run."""
    texts: dict[int, dict[str, str]] = {}
    held = RunItem.objects.filter(entrant__run=run, call__isnull=False)
    for number, step, answer in held.values_list("sample__number", "step", "call__answer"):
        texts.setdefault(number, {})[step] = answer
    return score_official([record_of(one.record) for one in run.dataset.samples.order_by("position")], texts)


def everywhere(run: Run, group: str) -> dict:
    """{place: the official overall figures there, None without}; the report has no mean to compare but that."""
    table = next(iter(leaderboard_of(run.dataset, run.answer_format, None).entrants[group])).parses.official
    report = report_of(run).entrants[0].groups[group].parses.official
    command = scores_of(run)["official"][group]
    found = {"leaderboard": table and table.told(), "report": report and report.told(), "command": command}
    return {place: metrics and _without_interval(metrics["overall"]) for place, metrics in found.items()}


def _without_interval(overall: dict) -> dict:
    beside = ("interval", "reasons", "n", "unreadable", "bounds")
    return {name: value for name, value in overall.items() if name not in beside}


def metrics_in(run: Run) -> set[str]:
    content = b"".join(zipped(output_files(run.entrants.get())))
    return {name for name in zipfile.ZipFile(io.BytesIO(content)).namelist() if name.startswith("metrics/")}


def nothing_official(run: Run, group: str, reason: str) -> str:
    """Nowhere is an official figure, and each says why in the same words, which begin with `reason`."""
    elsewhere = scored_elsewhere(run)
    sentence = elsewhere["reason"][group]
    assert elsewhere[group] is None and sentence.startswith(reason)
    assert everywhere(run, group) == {"leaderboard": None, "report": None, "command": None}
    assert scores_of(run)["official"]["reason"][group] == sentence
    [entry] = leaderboard_of(run.dataset, run.answer_format, None).entrants[group]
    assert report_of(run).entrants[0].groups[group].reason == entry.metrics.reason == sentence
    assert sentence in group_table([entry], group).notes
    return sentence


@pytest.mark.once
def test_one_answer_that_lacks_leaves_no_official_figure_anywhere(tales):
    """Stage 1 needs both of its answers."""
    extract, judge = "Draw up the belief table of this story.", "Compare these two tables."
    for steps, opening, answered in ((("extract", "judge"), extract, []), (("extract", "judge"), judge, ["extract"])):
        tales.server.control(rules=[{"when": f"{opening}\n\nStory:\n=====\nInes in tale 2!", "mode": "error-400"}])
        run = tales.run(steps=steps)
        held = RunItem.objects.filter(entrant__run=run, sample__number=2, call__isnull=False)
        assert list(held.values_list("step", flat=True)) == answered
        lacking = "judge" if answered else "extract"
        nothing_official(
            run, "stage1", f"Story 2 has no answer for {lacking}; official scoring needs one of every story."
        )
    tales.server.control(rules=[{"when": "tale 3!", "mode": "error-400"}])
    run = tales.run(steps=("label",))
    nothing_official(run, "stage2", "Story 3 has no answer for label; official scoring needs one of every story.")
    assert not metrics_in(run)
    overall = scores_of(run)["repaired"]["stage2"]["overall"]
    assert (overall["stories"], overall["unreadable"]) == (6, 1), "it is missing when repaired"


@pytest.mark.once
def test_one_answer_that_aborts_leaves_official_figures_to_parts_without_it_alone(tales):
    tales.server.control(rules=saying({5: TOO_LONG}))
    run = tales.run(steps=("label",))
    nothing_official(run, "stage2", "Story 5, label: ")
    assert not metrics_in(run)
    overall = scores_of(run)["repaired"]["stage2"]["overall"]
    assert (overall["stories"], overall["unreadable"]) == (7, 0), "a long answer is read when repaired"
    small = tales.run("second", steps=("label",), limit=4)
    selected = leaderboard_of(run.dataset, run.answer_format, f"run:{small.uid}").entrants["stage2"]
    shown = {one.run: one.parses for one in selected}
    expected = scores_of(small)["official"]["stage2"]
    for uid in (run.uid, small.uid):  # stories 1 to 4
        assert _without_interval(shown[uid].overall("official").told) == expected["overall"]
    assert expected["overall"]["stories"] == "4"
    tales.server.control(rules=[])
    whole = tales.run("second", steps=("label",))
    shown = {one.run: one for one in leaderboard_of(run.dataset, run.answer_format, None).entrants["stage2"]}
    assert shown[run.uid].parses.official is None and shown[run.uid].ranking["official"] is None
    assert shown[whole.uid].parses.official and shown[whole.uid].ranking["official"].rank == 1
    _, entries = pair_of(run.project, *(f"{one.uid}.{one.entrants.get().pk}" for one in (run, whole)))
    assert "Story 5, label" in why_unreadable(entries["stage2"], "stage2", "official")
    with pytest.raises(NotComparable, match="Story 5, label"):
        compare(entries["stage2"], "stage2", "official")
    assert compare(entries["stage2"], "stage2", "repaired").n == TALES


@pytest.mark.once
def test_where_every_answer_is_there_the_figures_are_equal_everywhere(tales):
    run = tales.run()
    for group in ("stage1", "stage2"):
        expected = scored_elsewhere(run)[group]["overall"]
        assert everywhere(run, group) == dict.fromkeys(("leaderboard", "report", "command"), expected)
    assert "reason" not in scores_of(run)["official"] and len(metrics_in(run)) == 6
    for plan, group, reason in (
        ({"steps": ("label",)}, "stage1", "No story has an answer for extract."),
        ({"steps": ("extract",)}, "stage1", "No story has an answer for judge."),
        ({"steps": ("label",), "answer_format": AnswerFormat.STRUCTURED}, "stage2", STRUCTURED),
    ):
        official = scores_of(asked := tales.run(**plan))["official"]
        assert official[group] is None and official["reason"][group] == reason, plan
        repaired = scores_of(asked)["repaired"]
        assert group == "stage2" or (repaired[group], repaired["reason"][group]) == (None, reason)
