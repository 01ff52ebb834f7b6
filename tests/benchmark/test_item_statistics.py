"""What tells models apart: the page and its files, of six models of known quality and of too few."""

import csv
import io
from random import Random

import pytest
from django.urls import reverse

from annotation.domain.baselines import chosen_labels
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.domain.tasks import LabelTask
from annotation.models import Assignment
from benchmark.models import AnswerFormat, Audience, StoryScores
from benchmark.services.item_statistics import finer_scores, items_of
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.services.reports import report_of
from benchmark.suites.figures import columns_of, scores_by_story
from tests.benchmark.evaluation import endpoint
from tests.benchmark.results_world import STORIES, results_world
from tests.copies import copied
from workers.providers.scripted.functions import FUNCTIONS

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
SKILLS = {f"skilled-{skill}": skill / 100 for skill in (30, 45, 55, 65, 75, 90)}


def _made(folder):
    """Models that are right in a known share of cells; of story 4 all are right in every second one, at random."""
    world = results_world(folder)
    gold = {
        (belief["actor"], belief["belief"]): (sample.number, belief["labels"])
        for sample in world.dataset.samples.all()
        for belief in sample.beliefs
    }
    for name, skill in SKILLS.items():

        def answer(body, name=name, skill=skill):
            def choose(key, values, row):
                number, labels = gold[row.actor, row.belief]
                drawn = Random(f"{name}{row.actor}{row.belief}{key}").random()
                wrong = next(value for value in values if value != labels[key])
                return labels[key] if drawn < (0.5 if number == 4 else skill) else wrong

            return chosen_labels(LabelTask.from_task(body["task"]), choose)

        FUNCTIONS[name] = answer
        world.models[name] = endpoint(name, options={"function": name})
    try:
        world.skilled = world.another(*SKILLS, steps=("label",), judge=None)
        report_of(world.skilled)
    finally:
        for name in SKILLS:
            del FUNCTIONS[name]
    return world


@pytest.fixture
def world(tmp_path):
    return copied("item statistics", lambda: _made(tmp_path))


def table(client, address: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(client.get(address).content.decode())))


def test_stories_that_tell_models_apart_come_first_and_open_side_by_side(world, client):
    client.force_login(world.alice)
    base = f"{world.base}/results/items/"
    page = client.get(f"{base}?group=stage2")
    report = page.context["report"]
    assert (report.models, len(report.rows)) == (len(SKILLS), STORIES)
    assert report.rows[-1]["number"] == 4 and not report.rows[-1]["apart"]  # chance tells nobody from anybody
    assert report.rows[0]["apart"] and report.rows[0]["discrimination"].value > 0.2
    names = {world.skilled.entrants.get(name=name).pk: name for name in SKILLS}
    ends = [names[int(key.rpartition(".")[2])] for key in (report.best, report.worst)]
    assert ends == ["skilled-90", "skilled-30"]
    assert "91 % and 90 %" in page.content.decode() and "One ranking: asked with" in page.content.decode()
    beside = page.context["chart"].marks[0]["href"]
    assert client.get(beside).context["names"] == ends
    assert [int(row["Story"]) for row in table(client, f"{base}stage2.csv")] == [row["number"] for row in report.rows]
    other = client.get(f"{base}?group=stage2&metric=acc_context").context["report"]
    assert [row["mean"] for row in other.rows] != [row["mean"] for row in report.rows]
    assert client.get(f"{base}nothing.csv").status_code == 404


def test_propositions_are_told_apart_by_dimension_and_open_their_evidence(world, client):
    client.force_login(world.alice)
    base, asked = f"{world.base}/results/items/", "group=stage2&level=finer&metric="
    page = client.get(f"{base}?{asked}overall_accuracy")
    report, samples = page.context["report"], {one.number: one for one in world.dataset.samples.all()}
    assert (report.models, len(report.rows)) == (len(SKILLS), sum(len(one.beliefs) for one in samples.values()))
    first = report.rows[0]
    belief = samples[first["number"]].beliefs[first["place"]]
    told = page.content.decode()
    assert belief["belief"] in told and "Difficulty and discrimination of propositions" in " ".join(told.split())
    # every model is right or wrong in one dimension of the very proposition, and in a share of all of them
    by_hand = {}
    for name, skill in SKILLS.items():
        drawn = [Random(f"{name}{belief['actor']}{belief['belief']}{key}").random() for key in DEFAULT_SCHEMA.keys]
        by_hand[name] = [value < (0.5 if first["number"] == 4 else skill) for value in drawn]
    assert first["mean"] == pytest.approx(sum(sum(of) / 7 for of in by_hand.values()) / len(SKILLS))
    context = client.get(f"{base}?{asked}acc_context").context["report"]
    [same] = [row for row in context.rows if (row["number"], row["place"]) == (first["number"], first["place"])]
    at = DEFAULT_SCHEMA.keys.index("context")
    assert same["mean"] == pytest.approx(sum(of[at] for of in by_hand.values()) / len(SKILLS))
    assert client.get(page.context["chart"].marks[0]["href"]).status_code == 200
    rows = table(client, f"{base}stage2.csv?{asked}acc_context")
    assert len(rows) == len(context.rows) and rows[0]["Proposition"] and rows[0]["Actor"]


def test_extraction_is_told_by_the_propositions_that_models_find(world, client):
    client.force_login(world.alice)
    models = [one for one in leaderboard_of(world.dataset, AnswerFormat.TEXT, None).entrants["stage1"] if one.scores]
    places, scores = finer_scores(world.dataset, models, "stage1")
    omniscient = next(at for at, one in enumerate(models) if one.name == "omniscient")
    recall = models[omniscient].parses.overall("repaired").value_of("recall")
    numbers = places[:, 0]
    by_story = [scores[omniscient, numbers == number, 0].mean() for number in sorted({*numbers})]
    assert sum(by_story) / len(by_story) == pytest.approx(recall)
    few = client.get(f"{world.base}/results/items/?group=stage1&level=finer").content.decode()
    assert "at least 5 models" in few and "Ask further models" in few


def test_a_model_that_is_asked_again_counts_once(world, client, monkeypatch):
    """Three models with five seeds are three models: too few to fit anything."""
    names = list(SKILLS)[:3]
    first_value = lambda body: chosen_labels(LabelTask.from_task(body["task"]), lambda key, values, row: values[0])  # noqa: E731
    for name in names:
        monkeypatch.setitem(FUNCTIONS, name, first_value)
    for seed in range(2, 4):
        world.another(*names, steps=("label",), judge=None, seed=seed)
    client.force_login(world.alice)
    page = client.get(f"{world.base}/results/items/?group=stage2&runs=all")
    entrants = page.context["leaderboard"].entrants["stage2"]
    assert sum(one.kind == "model" for one in entrants) >= len(SKILLS) + 2 * len(names)
    report = page.context["report"]
    assert report.models == len(SKILLS) and {row["scored"] for row in report.rows} == {len(SKILLS)}
    few = [one for one in entrants if one.name in names]
    found = items_of(few, "stage2", "repaired", "overall_accuracy", None)
    assert len(few) > 5 and found.models == 3 and found.why_not
    [first] = [row for row in report.rows if row["number"] == 4]
    by_model = {name: [one for one in entrants if one.name == name] for name in SKILLS}
    scores = {
        pk: scores_by_story(columns_of(metrics["stage2"], "repaired"), "overall_accuracy")
        for pk, metrics in StoryScores.objects.values_list("pk", "metrics")
    }
    means = [sum(scores[one.scores][4] for one in of) / len(of) for of in by_model.values()]
    assert first["mean"] == pytest.approx(sum(means) / len(means))


def test_few_models_and_open_work(world, client):
    client.force_login(world.alice)
    nobody = items_of([], "stage2", "repaired", "overall_accuracy", None)  # a version with baselines alone
    assert (nobody.rows, nobody.models) == ([], 0) and nobody.why_not
    few = client.get(f"{world.base}/results/items/?group=stage1").content.decode()
    assert "at least 5 models" in few and "One ranking: asked with" in few and ", judged by" in few
    world.show_to(Audience.EVERYONE)
    story = world.dataset.project.stories.get(number=3)
    Assignment.objects.create(story=story, annotator=world.bob, slot=1, overlap=3)
    client.force_login(world.bob)
    base = f"{world.base}/results/items/"
    page = client.get(f"{base}?group=stage2&level=finer")
    assert 3 not in {row["number"] for row in page.context["report"].rows} and page.context["report"].rows
    assert "3" not in {row["Story"] for row in table(client, f"{base}stage2.csv?level=finer")}
    page = client.get(f"{base}?group=stage2")
    assert 3 not in {row["number"] for row in page.context["report"].rows}
    assert reverse("benchmark:compare_story", args=[world.dataset.project.slug, 3]) not in page.content.decode()
