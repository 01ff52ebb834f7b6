"""Everything asked several times: each is a call of its own, figures are means over repetitions, and the spread stands
beside the interval."""

import csv
import io
import json
import re
from dataclasses import replace
from functools import partial
from statistics import mean, stdev
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from annotation.domain.sample_corpus import sample_records
from annotation.domain.shipped_schemas import OMNITOM
from benchmark.domain.inference import Case
from benchmark.models import Run, RunItem
from benchmark.services.cached_answers import cached_answers
from benchmark.services.documents import as_json, document_from, document_of, tables_of
from benchmark.services.estimates import estimate, estimate_of, parts_of
from benchmark.services.launches import judging_plans, run_again, start_run
from benchmark.services.plan_checks import check
from benchmark.services.plans import RunRefused, plan_of
from benchmark.services.repetition_tables import prompt_splits
from benchmark.services.reports import forget_report, report_of
from benchmark.suites.figures import cases_by_story, mean_columns
from benchmark.suites.questions import Columns, Entered, Outcome, Question, Sample
from benchmark.suites.registry import suite_named
from benchmark.suites.settings import Settings
from benchmark.views.reports import sections_in
from tests.benchmark.planning import changed, planned
from tests.benchmark.settled import baselines, published, started, work_off
from tests.cast import Cast, new_cast, new_story
from tests.copies import copied

pytestmark = pytest.mark.django_db(transaction=True)
TURNS = 3


@pytest.fixture
def cast(db) -> Cast:
    return copied("repetitions", _with_run)


@pytest.fixture
def run(cast) -> Run:
    return Run.objects.select_related("job", "dataset").get()


def _with_run() -> Cast:
    cast = new_cast()
    dataset = published(cast, partial(new_story, cast), count=6)
    held = baselines()
    models = [held["random"], held["majority"], held["omniscient"]]
    plan = {"steps": ["extract", "judge", "label"], "judge": held["lexical-judge"]}
    plan |= {"repetitions": TURNS, "temperature": 0.7}
    report_of(work_off(started(cast, dataset, models, **plan)))
    return cast


def scores(run: Run, model: str, step: str) -> dict[int, list[float]]:
    """{repetition: the score of each story}."""
    places = RunItem.objects.filter(entrant__run=run, entrant__name=model, step=step).order_by("sample__position")
    found: dict[int, list[float]] = {}
    for turn, score in places.values_list("repetition", "repaired_score"):
        found.setdefault(turn, []).append(score)
    return found


def test_each_repetition_is_a_call_of_its_own_and_figures_are_means_with_their_spread(run):
    places = RunItem.objects.filter(entrant__run=run)
    assert places.filter(step="label").count() == 2 * TURNS * 6 and places.filter(step="judge").count() == TURNS * 6
    assert not places.filter(call=None).exists()
    label = places.filter(step="label", entrant__name="random")
    assert len(set(label.values_list("sample", "call"))) == TURNS * 6  # stories with the same rows share their call
    assert set(label.values_list("call__sample", flat=True)) == set(range(TURNS))
    rows = {row.name: row.groups for row in report_of(run).entrants}
    means = [mean(held) for held in scores(run, "random", "label").values()]
    metrics = rows["random"]["stage2"]
    assert metrics.parses.overall("repaired").value_of("overall_accuracy") == pytest.approx(mean(means))
    official = metrics.parses.overall("official").number_of("overall_accuracy")
    assert official == pytest.approx(mean(means), abs=1e-5)
    spread = metrics.analysed("repaired").kept["repetitions"]
    assert spread["spread"] == pytest.approx(stdev(means)) and spread["spread"] > 0
    assert (spread["lowest"], spread["highest"]) == pytest.approx((min(means), max(means)))
    # of six stories, labelled at random, no table is the same twice, whatever scores are
    assert spread["same_answer"] == 0 and [flipped for _, _, flipped in spread["stories"]] == [1] * 6
    same = rows["majority"]["stage2"].analysed("repaired").kept["repetitions"]
    assert (same["spread"], same["same_answer"], same["repetitions"]) == (0.0, 1.0, TURNS)
    means = [mean(held) for held in scores(run, "omniscient", "judge").values()]
    judged = rows["omniscient"]["stage1"].parses.overall("repaired")
    assert judged.value_of("f1") == pytest.approx(mean(means))


@pytest.mark.once
def test_pages_tables_and_files_say_it(run, client, cast):
    client.force_login(cast.alice)
    page = client.get(reverse("benchmark:run_report", args=[cast.project.slug, run.uid])).content.decode()
    assert "Single repetitions" in page and "asked 3 times, at temperature 0.7" in page
    leaderboard = client.get(reverse("benchmark:leaderboard", args=[cast.project.slug])).content.decode()
    told = " ".join(re.sub(r"<[^>]+>", "", leaderboard).split())
    assert "repetitions 3" in told  # of baselines too: their figures are means
    table = tables_of(document_of(run))["repetitions-stage2-repaired"]()
    assert {row["model"] for row in table.rows} == {"random", "majority"}
    lines = b"".join(client.get(reverse("benchmark:run_scores", args=[cast.project.slug, run.uid])).streaming_content)
    assert {row["repetition"] for row in csv.DictReader(io.StringIO(lines.decode()))} == {"1", "2", "3"}
    told = io.StringIO()
    call_command("leaderboard", project=cast.project.slug, json=True, stdout=told)
    assert json.loads(told.getvalue())["groups"]["stage2"]
    for count in (0, 101):
        with pytest.raises(RunRefused, match="expected 1 to 100"):
            check(planned(run.dataset, [run.judge], ["label"], repetitions=count))
    with pytest.raises(RunRefused, match="expected 0 to 2"):
        check(planned(run.dataset, plan_of(run).endpoints, ["label"], temperature=3.0))


def test_again_nothing_is_asked_and_another_judge_judges_every_repetition(run, cast):
    plan = plan_of(run)
    stories = check(plan)
    parts = parts_of(plan, stories)
    found = estimate_of(plan, stories, parts, cached_answers(plan, stories, parts))
    assert found.total.calls == found.total.cached == TURNS * 6 * 4
    again = work_off(run_again(by=cast.alice, run=run, now=timezone.now()))
    assert not again.job.items.filter(made=True).exists()
    assert report_of(again).entrants[0].groups["stage2"] == report_of(run).entrants[0].groups["stage2"]
    [plan] = judging_plans(run, judges=[run.judge], options={"shots": 0})
    assert estimate(plan).total.calls == TURNS * 6
    made = work_off(start_run(by=cast.alice, plan=plan, now=timezone.now()))
    assert scores(made, "omniscient", "judge") == scores(run, "omniscient", "judge")


def test_what_a_model_refused_in_one_repetition_is_not_lost_outside():
    """Or refusing now and then would be told as the provider's loss, and spare the model its worst case."""
    for why, outside in [("the model refused", False), ("the call failed", True)]:
        whole = Columns([1, 2], ["c", "c"], {"right": [1.0, 0.5]})
        lacking = replace(whole, values={"right": [[0.0, 1.0], 0.5]}, unreadable={"1": why})
        cases = cases_by_story(mean_columns([whole, lacking]), "right")
        assert cases[1] == Case(0.5, 1.0, 1.0, outside) and cases[2] == Case.scored(0.5)
        assert cases_by_story(mean_columns([lacking, lacking]), "right")[1] == Case(0.0, 1.0, None, outside)


def test_a_call_that_failed_in_one_repetition_costs_official_figures_alone():
    omnitom, resources = suite_named("omnitom"), SimpleNamespace(schema=OMNITOM, prompts=None)
    samples = [
        Sample(
            str(record.story_id),
            str(record.story_id),
            {"story": record.story},
            {"beliefs": record.as_json()["beliefs"]},
            record.story_category,
            number=record.story_id,
        )
        for record in sample_records()[:4]
    ]
    resources.derived = lambda name, compute: compute(samples)
    settings = Settings(options={setting.name: setting.default for setting in omnitom.settings}, repetitions=2)
    outcomes = {}
    for sample in samples:
        question = Question(sample, "label", settings, resources)
        read = omnitom.parse(question, omnitom.expected(question))
        outcomes[sample.key] = [Outcome("label", read.official, read.repaired, repetition=turn) for turn in (0, 1)]
    failed = samples[1]
    outcomes[failed.key][1] = Outcome("label", None, None, without="the call failed", repetition=1)
    found = omnitom.measure(Entered("m", "model", samples, outcomes, ("label",), settings, resources))["stage2"]
    assert found.parses.official is None and found.analyses["official"] is None
    assert found.reason.startswith(f"Story {failed.number} has no answer for label")
    spread = found.analyses["repaired"].repetitions.scores
    assert (spread.repetitions, spread.mean) == (2, 1.0)


@pytest.mark.once
def test_the_variance_is_split_between_stories_prompts_and_repetitions(run, cast):
    """The page of the run says the same of a model that read both prompts, of those runs alone that differ in nothing
    else."""
    rows = {row["model"]: row for row in tables_of(document_of(run))["repetitions-stage2-repaired"]().rows}
    assert sum(rows["random"][key].value for key in ("of_samples", "of_repetitions")) == pytest.approx(1)
    assert rows["majority"]["of_samples"].value is None
    chosen = {"steps": ["label"], "judge": None, "level": 1, "title": "Level 1"}
    plan = changed(plan_of(run), **chosen, endpoints=plan_of(run).endpoints[:2])
    other = work_off(start_run(by=cast.alice, plan=plan, now=timezone.now()))
    place = run.entrants.get(name="random").pk
    model, baseline = (SimpleNamespace(kind=kind, entrant=place, model="random") for kind in ("model", "baseline"))
    assert prompt_splits(run, {"stage2": [baseline]}) == {}
    found = prompt_splits(run, {"stage2": [model]})
    [row] = found["stage2"]
    assert len(row["prompts"]) == 2 and row["n"] == 2 * TURNS * 6
    assert row["of_samples"] + row["of_prompts"] + row["of_repetitions"] == pytest.approx(1)
    document = document_of(run)
    assert document.prompt_splits is None  # baselines read no prompts
    document = document_from(json.loads(json.dumps(as_json(replace(document, prompt_splits=found)))))
    assert document.prompt_splits == found
    table = tables_of(document)["prompts-stage2"]()
    assert table.rows[0]["of_prompts"].value == row["of_prompts"] and "level 1" in " ".join(table.notes)
    assert any("prompts-stage2" in section.tables for section in sections_in(document))
    Run.objects.filter(pk=other.pk).update(params=other.params | {"temperature": 0.1})
    assert prompt_splits(run, {"stage2": [model]}) == {}
    Run.objects.filter(pk=other.pk).update(params=other.params)
    labels = RunItem.objects.filter(entrant__run=other, step="label")
    labels.filter(repetition=0, sample__position=0).update(unreadable="it cannot be read")
    forget_report(other)
    assert prompt_splits(run, {"stage2": [model]})["stage2"][0]["samples"] == 5
