"""Judges of known skill are tested on contrast pairs, once a version, in whichever suite, and every row that they
judged says what came of it."""

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.domain.sample_corpus import sample_records
from benchmark.models import Dataset, JudgeTest, JudgeTestItem, Run
from benchmark.services.cached_answers import cached_answers
from benchmark.services.documents import document_of, tables_of
from benchmark.services.estimates import estimate_of, parts_of
from benchmark.services.follow_ups import ask_missing, gaps_of
from benchmark.services.judges import HANDLER, SELF_TEST, calls_of, start_test, summaries_of, version_of, why_untestable
from benchmark.services.launches import start_run
from benchmark.services.plan_checks import check
from benchmark.services.plans import Plan, RunRefused
from benchmark.services.provenance import spec_of
from benchmark.suites import registry
from benchmark.suites.omnitom.judging import LEXICAL
from core.plain import plain
from judge.domain.contrast import ALIKE, BY_RULE, Kind
from tests.benchmark.evaluation import endpoint, generated, published, write_records
from tests.benchmark.graded.suite import SUITE
from tests.benchmark.importing import import_benchmark
from tests.benchmark.planning import planned
from tests.benchmark.settled import make_endpoint
from workers.models import Call, Endpoint, Item, Job
from workers.providers.baseline.registered import register_baseline
from workers.services.jobs import cancel_job
from workers.services.run_to_end import run_to_end

pytestmark = pytest.mark.django_db(transaction=True)
SILENT = {"default": "I would rather not."}
TWICE = "has its self-test already"


@pytest.fixture
def dataset(tmp_path):
    path = write_records(tmp_path / "records.jsonl", [one.as_json() for one in sample_records()[:8]])
    return published(path, slug="om")


@pytest.fixture
def omniscient(db) -> Endpoint:
    return endpoint("omniscient", "baseline")


@pytest.fixture
def lexical(db) -> Endpoint:
    return endpoint("lexical-judge", "baseline")


def launched(dataset, models, judge, **plan) -> Run:
    chosen = {"steps": ["extract", "judge"], "judge": judge, "limit": 2, "self_test": True} | plan
    return start_run(by=None, plan=planned(dataset, models, **chosen), now=timezone.now())


def seen_through(run: Run) -> Run:
    run.job.refresh_from_db()
    run_to_end(job=run.job)
    if test := JudgeTest.objects.filter(version=version_of(run)).first():
        run_to_end(job=test.job)
    return run


def self_test_of(run: Run) -> JudgeTest:
    return start_test(by=None, run=run, now=timezone.now())


def by_kind(run: Run) -> dict[str, dict]:
    return {one.kind: one for one in summaries_of([run])[run.pk].kinds}


def judging(says) -> None:
    """Lets the lexical judge's place answer by a rule of (kind, prediction, gold rows): a count or None."""
    kinds = {}
    for item in JudgeTestItem.objects.all():
        kinds |= {(pair["actor"], pair["belief"]): pair["kind"] for pair in item.pairs}

    def answer(body):
        task = body["task"]
        rows = [(row, says(kinds.get(tuple(row), "other"))) for row in task["predictions"]]
        lines = [f'"{row[0]}","{row[1]}",{count}' for row, count in rows if count is not None]
        gold = [f'"{row[0]}","{row[1]}",1' for row in task["gold"]]
        head = "Actor,Belief,MatchCount"
        return "\n".join(["Prediction Table:", head, *lines, "", "Ground Truth Table:", head, *gold])

    register_baseline(replace(LEXICAL, answer=answer))


@pytest.mark.once
@pytest.mark.parametrize(
    ("says", "expected"),
    [
        (lambda kind: int(kind in ALIKE), lambda kind: 1.0),
        (lambda kind: 1, lambda kind: float(kind in ALIKE)),
        (lambda kind: 0, lambda kind: float(kind not in ALIKE)),
        (lambda kind: None if kind == "negated" else int(kind in ALIKE), lambda kind: None if kind == "negated" else 1),
    ],
    ids=["perfect", "always yes", "always no", "skips the negated"],
)
def test_judges_of_known_skill_get_their_figures(dataset, omniscient, own_registry, says, expected):
    run = launched(dataset, [omniscient], endpoint("judge", "baseline", model="lexical-judge"))
    judging(says)
    seen_through(run)
    kinds = by_kind(run)
    assert {kind: one.rate for kind, one in kinds.items()} == {kind.value: expected(kind) for kind in BY_RULE}
    asked = [pair["kind"] for item in JudgeTestItem.objects.all() for pair in item.pairs]
    for kind, one in kinds.items():
        assert one.n + one.missing == asked.count(kind) and (one.missing > 0) == (expected(kind) is None)


@pytest.mark.once
def test_the_test_of_the_launch_stands_beside_every_row_in_notes_methods_and_files(dataset, omniscient, lexical):
    run = seen_through(launched(dataset, [omniscient], lexical))
    summary, kinds = summaries_of([run])[run.pk], by_kind(run)
    assert (summary.state, summary.calls, summary.answered) == ("tested", 8, 8)
    for kind in (Kind.IDENTICAL, Kind.NEGATED, Kind.PLACE):
        assert kinds[kind].right == kinds[kind].n > 0 and kinds[kind].missing == 0
    for kind in (Kind.PARAPHRASE, Kind.ACTOR):  # it compares words, and takes another actor's row that is worded alike
        assert kinds[kind].n / 2 < kinds[kind].right < kinds[kind].n
    document = document_of(Run.objects.get(pk=run.pk))
    tables = tables_of(document)
    [row] = tables["stage1"]().rows
    assert row["judge_test"].startswith("identical ") and "negated" in row["judge_test"]
    for table in (tables["stage1"](), tables["main-repaired"]()):
        [note] = [one for one in table.notes if one.startswith("Self-test of the judge lexical-judge")]
        assert "negated 100.0 % [" in note and "n = " in note and "exact" in note
    kinds = {row["kind"]: row for row in tables["judge-tests"]().rows}
    assert len(kinds) == 5 and kinds["negated"]["match"] == "no" and kinds["paraphrase"]["match"] == "yes"
    judged = next(one["text"] for one in document.methods if one["heading"] == "Judge")
    assert "Self-test of the judge lexical-judge on pairs made from version 1 of the gold" in judged
    assert document.groups["stage1"][0].judge_test.kinds[0].n > 0
    JudgeTest.objects.all().delete()  # not tested is a value
    run = seen_through(launched(dataset, [omniscient], lexical, self_test=False))
    document = document_of(Run.objects.get(pk=run.pk))
    tables = tables_of(document)
    assert [row["judge_test"] for row in tables["stage1"]().rows] == ["not tested"]
    assert "Self-test of the judge lexical-judge: not tested." in tables["stage1"]().notes
    assert [row["kind"] for row in tables["judge-tests"]().rows] == ["not tested"]
    assert "not tested" in next(one["text"] for one in document.methods if one["heading"] == "Judge")


@pytest.mark.once
def test_the_page_says_why_a_kind_has_no_figure(omniscient, admin_client, tmp_path):
    # no rule denies the verbs of these stories
    made_up = published(write_records(tmp_path / "made-up.jsonl", generated(4)), slug="om")
    run = seen_through(launched(made_up, [omniscient], endpoint("mute", options=SILENT)))
    page = admin_client.get(f"/p/om/runs/{run.uid}/judge/test/").content.decode()
    kinds = by_kind(run)
    silent = sum(one.missing > 0 for one in kinds.values())
    assert 0 < silent < len(kinds)
    assert page.count("no answer to these pairs") == silent
    assert page.count("no such pair can be made of this gold") == len(kinds) - silent


def test_one_version_is_tested_once_and_another_form_or_prompt_is_another_version(dataset, omniscient):
    judge = endpoint("mute", options=SILENT)
    first = seen_through(launched(dataset, [omniscient], judge))
    summary = summaries_of([first])[first.pk]  # that no answer can be read is told, and no silence
    assert {one.n for one in summary.kinds} == {0} and sum(one.missing for one in summary.kinds) > 50
    assert "unanswered" in summary.told and {one.rate for one in summary.kinds} == {None}
    assert Call.objects.filter(handler=HANDLER).count() == 8
    second = seen_through(launched(dataset, [omniscient], judge, limit=3))
    assert version_of(first) == version_of(second) and Call.objects.filter(handler=HANDLER).count() == 8
    assert JudgeTest.objects.count() == 1
    plans = ({"judge_level": 3, "shots": 0}, {"with_story": False}, {"shots": 1})
    others = [launched(dataset, [omniscient], judge, **plan) for plan in plans]
    assert len({version_of(run) for run in (first, *others)}) == 4 and JudgeTest.objects.count() == 4
    Endpoint.objects.filter(pk=judge.pk).update(name="renamed")
    judge.refresh_from_db()
    assert version_of(launched(dataset, [omniscient], judge)) == version_of(first), "a name is no part of an instrument"
    # what changed since is not tested for old rows
    run = launched(dataset, [omniscient], judge, self_test=False, judge_level=2)
    Endpoint.objects.filter(pk=judge.pk).update(options={"default": "yes"})
    with pytest.raises(RunRefused, match="no longer what judged this run"):
        self_test_of(Run.objects.get(pk=run.pk))


def test_the_estimate_states_calls_and_money_before_and_what_the_ledger_has(dataset, omniscient):
    judge = endpoint("paid", options={"default": "no"}, price_input="3", price_output="15")
    plan = planned(dataset, [omniscient], ["extract", "judge"], judge=judge, limit=2, self_test=True)
    stories = check(plan)
    parts = parts_of(plan, stories)
    found = estimate_of(plan, stories, parts, cached_answers(plan, stories, parts))
    [line] = [one for one in found.lines if one.step == SELF_TEST]
    assert (line.calls, line.cached, line.step_name) == (8, 0, "Self-test") and 0 < line.cost < line.most
    assert len(found.stories) == 2, "stories of the self-test are not the run's"
    seen_through(start_run(by=None, plan=plan, now=timezone.now()))
    assert SELF_TEST not in {part.step for part in parts_of(plan, stories)}
    sent = sum(call.input_tokens or 0 for call in Call.objects.filter(handler=HANDLER))
    assert Call.objects.filter(handler=HANDLER).count() == line.calls and (not sent or line.input_tokens >= sent / 3)


def test_a_cancelled_test_is_offered_and_made_again(dataset, omniscient, admin_client):
    run = launched(dataset, [omniscient], endpoint("mute", options=SILENT))
    cancel_job(job=JudgeTest.objects.get().job, now=timezone.now())
    assert summaries_of([run])[run.pk].state == "not tested"
    assert "Test the judge</button>" in admin_client.get(f"/p/om/runs/{run.uid}/judge/test/").content.decode()
    run_to_end(job=self_test_of(run).job)
    assert JudgeTest.objects.count() == 1 and Call.objects.filter(handler=HANDLER).count() == 8
    with pytest.raises(RunRefused, match=TWICE):
        self_test_of(run)


@pytest.mark.parametrize(
    ("trouble", "by"), [("paused", "page"), ("held", "page"), ("failed", "page"), ("paused", "command")]
)
def test_a_test_that_stopped_on_its_way_goes_on(dataset, omniscient, lexical, admin_client, by, trouble):
    run = launched(dataset, [omniscient], lexical)
    run_to_end(job=run.job)
    test, note = JudgeTest.objects.get(), {"note": "The key is refused."}
    items, job = Item.objects.filter(job=test.job), Job.objects.filter(pk=test.job_id)
    if trouble == "failed":
        items.update(state="failed", problem="The key is refused.", finished_at=timezone.now())
        job.update(state="finished", outcome="failed")
    elif trouble == "held":
        items.update(state="held")
        job.update(**note)
    else:
        job.update(state="paused", **note)
    Job.objects.filter(pk=run.job_id).update(budget=7)
    if by == "page":
        address = f"/p/om/runs/{run.uid}/judge/test/"
        page = admin_client.get(address).content.decode()
        assert "The key is refused." in page and (">Resume<" in page or ">Ask what failed again<" in page)
        assert admin_client.post(address).status_code == 302
        assert ">Resume<" not in admin_client.get(address).content.decode()
    else:
        call_command("runs", "test-judge", run.uid, stdout=StringIO(), stderr=StringIO())
    test.job.refresh_from_db()
    assert (test.job.state, set(items.values_list("state", flat=True))) == ("running", {"waiting"})
    assert test.job.budget == (7 if trouble == "paused" else None)
    run_to_end(job=test.job)
    with pytest.raises(RunRefused, match=TWICE):
        self_test_of(run)


def test_commands_test_the_judge_and_say_so(dataset, omniscient, lexical):
    def command(*arguments: str) -> dict:
        out = StringIO()
        call_command(*arguments, "--json", stdout=out, stderr=StringIO())
        return json.loads(out.getvalue().splitlines()[-1])

    options = "--project=om --suite=omnitom --step=extract --endpoint=omniscient --judge=lexical-judge --limit=2 --wait"
    asked = ("run_benchmark", *options.split())
    found = command(*asked, "--no-self-test")
    assert found["judge_test"]["state"] == "not tested"
    told = command("runs", "test-judge", found["run"], "--wait")
    assert (told["judge_test"]["state"], told["calls_of_test"]) == ("tested", 8)
    [row] = command("leaderboard", "--project=om")["groups"]["stage1"]
    assert row["judge_test"]["state"] == "tested"
    assert {one["kind"] for one in row["judge_test"]["kinds"]} == set(BY_RULE)
    assert command(*asked)["judge_test"]["state"] == "tested" and JudgeTest.objects.count() == 1


# --- a judge of free answers, of a suite that is not the product's


@pytest.fixture
def places(monkeypatch, own_registry, cast) -> Dataset:
    registry.suites()
    monkeypatch.setattr(registry, "_suites", dict(registry._suites))
    monkeypatch.setattr(registry, "_groups", dict(registry._groups))
    registry.register(SUITE)
    return import_benchmark(by=cast.alice, project=cast.project, suite=SUITE, folder=Path(), options={})[0]


@pytest.fixture
def judged_run(places):
    """`judged_run(**options)`: a run whose answers were told, and whose judge is one that is strict."""
    judge = make_endpoint("strict", provider="baseline", model="strict")

    def make(**options: str) -> Run:
        model = make_endpoint(f"model-{Run.objects.count()}", options={"default": "In the oven"})
        plan = Plan(dataset=places, endpoints=[model], steps=["tell"], suite="graded", options=options)
        run = start_run(by=None, plan=plan, now=timezone.now())
        run.judge, run.steps, run.spec = judge, ["tell", "grade"], run.spec | {"judge": plain(spec_of(judge))}
        run.save()
        return run

    return make


def test_a_judge_of_free_answers_is_tested(judged_run):
    run = judged_run()
    test = self_test_of(run)
    run_to_end(job=test.job)
    asked = list(JudgeTestItem.objects.filter(test=test).select_related("sample"))
    # one pair a call, as each sample has one gold answer; the sample that prompts show is none of them
    assert [(len(one.pairs), one.sample.split) for one in asked] == [(1, "asked")] * 4
    summary = summaries_of([run])[run.pk]
    assert (summary.state, summary.calls, summary.answered) == ("tested", 4, 4)
    kinds = {one.kind: one for one in summary.kinds}
    said = {one.pairs[0]["kind"]: one.counts for one in asked}
    # an answer that is no verdict is not a wrong one
    assert said["negated"] == [None] and kinds["negated"].missing == 1
    assert said["place"] == [0] and kinds["place"].rate == 1.0
    assert kinds["actor"].n + kinds["actor"].missing == 0  # an answer is nobody's belief
    # without a self-test or follow-up it offers none
    assert gaps_of(run) == {"rows": 0, "judgements": 0, "all_rows": 0}
    with pytest.raises(RunRefused, match="has all its rows"):
        ask_missing(by=None, run=run, now=timezone.now())
    assert len(calls_of(run)) == 4
    registry._suites["graded"] = replace(SUITE, judge=replace(SUITE.judge, test=None))
    assert calls_of(run) == []
    assert why_untestable(run) == "The judge of Graded places has no self-test."


def test_what_makes_the_instrument_is_what_the_suite_says(judged_run):
    mild, again, stern = (judged_run(tone=tone) for tone in ("mild", "mild", "stern"))
    assert version_of(mild) == version_of(again) != version_of(stern)
    for run in (mild, stern):
        run_to_end(job=self_test_of(run).job)
    assert JudgeTest.objects.filter(suite="graded").count() == 2
    with pytest.raises(RunRefused, match=TWICE):
        self_test_of(again)
    tones = {one.test.params["options"]["tone"] for one in JudgeTestItem.objects.select_related("test")}
    assert tones == {"mild", "stern"}


# --- digests of judges that stand in rows already: another one would part rankings, self-tests and calibrations

JUDGE = {"name": "judge", "family": "f", "provider": "openai", "model": "judge-1", "options": {"effort": "low"}}
RULES = {"name": "lexical-judge", "provider": "baseline", "model": "lexical-judge", "options": {"threshold": 0.6}}


def test_the_digest_of_a_version_stays():
    in_passes = {"judge_answer_format": "links", "passes": 3, "settle": "exact"}
    for spec, answer_format, chosen, digest in (
        (RULES, "text", {}, "d2226e970af22eb0"),
        (JUDGE, "text", {}, "a5299c1115e0b563"),
        (JUDGE, "text", {"with_story": False, "judge_level": 2}, "9b41ca22b221360e"),
        (JUDGE, "structured", {"shots": 2, "examples_from": "sample"}, "becbb409eb76f1a0"),
        (JUDGE, "text", in_passes, "541d6d9682046e75"),
    ):
        run = Run(suite="omnitom", answer_format=answer_format)
        run.judge = Endpoint(**{name: spec[name] for name in ("provider", "model", "name")})
        run.params = {"judge_level": 4, "with_story": True, "shots": 0, "seed": 5, **chosen}
        run.spec = {"judge": spec, "prompts": {"judge": "0" * 64}}
        assert version_of(run)[:16] == digest, (spec["name"], chosen)
