"""Percept-ToMi from a copy to the report, on a small one of our own."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from django.urls import reverse
from django.utils import timezone

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.drawn import PaperRow
from benchmark.models import Run, RunItem
from benchmark.services.documents import by_group, document_of, tables_of
from benchmark.services.entered_rows import with_entered
from benchmark.services.estimates import estimate
from benchmark.services.launches import start_run, start_runs
from benchmark.services.plan_checks import check
from benchmark.services.plans import Plan, RunRefused, plans_by_method
from benchmark.services.reports import report_of
from benchmark.suites.perceiving.asking import PERCEIVE
from benchmark.suites.perceiving.tables import SCENARIOS, correlations_table
from benchmark.suites.percept_tomi.baselines import BASELINES, TELL
from benchmark.suites.percept_tomi.metrics import TASKS
from benchmark.suites.registry import suite_named
from tests.benchmark.importing import import_benchmark
from tests.benchmark.settled import make_endpoint, work_off
from tests.benchmark.suites.percept_tomi import own
from workers.models import Item
from workers.providers.scripted.backend import FUNCTIONS

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
GROUPS = ("percept-tomi", "percept-tomi-perception", "percept-tomi-belief")


@pytest.fixture
def copy(cast, tmp_path, monkeypatch):
    own.released(monkeypatch, own.write(tmp_path))
    return import_benchmark(
        by=cast.alice, project=cast.project, suite=suite_named("percept-tomi"), folder=tmp_path, options={}
    )[0]


def planned(copy, *models, **options) -> Plan:
    endpoints = [make_endpoint(name, provider="baseline", model=name) for name in models]
    settings = {"method": "plain", "story": "prose", "precursors": True} | options
    return Plan(dataset=copy, endpoints=endpoints, steps=["answer"], suite="percept-tomi", options=settings)


def test_the_tracker_passes_over_what_a_control_adds():
    told = {baseline.task: baseline.answer for baseline in BASELINES if baseline.name == "tracker"}
    sentences = ["Ada entered the hall", "The pen is in the box", "Ada moved the pen to the bag"]
    more = [*sentences[:2], "A tram went by outside", sentences[2]]
    task = {"key": "x", "sentences": more, "thing": "pen", "people": ["Ada"], "containers": ["box", "bag"], "usual": 0}
    assert told[TELL]({"task": task}) == "bag"
    perceived = json.loads(told[PERCEIVE]({"task": {"key": "x", "sentences": more}}))
    assert [next(iter(one.values())) for one in perceived][2:] == [[], ["Ada"]]


def test_the_tracker_is_right_everywhere_and_stories_are_asked_once(cast, copy, client):
    plan = planned(copy, "tracker", "majority", "random")
    assert plan.steps == ["perceptions", "belief", "answer"]
    # 16 questions about 4 stories: 4 calls on perceptions, 16 on beliefs, 16 answers, of three baselines
    assert estimate(plan).total.calls == 3 * (4 + 16 + 16)
    run = work_off(start_run(by=cast.alice, plan=plan, now=timezone.now()))
    assert run.job.state == "finished" and RunItem.objects.count() == 3 * 48
    metrics = {entrant.name: entrant.groups for entrant in report_of(run).entrants}
    for group in GROUPS:
        share = "perception_recall" if group.endswith("perception") else "accuracy"
        for parse in ("official", "repaired"):
            assert metrics["tracker"][group].parses.overall(parse).number_of(share) == 1.0
    # the first container is right in every false belief, the second in every true one
    for group in GROUPS:  # what follows from gold alone is what the baseline came to, in every category
        share, majority = (
            "perception_recall" if group.endswith("perception") else "accuracy",
            metrics["majority"][group],
        )
        parses, levels = majority.parses, majority.levels
        assert levels.majority.value == pytest.approx(parses.overall("repaired").value_of(share))
        assert {name: level.value for name, level in levels.by_category["majority"].items()} == {
            name: pytest.approx(row.value_of(share)) for name, row in parses.by_category("repaired").items()
        }
        assert levels.by_category["chance"].keys() == levels.by_category["majority"].keys() != set()
    facets = metrics["majority"]["percept-tomi"].analysed("repaired").kept["facets"]["scenario"]
    assert {name: one["value"] for name, one in facets.items()} == {"false belief": 1.0, "true belief": 0.0}
    client.force_login(cast.alice)
    report = client.get(reverse("benchmark:run_report", args=[cast.project.slug, run.uid])).content.decode()
    assert "Perception, belief from perception and questions by scenario" in report and "percept-tomi-1" in report
    for step, told in (("perceptions", "not scored"), ("belief", "Officially right"), ("answer", "Officially right")):
        item = RunItem.objects.filter(entrant__run=run, entrant__name="tracker", step=step).first()
        page = client.get(reverse("benchmark:run_item", args=[cast.project.slug, run.uid, item.pk])).content.decode()
        assert told in page and "entered the kitchen" in page


def answering(worse: int):
    """A model that answers as the tracker does, but for some of the questions, and leaves out as many sentences as it
    is `worse`."""

    def answer(body) -> str:
        told = {baseline.task: baseline.answer for baseline in BASELINES if baseline.name == "tracker"}
        task = body["task"]
        text = told[task["kind"]](body)
        if task["kind"] == PERCEIVE:
            return json.dumps(json.loads(text)[: len(task["sentences"]) - worse])
        other = next(name for name in task["containers"] if name != text)
        key = int(task["key"])
        wrong = key * key % 11 < 2 * worse if "perceivers" in task else key % 7 < worse
        return other if wrong else text

    return answer


def test_five_models_have_correlations_with_intervals(cast, copy, monkeypatch):
    for worse in range(5):
        monkeypatch.setitem(FUNCTIONS, f"worse-{worse}", answering(worse))
    models = [
        make_endpoint(
            f"model-{worse}", model=f"model-{worse}", family=f"family {worse}", options={"function": f"worse-{worse}"}
        )
        for worse in range(5)
    ]
    plan = replace(planned(copy), endpoints=models)
    run = work_off(start_run(by=cast.alice, plan=plan, now=timezone.now()))
    made = tables_of(document_of(run))
    correlations = made["correlations-repaired"]()
    assert len(correlations.rows) == 6
    for row in correlations.rows:
        low, high = row["r"].interval
        assert row["r"].n == row["families"] == 5 and low < row["r"].value < high and 0 < row["p"] < 1, row
    first = made["scenarios-repaired"]().rows[0]
    assert first["percept-tomi true belief"].value == first["percept-tomi-perception recall false belief"].value == 1.0
    assert_perception_is_told_as_each_parse_counts(made)


def test_a_correlation_that_there_is_not_says_why():
    def told(perception: float, answers: float) -> dict:
        return {task: dict.fromkeys(SCENARIOS, BoundedEstimate(value, 9)) for task, value in zip(
            TASKS, (perception, answers, answers**2), strict=True)}  # fmt: skip

    models = [(SimpleNamespace(kind="model", model=f"m{at}", family=""), told(1.0, at / 10)) for at in range(5)]
    table = correlations_table(models, TASKS, "repaired")
    assert [row["r"].value is None for row in table.rows] == [True, False, True] * 2
    assert table.lead == ["No correlation where one of the two is the same everywhere."]


def assert_perception_is_told_as_each_parse_counts(made):
    """The last of the models writes the first three of the seven sentences of a story, one of which is scored, of four:
    what it wrote is right (accuracy 1 / 1), but not all of the story is there (recall 1 / 4)."""
    published = PaperRow(
        name="Claude 3 Haiku", kind="published", source="Jung et al. 2024, table 5",
        metrics={"percept-tomi-perception.true belief": "87.4", "percept-tomi.true belief": "73.0"},
    )  # fmt: skip
    column = "percept-tomi-perception{} true belief"
    for parse, key, header in (
        ("official", column.format(""), "Perception accuracy"),
        ("repaired", column.format(" recall"), "Perception recall"),
    ):
        table = with_entered(made[f"scenarios-{parse}"](), "scenarios", [published], suite_named("percept-tomi"))
        assert {one.key: one.header for one in table.columns}[key] == header
        (worst,) = [row for row in table.rows if row["model"] == "model-4"]
        assert worst[key].value == (1.0 if parse == "official" else 0.25)
        [entered] = table.entered
        # the paper's accuracy stands beside an accuracy, and beside no recall
        assert entered.cells.get(column.format("")) == ("0.874" if parse == "official" else None)
        assert entered.cells["percept-tomi true belief"] == "0.730"
        assert made[f"correlations-{parse}"]().rows[0]["pair"] == f"{header} and questions"


def test_a_task_without_official_figures_is_told_with_the_reason(cast, copy, monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "right", answering(0))
    plan = replace(planned(copy), endpoints=[make_endpoint("right", model="right", options={"function": "right"})])
    run = work_off(start_run(by=cast.alice, plan=plan, now=timezone.now()))
    lost = RunItem.objects.filter(step="perceptions").first()
    Item.objects.filter(run_item=lost).update(state="failed")
    RunItem.objects.filter(pk=lost.pk).update(call=None, official=None, repaired=None, score=None, repaired_score=None)
    made = tables_of(document_of(run))
    official, repaired = (made[f"scenarios-{parse}"]() for parse in ("official", "repaired"))
    told = "right has no figure here of perception inference. Sample 1: its only question has no answer."
    assert told in official.lead and not any("no figure here" in sentence for sentence in repaired.lead)
    assert official.rows[0].get("percept-tomi-perception true belief") is None


def test_a_run_without_the_precursors_has_questions_alone(cast, copy):
    plan = planned(copy, "tracker", precursors=False)
    run = work_off(start_run(by=cast.alice, plan=plan, now=timezone.now()))
    assert {*RunItem.objects.values_list("step", flat=True)} == {"answer"}
    groups = report_of(run).entrants[0].groups
    assert groups["percept-tomi"] and not groups.get("percept-tomi-perception")
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    ("method", "control", "why"),
    [
        ("perceptom", "storyless", "with the method PercepToM: it asks about what people perceive"),
        ("oracle-perception", "storyless", "with the method PercepToM with the true perceptions: it asks about what"),
        ("oracle-perception", "distracted", "the data do not say who perceives the sentence that is added"),
    ],
)
def test_a_control_that_shows_nothing_else_by_a_method_is_refused_with_the_reason(copy, method, control, why):
    with pytest.raises(RunRefused, match=why) as refusal:
        check(replace(planned(copy, "tracker", method=method), controls=[control]))
    assert refusal.value.field == "controls"


def test_a_control_that_changes_what_a_method_shows_is_asked_by_it(copy):
    plan = planned(copy, "tracker")
    for method, control in (("plain", "storyless"), ("perceptom", "distracted"), ("oracle-perception", "renamed")):
        assert check(replace(plan, options={**plan.options, "method": method}, controls=[control]))


UNASKED = "was not asked for, as who perceives what cannot be read"


def seeing(body) -> str:
    """A model that finds every place, and says who perceives what in prose where the mover is Bo."""
    task = body["task"]
    told = {baseline.task: baseline.answer for baseline in BASELINES if baseline.name == "tracker"}
    kind = PERCEIVE if task["kind"] in (PERCEIVE, "perceive") else task["kind"]
    return "Everybody." if kind == PERCEIVE and "Bo" in task["names"] else told[kind](body)


def test_perceptions_that_cannot_be_read_are_an_unreadable_answer_of_the_model(cast, copy, monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "seeing", seeing)
    plan = planned(copy, method="perceptom", precursors=False)
    run = work_off(
        start_run(
            by=cast.alice,
            plan=replace(plan, endpoints=[make_endpoint("seeing", model="seeing", options={"function": "seeing"})]),
            now=timezone.now(),
        )
    )
    # the 8 questions on Bo of the 16 are not asked: nothing is sent or paid for them
    unasked = RunItem.objects.filter(entrant__run=run, unreadable=UNASKED)
    assert unasked.count() == 8 and {item.item.state for item in unasked} == {"unreadable"}
    for call in (item.call for item in unasked):
        assert (call.answer, call.answered_by, call.cost, call.attempts.count()) == ("no output", "rule", 0, 0)
    metrics = report_of(run).entrants[0].groups["percept-tomi"]
    official, repaired = (metrics.parses.overall(parse) for parse in ("official", "repaired"))
    # official: 8 of 8 right, 8 left out; repaired: right between 8 of 16 and 16 of 16
    assert (official.number_of("accuracy"), official.n, official.unreadable) == (1.0, 8, 8)
    assert repaired.bounds_of("accuracy") == [0.5, 1.0] and repaired.unreadable_reasons == {UNASKED: 8}
    (row,) = by_group(document_of(run))["percept-tomi"]
    for parse in ("official", "repaired"):
        ranking = row.ranking[parse]
        assert (ranking.rank, ranking.value, ranking.missing, ranking.lost) == (1, 0.5, 8, 0)
    plain = replace(plan, options={**plan.options, "method": "plain"}, endpoints=[run.entrants.get().endpoint])
    work_off(start_run(by=cast.alice, plan=plain, now=timezone.now()))
    by_method = document_of(run).by_method
    for parse in ("official", "repaired"):
        row = next(row for row in by_method.rows["percept-tomi"][parse] if row.way == "perceptom")
        # plain all 16 are right, and so are the 8 that were asked; with the unasked ones wrong 8 / 16 - 16 / 16
        assert (row.score.value, row.value, row.n, row.missing) == (0.5, 0.0, 8, [8, 0])
        assert row.bounds == [-0.5, 0.0] and row.verdict != "yes"


def thinking(body) -> str:
    """A model that overlooks false beliefs unless it thinks step by step."""
    task = body["task"]
    told = {baseline.task: baseline.answer for baseline in BASELINES if baseline.name == "tracker"}
    if task["kind"] not in told:
        return "It matters."
    text = told[task["kind"]](body)
    last = task["containers"][-1]  # where the thing is in the end
    return f"Final answer: {text if 'step by step' in body['messages'][-1]['content'] else last}"


def test_methods_are_compared_by_scenario_as_the_paper_has_them(cast, copy, monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "thinking", thinking)
    model = make_endpoint("thinking", model="thinking", options={"function": "thinking"})
    plan = replace(planned(copy, precursors=False), endpoints=[model])
    runs = start_runs(by=cast.alice, plans=plans_by_method(plan, ["plain", "cot"]), now=timezone.now())
    for run in runs:
        work_off(run)
    document = document_of(runs[0])
    rows = {(row.way, row.part): row for row in document.by_method.parts["percept-tomi"]["repaired"]}
    # 8 questions of each scenario: plain, those on true beliefs are right, those on false ones wrong
    assert {part: rows["plain", part].score.value for _, part in rows} == {"true belief": 1.0, "false belief": 0.0}
    assert {part: rows["cot", part].value for _, part in rows} == {"true belief": 0.0, "false belief": 1.0}
    assert {row.score.n for row in rows.values()} == {8}
    # the whole pools them: (8 · 0 + 8 · 1) / 16
    (pooled,) = [row.value for row in document.by_method.rows["percept-tomi"]["repaired"] if row.way == "cot"]
    assert pooled == 0.5
    table = tables_of(document)["method-parts-percept-tomi-official"]()
    assert [column.group for column in table.columns if column.header == "p, Holm"] == ["true belief", "false belief"]
    assert "Holm's correction over the 2 tests of this table" in table.notes[0]
    assert "percept-tomi-belief" not in document.by_method.parts


def test_copies_alone_have_no_legend_of_how_labels_were_settled(copy, cast, client):
    client.force_login(cast.alice)
    page = client.get(f"/p/{cast.project.slug}/datasets/").content.decode()
    assert "imported copy" in page and 'class="legend"' not in page
