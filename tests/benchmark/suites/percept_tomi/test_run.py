"""Percept-ToMi from a copy to the report, on a small one of our own."""

import json
from dataclasses import replace

import pytest
from django.urls import reverse
from django.utils import timezone

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
from benchmark.suites.percept_tomi.steps import BASELINES, TELL
from benchmark.suites.registry import suite_named
from tests.benchmark.importing import import_benchmark
from tests.benchmark.settled import make_endpoint, work_off, written
from tests.benchmark.suites.percept_tomi import own
from workers.models import Item
from workers.providers.scripted.backend import FUNCTIONS

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
PARSES = ("official", "repaired")
UNASKED = "was not asked for, as who perceives what cannot be read"
TRACKER = {baseline.task: baseline.answer for baseline in BASELINES if baseline.name == "tracker"}
"""What the baseline that is right everywhere answers, by the kind of the question."""


@pytest.fixture
def copy(cast, tmp_path, monkeypatch):
    folder, suite = own.released(monkeypatch, own.write(tmp_path)), suite_named("percept-tomi")
    return import_benchmark(by=cast.alice, project=cast.project, suite=suite, folder=folder, options={})[0]


@pytest.fixture
def planned(copy, monkeypatch):
    """A plan with these baselines, or with models that answer by a function:
    `planned("tracker")`, `planned(rule=short, models=2)`."""

    def make(*baselines: str, rule=None, models=1, **options) -> Plan:
        endpoints = [make_endpoint(name, provider="baseline", model=name) for name in baselines]
        if rule:
            monkeypatch.setitem(FUNCTIONS, "rule", rule)
            names = [f"model-{at}" for at in range(models)]
            endpoints = [make_endpoint(name, model=name, options={"function": "rule"}) for name in names]
        settings = {"method": "plain", "story": "prose", "precursors": True} | options
        return Plan(dataset=copy, endpoints=endpoints, steps=["answer"], suite="percept-tomi", options=settings)

    return make


def finished(plan: Plan) -> Run:
    return work_off(start_run(by=None, plan=plan, now=timezone.now()))


def test_the_tracker_passes_over_what_a_control_adds():
    sentences = [
        "Ada entered the hall",
        "The pen is in the box",
        "A tram went by outside",
        "Ada moved the pen to the bag",
    ]
    task = {"key": "x", "sentences": sentences, "thing": "pen", "people": ["Ada"], "containers": ["box", "bag"]}
    assert TRACKER[TELL]({"task": task | {"usual": 0}}) == "bag"
    perceived = json.loads(TRACKER[PERCEIVE]({"task": {"key": "x", "sentences": sentences}}))
    assert [next(iter(one.values())) for one in perceived][2:] == [[], ["Ada"]]


def test_the_tracker_is_right_everywhere_and_stories_are_asked_once(planned, alice):
    plan = planned("tracker", "majority", "random")
    assert plan.steps == ["perceptions", "belief", "answer"]
    # 16 questions about 4 stories: 4 calls on perceptions, 16 on beliefs, 16 answers, of three baselines
    assert estimate(plan).total.calls == 3 * (4 + 16 + 16)
    run = finished(plan)
    assert run.job.state == "finished" and RunItem.objects.count() == 3 * 48
    metrics = {entrant.name: entrant.groups for entrant in report_of(run).entrants}
    for group in ("percept-tomi", "percept-tomi-perception", "percept-tomi-belief"):
        share = "perception_recall" if group.endswith("perception") else "accuracy"
        for parse in PARSES:
            assert metrics["tracker"][group].parses.overall(parse).number_of(share) == 1.0
        # what follows from gold alone is what the baseline came to, in every category
        parses, levels = metrics["majority"][group].parses, metrics["majority"][group].levels
        assert levels.majority.value == pytest.approx(parses.overall("repaired").value_of(share))
        assert {name: level.value for name, level in levels.by_category["majority"].items()} == {
            name: pytest.approx(row.value_of(share)) for name, row in parses.by_category("repaired").items()
        }
        assert levels.by_category["chance"].keys() == levels.by_category["majority"].keys() != set()
    # the first container is right in every false belief, the second in every true one
    facets = metrics["majority"]["percept-tomi"].analysed("repaired").kept["facets"]["scenario"]
    assert {name: one["value"] for name, one in facets.items()} == {"false belief": 1.0, "true belief": 0.0}
    where = [run.project.slug, run.uid]
    report = written(alice.get(reverse("benchmark:run_report", args=where)))
    assert "Perception, belief from perception and questions by scenario" in report and "percept-tomi-1" in report
    for step, told in (("perceptions", "not scored"), ("belief", "Officially right"), ("answer", "Officially right")):
        item = RunItem.objects.filter(entrant__name="tracker", step=step).first()
        page = written(alice.get(reverse("benchmark:run_item", args=[*where, item.pk])))
        assert told in page and "entered the kitchen" in page
    listed = written(alice.get(f"/p/{where[0]}/datasets/"))
    assert "imported copy" in listed and 'class="legend"' not in listed, "copies have no labels that were settled"


def test_perception_is_told_as_each_parse_counts(planned):
    """Of the seven sentences of a story the model writes the first three, one of which is scored, of four: what it
    wrote is right (accuracy 1 / 1), but not all of the story is there (recall 1 / 4)."""

    def short(body) -> str:
        text = TRACKER[body["task"]["kind"]](body)
        return json.dumps(json.loads(text)[:3]) if body["task"]["kind"] == PERCEIVE else text

    run = finished(planned(rule=short, models=2))
    made = tables_of(document_of(run))
    printed = {"percept-tomi-perception.true belief": "87.4", "percept-tomi.true belief": "73.0"}
    published = PaperRow(name="Claude 3 Haiku", kind="published", source="Jung et al. 2024, table 5", metrics=printed)
    accuracy, recall = ("percept-tomi-perception true belief", "percept-tomi-perception recall true belief")
    for parse, key, header, value, beside in (
        ("official", accuracy, "Perception accuracy", 1.0, "0.874"),
        ("repaired", recall, "Perception recall", 0.25, None),
    ):
        table = with_entered(made[f"scenarios-{parse}"](), "scenarios", [published], suite_named("percept-tomi"))
        assert {one.key: one.header for one in table.columns}[key] == header
        [row, _], [entered] = table.rows, table.entered
        assert (row[key].value, row["percept-tomi true belief"].value) == (value, 1.0)
        # the paper's accuracy stands beside an accuracy, and beside no recall
        assert entered.cells.get(accuracy) == beside and entered.cells["percept-tomi true belief"] == "0.730"
        assert made[f"correlations-{parse}"]().rows[0]["pair"] == f"{header} and questions"
    lost = RunItem.objects.filter(entrant__name="model-0", step="perceptions").first()
    Item.objects.filter(run_item=lost).update(state="failed")
    RunItem.objects.filter(pk=lost.pk).update(call=None, official=None, repaired=None, score=None, repaired_score=None)
    made = tables_of(document_of(run))
    official, repaired = (made[f"scenarios-{parse}"]() for parse in PARSES)
    told = "model-0 has no figure here of perception inference. Sample 1: its only question has no answer."
    assert told in official.lead and not any("no figure here" in sentence for sentence in repaired.lead)
    assert official.rows[0].get(accuracy) is None


def test_a_control_that_shows_nothing_else_by_a_method_is_refused_with_the_reason(planned):
    plan = planned("tracker")

    def asked(method: str, control: str):
        return check(replace(plan, options={**plan.options, "method": method}, controls=[control]))

    perceiving = "asks about what people perceive"
    for method, control, why in (
        ("perceptom", "storyless", f"with the method PercepToM: it {perceiving}"),
        (
            "oracle-perception",
            "storyless",
            f"with the method PercepToM with the true perceptions: it {perceiving[:15]}",
        ),
        ("oracle-perception", "distracted", "the data do not say who perceives the sentence that is added"),
    ):
        with pytest.raises(RunRefused, match=why) as refusal:
            asked(method, control)
        assert refusal.value.field == "controls"
    for method, control in (("plain", "storyless"), ("perceptom", "distracted"), ("oracle-perception", "renamed")):
        assert asked(method, control)


def seeing(body) -> str:
    """A model that finds every place, and says who perceives what in prose where the mover is Bo."""
    task = body["task"]
    kind = PERCEIVE if task["kind"] in (PERCEIVE, "perceive") else task["kind"]
    return "Everybody." if kind == PERCEIVE and "Bo" in task["names"] else TRACKER[kind](body)


def test_perceptions_that_cannot_be_read_are_an_unreadable_answer_of_the_model(planned):
    plan = planned(rule=seeing, method="perceptom", precursors=False)
    run = finished(plan)
    # the 8 questions on Bo of the 16 are not asked: nothing is sent or paid for them
    unasked = RunItem.objects.filter(entrant__run=run, unreadable=UNASKED)
    assert unasked.count() == 8 and {item.item.state for item in unasked} == {"unreadable"}
    for call in (item.call for item in unasked):
        assert (call.answer, call.answered_by, call.cost, call.attempts.count()) == ("no output", "rule", 0, 0)
    metrics = report_of(run).entrants[0].groups["percept-tomi"]
    official, repaired = (metrics.parses.overall(parse) for parse in PARSES)
    # official: 8 of 8 right, 8 left out; repaired: right between 8 of 16 and 16 of 16
    assert (official.number_of("accuracy"), official.n, official.unreadable) == (1.0, 8, 8)
    assert repaired.bounds_of("accuracy") == [0.5, 1.0] and repaired.unreadable_reasons == {UNASKED: 8}
    (row,) = by_group(document_of(run))["percept-tomi"]
    for ranking in (row.ranking[parse] for parse in PARSES):
        assert (ranking.rank, ranking.value, ranking.missing, ranking.lost) == (1, 0.5, 8, 0)
    finished(replace(plan, options={**plan.options, "method": "plain"}))
    by_method = document_of(run).by_method
    for parse in PARSES:
        [row] = [row for row in by_method.rows["percept-tomi"][parse] if row.way == "perceptom"]
        # plain all 16 are right, and so are the 8 that were asked; with the unasked ones wrong 8 / 16 - 16 / 16
        assert (row.score.value, row.value, row.n, row.missing) == (0.5, 0.0, 8, [8, 0])
        assert row.bounds == [-0.5, 0.0] and row.verdict != "yes"


def thinking(body) -> str:
    """A model that overlooks false beliefs unless it thinks step by step."""
    task = body["task"]
    if task["kind"] not in TRACKER:
        return "It matters."
    last = task["containers"][-1]  # where the thing is in the end
    told = TRACKER[task["kind"]](body) if "step by step" in body["messages"][-1]["content"] else last
    return f"Final answer: {told}"


def test_methods_are_compared_by_scenario_as_the_paper_has_them(planned, cast):
    plans = plans_by_method(planned(rule=thinking, precursors=False), ["plain", "cot"])
    runs = [work_off(run) for run in start_runs(by=cast.alice, plans=plans, now=timezone.now())]
    assert not {"belief", "perceptions"} & {*RunItem.objects.values_list("step", flat=True)}, "without precursors"
    groups = report_of(runs[0]).entrants[0].groups
    assert groups["percept-tomi"] and not groups.get("percept-tomi-perception")
    document = document_of(runs[0])
    rows = {(row.way, row.part): row for row in document.by_method.parts["percept-tomi"]["repaired"]}
    # 8 questions of each scenario: plain, those on true beliefs are right, those on false ones wrong
    assert {part: rows["plain", part].score.value for _, part in rows} == {"true belief": 1.0, "false belief": 0.0}
    assert {part: rows["cot", part].value for _, part in rows} == {"true belief": 0.0, "false belief": 1.0}
    assert {row.score.n for row in rows.values()} == {8}
    # the whole pools them: (8 · 0 + 8 · 1) / 16
    pooled = [row.value for row in document.by_method.rows["percept-tomi"]["repaired"] if row.way == "cot"]
    assert pooled == [0.5]
    table = tables_of(document)["method-parts-percept-tomi-official"]()
    assert [column.group for column in table.columns if column.header == "p, Holm"] == ["true belief", "false belief"]
    assert "Holm's correction over the 2 tests of this table" in table.notes[0]
    assert "percept-tomi-belief" not in document.by_method.parts
