"""Percept-FANToM from a copy to the report, on a small one of our own, with models whose figures are known
beforehand."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse
from django.utils import timezone

from benchmark.models import RunItem
from benchmark.services.documents import document_of, tables_of
from benchmark.services.estimates import estimate
from benchmark.services.flips import REPETITIONS, flips_of
from benchmark.services.launches import start_run
from benchmark.services.plot_data import plots_of
from benchmark.services.reports import report_of
from benchmark.suites.fantom_questions.asking import TELL
from benchmark.suites.fantom_questions.data import CHOICE, INACCESSIBLE
from benchmark.suites.perceiving.asking import array_of
from benchmark.suites.percept_fantom.data import load, utterances_of
from benchmark.suites.percept_fantom.steps import annotated_put, expected
from benchmark.suites.questions import Question
from benchmark.suites.registry import suite_named
from benchmark.suites.settings import Settings
from tests.benchmark.importing import import_benchmark
from tests.benchmark.planning import planned
from tests.benchmark.settled import make_endpoint, work_off, written
from tests.benchmark.suites.percept_fantom import own
from tests.servers import ModelServer
from workers.models import Item
from workers.providers.scripted.backend import FUNCTIONS

pytestmark = pytest.mark.django_db(transaction=True)
PERCEPTION = {"official": "perceptions", "repaired": "perceptions recall"}
SETS = ("percept-fantom", "percept-fantom-true", "percept-fantom-belief", "percept-fantom-belief-true")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    own.released(monkeypatch, own.write(tmp_path))
    return tmp_path


@pytest.fixture
def copy(cast, folder):
    suite = suite_named("percept-fantom")
    return import_benchmark(by=cast.alice, project=cast.project, suite=suite, folder=folder, options={})[0]


def worked_off(cast, copy, models, **settings):
    plan = planned(
        copy, models, ["answer"], suite="percept-fantom", **({"method": "plain", "precursors": True} | settings)
    )
    return work_off(start_run(by=cast.alice, plan=plan, now=timezone.now()))


def right(sample) -> str:
    return expected(Question(sample, "answer", Settings(), None))


def omniscient(sample) -> str:
    """As one who heard everything, and believes that everybody did."""
    if sample.content["scenario"] != INACCESSIBLE or sample.content["kind"] != CHOICE:
        return right(sample)
    return lapsing(sample)


def lapsing(sample) -> str:
    """The other option of a choice."""
    return f"({'ba'[sample.gold['key']]})" if sample.content["kind"] == CHOICE else right(sample)


def answering(samples, answer, leaves_out=0, wrong=()):
    """A model that answers each question by a rule, chooses wrongly in the sets `wrong`, and leaves out utterances."""
    answers = {sample.key: lapsing(sample) if sample.group in wrong else answer(sample) for sample in samples}
    perceivers = {tuple(utterances_of(sample)): sample.gold["perceivers"] for sample in samples}

    def say(body) -> str:
        task = body["task"]
        if task["kind"] == TELL:
            return answers[task["key"]]
        told = json.loads(array_of(task["sentences"], perceivers[tuple(task["sentences"])]))
        return json.dumps(told[leaves_out:])

    return say


def metrics(run, model, group):
    return next(entrant for entrant in report_of(run).entrants if entrant.name == model).groups[group]


def overall(run, model, group, parse="repaired"):
    return metrics(run, model, group).parses.overall(parse)


def wrong(model, step):
    items = RunItem.objects.filter(entrant__name=model, step=step).select_related("sample")
    return {item.sample.key for item in items if not item.repaired["right"]}


@pytest.fixture
def run(cast, copy, folder, monkeypatch):
    samples = load(folder).samples
    for name, answer in (("oracle", right), ("omniscient", omniscient)):
        monkeypatch.setitem(FUNCTIONS, name, answering(samples, answer))
    models = [make_endpoint(name, model=name, options={"function": name}) for name in ("oracle", "omniscient")]
    return worked_off(
        cast,
        copy,
        [*models, *(make_endpoint(name, provider="baseline", model=name) for name in ("random", "majority"))],
    )


def test_the_oracle_is_right_and_the_omniscient_misses_false_beliefs_alone(run, copy, cast, client):
    assert wrong("oracle", "answer") == wrong("oracle", "belief") == set()
    false_beliefs = {"1-0-0/belief0/choice", "1-1-0/belief0/choice"}
    assert wrong("omniscient", "answer") == wrong("omniscient", "belief") == false_beliefs
    for parse in ("official", "repaired"):
        for group in SETS:
            assert overall(run, "oracle", group, parse).number_of("all") == 1.0
            value = 1.0 if group.endswith("true") else 0.0
            assert overall(run, "omniscient", group, parse).number_of("all") == value
        assert overall(run, "oracle", "percept-fantom-perception", parse).number_of("perception_recall") == 1.0
    # two sets have a false belief; all questions of one are of true belief, and the accessible choice of 1-1-0 makes no
    # set
    assert overall(run, "oracle", "percept-fantom").stories == 2
    assert overall(run, "oracle", "percept-fantom-true").stories == 1
    assert overall(run, "omniscient", "percept-fantom-questions").value_of("accuracy") == 26 / 28
    # a conversation counts once for each of its sets
    assert overall(run, "random", "percept-fantom-perception").stories == 3
    assert 0 < overall(run, "random", "percept-fantom-questions").value_of("accuracy") < 1
    # everybody is said to hear everything: wrong of the last two utterances of the garden
    assert overall(run, "majority", "percept-fantom-perception").value_of("perception_recall") == pytest.approx(2 / 3)
    for group in (*SETS, "percept-fantom-perception", "percept-fantom-questions"):
        of_baseline = metrics(run, "majority", group)
        share = "all" if group in SETS else "accuracy" if group.endswith("questions") else "perception_recall"
        row, level = of_baseline.parses.overall("repaired"), of_baseline.levels.majority
        assert (level.value, level.n) == (pytest.approx(row.value_of(share)), row.stories)
    shows_tables(run)
    shows_pages(run, cast, client)


def shows_tables(run):
    document = document_of(run)
    made = tables_of(document)
    for parse in ("official", "repaired"):
        rows = {row["model"]: row for row in made[f"scenarios-{parse}"]().rows}
        assert [
            rows["omniscient"][f"{task} {scenario}"].value
            for scenario in ("true belief", "false belief")
            for task in (PERCEPTION[parse], "belief", "answer")
        ] == [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]
        parts = {row["model"]: row for row in made[f"inaccessible-{parse}"]().rows}["omniscient"]
        told = [parts[name].value for name in ("all", "choice", "answerability all", "consistency")]
        assert told == [0.0, 0.0, 1.0, 1.0]
        whole = {row["model"]: row for row in made[f"accessible-{parse}"]().rows}["oracle"]
        # officially the accessible choice of 1-1-0 counts among choices
        assert (whole["all"].n, whole["choice"].n) == (1, 2 if parse == "official" else 1)
        assert made[f"orders-{parse}"]().rows and made[f"reasons-{parse}"]().rows
        assert f"scenarios-{parse}" in plots_of(document)
    assert "correlations-repaired" in made and made["correlations-repaired"]().rows[0]["r"].n == 2


def shows_pages(run, cast, client):
    client.force_login(cast.alice)
    page = written(client.get(reverse("benchmark:run_report", args=[cast.project.slug, run.uid])))
    assert "Perception, belief from perception and questions by scenario" in page and "percept-fantom-1" in page
    for step, told in (
        ("perceptions", "Ida, Ole"),
        ("belief", "All questions of the set"),
        ("answer", "All questions of the set"),
    ):
        item = RunItem.objects.get(entrant__name="omniscient", step=step, sample__key="1-0-0/belief0/choice")
        shown = written(client.get(reverse("benchmark:run_item", args=[cast.project.slug, run.uid, item.pk])))
        assert told in shown and "The pears in my garden are ripe." in shown
        beside = RunItem.objects.get(entrant__name="omniscient", step=step, sample__key="1-0-0/answerability/yn/Bea")
        linked = reverse("benchmark:run_item", args=[cast.project.slug, run.uid, beside.pk])
        assert (f'href="{linked}" dir="auto"' in shown) == (step != "perceptions")
        assert shown.count("this page") == (step != "perceptions")


def test_calls_on_perceptions_are_shared(copy):
    model = make_endpoint("random", provider="baseline", model="random")
    plan = planned(copy, [model], ["answer"], suite="percept-fantom", method="plain", precursors=True)
    # two conversations, of which one has two parts in the same words: 2 calls on perceptions; 28 on beliefs, 28 answers
    assert estimate(plan).total.calls == 2 + 28 + 28


def test_five_models_have_correlations(cast, copy, folder, monkeypatch):
    samples = load(folder).samples
    lapses = [((), 0), (("1-0-0",), 1), (("2-0-0",), 2), (("1-0-0", "1-1-0"), 1), (("1-1-0", "2-0-0"), 2)]
    for number, (sets, leaves_out) in enumerate(lapses):
        monkeypatch.setitem(FUNCTIONS, f"model-{number}", answering(samples, right, leaves_out, sets))
    models = [
        make_endpoint(f"model-{at}", model=f"model-{at}", family=f"family {at}", options={"function": f"model-{at}"})
        for at in range(5)
    ]
    run = worked_off(cast, copy, models)
    tables = tables_of(document_of(run))
    made = tables["correlations-repaired"]()
    assert [(row["r"].n, row["families"]) for row in made.rows] == [(5, 5)] * 6
    perceiving = {(row["scenario"], row["pair"]): row for row in made.rows}[
        "False belief", "Perception recall and questions"
    ]  # fmt: skip
    low, high = perceiving["r"].interval
    assert low < perceiving["r"].value < high and 0 < perceiving["p"] < 1
    # all that models wrote is right: the paper's accuracy is 1 of each, and goes together with nothing
    official = {(row["scenario"], row["pair"]): row for row in tables["correlations-official"]().rows}
    assert official["False belief", "Perception accuracy and questions"]["r"].value is None


def test_a_missing_answer_of_a_precursor_leaves_bounds_and_no_official_figure(cast, copy, folder, monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "oracle", answering(load(folder).samples, right))
    oracle = make_endpoint("oracle", model="oracle", options={"function": "oracle"})
    run = worked_off(cast, copy, [oracle])
    for step in ("perceptions", "belief"):
        lost = RunItem.objects.filter(step=step, sample__group="1-0-0")
        Item.objects.filter(run_item__in=lost).update(state="failed")
        lost.update(call=None, official=None, repaired=None, score=None, repaired_score=None)
    made = tables_of(document_of(run))
    for parse in ("official", "repaired"):
        table = made[f"scenarios-{parse}"]()
        (row,) = table.rows
        # false belief has two sets: one right, one lost; the value of what is there alone is the repaired parse's
        for task in (PERCEPTION[parse], "belief"):
            column = f"{task} false belief"
            assert (row[column].value, row[column].bounds) == (None if parse == "official" else 1.0, [0.5, 1.0])
            assert row[column].n == 1
        assert row["answer false belief"].value == 1.0 and f"{PERCEPTION[parse]} true belief" in row
        told = [sentence for sentence in table.lead if sentence.startswith("oracle has no figure here of")]
        assert len(told) == (2 if parse == "official" else 0), table.lead
    refused = metrics(run, "oracle", "percept-fantom-perception")
    assert refused.parses.official is None and refused.reason in made["scenarios-official"]().lead[0]


def test_perceptions_that_cannot_be_read_are_officially_left_out_with_bounds(cast, copy, folder, monkeypatch):
    say = answering(load(folder).samples, right)
    monkeypatch.setitem(
        FUNCTIONS, "vague", lambda body: "All do." if "Tom" in str(body["task"].get("names", ())) else say(body)
    )
    run = worked_off(cast, copy, [make_endpoint("vague", model="vague", options={"function": "vague"})])
    (row,) = tables_of(document_of(run))["scenarios-official"]().rows
    # of the two sets with a true belief (1-1-0 and 2-0-0) one is left out, which could have had any accuracy
    assert (row["perceptions true belief"].value, row["perceptions true belief"].bounds) == (1.0, [0.5, 1.0])
    assert (row["perceptions false belief"].value, row["perceptions false belief"].bounds) == (1.0, None)


def test_beliefs_from_perceptions_flip_where_they_say_another_thing(cast, copy, folder, monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "oracle", answering(load(folder).samples, right))
    run = worked_off(cast, copy, [make_endpoint("oracle", model="oracle", options={"function": "oracle"})])
    run.params["repetitions"] = 2
    lists = RunItem.objects.filter(entrant__run=run, step="belief", sample__category="Answerability, list")
    alike, other, mute = [item.pk for item in lists.order_by("pk")]
    for pk, again, unreadable in ((alike, ["Una"], ""), (other, ["Vic"], ""), (mute, ["Una"], "holds no list")):
        item = RunItem.objects.get(pk=pk)
        item.repaired, item.repaired_score = {**item.repaired, "named": ["Una"], "right": False}, 0.0
        item.save()
        item.pk, item.item_id, item.repetition, item.unreadable = None, None, 1, unreadable
        item.repaired = {**item.repaired, "named": again}
        item.save()
    flips = flips_of(run, run.entrants.get(), REPETITIONS, set())
    assert [pair[0][0] for pair in flips] == [mute, other], "two wrong answers that say the same are none"


def rules(samples, answer) -> list[dict[str, str]]:
    """What a server answers: to the question on perceivers the true ones, to every other question by a rule."""
    said = [
        {"when": annotated_put(sample).question + "\n", "mode": "say", "text": answer(sample)} for sample in samples
    ]
    heard = {
        sample.content["conversation"]: array_of(utterances_of(sample), sample.gold["perceivers"]) for sample in samples
    }
    return [
        *said,
        *({"when": f"{text}\n\nWrite a JSON array", "mode": "say", "text": told} for text, told in heard.items()),
    ]


@pytest.mark.once
def test_perceptom_asks_over_http(cast, copy, folder):
    samples = load(folder).samples
    with ModelServer() as server:
        for name, answer in (("oracle", right), ("omniscient", omniscient)):
            server.control(rules=rules(samples, answer))
            asked = make_endpoint(name, provider="openai", model=name, base_url=f"{server.url}/v1", max_concurrency=8)
            run = worked_off(cast, copy, [asked], method="perceptom")
            value = 1.0 if name == "oracle" else 0.0
            for parse in ("official", "repaired"):
                assert overall(run, name, "percept-fantom", parse).number_of("all") == value
                assert overall(run, name, "percept-fantom-true", parse).number_of("all") == 1.0
        assert wrong("omniscient", "answer") == {"1-0-0/belief0/choice", "1-1-0/belief0/choice"}


@pytest.mark.once
def test_perceptions_that_cannot_be_read_leave_questions_unasked_which_are_officially_wrong(
    cast, copy, folder, monkeypatch
):
    samples = load(folder).samples
    say = answering(samples, right)
    monkeypatch.setitem(FUNCTIONS, "seeing", lambda body: "Tom did." if "Tom" in str(body["messages"]) else say(body))
    seeing = make_endpoint("seeing", model="seeing", options={"function": "seeing"})
    run = worked_off(cast, copy, [seeing], method="perceptom", precursors=False)
    unasked = RunItem.objects.filter(unreadable="was not asked for, as who perceives what cannot be read")
    assert {item.sample.group for item in unasked} == {"2-0-0"}
    assert {item.call.answer for item in unasked} == {"invalid perception inference response"}
    # the released code finds nobody in a list whose right answer is nobody, and takes every other answer for wrong
    assert not any(item.official["right"] for item in unasked if item.sample.gold["right"])
    for group, sets in (("percept-fantom", 1.0), ("percept-fantom-true", 0.0)):
        assert overall(run, "seeing", group, "official").number_of("all") == sets
    # the one set of true belief is the unasked one: official wrong, repaired anything
    whole = overall(run, "seeing", "percept-fantom-true")
    assert (whole.stories, whole.unreadable, whole.bounds_of("all")) == (0, 1, [0.0, 1.0])
