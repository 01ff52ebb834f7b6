"""Two models' answers to one story: the prompt once, both answers, both readings beside gold, and what differs."""

from __future__ import annotations

import re

import pytest

from annotation.models import Assignment
from benchmark.models import Audience, RunItem
from benchmark.services.side_by_side import numbers_around, paired, step_shown
from benchmark.suites.asked import ItemView, Question, Sample
from benchmark.suites.registry import suites
from benchmark.suites.side_by_side import ReadLine, lines_of
from tests.benchmark.results_world import HOSTILE, MUTE, STORIES, ResultsWorld, results_world


# --- the rule -----------------------------------------------------------------------------------------------------------------
def test_lines_of_two_answers_stand_beside_each_other():
    first = [
        ReadLine("it rains", "order", "1", "1", "1"),
        ReadLine("it rains", "truth", "True", "x", "False"),
        ReadLine("only here"),
    ]
    second = [ReadLine("it rains", "truth", "True", "False", "False"), ReadLine("it rains", "order", "1", "1", "2")]
    rows = paired([first, second])
    assert [(row["about"], row["part"]) for row in rows] == [
        ("it rains", "order"),
        ("it rains", "truth"),
        ("only here", ""),
    ]
    # order: 1 against 2; truth: the repaired readings agree and the official ones do not; what one side lacks altogether has no reading on either
    assert [row["differs"] for row in rows] == [True, True, False]
    assert [[cell["right"] for cell in row["cells"]] for row in rows] == [[True, False], [False, False], [None, None]]
    assert [cell["apart"] for cell in rows[1]["cells"]] == [True, False]


def _view(gold: dict, official: dict | None, repaired: dict | None) -> ItemView:
    sample = Sample(number=1, key="1", cluster="1", category="c", content={}, gold=gold)
    return ItemView(Question(sample, "answer", {}, None), "text", official, repaired)


def test_a_suite_without_lines_of_its_own_has_what_gold_and_readings_have_under_each_key():
    lines = lines_of(
        _view(
            {"answer": "B", "rows": [{"a": 1}]},
            {"choice": "A", "score": {"f1": 0.5}},
            {"choice": None, "score": {"f1": 1}},
        )
    )
    assert lines == [
        ReadLine("Answer", gold="B"),
        ReadLine("Rows, 1, a", gold="1"),
        ReadLine("Choice", official="A"),
        ReadLine("Score, f1", official="0.5", repaired="1"),
    ]


def test_every_suite_says_what_two_answers_are_held_against_each_other_by():
    assert all(callable(suite.lines) for suite in suites().values()) and len(suites()) > 3


def test_the_step_that_is_scored_comes_first_and_stories_follow_each_other():
    assert step_shown("judge", {"extract": 1, "judge": 2}, "extract") == "judge"
    assert (
        step_shown("x", {"extract": 1, "judge": 2}, "judge")
        == step_shown("", {"extract": 1, "judge": 2}, "judge")
        == "judge"
    )
    pair = [{"numbers": [1, 2, 3, 5]}, {"numbers": [1, 3, 4, 5]}]
    assert numbers_around(pair, 3, {5}) == {"before": 1, "after": None}


# --- the page -----------------------------------------------------------------------------------------------------------------
pages = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return results_world(tmp_path)


@pytest.fixture
def page(world, client):
    client.force_login(world.alice)

    def told(first: str, second: str, number: int = 3, status: int = 200, **more: str) -> str:
        query = {"a": world.entrant(first), "b": world.entrant(second)} | more
        response = client.get(f"{world.base}/results/compare/{number}/", query)
        assert response.status_code == status
        return " ".join(response.content.decode().split())

    return told


@pages
def test_both_answers_stand_beside_gold_and_the_prompt_stands_once(world, page):
    text = page("majority", "random", stage="stage2")
    assert text.count("Prompt, the same for both") == 1 and text.count('aria-label="Raw answer"') == 2
    items = RunItem.objects.filter(
        entrant__run=world.run, sample__number=3, stage="label", entrant__name__in=("majority", "random")
    )
    assert all(f"/items/{item.pk}/" in text for item in items) and items.count() == 2
    count, differing = (int(found) for found in re.search(r"All (\d+).*?(\d+) that differ", text).groups())
    sample = items[0].sample
    assert count == 7 * len(sample.beliefs) == len(re.findall(r'<th scope="row"', text))
    only = page("majority", "random", stage="stage2", only="differences")
    assert 0 < differing < count and len(re.findall(r'<th scope="row"', only)) == differing == only.count(
        "<strong>differs</strong>"
    )


@pages
def test_stories_follow_each_other_and_two_of_one_kind_are_refused(page):
    text = page("majority", "random")
    assert "compare/2/?" in text and "compare/4/?" in text
    assert "compare/0/?" not in page("majority", "random", 1)
    assert f"compare/{STORIES + 1}/?" not in page("majority", "random", STORIES)
    assert "Choose two different entrants" in page("omniscient", "omniscient")
    assert "The two have no stage in common" in page("omniscient", "random")


@pages
def test_extractions_and_judgements_are_held_against_gold(world, page):
    other = HOSTILE
    extracted = page("omniscient", other, stage="stage1", step="extract")
    assert extracted.count("<strong>differs</strong>") > 3 and "Steps of this story" in extracted
    assert MUTE in extracted and "<script>alert(1)</script>" not in extracted
    assert "matched" in page("omniscient", other, stage="stage1", step="judge")


@pages
def test_a_story_that_neither_was_asked_about_is_not_found(page):
    page("majority", "random", 99, status=404)


@pages
def test_a_comparison_leads_there(world, client):
    client.force_login(world.alice)
    a, b = (world.entrant(name) for name in ("majority", "random"))
    text = client.get(f"{world.base}/results/compare/?a={a}&b={b}&stage=stage2").content.decode()
    assert f"{world.base}/results/compare/3/?a={a}" in text


@pages
def test_it_waits_for_open_work_and_for_who_may_see_results(world, client, page):
    world.show_to(Audience.EVERYONE)
    story = world.dataset.project.stories.get(number=3)
    Assignment.objects.create(story=story, annotator=world.bob, slot=1, overlap=world.dataset.project.overlap)
    client.force_login(world.bob)
    query = {"a": world.entrant("majority"), "b": world.entrant("random")}
    assert client.get(f"{world.base}/results/compare/3/", query).status_code == 403
    assert client.get(f"{world.base}/results/compare/4/", query).status_code == 200
    assert "compare/3/?" not in client.get(f"{world.base}/results/compare/4/", query).content.decode()
    world.show_to(Audience.ADMINS)
    assert client.get(f"{world.base}/results/compare/4/", query).status_code == 403
