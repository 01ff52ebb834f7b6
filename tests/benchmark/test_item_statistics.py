"""What tells models apart: the page and its files, of six models of known quality and of too few."""

from __future__ import annotations

import csv
import io
from random import Random

import pytest
from django.urls import reverse

from annotation.domain.baselines import label_answer
from annotation.models import Assignment
from benchmark.models import Audience, StoryScores
from benchmark.services.item_statistics import items_of
from benchmark.suites.story_scores import columns_of, scores_by_story
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
                number, labels = gold[row["actor"], row["belief"]]
                drawn = Random(f"{name}{row['actor']}{row['belief']}{key}").random()
                wrong = next(value for value in values if value != labels[key])
                return labels[key] if drawn < (0.5 if number == 4 else skill) else wrong

            return label_answer(body["task"], choose)

        FUNCTIONS[name] = answer
        world.models[name] = endpoint(name, options={"function": name})
    try:
        world.skilled = world.another(*SKILLS, stages=("label",), judge=None)
    finally:
        for name in SKILLS:
            del FUNCTIONS[name]
    return world


@pytest.fixture
def world(tmp_path):
    return copied("item statistics", lambda: _made(tmp_path))


def test_stories_that_tell_models_apart_come_first_and_open_side_by_side(world, client):
    client.force_login(world.alice)
    base = f"{world.base}/results/items/"
    page = client.get(f"{base}?stage=stage2")
    report = page.context["report"]
    assert (report.models, len(report.rows)) == (len(SKILLS), STORIES)
    assert report.rows[-1].number == 4 and not report.rows[-1].apart  # chance tells nobody from anybody
    assert report.rows[0].apart and report.rows[0].discrimination > 0.2
    names = {world.skilled.entrants.get(name=name).pk: name for name in SKILLS}
    ends = [names[int(key.rpartition(".")[2])] for key in (report.best, report.worst)]
    assert ends == ["skilled-90", "skilled-30"]
    assert "91 % and 90 %" in page.content.decode()
    beside = page.context["chart"].marks[0].href
    assert client.get(beside).context["names"] == ends
    rows = list(csv.DictReader(io.StringIO(client.get(f"{base}stage2.csv").content.decode())))
    assert [int(row["Story"]) for row in rows] == [row.number for row in report.rows]
    other = client.get(f"{base}?stage=stage2&metric=acc_context").context["report"]
    assert [row.mean for row in other.rows] != [row.mean for row in report.rows]
    assert client.get(f"{base}nothing.csv").status_code == 404


def test_a_model_that_is_asked_again_counts_once(world, client):
    """Three models with five seeds are three models: too few to fit anything."""
    for name, skill in SKILLS.items():
        FUNCTIONS[name] = lambda body, skill=skill: label_answer(body["task"], lambda key, values, row: values[0])
    names = list(SKILLS)[:3]
    try:
        for seed in range(2, 4):
            world.another(*names, stages=("label",), judge=None, seed=seed)
    finally:
        for name in SKILLS:
            del FUNCTIONS[name]
    client.force_login(world.alice)
    page = client.get(f"{world.base}/results/items/?stage=stage2&runs=all")
    entrants = page.context["leaderboard"].entrants["stage2"]
    assert sum(one.kind == "model" for one in entrants) >= len(SKILLS) + 2 * len(names)
    report = page.context["report"]
    assert report.models == len(SKILLS) and {row.scored for row in report.rows} == {len(SKILLS)}
    few = [one for one in entrants if one.name in names]
    found = items_of(few, "stage2", "repaired", "overall_accuracy", None)
    assert len(few) > 5 and found.models == 3 and found.why_not
    [first] = [row for row in report.rows if row.number == 4]
    by_model = {name: [one for one in entrants if one.name == name] for name in SKILLS}
    scores = {
        pk: scores_by_story(columns_of(metrics["stage2"], "repaired"), "overall_accuracy")
        for pk, metrics in StoryScores.objects.values_list("pk", "metrics")
    }
    means = [sum(scores[one.scores][4] for one in of) / len(of) for of in by_model.values()]
    assert first.mean == pytest.approx(sum(means) / len(means))


def test_few_models_and_open_work(world, client):
    client.force_login(world.alice)
    few = client.get(f"{world.base}/results/items/?stage=stage1").content.decode()
    assert "at least 5 models" in few
    world.show_to(Audience.EVERYONE)
    story = world.dataset.project.stories.get(number=3)
    Assignment.objects.create(story=story, annotator=world.bob, slot=1, overlap=3)
    client.force_login(world.bob)
    page = client.get(f"{world.base}/results/items/?stage=stage2")
    assert 3 not in {row.number for row in page.context["report"].rows}
    assert reverse("benchmark:compare_story", args=[world.dataset.project.slug, 3]) not in page.content.decode()
